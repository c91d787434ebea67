//! The write-ahead log: the only truth that everything else in Blackbird is derived from.
//!
//! This crate is pure. It turns bytes into values and values into bytes; it opens no file, reads no clock and starts
//! no task. What it holds today is the part of the format that cannot change later without a new format; the frame
//! and segment codec arrives together with the recorder that writes it.
//!
//! - [`signature`]: the bytes by which a segment is recognised, and the format's version.
//! - [`checksum`]: the CRC-32 that guards every record.

pub mod checksum;
pub mod signature;
