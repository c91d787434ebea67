//! The trace on disk: a folder of segments that one process writes and anyone may read.
//!
//! All input and output of the trace is here; the bytes are those of the crate `wal`, and `docs/formats/wal-1.md` is
//! the law. Records go in through [`Writer`]; [`Keeper`] looks after segments that are closed.
//!
//! - [`disk`]: the file layer, as traits that tests can break, and the real one.
//! - [`clock`]: where times come from.
//! - [`options`]: what a writer is told, and what it tells.
//! - [`folder`]: which segments there are, and in which state.
//! - `contents`: what a closed segment holds, from whichever of its files is there.
//! - `writer`: records in, segments out, and a loss never hidden and never in the way.
//! - `keeper`: seals, retention, pins and tombstones.

pub mod clock;
mod contents;
pub mod disk;
pub mod folder;
mod keeper;
pub mod options;
mod writer;

pub use clock::{Clock, SystemClock};
pub use disk::{Disk, File, Lock, OsDisk};
pub use folder::{Listing, Segment, State, read_folder};
pub use keeper::{
    KeepError, Keeper, Kept, Pins, Plan, Reason, Removal, Removed, Retention, Sealing, Status, Subject,
};
pub use options::{Lost, OpenError, Options, Persist, Stats};
pub use wal::synced::Synced;
pub use writer::Writer;
