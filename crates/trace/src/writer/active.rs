//! The segment that is being written: its file, its chain, and how far it got.

use std::io;
use std::path::Path;
use std::sync::Arc;

use wal::chain::Chain;
use wal::record::CRC_BYTES;
use wal::segment::Header;
use wal::synced::Synced;

use crate::clock::Anchor;
use crate::disk::{Disk, File};
use crate::writer::batch;

/// A write that stopped before its end.
#[derive(Debug)]
pub(crate) struct Cut {
    /// How many bytes of whole records were written before.
    pub(crate) whole: usize,
    /// What the operating system said.
    pub(crate) error: io::Error,
}

/// The segment that is being written.
pub(crate) struct Active {
    pub(crate) number: u64,
    pub(crate) file: Arc<dyn File>,
    pub(crate) chain: Chain,
    /// The sequence of the last whole record.
    pub(crate) last_sequence: u64,
    /// Where that record ends.
    pub(crate) end: u64,
    /// Where the last checkpoint ends.
    pub(crate) checkpoint_end: u64,
    /// When the segment was begun.
    pub(crate) begun: u64,
    /// How the clocks stood at the last checkpoint.
    pub(crate) anchor: Anchor,
    pub(crate) write_calls: u64,
}

impl Active {
    /// Make the file, with its header and the records that must be the first.
    pub(crate) fn begin(
        disk: &dyn Disk,
        path: &Path,
        header: &Header,
        first_records: &[u8],
    ) -> Result<Self, BeginError> {
        let file = disk.create(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => BeginError::Taken,
            _ => BeginError::Failed { error, was_made: false },
        })?;
        let mut bytes = header.encode();
        let (chain, header_length) = (Chain::new(&bytes), bytes.len() as u64);
        bytes.extend_from_slice(first_records);
        let mut active = Self {
            number: header.number,
            file,
            chain,
            last_sequence: header.first_sequence.saturating_sub(1),
            end: header_length,
            checkpoint_end: header_length,
            begun: header.monotonic,
            anchor: Anchor { wall: header.wall, monotonic: header.monotonic },
            write_calls: 0,
        };
        if let (_, Some(error)) = active.hand_over(&bytes) {
            return Err(BeginError::Failed { error, was_made: true });
        }
        active.take_in(first_records);
        Ok(active)
    }

    /// Write whole records.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Cut> {
        let (taken, error) = self.hand_over(bytes);
        let whole = self.take_in(&bytes[..taken]);
        error.map_or(Ok(()), |error| Err(Cut { whole, error }))
    }

    /// What is safe once the file is synced.
    pub(crate) fn position(&self) -> Synced {
        Synced { segment: self.number, sequence: self.last_sequence, offset: self.end }
    }

    /// Give all bytes to the operating system, in one call if it takes them; returns how many it took.
    fn hand_over(&mut self, bytes: &[u8]) -> (usize, Option<io::Error>) {
        let mut taken = 0;
        while taken < bytes.len() {
            self.write_calls += 1;
            match self.file.write(&bytes[taken..]) {
                Ok(0) => return (taken, Some(io::ErrorKind::WriteZero.into())),
                Ok(count) => taken += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (taken, Some(error)),
            }
        }
        (taken, None)
    }

    /// Extend the chain by the whole records in what was written; returns how many bytes these are.
    fn take_in(&mut self, written: &[u8]) -> usize {
        let mut whole = 0;
        for record in batch::records(written) {
            self.chain.update(&record[CRC_BYTES..]);
            self.last_sequence = batch::sequence(record).unwrap_or(self.last_sequence);
            whole += record.len();
        }
        self.end += whole as u64;
        whole
    }
}

/// Why a segment was not begun.
#[derive(Debug)]
pub(crate) enum BeginError {
    /// Something has its name.
    Taken,
    /// The disk refused.
    Failed {
        error: io::Error,
        /// Whether a file without a whole beginning is left.
        was_made: bool,
    },
}
