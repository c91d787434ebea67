//! What tools did, by the word of who ran them: from a client's hook, or any harness, to a record of the trace.
//!
//! - [`hook`]: the command that clients start for each tool call.
//! - [`reading`]: what a client says of a tool call, as an event.
//! - [`patches`]: what an edit changed, as a patch.
//! - [`keeping`]: what of an event may reach the disk.
//! - [`delivery`]: an event on its way to the recorder, or into the spool.
//! - [`spool`]: events that wait for a recorder.
//! - [`known`]: events that were taken already.

pub(crate) mod delivery;
pub(crate) mod hook;
pub(crate) mod keeping;
pub(crate) mod known;
mod patches;
mod reading;
pub(crate) mod spool;
