//! The control socket: what the owner of a recorder can ask of it, one JSON object a line.

use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{oneshot, watch};
use trace::Retention;
use wal::ids::Id;
use wal::record::Kind;

use crate::files;
use crate::forwarding::routes::{Upstream, is_id};
use crate::forwarding::runs::{Run, Runs};
use crate::log;
use crate::recording::intake::{Intake, Item, Step};
use crate::recording::lines::NativeLine;
use crate::recording::orders::{Order, Reply};
use crate::recording::upkeep::Chore;
use crate::serving::own::Facts;
use crate::serving::stop::Phase;
use crate::tools::keeping;

/// The longest line that is read: a line of an agent's own log may be long.
pub(crate) const LONGEST_LINE: u64 = 8 << 20;

/// The process that started this one; another takes its place when it dies.
pub(crate) fn parent() -> Option<u32> {
    rustix::process::getppid().and_then(|parent| u32::try_from(parent.as_raw_nonzero().get()).ok())
}

/// What every operation works with.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) intake: Arc<Intake>,
    pub(crate) upkeep: Sender<Chore>,
    pub(crate) runs: Arc<Runs>,
    pub(crate) runs_file: PathBuf,
    pub(crate) facts: Arc<Facts>,
    pub(crate) stop: watch::Sender<Phase>,
    pub(crate) listen: String,
    pub(crate) supervisor: Option<u32>,
    pub(crate) started: String,
    pub(crate) restarts: u64,
}

/// Why an operation is refused: code, message and remedy.
type Refusal = (&'static str, String, &'static str);

/// Listen where the owner alone can connect. A socket that a killed recorder left behind is replaced.
pub(crate) fn listen(path: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    // The folder is the owner's alone, so nobody came in before this.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Serve the socket for ever.
pub(crate) async fn serve(listener: UnixListener, desk: Desk) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(converse(stream, desk.clone()))),
            Err(error) => {
                log::warn("the control socket failed to accept", &[("error", &error.to_string())]);
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
        }
    }
}

async fn converse(stream: UnixStream, desk: Desk) {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let mut answer = desk.perform(&line).await.to_string();
        answer.push('\n');
        if writer.write_all(answer.as_bytes()).await.is_err() || !line.ends_with(b"\n") {
            return;
        }
    }
}

impl Desk {
    /// Do what a line asks for.
    pub(crate) async fn perform(&self, line: &[u8]) -> Value {
        let mut asked: Value = match serde_json::from_slice(line) {
            Ok(asked) => asked,
            Err(error) => {
                return refusal(&(
                    "malformed",
                    format!("this is no JSON object: {error}"),
                    "send one object a line",
                ));
            }
        };
        let done = match text(&asked, "op") {
            Some("status") => Ok(self.status()),
            Some("register") => self.register(&asked).await,
            Some("event") => self.event(&asked).await,
            Some("append") => self.append(&asked).await,
            Some("import") => self.import(&mut asked).await,
            Some("rotate") => self.order(Order::Rotate).await.map(|()| json!({"ok": true})),
            Some("seal") => self.seal().await,
            Some("clean") => self.clean(&asked).await,
            Some("pin") => self.pin("pin", &asked).await,
            Some("unpin") => self.pin("unpin", &asked).await,
            Some("stop") => {
                self.stop.send_replace(Phase::Draining);
                Ok(json!({"ok": true}))
            }
            _ => Err((
                "unknown_op",
                "there is no such operation".to_owned(),
                "see docs/recording.md for what there is",
            )),
        };
        done.unwrap_or_else(|refused| refusal(&refused))
    }

    fn status(&self) -> Value {
        let metrics = &self.facts.metrics;
        let recording = metrics.recording();
        let load =
            |counter: &std::sync::atomic::AtomicU64| counter.load(std::sync::atomic::Ordering::Relaxed);
        json!({
            "ok": true,
            "listen": self.listen,
            "pid": std::process::id(),
            "supervisor_pid": self.supervisor.filter(|supervisor| Some(*supervisor) == parent()),
            "version": self.facts.version,
            "instance": self.facts.instance,
            "started": self.started,
            "mode": self.facts.mode,
            "policy": self.facts.policy,
            "active_requests": load(&metrics.active),
            "requests": metrics.requests(),
            "queue_bytes": load(&metrics.queue_bytes),
            "dropped_chunks": load(&metrics.dropped_chunks),
            "dropped_bytes": load(&metrics.dropped_bytes),
            "synced_sequence": recording.synced_sequence,
            "last_sequence": recording.last_sequence,
            "segment": recording.segment,
            "recording": recording.is_working,
            "lost_records": recording.lost_records,
            "lost_bytes": recording.lost_bytes,
            "last_error": recording.last_error,
            "restarts": self.restarts,
        })
    }

