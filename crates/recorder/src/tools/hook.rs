//! `blackbird-recorder hook`: what clients start for each tool call. It may neither slow nor break them: it is quiet,
//! ends well whatever happens, and waits for nobody longer than a few milliseconds.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

use crate::command::Hook;
use crate::tools::delivery::Target;
use crate::tools::reading::{self, Surroundings};

/// How long a recorder may take to answer before the event is left to a process of its own.
const QUICK: Duration = Duration::from_millis(3);

/// How long a client may be silent before what it said so far has to do.
const SILENCE: Duration = Duration::from_millis(250);

/// How long it may take in all.
const LONGEST_READING: Duration = Duration::from_secs(5);

/// What is kept of what a client says; the rest is read, or else the client's writing would fail.
const LONGEST_INPUT: usize = 16 << 20;

const BLOCK: usize = 64 << 10;

/// Take one hook's JSON from standard input and hand it on.
pub(crate) fn run(asked: &Hook) {
    let (input, length) = read_input();
    if length == 0 {
        return;
    }
    let Some(config) = asked.config.clone().or_else(usual_config) else { return };
    let Some(target) = Target::load(&config).filter(Target::takes_hooks) else { return };
    let around = surroundings(asked.client.clone());
    let event = match serde_json::from_slice::<Value>(&input) {
        Ok(hook) if hook.is_object() => reading::read(&hook, &around),
        _ if length > input.len() as u64 => reading::unreadable(length, "the input is too long", &around),
        _ => reading::unreadable(length, "the input is no JSON object", &around),
    };
    let event = Value::Object(event).to_string();
    if !target.offer(event.as_bytes(), QUICK) {
        // If not even a process can be had, there is nobody left to tell.
        let _ = hand_over(&config, event.as_bytes());
    }
}

/// The configuration of the usual home, for hooks that a user has set up by hand.
fn usual_config() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = variable("BLACKBIRD_HOME").or_else(|| {
        let usual = |below: &str| variable("HOME").map(|home| home.join(below));
        let data = if cfg!(target_os = "macos") {
            usual("Library/Application Support")
        } else {
            variable("XDG_DATA_HOME").or_else(|| usual(".local/share"))
        };
        data.map(|folder| folder.join("blackbird"))
    })?;
    Some(home.join("run/recorder.json"))
}

/// What stands on standard input, as much as is of use, and how long it was.
fn read_input() -> (Vec<u8>, u64) {
    let mut stdin = io::stdin().lock();
    if io::IsTerminal::is_terminal(&stdin) {
        return (Vec::new(), 0);
    }
    let (mut input, mut block, mut length) = (Vec::new(), vec![0; BLOCK], 0);
    let end = Instant::now() + LONGEST_READING;
    while Instant::now() < end && is_ready(&stdin) {
        match stdin.read(&mut block) {
            Ok(0) | Err(_) => break,
            Ok(read) => {
                length += read as u64;
                let room = LONGEST_INPUT.saturating_sub(input.len()).min(read);
                input.extend_from_slice(&block[..room]);
            }
        }
    }
    (input, length)
}

fn is_ready(stdin: &io::StdinLock<'_>) -> bool {
    let patience = Timespec { tv_sec: 0, tv_nsec: i64::from(SILENCE.subsec_nanos()) };
    let mut watched = [PollFd::new(stdin, PollFlags::IN)];
    poll(&mut watched, Some(&patience)).is_ok_and(|ready| ready > 0)
}

fn surroundings(client: Option<String>) -> Surroundings {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let given = |name: &str| std::env::var(name).ok().filter(|id| !id.is_empty());
    Surroundings {
        id: ulid::Ulid::new().to_string(),
        at: i64::try_from(now.as_nanos()).unwrap_or(i64::MAX),
        client,
        session: given("BLACKBIRD_SESSION"),
        task: given("BLACKBIRD_TASK"),
        run: given("BLACKBIRD_RUN"),
    }
}

/// Leave the event to a process that nobody waits for: no stream of the client's is open in it.
fn hand_over(config: &Path, event: &[u8]) -> io::Result<()> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("deliver")
        .arg("--config")
        .arg(std::path::absolute(config)?)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .current_dir("/")
        .process_group(0)
        .spawn()?;
    child.stdin.take().map_or(Ok(()), |mut input| input.write_all(event))
}
