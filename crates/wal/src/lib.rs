//! The write-ahead log: the only truth that everything else in Blackbird is derived from.
//!
//! This crate is pure. It turns bytes into values and values into bytes; it opens no file, reads no clock and starts
//! no task. `docs/formats/wal-1.md` defines the bytes; the Python package reads the same page, and both are held to one
//! corpus.
//!
//! - [`signature`]: the bytes by which a segment is recognised, and the format's version.
//! - [`ids`]: what traces, segments, instances and requests are named by.
//! - [`segment`]: the header of a segment.
//! - [`record`]: what follows it, and how one is spelled.
//! - [`checksum`]: the CRC-32 that guards every record.
//! - [`scan`]: the records of a segment in order, and the damage between them.
//! - [`chain`]: the roots by which segments vouch for each other.
//! - [`sealed`]: a closed segment, compressed, and read again a request at a time.
//! - [`synced`]: how far a trace is known to be on the disk.

pub mod chain;
pub mod checksum;
pub mod ids;
pub mod record;
pub mod scan;
pub mod sealed;
pub mod segment;
pub mod signature;
pub mod synced;
