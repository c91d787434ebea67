//! Losses: which records could not be written, added up until the trace can say so.

use serde_json::json;

use crate::options::Lost;
use crate::writer::batch;
use wal::record::HEADER_BYTES;

/// A run of sequences that are missing from the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    pub(crate) first_sequence: u64,
    pub(crate) last_sequence: u64,
    pub(crate) bytes: u64,
    pub(crate) error: String,
    /// The sequence that the `gap` record will have: the one after the loss, so that it stands before what follows.
    pub(crate) gap_sequence: u64,
}

impl Loss {
    /// The payload of the `gap` that covers it.
    pub(crate) fn payload(&self) -> Vec<u8> {
        gap(self.first_sequence, self.last_sequence, self.bytes, &self.error)
    }
}

/// The payload of a `gap` for records that were not written.
pub(crate) fn gap(first_sequence: u64, last_sequence: u64, bytes: u64, error: &str) -> Vec<u8> {
    let value = json!({
        "reason": "write_error",
        "direction": null,
        "bytes": bytes,
        "records": last_sequence - first_sequence + 1,
        "first_sequence": first_sequence,
        "last_sequence": last_sequence,
        "error": error,
    });
    value.to_string().into_bytes()
}

/// What is lost with these encoded records; nothing if there are none.
pub(crate) fn of_records(bytes: &[u8], error: &str) -> Option<Lost> {
    let first_sequence = batch::records(bytes).next().and_then(batch::sequence)?;
    let mut lost =
        Lost { records: 0, bytes: 0, first_sequence, last_sequence: first_sequence, error: error.to_owned() };
    for record in batch::records(bytes) {
        lost.records += 1;
        lost.bytes += (record.len() - HEADER_BYTES) as u64;
        lost.last_sequence = batch::sequence(record).unwrap_or(lost.last_sequence);
    }
    Some(lost)
}
