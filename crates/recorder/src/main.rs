//! `blackbird-recorder`: forwards model traffic unchanged and keeps a record of it.
//!
//! - [`command`]: what the command line asks for, decided without touching the outside world.
//! - [`redaction`]: copies a text with its secrets replaced by markers, and tells how many of each kind there were.

mod command;
mod redaction;

use std::io::{self, Write};
use std::process::ExitCode;

use command::{Answer, Redaction};

/// The exit code of a wrong command line.
const USAGE: u8 = 2;

/// The exit code when reading or writing fails.
const ENVIRONMENT: u8 = 3;

fn main() -> ExitCode {
    let (code, written) = match command::interpret(std::env::args_os()) {
        Answer::Show(text) => (0, io::stdout().write_all(text.as_bytes())),
        Answer::Redact(request) => redact(&request),
        Answer::Refuse(text) => (USAGE, writeln!(io::stderr(), "{text}")),
    };
    // Nobody is left to tell when even the message cannot be written; the exit code still can.
    ExitCode::from(if written.is_ok() { code } else { ENVIRONMENT })
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
