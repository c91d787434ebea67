//! Sealed segments: the same records grouped by request, compressed, with an index.
//!
//! - [`seal`]: from the bytes of a segment to those of a seal.
//! - [`Sealed`]: a seal, read as far as someone asks.
//! - `frames`: the data of a stream, cut and compressed, and unpacked again.
//! - `index`: what the index says, and its limits.
//! - `rows`: what is kept of each record besides its payload, in columns.
//! - `sharing`: what a request shares with an earlier one.

mod frames;
mod index;
mod open;
mod rows;
mod sharing;
mod write;

pub use open::{Group, GroupInfo, Records, Sealed, SealedError};
pub use write::{SealRefused, Sealing, seal};

/// The first eight bytes of every sealed segment, and its last.
pub const MAGIC: [u8; 8] = *b"\x89BBSEA\r\n";

/// The version of sealed segments that this crate describes.
pub const VERSION: u16 = 1;

/// The most that one frame holds.
pub const MAX_FRAME: usize = 32 << 20;

/// The longest index that is written or read.
pub const MAX_INDEX: usize = 64 << 20;

/// The longest segment that is sealed, or unpacked from a seal.
pub const MAX_SEGMENT: u64 = 4 << 30;

/// How many bytes stand before the segment's header.
const PREAMBLE_BYTES: usize = 16;

/// How many bytes stand after the index.
const FOOTER_BYTES: usize = 64;

/// How many of them its checksum covers.
const FOOTER_CHECKED: usize = 48;
