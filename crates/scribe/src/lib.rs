//! Turns what passed through the recorder into redacted records.
//!
//! This crate is pure: each step of an exchange in, records of wal/1 out, at once. It reads no clock and no file.
//!
//! - [`event`]: what the relay tells.
//! - [`scribe`]: exchanges, and the records they leave.
//! - [`desk`]: what all exchanges share.
//! - [`body`]: one body, counted, hashed, decoded and written.
//! - [`decode`]: content codings undone, within one budget of memory.
//! - [`text`]: the text of a body, redacted.
//! - [`scanner`]: listed keys, found in JSON that streams by.
//! - [`socket`]: the frames of a WebSocket, joined into messages, redacted and written.
//! - [`missing`]: what the trace lacks, counted until it is said.
//! - [`kept`]: what passthrough mode keeps.
//! - [`payloads`]: the JSON of wal/1.

mod body;
mod decode;
mod desk;
pub mod event;
mod kept;
mod missing;
mod payloads;
mod scanner;
mod scribe;
mod socket;
mod text;

pub use desk::{Counters, Entry, Policy};
pub use event::{
    Attribution, Closing, Direction, Event, Failure, Fields, Identity, Mode, Opening, ResponseHead, Timings,
    What,
};
pub use scribe::Scribe;
pub use socket::frames;
