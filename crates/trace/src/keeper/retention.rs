//! Retention: which segments are due to go, which are kept all the same, and why. Pure: values in, values out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use wal::chain::Root;
use wal::ids::Id;

use crate::clock::rfc3339;
use crate::folder::Segment;
use crate::keeper::pins::{Pins, Subject};
use crate::keeper::summary::Summary;
use crate::keeper::tombstone::{Reason, Tombstone};

const DAY: i64 = 86_400_000_000_000;

/// How much of a trace is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Segments whose last record is older than this go.
    pub days: Option<u32>,
    /// The oldest segments go until the trace is no larger than this.
    pub max_bytes: Option<u64>,
}

/// A segment that would go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Its number.
    pub segment: u64,
    /// Its root, for the `removed` checkpoint and the tombstone.
    pub root: Root,
    /// How many bytes become free.
    pub bytes: u64,
    /// How many requests have records in it.
    pub requests: u64,
    /// The rule that it falls under.
    pub reason: Reason,
    /// The same for people.
    pub because: String,
    pub(crate) id: Id,
    pub(crate) instance: Id,
    pub(crate) first_sequence: u64,
    pub(crate) last_sequence: u64,
    pub(crate) previous_root: Root,
}

impl Removal {
    pub(crate) fn tombstone(&self, at: i64) -> Tombstone {
        Tombstone {
            schema: Tombstone::schema(),
            segment: self.segment,
            id: self.id.to_string(),
            instance: self.instance.to_string(),
            first_sequence: self.first_sequence,
            last_sequence: self.last_sequence,
            previous_root: self.previous_root.to_string(),
            root: self.root.to_string(),
            reason: self.reason,
            at: rfc3339(at),
            bytes: self.bytes,
            requests: self.requests,
        }
    }
}

/// A segment that would go if it were not pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its number.
    pub segment: u64,
    /// How many bytes it takes.
    pub bytes: u64,
    /// The pins that hold it, such as `session harbour`.
    pub pins: Vec<String>,
    /// Why it would go, for people.
    pub because: String,
}

/// What would be removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// What goes, oldest first.
    pub remove: Vec<Removal>,
    /// What stays because of pins.
    pub kept_by_pin: Vec<Kept>,
    /// Segments that cannot be read: no tombstone could vouch for them, so they stay.
    pub unreadable: Vec<u64>,
    /// What must be said again about pins before the segments go.
    pub restate: Pins,
    /// Earlier removals whose record would go with the segments, and so is written again.
    pub earlier: Vec<(u64, Root)>,
}

impl Plan {
    /// The same plan, as a person's own wish.
    #[must_use]
    pub fn by_hand(mut self) -> Self {
        for removal in &mut self.remove {
            removal.reason = Reason::Clean;
        }
        self
    }

    /// How many bytes become free.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.remove.iter().map(|removal| removal.bytes).sum()
    }
}

/// A segment with what it holds; nothing if it cannot be read.
pub(crate) type Known = (Segment, Option<Arc<Summary>>);

/// Decide which of `segments` go. All of them count for the size; only those below `below` can go, and never the last.
pub(crate) fn decide(segments: &[Known], below: u64, retention: &Retention, pins: &Pins, now: i64) -> Plan {
    let held = held_requests(segments, pins);
    let mut plan = Plan::default();
    let mut total: u64 = segments.iter().map(|(segment, _)| segment.bytes()).sum();
    let last =
        segments.iter().rfind(|(_, summary)| summary.is_some()).map_or(0, |(segment, _)| segment.number);
    for (segment, summary) in segments.iter().filter(|(segment, _)| segment.number < below.min(last)) {
        let Some(summary) = summary else {
            plan.unreadable.push(segment.number);
            continue;
        };
        let Some((reason, because)) = due(summary, total, retention, now) else { continue };
        let holders = holders(summary, &held, pins);
        if holders.is_empty() {
            total -= segment.bytes();
            plan.earlier.extend(&summary.removals);
            plan.remove.push(removal(segment, summary, reason, because));
        } else {
            let pins = holders.iter().map(ToString::to_string).collect();
            plan.kept_by_pin.push(Kept { segment: segment.number, bytes: segment.bytes(), pins, because });
        }
    }
    let removed: BTreeSet<u64> = plan.remove.iter().map(|removal| removal.segment).collect();
    plan.restate = pins.to_restate(&removed);
    plan
}

fn due(summary: &Summary, total: u64, retention: &Retention, now: i64) -> Option<(Reason, String)> {
    if let Some(days) = retention.days {
        if now.saturating_sub(summary.last_wall) > i64::from(days).saturating_mul(DAY) {
            let last = rfc3339(summary.last_wall);
            return Some((
                Reason::RetentionDays,
                format!("its last record is of {last}, older than {days} days"),
            ));
        }
    }
    let max_bytes = retention.max_bytes.filter(|&max_bytes| total > max_bytes)?;
    let because = format!("the trace has {total} bytes, more than {max_bytes}, and this is the oldest");
    Some((Reason::MaxSize, because))
}

/// The requests and agents' logs that a pin covers, wherever they start.
fn held_requests(segments: &[Known], pins: &Pins) -> BTreeMap<Id, Vec<Subject>> {
    let starts =
        segments.iter().filter_map(|(_, summary)| summary.as_ref()).flat_map(|summary| &summary.starts);
    let covered = starts.map(|(request, origin)| (*request, pins.covering(origin)));
    covered.filter(|(_, subjects)| !subjects.is_empty()).collect()
}

/// The pins that hold a segment: through a run that starts in it, or a request or log that has records in it.
fn holders(summary: &Summary, held: &BTreeMap<Id, Vec<Subject>>, pins: &Pins) -> BTreeSet<Subject> {
    let by_run = summary.runs.iter().flat_map(|origin| pins.covering(origin));
    let inside = summary.requests.iter().chain(&summary.sources);
    let by_request = inside.filter_map(|request| held.get(request)).flatten().cloned();
    by_run.chain(by_request).collect()
}

fn removal(segment: &Segment, summary: &Summary, reason: Reason, because: String) -> Removal {
    let header = &summary.contents.header;
    Removal {
        segment: segment.number,
        root: summary.contents.root,
        bytes: segment.bytes(),
        requests: summary.requests.len() as u64,
        reason,
        because,
        id: header.id,
        instance: header.instance,
        first_sequence: header.first_sequence,
        last_sequence: summary.contents.last_sequence.unwrap_or(header.first_sequence.saturating_sub(1)),
        previous_root: header.previous_root,
    }
}
