//! The trace on a disk in memory that fails and loses power wherever the tests want.

#![allow(clippy::unwrap_used, reason = "a test that panics has done its job")]

mod behaviour;
mod clock;
mod crashes;
mod disk;
mod faults;
mod keeping;
mod model;
mod verify;
mod workload;
