//! The keeper: looks after segments that are closed, and never touches the one that is being written.
//!
//! - `sealing`, `removing`: seals and tombstones, each safe to interrupt.
//! - `retention`, `pins`: what may go, and what must stay.
//! - `summary`, `tombstone`: what a segment holds in short, and what is left of it.

mod pins;
mod removing;
mod retention;
mod sealing;
mod summary;
pub(crate) mod tombstone;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;

use crate::clock::Clock;
use crate::contents::ReadError;
use crate::disk::Disk;
use crate::folder::{self, Form, Listing, Segment, State};

use retention::{Known, decide};
use summary::{Summary, summarize};

pub use pins::{Pins, Subject};
pub use removing::Removed;
pub use retention::{Kept, Plan, Removal, Retention};
pub use sealing::Sealing;
pub use tombstone::Reason;

/// Why the keeper could not do its work. What it was about to remove is still there.
#[derive(Debug, Error)]
#[error("{}: {action} failed: {error}; {remedy}", path.display())]
pub struct KeepError {
    /// Where.
    pub path: PathBuf,
    /// What was tried.
    pub action: &'static str,
    /// What was the matter.
    pub error: String,
    /// What to do.
    pub remedy: &'static str,
}

/// The trace in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Segments with data.
    pub segments: u64,
    /// Those of them that are sealed.
    pub sealed: u64,
    /// Segments that were removed on purpose.
    pub gone: u64,
    /// Segments with data that cannot be read.
    pub unreadable: u64,
    /// Bytes on the disk.
    pub bytes: u64,
    /// Bytes before sealing.
    pub raw_bytes: u64,
    /// When the oldest segment was begun, in nanoseconds since 1970.
    pub oldest_wall: Option<i64>,
    /// When the newest record was made.
    pub newest_wall: Option<i64>,
    /// What is pinned, such as `session harbour`.
    pub pins: Vec<String>,
}

/// Looks after closed segments. Whoever seals or removes must hold the trace's lock through a [`crate::Writer`].
pub struct Keeper {
    pub(crate) folder: PathBuf,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Summaries with the files that they are of: a closed segment is read once.
    summaries: Mutex<BTreeMap<u64, Known>>,
    /// Held while files are made or removed, so that no two threads finish each other's work.
    pub(crate) work: Mutex<()>,
    /// Segments that may not be sealed, and why.
    pub(crate) refused: Mutex<BTreeMap<u64, String>>,
}

impl Keeper {
    /// A keeper of the trace in `folder`.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, disk: Arc<dyn Disk>, clock: Arc<dyn Clock>) -> Self {
        let (summaries, work, refused) = Default::default();
        Self { folder: folder.into(), disk, clock, summaries, work, refused }
    }

    /// What would go under `retention`, among the segments below `below`, and what stays because of `pins`.
    ///
    /// # Errors
    ///
    /// If a file cannot be read for reasons that are not damage.
    pub fn plan(&self, below: u64, retention: &Retention, pins: &Pins) -> Result<Plan, KeepError> {
        if retention.days.is_none() && retention.max_bytes.is_none() {
            return Ok(Plan::default());
        }
        Ok(decide(&self.known()?, below, retention, pins, self.clock.wall()))
    }

    /// What the trace says about pins, the segment that is being written included.
    ///
    /// # Errors
    ///
    /// If a file cannot be read for reasons that are not damage.
    pub fn pins(&self) -> Result<Pins, KeepError> {
        let mut pins = Pins::default();
        for (segment, summary) in self.known()? {
            if let Some(summary) = summary {
                pins.take(segment.number, &summary);
            }
        }
        Ok(pins)
    }

    /// The trace in numbers.
    ///
    /// # Errors
    ///
    /// If a file cannot be read for reasons that are not damage.
    pub fn status(&self) -> Result<Status, KeepError> {
        let gone = self.listing()?.segments.values().filter(|segment| segment.state() == State::Gone).count();
        let mut status = Status { gone: gone as u64, ..Status::default() };
        let mut pins = Pins::default();
        for (segment, summary) in self.known()? {
            status.segments += 1;
            status.sealed += u64::from(segment.seal.is_some());
            status.bytes += segment.bytes();
            let Some(summary) = summary else {
                status.unreadable += 1;
                status.raw_bytes += segment.bytes();
                continue;
            };
            status.raw_bytes += summary.contents.raw_bytes;
            status.oldest_wall.get_or_insert(summary.contents.header.wall);
            status.newest_wall = Some(summary.last_wall);
            pins.take(segment.number, &summary);
        }
        status.pins = pins.in_force().map(ToString::to_string).collect();
        Ok(status)
    }

    /// Segments that were not sealed because a seal would hide their damage, and why.
    #[must_use]
    pub fn refused(&self) -> BTreeMap<u64, String> {
        held(&self.refused).clone()
    }

    pub(crate) fn listing(&self) -> Result<Listing, KeepError> {
        folder::list(&*self.disk, &self.folder).map_err(|error| KeepError::reading(&self.folder, &error))
    }

    /// All segments with data that are not half removed, in order.
    fn known(&self) -> Result<Vec<Known>, KeepError> {
        let listing = self.listing()?;
        let is_there = |segment: &&Segment| !matches!(segment.state(), State::Gone | State::Removing);
        let mut known = Vec::new();
        for segment in listing.segments.values().filter(is_there) {
            known.push((*segment, self.summary(segment)?));
        }
        let numbers = &listing.segments;
        held(&self.summaries).retain(|number, _| numbers.contains_key(number));
        Ok(known)
    }

    fn summary(&self, segment: &Segment) -> Result<Option<Arc<Summary>>, KeepError> {
        if let Some((_, summary)) = held(&self.summaries).get(&segment.number).filter(|(of, _)| of == segment)
        {
            return Ok(summary.clone());
        }
        let summary = match summarize(&*self.disk, &self.folder, segment) {
            Ok(summary) => Some(Arc::new(summary)),
            Err(ReadError::Disk(error)) => {
                let form = if segment.seal.is_some() { Form::Seal } else { Form::Wal };
                return Err(KeepError::reading(&form.path(&self.folder, segment.number), &error));
            }
            Err(ReadError::Header(_) | ReadError::Seal(_)) => None,
        };
        held(&self.summaries).insert(segment.number, (*segment, summary.clone()));
        Ok(summary)
    }
}

impl KeepError {
    pub(crate) fn reading(path: &Path, error: &io::Error) -> Self {
        Self::new(path, "reading", error, "make it readable for the recorder's user and try again")
    }

    pub(crate) fn writing(path: &Path, error: &io::Error) -> Self {
        Self::new(
            path,
            "writing",
            error,
            "free space on that disk or make the folder writable, and try again",
        )
    }

    pub(crate) fn removing(path: &Path, error: &io::Error) -> Self {
        Self::new(
            path,
            "removing",
            error,
            "make the folder writable and try again: what was begun is finished then",
        )
    }

    fn new(path: &Path, action: &'static str, error: &io::Error, remedy: &'static str) -> Self {
        Self { path: path.to_path_buf(), action, error: error.to_string(), remedy }
    }
}

/// What a lock guards is whole even if a thread died with it: entries are put in and taken out in one step.
pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
