//! An upstream and a load that are faster than what is measured between them.
//!
//! - [`upstream`]: answers with JSON of one size, or with a stream of events that carry the moment they were sent.
//! - [`drive`]: asks as many times as it can, or reads streams and measures how late each event is.
//! - [`wire`]: the little HTTP that both speak.

mod drive;
mod upstream;
mod wire;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "blackbird-bench-load")]
struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Answer: POST /json gives 2 KB, POST /sse?events=N&gap=MICROSECONDS gives a stream
    Upstream {
        #[arg(long)]
        listen: SocketAddr,
    },
    /// Load a target and print what was measured as one line of JSON
    Drive(drive::Load),
}

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let outcome = runtime.and_then(|runtime| match Arguments::parse().action {
        Action::Upstream { listen } => runtime.block_on(upstream::serve(listen)),
        Action::Drive(load) => {
            let report = runtime.block_on(tokio::task::LocalSet::new().run_until(drive::run(load)))?;
            writeln!(io::stdout(), "{report}")
        }
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell if this cannot be written.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}
