//! Segments sealed by a process whose memory is its own: to compress one takes some hundred megabytes, and a recorder
//! must stay small.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};
use trace::{Keeper, OsDisk, SystemClock};

use crate::command::Sealing;
use crate::config::Config;
use crate::log;
use crate::serving::worker::{WorkerError, while_doing};

/// How much this yields to all else: sealing can wait, forwarding cannot.
const NICENESS: i32 = 10;

/// Be that process: seal everything below a number, and say so line by line.
pub(crate) fn run(asked: &Sealing, out: &mut impl Write) -> Result<(), WorkerError> {
    if let Err(error) = rustix::process::nice(NICENESS) {
        log::debug("sealing keeps its priority", &[("error", &error.to_string())]);
    }
    let config = Config::load(&asked.config)?;
    let keeper = Keeper::new(config.trace_folder(), Arc::new(OsDisk), Arc::new(SystemClock::new()));
    let failed = |error: trace::KeepError| WorkerError::Io {
        what: "a segment could not be sealed".to_owned(),
        error: io::Error::other(error),
    };
    while let Some(done) = keeper.seal_next(asked.below).map_err(failed)? {
        let line = json!({"segment": done.segment, "raw": done.raw_bytes, "sealed": done.sealed_bytes});
        writeln!(out, "{line}")
            .and_then(|()| out.flush())
            .map_err(while_doing("cannot tell what was sealed"))?;
    }
    Ok(())
}

/// Start that process and wait for it; what it sealed, or why it could not.
pub(crate) fn start(config: &Path, below: u64) -> Result<Vec<Value>, String> {
    let failed = |error: io::Error| format!("sealing could not be started: {error}");
    let mut child = Command::new(std::env::current_exe().map_err(failed)?)
        .args(["seal", "--config"])
        .arg(config)
        .args(["--below", &below.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let lines = child.stdout.take().map(|out| io::BufReader::new(out).lines());
    let sealed: Vec<Value> = lines
        .into_iter()
        .flatten()
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_str(&line).ok())
        .collect();
    let output = child.wait_with_output().map_err(failed)?;
    if output.status.success() {
        return Ok(sealed);
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(if said.is_empty() { format!("sealing ended with {}", output.status) } else { said })
}
