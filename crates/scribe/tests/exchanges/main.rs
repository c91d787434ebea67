//! Whole exchanges, from events to records.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that panics has done its job, and a measurement prints"
)]

mod codings;
mod holes;
mod kept;
mod limits;
mod modes;
mod play;
mod records;
mod secrets;
mod sockets;
mod speed;
mod speller;
mod tunnels;
mod unfinished;
