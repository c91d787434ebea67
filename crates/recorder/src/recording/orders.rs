//! What can be asked of the thread that owns the trace, besides recording what passes.

use tokio::sync::oneshot;
use trace::Plan;
use wal::record::Kind;

/// Where the answer to an order goes; the text of an error is for people.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, String>>;

/// A request to the recording thread.
#[derive(Debug)]
pub(crate) enum Order {
    /// Put a statement into the trace, redacted; answers with its sequence once it is written.
    State { kind: Kind, payload: Vec<u8>, reply: Reply<u64> },
    /// Close the segment that is being written.
    Rotate(Reply<()>),
    /// Answers with the number below which every segment is closed for good.
    Closed(Reply<u64>),
    /// Put on record that segments are about to be removed, and state again the pins that would go with them.
    Removal { plan: Box<Plan>, reply: Reply<()> },
}
