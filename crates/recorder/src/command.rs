//! What the command line asks for, decided without touching the outside world.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use wal::signature::FORMAT_VERSION;

/// The Blackbird recorder.
///
/// Forwards what agents say to their models, and what these answer, byte for byte, and keeps a redacted record of it.
/// 'blackbird up' starts it with a configuration of its own.
#[derive(Parser)]
#[command(name = "blackbird-recorder", version = version(), arg_required_else_help = false)]
struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    Serve(Configured),
    #[command(hide = true)]
    Worker(Worker),
    #[command(hide = true)]
    Seal(Sealing),
    Maintain(Maintenance),
    Import(Importing),
    Ca(Ca),
    Hook(Hook),
    #[command(hide = true)]
    Deliver(Delivery),
    Dump(Dump),
    Redact(Redaction),
}

/// Seal what is closed, in a process whose memory is its own; one line of JSON for each segment.
#[derive(Args, Debug, PartialEq, Eq)]
pub(crate) struct Sealing {
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Segments from this number on are left alone
    #[arg(long)]
    pub(crate) below: u64,
}

/// Listen, and record until told to stop (SIGTERM, or 'blackbird down').
///
/// Prints one line of JSON once it accepts connections; its log goes to standard error.
#[derive(Args, Debug, PartialEq, Eq)]
pub(crate) struct Configured {
    /// The resolved configuration, as 'blackbird up' writes it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
}

/// The recorder behind a supervisor; the listening socket is its standard input.
#[derive(Args, Debug, PartialEq, Eq)]
pub(crate) struct Worker {
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    #[arg(long, default_value_t = 0)]
    pub(crate) restarts: u64,
}

/// Do what the control socket offers (seal, clean, pin, unpin, event, rotate) while no recorder runs.
///
/// Prints the answer as one line of JSON.
#[derive(Args, Debug, PartialEq, Eq)]
pub(crate) struct Maintenance {
    /// The resolved configuration, as 'blackbird up' writes it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// What to do
    #[arg(value_name = "OPERATION")]
    pub(crate) operation: String,
    /// Its arguments, a JSON object
    #[arg(value_name = "JSON", default_value = "{}")]
    pub(crate) arguments: String,
}

/// Take lines of agents' own logs into the trace while no recorder runs.
///
/// Speaks as the control socket does: reads operations from standard input, one JSON object a line, and prints the
/// answer to each as one.
#[derive(Args, Debug, PartialEq, Eq)]
pub(crate) struct Importing {
    /// The resolved configuration, as 'blackbird up' writes it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
}

/// Make the private CA for the hosts that are recorded, or issue it anew if it is time or the hosts changed.
///
/// Prints one line of JSON: where its certificate is, for which hosts and how long it is good, and what was done.
#[derive(Args, Debug, PartialEq, Eq)]
pub(crate) struct Ca {
    /// The resolved configuration, as 'blackbird up' writes it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Make a new key, too; whoever trusts the old certificate has to be given the new one
    #[arg(long)]
    pub(crate) renew: bool,
}

/// Take the JSON of a client's hook from standard input into the trace.
///
/// 'blackbird run' has clients start it for each tool call. It prints nothing, its exit code is always 0, and it waits
/// for a recorder no longer than a few milliseconds: what that does not take is kept for it in the spool.
#[derive(Args, Debug, PartialEq, Eq)]
pub(crate) struct Hook {
    /// The resolved configuration, as 'blackbird up' writes it; that of the usual home if left out
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Which client it is
    #[arg(long, value_name = "NAME")]
    pub(crate) client: Option<String>,
}

/// Hand the event on standard input to the recorder, or keep it in the spool; says which, as one line of JSON.
#[derive(Args, Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
}

/// Print a segment or seal of a trace as lines of JSON: its records, its damage, its root.
#[derive(Args, Debug, PartialEq, Eq)]
pub(crate) struct Dump {
    /// A file such as 00000001.wal or 00000001.seal
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// Copy standard input to standard output with its secrets replaced by markers.
///
/// How many secrets of each kind there were is told on standard error.
#[derive(Args, Debug, PartialEq, Eq)]
pub(crate) struct Redaction {
    /// Switch a class of rules off; may be given more than once
    #[arg(long, value_name = "CLASS")]
    pub(crate) off: Vec<String>,
    /// Switch off what a use has no need of, such as "wire" for recorded traffic
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Treat each line as a text of its own
    #[arg(long)]
    pub(crate) lines: bool,
}

/// What the program does in reply to a command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Print the text on standard output; exit code 0.
    Show(String),
    /// Hold the socket and keep a recorder running.
    Serve(Configured),
    /// Be the recorder.
    Work(Worker),
    /// Seal segments on behalf of a recorder.
    Seal(Sealing),
    /// Look after the trace without a recorder.
    Maintain(Maintenance),
    /// Take in agents' logs without a recorder.
    Import(Importing),
    /// Have a private CA.
    Ca(Ca),
    /// Take what a client's hook says.
    Hook(Hook),
    /// Hand an event on, or keep it for later.
    Deliver(Delivery),
    /// Show a segment.
    Dump(Dump),
    /// Redact standard input.
    Redact(Redaction),
    /// Print the one-sentence text on standard error; exit code 2.
    Refuse(String),
}

