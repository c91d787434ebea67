//! From a client to its provider and back, byte for byte.
//!
//! - [`connection`]: one connection of a client, request after request.
//! - [`guard`]: who may speak to the recorder.
//! - [`routes`]: where a request goes.
//! - [`runs`]: which run it belongs to.
//! - [`dial`]: connections to upstreams.
//! - [`relay`]: bytes pass both ways at once.
//! - [`tape`]: one exchange as the recording side hears of it.

pub(crate) mod connection;
pub(crate) mod dial;
pub(crate) mod guard;
pub(crate) mod relay;
pub(crate) mod routes;
pub(crate) mod runs;
pub(crate) mod tape;
