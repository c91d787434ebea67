//! `blackbird-recorder`: forwards model traffic unchanged and keeps a record of it.
//!
//! - [`command`]: what the command line asks for, decided without touching the outside world.

mod command;

use std::io::Write;
use std::process::ExitCode;

use command::Answer;

fn main() -> ExitCode {
    let (code, written) = match command::interpret(std::env::args_os()) {
        Answer::Show(text) => (0, std::io::stdout().write_all(text.as_bytes())),
        Answer::Refuse(text) => (2, writeln!(std::io::stderr(), "{text}")),
    };
    // Nobody is left to tell when even the message cannot be written; the exit code still can.
    ExitCode::from(if written.is_ok() { code } else { 3 })
}