    async fn register(&self, asked: &Value) -> Result<Value, Refusal> {
        let session = given_or_new(asked, "session", "sess_")?;
        let task = given_or_new(asked, "task", "task_")?;
        let run = given_or_new(asked, "run", "run_")?;
        let upstreams = upstreams(asked)?;
        let known = Run { session: session.clone(), task: task.clone(), upstreams: parse_all(&upstreams)? };
        if self
            .runs
            .get(&run)
            .is_some_and(|other| (other.session, other.task) != (session.clone(), task.clone()))
        {
            return Err((
                "taken",
                format!("the run {run} belongs to another task"),
                "leave the run out to get a new one",
            ));
        }
        let data = asked.get("data").cloned().unwrap_or_else(|| json!({}));
        self.state_event("run.start", [Some(&session), Some(&task), Some(&run)], &data).await?;
        remember(&self.runs_file, &run, &known, &upstreams).map_err(|error| {
            (
                "not_kept",
                format!("the run could not be kept: {error}"),
                "see that the home folder can be written",
            )
        })?;
        self.runs.register(run.clone(), known);
        Ok(json!({"ok": true, "session": session, "task": task, "run": run}))
    }

    async fn event(&self, asked: &Value) -> Result<Value, Refusal> {
        let name = text(asked, "event").filter(|name| is_id(name.as_bytes()));
        let name =
            name.ok_or(("bad_value", "event is missing or no name".to_owned(), "name what happened"))?;
        let ids = [id(asked, "session")?, id(asked, "task")?, id(asked, "run")?];
        let data = asked.get("data").cloned().unwrap_or_else(|| json!({}));
        let sequence = self.state_event(name, ids.each_ref().map(Option::as_ref), &data).await?;
        Ok(json!({"ok": true, "sequence": sequence}))
    }

    async fn append(&self, asked: &Value) -> Result<Value, Refusal> {
        let kind = match text(asked, "type") {
            Some("tool.event") => Kind::ToolEvent,
            Some("enrichment") => Kind::Enrichment,
            _ => {
                let remedy = "name tool.event or enrichment; import takes lines of an agent's log";
                return Err(("bad_value", "this type cannot be appended".to_owned(), remedy));
            }
        };
        let payload = text(asked, "payload").ok_or((
            "bad_value",
            "payload is missing".to_owned(),
            "send it as text",
        ))?;
        let payload = payload.as_bytes().to_vec();
        if kind == Kind::ToolEvent {
            return self.tool_event(payload).await;
        }
        let sequence = self.order(|reply| Order::State { kind, payload, reply }).await?;
        Ok(json!({"ok": true, "sequence": sequence}))
    }

    async fn tool_event(&self, payload: Vec<u8>) -> Result<Value, Refusal> {
        if !keeping::is_event(&payload) {
            let remedy = "send what the tool did as a JSON object";
            return Err(("bad_value", "the payload is no JSON object".to_owned(), remedy));
        }
        let sequence = self.order(|reply| Order::ToolEvent { payload, reply }).await?;
        Ok(json!({"ok": true, "sequence": sequence}))
    }

    async fn import(&self, asked: &mut Value) -> Result<Value, Refusal> {
        let source = text(asked, "source").and_then(|source| source.parse::<Id>().ok());
        let source = source.filter(|source| !source.is_zero()).ok_or((
            "bad_value",
            "source is missing or no id".to_owned(),
            "give the 26 characters of its id",
        ))?;
        let lines: Vec<NativeLine> = serde_json::from_value(asked["lines"].take()).map_err(|error| {
            let remedy = "give a list of objects with offset, length and text";
            ("bad_value", format!("these are no lines: {error}"), remedy)
        })?;
        let imported = self.order(|reply| Order::Import { source, lines, reply }).await?.ok_or((
            "bad_value",
            "a part of a line does not follow upon the one before it".to_owned(),
            "send the line again from its first part",
        ))?;
        Ok(json!({"ok": true, "sequence": imported.sequence, "redactions": imported.redactions}))
    }

    async fn pin(&self, event: &str, asked: &Value) -> Result<Value, Refusal> {
        let (session, run) = (id(asked, "session")?, id(asked, "run")?);
        if session.is_some() == run.is_some() {
            let remedy = "give session or run, and not both";
            return Err(("bad_value", format!("{event} names a session or a run"), remedy));
        }
        let sequence = self.state_event(event, [session.as_ref(), None, run.as_ref()], &json!({})).await?;
        Ok(json!({"ok": true, "sequence": sequence}))
    }

    async fn state_event(
        &self,
        event: &str,
        ids: [Option<&String>; 3],
        data: &Value,
    ) -> Result<u64, Refusal> {
        let [session, task, run] = ids;
        let policy = &self.facts.policy;
        let mode = self.facts.mode;
        let payload = json!({
            "event": event, "session": session, "task": task, "run": run, "policy": policy, "mode": mode, "data": data,
        });
        let payload = payload.to_string().into_bytes();
        self.order(|reply| Order::State { kind: Kind::HarnessEvent, payload, reply }).await
    }

    async fn seal(&self) -> Result<Value, Refusal> {
        self.order(Order::Rotate).await?;
        self.chore(Chore::Seal).await
    }