/// Decide the answer to a command line, whose first word is the program's own name.
pub(crate) fn interpret(words: impl IntoIterator<Item = OsString>) -> Answer {
    let reason = match Arguments::try_parse_from(words) {
        Ok(Arguments { action: Some(action) }) => return action.into(),
        Ok(Arguments { action: None }) => "nothing was asked for".to_owned(),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => return Answer::Show(error.to_string()),
            _ => first_sentence(&error),
        },
    };
    Answer::Refuse(refusal(&reason))
}

impl From<Action> for Answer {
    fn from(action: Action) -> Self {
        match action {
            Action::Serve(configured) => Self::Serve(configured),
            Action::Worker(worker) => Self::Work(worker),
            Action::Seal(sealing) => Self::Seal(sealing),
            Action::Maintain(maintenance) => Self::Maintain(maintenance),
            Action::Import(importing) => Self::Import(importing),
            Action::Ca(asked) => Self::Ca(asked),
            Action::Hook(hook) => Self::Hook(hook),
            Action::Deliver(delivery) => Self::Deliver(delivery),
            Action::Dump(dump) => Self::Dump(dump),
            Action::Redact(redaction) => Self::Redact(redaction),
        }
    }
}

/// The one sentence that a refused command line is answered with.
pub(crate) fn refusal(reason: &str) -> String {
    format!("{reason}; run 'blackbird-recorder --help' to see what it does.")
}

/// clap explains itself over several lines, of which the first names the problem.
fn first_sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// The program's version and that of the log format it writes, which is what a reader has to know.
fn version() -> String {
    format!("{} (wal/{FORMAT_VERSION})", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(words: &[&str]) -> Answer {
        interpret(std::iter::once("blackbird-recorder").chain(words.iter().copied()).map(OsString::from))
    }

    #[test]
    fn definition_is_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    #[test]
    fn version_names_the_program_and_the_format() {
        let expected = format!("blackbird-recorder {} (wal/1)\n", env!("CARGO_PKG_VERSION"));
        assert_eq!(answer(&["--version"]), Answer::Show(expected));
    }

    #[test]
    fn help_is_shown_not_refused() {
        let Answer::Show(text) = answer(&["--help"]) else { panic!("--help was refused") };
        assert!(text.contains("Usage: blackbird-recorder"), "{text}");
    }

    #[test]
    fn redact_takes_classes_a_profile_and_lines() {
        let plain = Redaction { off: vec![], profile: None, lines: false };
        assert_eq!(answer(&["redact"]), Answer::Redact(plain));
        let all = Redaction {
            off: vec!["keys".to_owned(), "entropy".to_owned()],
            profile: Some("wire".to_owned()),
            lines: true,
        };
        let words = ["redact", "--off", "keys", "--off", "entropy", "--profile", "wire", "--lines"];
        assert_eq!(answer(&words), Answer::Redact(all));
    }

    #[test]
    fn serving_needs_a_configuration() {
        let configured = Configured { config: "a.json".into() };
        assert_eq!(answer(&["serve", "--config", "a.json"]), Answer::Serve(configured));
        let Answer::Refuse(text) = answer(&["serve"]) else { panic!("serve without a configuration") };
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn importing_needs_a_configuration() {
        let importing = Importing { config: "a.json".into() };
        assert_eq!(answer(&["import", "--config", "a.json"]), Answer::Import(importing));
        let Answer::Refuse(text) = answer(&["import"]) else { panic!("import without a configuration") };
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn a_ca_is_kept_unless_it_is_to_be_renewed() {
        let kept = Ca { config: "a.json".into(), renew: false };
        assert_eq!(answer(&["ca", "--config", "a.json"]), Answer::Ca(kept));
        let renewed = Ca { config: "a.json".into(), renew: true };
        assert_eq!(answer(&["ca", "--config", "a.json", "--renew"]), Answer::Ca(renewed));
    }

    #[test]
    fn a_hook_may_name_its_client() {
        let hook = Hook { config: Some("a.json".into()), client: Some("codex".to_owned()) };
        assert_eq!(answer(&["hook", "--config", "a.json", "--client", "codex"]), Answer::Hook(hook));
    }

    #[test]
    fn redact_takes_no_files() {
        let Answer::Refuse(text) = answer(&["redact", "file"]) else { panic!("a file was accepted") };
        assert!(text.contains("'file'"), "{text}");
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn no_arguments_are_refused_in_one_line() {
        let Answer::Refuse(text) = answer(&[]) else { panic!("an empty command line was accepted") };
        assert!(text.starts_with("nothing was asked for"), "{text}");
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn an_unknown_word_is_named_in_one_line() {
        let Answer::Refuse(text) = answer(&["--listen"]) else { panic!("--listen was accepted") };
        assert!(text.contains("'--listen'"), "{text}");
        assert_eq!(text.lines().count(), 1);
    }
}
