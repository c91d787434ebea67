//! What can be asked of the thread that owns the trace, besides recording what passes.

use tokio::sync::oneshot;
use trace::Plan;
use wal::ids::Id;
use wal::record::Kind;

use crate::recording::lines::{NativeLine, Redactions};

/// Where the answer to an order goes; the text of an error is for people.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, String>>;

/// What became of lines: the sequence of their last record, and the secrets that were replaced.
#[derive(Debug)]
pub(crate) struct Imported {
    pub(crate) sequence: u64,
    pub(crate) redactions: Redactions,
}

/// A request to the recording thread.
#[derive(Debug)]
pub(crate) enum Order {
    /// Put a statement into the trace, redacted; answers with its sequence once it is written.
    State { kind: Kind, payload: Vec<u8>, reply: Reply<u64> },
    /// Put what a tool did into the trace, as far as it may be kept; answers with its sequence once it is written.
    ToolEvent { payload: Vec<u8>, reply: Reply<u64> },
    /// Put lines of an agent's own log into the trace, redacted; answers once they are written, and with nothing if a
    /// part of a line does not follow upon the one before it.
    Import { source: Id, lines: Vec<NativeLine>, reply: Reply<Option<Imported>> },
    /// Close the segment that is being written.
    Rotate(Reply<()>),
    /// Answers with the number below which every segment is closed for good.
    Closed(Reply<u64>),
    /// Put on record that segments are about to be removed, and state again the pins that would go with them.
    Removal { plan: Box<Plan>, reply: Reply<()> },
}