    async fn clean(&self, asked: &Value) -> Result<Value, Refusal> {
        let days = number(asked, "days")?;
        let days = days.map(|days| u32::try_from(days).unwrap_or(u32::MAX));
        let max_bytes = number(asked, "max_bytes")?;
        let retention = (days.is_some() || max_bytes.is_some()).then_some(Retention { days, max_bytes });
        let dry_run = asked.get("dry_run").and_then(Value::as_bool).unwrap_or(true);
        self.chore(|reply| Chore::Clean { retention, dry_run, reply }).await
    }

    /// Give the recording thread an order.
    async fn order<T>(&self, order: impl FnOnce(Reply<T>) -> Order) -> Result<T, Refusal> {
        let (reply, answer) = oneshot::channel();
        self.intake.push(Item { exchange: 0, at: 0, step: Step::Order(order(reply)) });
        outcome(answer.await)
    }

    async fn chore(&self, chore: impl FnOnce(Reply<Value>) -> Chore) -> Result<Value, Refusal> {
        let (reply, answer) = oneshot::channel();
        if self.upkeep.send(chore(reply)).is_err() {
            return Err(("stopping", "the recorder is stopping".to_owned(), "try again once it runs"));
        }
        outcome(answer.await)
    }
}

fn outcome<T>(answer: Result<Result<T, String>, oneshot::error::RecvError>) -> Result<T, Refusal> {
    match answer {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(("failed", error, "see the recorder's log and the state of the disk")),
        Err(_) => Err(("stopping", "the recorder is stopping".to_owned(), "try again once it runs")),
    }
}

fn refusal((code, message, remedy): &Refusal) -> Value {
    json!({"ok": false, "code": code, "message": message, "remedy": remedy})
}

fn text<'a>(asked: &'a Value, key: &str) -> Option<&'a str> {
    asked.get(key).and_then(Value::as_str)
}

fn number(asked: &Value, key: &str) -> Result<Option<u64>, Refusal> {
    match asked.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value
            .as_u64()
            .map(Some)
            .ok_or_else(|| ("bad_value", format!("{key} is no whole number"), "give a whole number or null")),
    }
}

/// An id that may be missing.
fn id(asked: &Value, key: &str) -> Result<Option<String>, Refusal> {
    match asked.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(word)) if is_id(word.as_bytes()) => Ok(Some(word.clone())),
        Some(_) => Err((
            "bad_value",
            format!("{key} is no id"),
            "ids have 1 to 64 letters, digits, dots, underscores and hyphens",
        )),
    }
}

fn given_or_new(asked: &Value, key: &str, prefix: &str) -> Result<String, Refusal> {
    Ok(id(asked, key)?.unwrap_or_else(|| format!("{prefix}{}", ulid::Ulid::new())))
}

/// The upstreams of a run's own, by name.
fn upstreams(asked: &Value) -> Result<Map<String, Value>, Refusal> {
    match asked.get("upstreams") {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(known)) => Ok(known.clone()),
        Some(_) => Err((
            "bad_value",
            "upstreams is no object".to_owned(),
            "give an object of names and URLs, or leave it out",
        )),
    }
}

/// The same, checked like those of the configuration.
fn parse_all(known: &Map<String, Value>) -> Result<Vec<Arc<Upstream>>, Refusal> {
    let parse = |(name, url): (&String, &Value)| {
        let bad = |cause: String| {
            let remedy = "name it as in a path, and give a URL such as https://host/path";
            ("bad_value", format!("the upstream {name:?} cannot be used: {cause}"), remedy)
        };
        if !is_id(name.as_bytes()) {
            return Err(bad("this is no name".to_owned()));
        }
        let url = url.as_str().ok_or_else(|| bad("its URL is no text".to_owned()))?;
        Upstream::parse(name, url).map(Arc::new).map_err(|error| bad(error.to_string()))
    };
    known.iter().map(parse).collect()
}

/// Keep a run for the recorder that comes after this one.
fn remember(path: &Path, id: &str, run: &Run, upstreams: &Map<String, Value>) -> io::Result<()> {
    let mut line = json!({"run": id, "session": run.session, "task": run.task});
    if !upstreams.is_empty() {
        line["upstreams"] = Value::Object(upstreams.clone());
    }
    files::append(path)?.write_all(format!("{line}\n").as_bytes())
}

/// The runs that were kept; a torn last line is none.
pub(crate) fn recall(path: &Path) -> io::Result<Runs> {
    let runs = Runs::default();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(runs),
        Err(error) => return Err(error),
    };
    for line in text.lines() {
        let Ok(kept) = serde_json::from_str::<Value>(line) else { continue };
        if let (Some(id), Some(session), Some(task)) =
            (text_of(&kept, "run"), text_of(&kept, "session"), text_of(&kept, "task"))
        {
            // What was kept was checked before.
            let upstreams = upstreams(&kept).and_then(|known| parse_all(&known)).unwrap_or_default();
            runs.register(id, Run { session, task, upstreams });
        }
    }
    Ok(runs)
}

fn text_of(value: &Value, key: &str) -> Option<String> {
    text(value, key).map(str::to_owned)
}
