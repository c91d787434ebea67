//! From what passed to the trace, out of the way of what passes.
//!
//! - [`intake`]: the queue, bounded by bytes.
//! - [`desk`]: the thread that owns the trace.
//! - [`orders`]: what can be asked of it.
//! - [`lines`]: lines of agents' own logs on their way into records.
//! - [`upkeep`]: the thread that looks after old segments.
//! - [`sealing`]: segments sealed by a process whose memory is its own.

pub(crate) mod desk;
pub(crate) mod intake;
pub(crate) mod lines;
pub(crate) mod orders;
pub(crate) mod sealing;
pub(crate) mod upkeep;
