//! What a writer is told, and what it tells: options, losses, figures, and why it cannot start.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

/// What is promised of a record once it was flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persist {
    /// The operating system has it; it survives the death of the recorder and not a power cut.
    Written,
    /// The same, and the disk has it after at most about this long.
    Grouped(Duration),
    /// The disk has it when `flush` returns.
    Each,
}

/// How a trace is written.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of the trace, made if it is missing.
    pub folder: PathBuf,
    /// From which length on a segment is closed.
    pub rotate_bytes: u64,
    /// From which age on a segment is closed.
    pub rotate_age: Duration,
    /// What is promised.
    pub persist: Persist,
    /// The version of the redaction policy.
    pub policy: String,
    /// After how many bytes the state of the chain is written down; 16 MiB by the format's page.
    pub checkpoint_bytes: u64,
}

/// Records that could not be written, and never will be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{records} records ({first_sequence} to {last_sequence}, {bytes} bytes) were not recorded: {error}")]
pub struct Lost {
    /// How many records.
    pub records: u64,
    /// How many bytes of payload.
    pub bytes: u64,
    /// The first of them.
    pub first_sequence: u64,
    /// The last of them.
    pub last_sequence: u64,
    /// What the operating system said.
    pub error: String,
}

/// What a writer did so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Bytes that the operating system took.
    pub bytes_written: u64,
    /// How often it was asked to.
    pub write_calls: u64,
    /// How often the disk was waited for with success.
    pub syncs: u64,
    /// How long all syncs took together, in microseconds.
    pub sync_sum_us: u64,
    /// How long the longest took.
    pub sync_max_us: u64,
    /// How often the disk refused to say that it has the data.
    pub sync_failures: u64,
    /// Segments that were begun.
    pub segments: u64,
    /// Records that were lost.
    pub lost_records: u64,
    /// Bytes of payload that were lost.
    pub lost_bytes: u64,
    /// The last thing that went wrong.
    pub last_error: Option<String>,
}

/// Why a trace cannot be written.
#[derive(Debug, Error)]
pub enum OpenError {
    /// Another process writes it.
    #[error(
        "{} is being written by {}; stop that recorder first (`blackbird down`), or give this one a home of its own",
        folder.display(), holder(*pid)
    )]
    Locked {
        /// The trace.
        folder: PathBuf,
        /// Who holds the lock, if it said so.
        pid: Option<u32>,
    },
    /// The disk refused.
    #[error("{}: {action} failed: {error}; {remedy}", path.display())]
    Disk {
        /// Where.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the operating system said.
        error: io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// The policy has no place in a header.
    #[error("the redaction policy has {0} bytes, and a segment's header takes 65535; shorten its version")]
    Policy(usize),
    /// The operating system gives no randomness or no thread.
    #[error("the operating system gave no {0}: {1}; try again when it has resources left")]
    Resource(&'static str, String),
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}
