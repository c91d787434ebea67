//! What retention needs to know of a segment: its times, its requests, and what was said about pins in it.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use wal::chain::Root;
use wal::ids::Id;
use wal::record::{Kind, Record};

use crate::clock::Anchor;
use crate::contents::{self, Contents, ReadError};
use crate::disk::Disk;
use crate::folder::Segment;
use crate::keeper::pins::Subject;

/// A session and a run, as far as a record names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Origin {
    #[serde(default)]
    pub(crate) session: Option<String>,
    #[serde(default)]
    pub(crate) run: Option<String>,
}

/// A `pin` or `unpin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) subject: Subject,
    pub(crate) is_pin: bool,
}

/// What one segment holds, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) contents: Contents,
    /// What the wall clock showed at its last record.
    pub(crate) last_wall: i64,
    /// The requests that have records in it.
    pub(crate) requests: BTreeSet<Id>,
    /// The logs of agents that have lines in it.
    pub(crate) sources: BTreeSet<Id>,
    /// The requests that start in it and the logs that are taken in, and whose they are.
    pub(crate) starts: Vec<(Id, Origin)>,
    /// The runs that start in it.
    pub(crate) runs: Vec<Origin>,
    /// What was said about pins, in order.
    pub(crate) statements: Vec<Statement>,
    /// The removals that were put on record in it: segments and their roots.
    pub(crate) removals: Vec<(u64, Root)>,
}

#[derive(Deserialize)]
struct Stated {
    event: String,
    #[serde(flatten)]
    origin: Origin,
    #[serde(default)]
    data: Value,
}

impl Stated {
    /// The agent's log that it speaks of, if of one.
    fn source(&self) -> Option<Id> {
        self.data.get("source")?.as_str()?.strip_prefix("src_")?.parse().ok()
    }
}

#[derive(Deserialize)]
struct Checkpoint {
    wall: i64,
    monotonic: u64,
    #[serde(default)]
    segments: Vec<Gone>,
}

/// A segment that a checkpoint says is removed.
#[derive(Deserialize)]
struct Gone {
    segment: u64,
    root: String,
}

#[derive(Default)]
struct Gathered {
    anchor: Option<Anchor>,
    latest: u64,
    requests: BTreeSet<Id>,
    sources: BTreeSet<Id>,
    starts: Vec<(Id, Origin)>,
    runs: Vec<Origin>,
    statements: Vec<Statement>,
    removals: Vec<(u64, Root)>,
}

impl Gathered {
    fn take(&mut self, record: &Record<'_>) {
        self.latest = self.latest.max(record.monotonic);
        if record.known_kind() == Some(Kind::NativeLine) {
            self.sources.insert(record.request);
        } else if !record.request.is_zero() {
            self.requests.insert(record.request);
        }
        // A payload that is no JSON of the page's kind says nothing about sessions, pins or clocks.
        match record.known_kind() {
            Some(Kind::RequestStart) => {
                let origin = serde_json::from_slice(record.payload).unwrap_or_default();
                self.starts.push((record.request, origin));
            }
            Some(Kind::HarnessEvent) => {
                if let Ok(event) = serde_json::from_slice::<Stated>(record.payload) {
                    self.take_event(event);
                }
            }
            Some(Kind::Checkpoint) => {
                if let Ok(checkpoint) = serde_json::from_slice::<Checkpoint>(record.payload) {
                    self.anchor = Some(Anchor { wall: checkpoint.wall, monotonic: checkpoint.monotonic });
                    let roots = checkpoint.segments.into_iter();
                    self.removals
                        .extend(roots.filter_map(|gone| Some((gone.segment, gone.root.parse().ok()?))));
                }
            }
            _ => {}
        }
    }

    fn take_event(&mut self, event: Stated) {
        let is_pin = match event.event.as_str() {
            "run.start" => return self.runs.push(event.origin),
            "import.open" => {
                let source = event.source();
                return self.starts.extend(source.map(|source| (source, event.origin)));
            }
            "pin" => true,
            "unpin" => false,
            _ => return,
        };
        if let Some(subject) = Subject::named_by(event.origin) {
            self.statements.push(Statement { subject, is_pin });
        }
    }
}

/// Read a segment and say what it holds.
pub(crate) fn summarize(disk: &dyn Disk, folder: &Path, segment: &Segment) -> Result<Summary, ReadError> {
    let mut gathered = Gathered::default();
    let contents = contents::read(disk, folder, segment, &mut |record| gathered.take(record))?;
    let begun = Anchor { wall: contents.header.wall, monotonic: contents.header.monotonic };
    let latest = gathered.latest.max(begun.monotonic);
    let last_wall = gathered.anchor.unwrap_or(begun).wall_at(latest);
    Ok(Summary {
        contents,
        last_wall,
        requests: gathered.requests,
        sources: gathered.sources,
        starts: gathered.starts,
        runs: gathered.runs,
        statements: gathered.statements,
        removals: gathered.removals,
    })
}
