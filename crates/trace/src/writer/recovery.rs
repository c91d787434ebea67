//! Recovery: where a trace that some recorder left goes on.

use std::io;
use std::path::{Path, PathBuf};

use wal::chain::Root;
use wal::ids::Id;
use wal::synced::Synced;

use crate::contents::{self, ReadError};
use crate::disk::Disk;
use crate::folder::{self, Form, Listing, SYNCED, Segment, State};
use crate::keeper::tombstone::Tombstone;

/// Where the next segment begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recovered {
    /// The number of the next segment: one more than any file has.
    pub(crate) next_number: u64,
    /// The root of the last segment that can be read.
    pub(crate) previous_root: Root,
    /// The id of the trace, if there is one.
    pub(crate) trace: Option<Id>,
    /// The last sequence that was handed out, as far as the disk knows.
    pub(crate) last_sequence: u64,
    /// The last intact record, if it is in a segment that is still there.
    pub(crate) last_record: Option<Synced>,
    /// What the file `synced` says.
    pub(crate) synced: Option<Synced>,
    /// Segments that were perhaps never synced.
    pub(crate) unsynced: Vec<PathBuf>,
}

/// A file that recovery could not read.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) path: PathBuf,
    pub(crate) error: io::Error,
}

/// Read what is needed of the folder, from its last segment on downwards.
pub(crate) fn recover(disk: &dyn Disk, folder: &Path) -> Result<Recovered, Unreadable> {
    let failed = |error| Unreadable { path: folder.to_path_buf(), error };
    let listing = folder::list(disk, folder).map_err(failed)?;
    let synced = read_synced(disk, folder)?;
    let mut search = Search::default();
    for segment in listing.segments.values().rev() {
        if search.is_complete() {
            break;
        }
        search.look_at(disk, folder, segment)?;
    }
    let last_sequence = search.last_sequence.unwrap_or(0);
    Ok(Recovered {
        next_number: listing.segments.keys().next_back().map_or(1, |last| last + 1),
        previous_root: search.root.unwrap_or_default(),
        trace: search.trace,
        last_sequence: last_sequence.max(synced.map_or(0, |synced| synced.sequence)),
        last_record: search.last_record,
        synced,
        unsynced: unsynced(&listing, folder, synced),
    })
}

fn read_synced(disk: &dyn Disk, folder: &Path) -> Result<Option<Synced>, Unreadable> {
    let path = folder.join(SYNCED);
    match disk.read(&path, Some(64)) {
        Ok(bytes) => Ok(Synced::parse(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Unreadable { path, error }),
    }
}

fn unsynced(listing: &Listing, folder: &Path, synced: Option<Synced>) -> Vec<PathBuf> {
    let from = synced.map_or(0, |synced| synced.segment);
    let segments = listing.segments.range(from..).filter(|(_, segment)| segment.wal.is_some());
    segments.map(|(&number, _)| Form::Wal.path(folder, number)).collect()
}

/// What was found so far, going downwards.
#[derive(Default)]
struct Search {
    root: Option<Root>,
    trace: Option<Id>,
    last_sequence: Option<u64>,
    last_record: Option<Synced>,
}

impl Search {
    fn is_complete(&self) -> bool {
        self.root.is_some() && self.trace.is_some() && self.last_sequence.is_some()
    }

    fn look_at(&mut self, disk: &dyn Disk, folder: &Path, segment: &Segment) -> Result<(), Unreadable> {
        if segment.state() == State::Gone {
            return self.take_tombstone(disk, folder, segment.number);
        }
        let path = || {
            let form = if segment.seal.is_some() { Form::Seal } else { Form::Wal };
            form.path(folder, segment.number)
        };
        if self.root.is_some() && self.last_sequence.is_some() {
            match contents::header(disk, folder, segment) {
                Ok(header) => self.trace = Some(header.trace),
                Err(ReadError::Disk(error)) => return Err(Unreadable { path: path(), error }),
                Err(ReadError::Header(_) | ReadError::Seal(_)) => {}
            }
            return Ok(());
        }
        let contents = match contents::read(disk, folder, segment, &mut |_| {}) {
            Ok(contents) => contents,
            Err(ReadError::Disk(error)) => return Err(Unreadable { path: path(), error }),
            Err(ReadError::Header(_) | ReadError::Seal(_)) => return Ok(()),
        };
        self.root.get_or_insert(contents.root);
        self.trace.get_or_insert(contents.header.trace);
        // A segment without records says nothing of the last one: its first may have been meant to follow a loss.
        if let (None, Some(sequence)) = (self.last_sequence, contents.last_sequence) {
            self.last_sequence = Some(sequence);
            self.last_record = Some(Synced { segment: segment.number, sequence, offset: contents.end });
        }
        Ok(())
    }

    fn take_tombstone(&mut self, disk: &dyn Disk, folder: &Path, number: u64) -> Result<(), Unreadable> {
        let failed = |error| Unreadable { path: Form::Gone.path(folder, number), error };
        if let Some(tombstone) = Tombstone::read(disk, folder, number).map_err(failed)? {
            if let Some(root) = tombstone.root() {
                self.root.get_or_insert(root);
            }
            self.last_sequence.get_or_insert(tombstone.last_sequence);
        }
        Ok(())
    }
}
