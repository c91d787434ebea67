//! An event on its way: to the recorder over the control socket, or into the spool if it does not answer.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use redact::Redactor;
use scribe::event::Mode;
use serde::Deserialize;
use serde_json::{Value, json};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::config;
use crate::recording::desk::settings;
use crate::tools::keeping;
use crate::tools::spool::Spool;

/// How long a recorder that is there may take, if nobody waits for the one who asks.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest answer that is read.
const LONGEST_ANSWER: u64 = 64 << 10;

/// What has to be known of a recorder, whether it runs or not.
#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    home: PathBuf,
    control_socket: PathBuf,
    mode: Mode,
    redaction: config::Redaction,
    /// Whether hooks are wanted at all.
    #[serde(default = "wanted")]
    hooks: bool,
}

fn wanted() -> bool {
    true
}

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The recorder has it.
    Traced,
    /// It waits for a recorder.
    Spooled,
    /// It is no event, or cannot be kept.
    Lost,
}

impl Target {
    /// Read what is needed of a recorder's configuration; without it nobody knows what may be kept.
    pub(crate) fn load(path: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }

    /// Whether what clients say is wanted at all.
    pub(crate) fn takes_hooks(&self) -> bool {
        self.hooks
    }

    /// Hand an event to the recorder, if it answers in time; whether it did.
    pub(crate) fn offer(&self, event: &[u8], patience: Duration) -> bool {
        self.ask(event, patience).is_ok_and(|answer| answer["ok"] == true)
    }

    /// Hand an event to the recorder, or keep it for the next one.
    pub(crate) fn deliver(&self, event: &[u8]) -> Fate {
        if !keeping::is_event(event) {
            return Fate::Lost;
        }
        if self.offer(event, PATIENCE) {
            return Fate::Traced;
        }
        // Opened first: to make the rules ready takes a processor some time, and of many that wait for the lock only one
        // takes it from the agent.
        let Ok(mut place) = Spool::of(&self.home).open() else { return Fate::Lost };
        let Ok(redactor) = Redactor::from_settings(&settings(&self.redaction)) else { return Fate::Lost };
        let (kept, _) = keeping::keep(event, &redactor, self.mode);
        if place.add(&kept).is_ok() { Fate::Spooled } else { Fate::Lost }
    }

    fn ask(&self, event: &[u8], patience: Duration) -> io::Result<Value> {
        let end = Instant::now() + patience;
        let mut stream = self.connect()?;
        let payload = String::from_utf8_lossy(event);
        let mut line = json!({"op": "append", "type": "tool.event", "payload": payload}).to_string();
        line.push('\n');
        stream.set_write_timeout(Some(patience))?;
        stream.write_all(line.as_bytes())?;
        let left = end.saturating_duration_since(Instant::now()).max(Duration::from_micros(100));
        stream.set_read_timeout(Some(left))?;
        let mut answer = String::new();
        BufReader::new(stream.take(LONGEST_ANSWER)).read_line(&mut answer)?;
        serde_json::from_str(&answer).map_err(io::Error::other)
    }

    /// A connection, or at once the reason why there is none: where many wait already, one more does not.
    fn connect(&self) -> io::Result<UnixStream> {
        let folder = self.control_socket.parent().ok_or(io::ErrorKind::NotFound)?.symlink_metadata()?;
        if folder.uid() != rustix::process::getuid().as_raw() || folder.mode() & 0o077 != 0 {
            // Somebody else may have put a socket there.
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        socket.connect(&SockAddr::unix(&self.control_socket)?)?;
        socket.set_nonblocking(false)?;
        Ok(socket.into())
    }
}

/// Deliver the event on standard input, and say what became of it.
pub(crate) fn run(path: &Path) -> (Value, bool) {
    // Whoever started this ends, and what is sent to its group is not for us. Only a leader of a group cannot leave.
    let _ = rustix::process::setsid();
    let mut event = Vec::new();
    let read = io::stdin().lock().take(crate::serving::control::LONGEST_LINE).read_to_end(&mut event);
    let fate = match (read, Target::load(path)) {
        (Ok(_), Some(target)) => target.deliver(&event),
        _ => Fate::Lost,
    };
    let kept = match fate {
        Fate::Traced => Some("trace"),
        Fate::Spooled => Some("spool"),
        Fate::Lost => None,
    };
    (json!({"ok": kept.is_some(), "kept": kept}), kept.is_some())
}
