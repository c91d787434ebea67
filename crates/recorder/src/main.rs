//! `blackbird-recorder`: forwards model traffic unchanged and keeps a record of it.
//!
//! A request's way through: [`forwarding`] reads its head ([`http`]), lets it in, finds out where it goes and whose it is,
//! connects and passes bytes both ways. What passed is told to [`recording`], which has it redacted and writes the
//! trace. Nothing on that way waits for the disk unless it cannot keep up.
//!
//! - [`command`]: what the command line asks for, decided without touching the outside world.
//! - [`config`]: the resolved configuration.
//! - [`serving`]: supervisor, recorder and control socket.
//! - [`authority`]: the private CA, for hosts that are recorded when the recorder is used as a proxy.
//! - [`metrics`], [`log`]: what the recorder says of itself.
//! - [`files`]: the home folder.
//! - [`tools`]: what tools did, by the word of who ran them.
//! - [`dump`], [`redaction`]: a segment shown, a text redacted.

mod authority;
mod command;
mod config;
mod dump;
mod files;
mod forwarding;
mod http;
mod log;
mod metrics;
mod recording;
mod redaction;
mod serving;
mod tools;

use std::io::{self, BufRead, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use command::{Answer, Maintenance, Redaction};
use config::Config;
use serving::control::LONGEST_LINE;
use serving::stop::Phase;
use serving::worker::{Backstage, WorkerError, while_doing};
use serving::{supervisor, worker};
use tokio::sync::watch;

/// The exit code when what was asked for cannot be had; the answer says why.
const FAILED: u8 = 1;

/// The exit code of a wrong command line.
const USAGE: u8 = 2;

/// The exit code when reading or writing fails.
const ENVIRONMENT: u8 = 3;

fn main() -> ExitCode {
    let (code, written) = match command::interpret(std::env::args_os()) {
        Answer::Show(text) => (0, io::stdout().write_all(text.as_bytes())),
        Answer::Serve(asked) => outcome(serve(&asked.config)),
        Answer::Work(asked) => outcome(
            Config::load(&asked.config)
                .map_err(Into::into)
                .and_then(|config| worker::run(&config, asked.restarts)),
        ),
        Answer::Seal(asked) => outcome(recording::sealing::run(&asked, &mut io::stdout())),
        Answer::Maintain(asked) => outcome(maintain(&asked)),
        Answer::Import(asked) => outcome(import(&asked.config)),
        Answer::Ca(asked) => {
            let (told, is_fine) = authority::command::run(Config::load(&asked.config), asked.renew);
            (if is_fine { 0 } else { FAILED }, writeln!(io::stdout(), "{told}"))
        }
        Answer::Hook(asked) => {
            hook(&asked);
            (0, Ok(()))
        }
        Answer::Deliver(asked) => {
            let (told, is_kept) = tools::delivery::run(&asked.config);
            (if is_kept { 0 } else { FAILED }, writeln!(io::stdout(), "{told}"))
        }
        Answer::Dump(asked) => outcome(dump::run(&asked.file, &mut io::BufWriter::new(io::stdout().lock()))),
        Answer::Redact(request) => redact(&request),
        // To some clients the exit code of a wrong command line says that the tool must not be used.
        Answer::Refuse(_) if is_hook() => (0, Ok(())),
        Answer::Refuse(text) => (USAGE, writeln!(io::stderr(), "{text}")),
    };
    // Nobody is left to tell when even the message cannot be written; the exit code still can.
    ExitCode::from(if written.is_ok() { code } else { ENVIRONMENT })
}

fn is_hook() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == "hook")
}

/// Serve a client's hook. A fault of ours is not the client's affair.
fn hook(asked: &command::Hook) {
    std::panic::set_hook(Box::new(|_| {}));
    let _ = std::panic::catch_unwind(|| tools::hook::run(asked));
}

fn serve(path: &Path) -> Result<(), WorkerError> {
    supervisor::run(&Config::load(path)?, path)
}

/// Say what went wrong in one sentence.
fn outcome(result: Result<(), impl std::error::Error>) -> (u8, io::Result<()>) {
    match result {
        Ok(()) => (0, Ok(())),
        Err(error) => (ENVIRONMENT, writeln!(io::stderr(), "{error}.")),
    }
}

/// Do one operation of the control socket with the trace opened for this alone.
fn maintain(asked: &Maintenance) -> Result<(), WorkerError> {
    let config = Config::load(&asked.config)?;
    let backstage = Backstage::open(&config, String::new(), watch::channel(Phase::Running).0, 0)?;
    let mut order: serde_json::Value = serde_json::from_str(&asked.arguments).map_err(|error| {
        WorkerError::Io { what: "the arguments are no JSON".to_owned(), error: error.into() }
    })?;
    order["op"] = serde_json::Value::from(asked.operation.as_str());
    let runtime =
        tokio::runtime::Builder::new_current_thread().build().map_err(while_doing("cannot start"))?;
    let answer = runtime.block_on(backstage.desk.perform(order.to_string().as_bytes()));
    backstage.close();
    writeln!(io::stdout(), "{answer}").map_err(while_doing("cannot print the answer"))
}

/// Answer what is asked on standard input, as the control socket would, with the trace opened for this alone.
fn import(path: &Path) -> Result<(), WorkerError> {
    let mut config = Config::load(path)?;
    // Whoever imports waits for this process; the next recorder has the time to compress what came in.
    config.trace.seal = false;
    let backstage = Backstage::open(&config, String::new(), watch::channel(Phase::Running).0, 0)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().build().map_err(while_doing("cannot start"))?;
    let (mut input, mut output) = (io::stdin().lock(), io::stdout());
    let mut line = Vec::new();
    let mut answer_next = || -> io::Result<bool> {
        line.clear();
        if (&mut input).take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(false);
        }
        let answer = runtime.block_on(backstage.desk.perform(&line));
        writeln!(output, "{answer}")?;
        output.flush().map(|()| true)
    };
    let outcome = loop {
        match answer_next() {
            Ok(true) => {}
            ended => break ended.map(drop).map_err(while_doing("cannot speak with whoever imports")),
        }
    };
    backstage.close();
    outcome
}

/// Redact standard input; returns the exit code, and whether the last word could be said.
fn redact(request: &Redaction) -> (u8, io::Result<()>) {
    let redactor = match redaction::redactor(request) {
        Ok(redactor) => redactor,
        Err(error) => return (USAGE, writeln!(io::stderr(), "{}", command::refusal(&error.to_string()))),
    };
    let mut output = io::BufWriter::new(io::stdout().lock());
    match redaction::copy(&redactor, request.lines, &mut io::stdin().lock(), &mut output) {
        Ok(summary) => (0, writeln!(io::stderr(), "{summary}")),
        Err(error) => {
            (ENVIRONMENT, writeln!(io::stderr(), "cannot copy standard input to standard output: {error}."))
        }
    }
}
