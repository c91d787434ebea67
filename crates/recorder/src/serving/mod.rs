//! The processes, from their start to their graceful end.
//!
//! - [`supervisor`]: holds the socket, and starts the recorder anew when it dies.
//! - [`worker`]: the recorder's threads.
//! - [`control`]: what the owner can ask for.
//! - [`own`]: what the recorder answers itself over HTTP.
//! - [`stop`]: how a recorder ends.

pub(crate) mod control;
pub(crate) mod own;
pub(crate) mod stop;
pub(crate) mod supervisor;
pub(crate) mod worker;
