//! Bytes that are missing in the trace, counted until it is said.

use crate::desk::{Desk, Outlet};
use crate::event::{Cause, Direction};
use crate::payloads::Gap;

/// How much may be lost before it is said.
const UNSAID: u64 = 4 << 20;

/// Why bytes are missing that are not what they should be, so that they could not be redacted.
pub(crate) const UNDECODABLE: &str = "undecodable";

/// Why bytes are missing that nobody had room for.
pub(crate) const QUEUE_FULL: &str = "queue_full";

/// What a `gap` calls the cause of a hole.
pub(crate) fn reason(cause: Cause) -> &'static str {
    match cause {
        Cause::QueueFull => QUEUE_FULL,
        Cause::Unreadable => UNDECODABLE,
    }
}

/// Bytes that are missing, or may turn out to be, and are not yet stated in the trace.
#[derive(Default)]
pub(crate) struct Missing {
    pub(crate) reason: &'static str,
    pub(crate) bytes: u64,
    pub(crate) records: u64,
}

impl Missing {
    /// More is lost.
    pub(crate) fn add(
        &mut self,
        desk: &mut Desk,
        outlet: &mut Outlet<'_>,
        direction: Direction,
        lost: &Self,
    ) {
        self.reason = lost.reason;
        self.bytes += lost.bytes;
        self.records += lost.records;
        if self.bytes >= UNSAID {
            self.say(desk, outlet, direction);
        }
    }

    /// State it, if there is anything.
    pub(crate) fn say(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>, direction: Direction) {
        let Self { reason, bytes, records } = std::mem::take(self);
        if records > 0 {
            desk.write_gap(outlet, &Gap { reason, direction, bytes, records });
        }
    }
}
