//! From a client to its provider and back, byte for byte.
//!
//! - [`connection`]: one connection of a client, request after request.
//! - [`answering`]: what the recorder says in its own name.
//! - [`forward`]: the recorder as a proxy, in the name of hosts that are recorded.
//! - [`duplex`]: bytes both ways, whatever they mean.
//! - [`tunnel`]: the recorder as a proxy to all other hosts.
//! - [`intercepts`]: which hosts are recorded.
//! - [`guard`]: who may speak to the recorder.
//! - [`routes`]: where a request goes.
//! - [`runs`]: which run it belongs to.
//! - [`dial`]: connections to upstreams.
//! - [`relay`]: bytes pass both ways at once.
//! - [`socket`]: a WebSocket, once both sides speak it.
//! - [`tape`]: one exchange as the recording side hears of it.

pub(crate) mod answering;
pub(crate) mod connection;
pub(crate) mod dial;
pub(crate) mod duplex;
pub(crate) mod forward;
pub(crate) mod guard;
pub(crate) mod intercepts;
pub(crate) mod relay;
pub(crate) mod routes;
pub(crate) mod runs;
mod socket;
pub(crate) mod tape;
pub(crate) mod tunnel;
