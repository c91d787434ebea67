//! The thread that owns the trace: takes what passed, has it redacted, and writes it.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use redact::{Redactor, Settings};
use scribe::event::{Event, Mode, What};
use scribe::{Entry, Policy, Scribe};
use trace::{Options, OsDisk, Persist, SystemClock, Writer};
use wal::ids::Id;

use crate::config::{self, Config};
use crate::log;
use crate::metrics::{Metrics, Recording, lock};
use crate::recording::intake::{Batch, Intake, Item, Step};
use crate::recording::lines::{Lines, NativeLine, Redactions};
use crate::recording::orders::{Imported, Order};
use crate::tools::keeping;
use crate::tools::known::Known;

/// How long nothing has to happen before the thread looks after age and clocks.
const IDLE: Duration = Duration::from_millis(500);

/// A failing disk fails with every write; people need not be told that often.
const BETWEEN_WARNINGS: Duration = Duration::from_secs(1);

/// More than this is written before the rest of a batch is looked at.
const LARGE_WRITE: usize = 1 << 20;

/// The profile of redaction that fits what passes on the wire.
const PROFILE: &str = "wire";

/// Why recording cannot begin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("{0}")]
    Trace(#[from] trace::OpenError),
    #[error("{0}")]
    Redaction(#[from] redact::SettingsError),
    #[error("the recording thread cannot be started: {0}")]
    Thread(io::Error),
    #[error("the key of this home, {path}, cannot be read or made: {error}")]
    Key { path: String, error: io::Error },
    #[error("the key of this home, {0}, does not have 32 bytes; move it away to have a new one made")]
    KeyLength(String),
}

/// The running thread and what is known of it.
pub(crate) struct Started {
    pub(crate) thread: JoinHandle<()>,
    pub(crate) instance: Id,
    pub(crate) policy: String,
}

/// Open the trace and start the thread. It ends when the intake is closed and empty.
pub(crate) fn start(
    config: &Config,
    intake: Arc<Intake>,
    metrics: Arc<Metrics>,
) -> Result<Started, StartError> {
    let redactor = Redactor::from_settings(&settings(&config.redaction))?;
    let policy = redactor.version().to_owned();
    let scribe = Scribe::new(Policy {
        redactor,
        mode: config.mode,
        keep_undecodable: config.keep_undecodable,
        decode_memory: config.decode_memory,
        decoded_limit: config.decoded_limit,
        hmac_key: load_key(&config.home.join("hmac.key"))?,
    });
    let options = Options {
        folder: config.trace_folder(),
        rotate_bytes: config.trace.rotate_bytes,
        rotate_age: Duration::from_secs(config.trace.rotate_seconds),
        persist: match config.trace.persist {
            config::Persist::Written => Persist::Written,
            config::Persist::Grouped => Persist::Grouped(Duration::from_millis(config.trace.sync_ms)),
            config::Persist::Each => Persist::Each,
        },
        policy: policy.clone(),
        checkpoint_bytes: 16 << 20,
    };
    let writer = Writer::open(options, Arc::new(OsDisk), Arc::new(SystemClock::new()))?;
    let instance = writer.instance();
    let desk = Desk {
        scribe,
        lines: Lines::default(),
        mode: config.mode,
        known: Known::default(),
        writer,
        metrics,
        records: 0,
        recording: true,
        written: 0,
        sync_failures: 0,
        told: None,
    };
    let thread = std::thread::Builder::new().name("recording".to_owned()).spawn(move || {
        let _watch = AbortOnPanic;
        desk.run(&intake);
    });
    Ok(Started { thread: thread.map_err(StartError::Thread)?, instance, policy })
}

/// What the configuration says of redaction, for what passes on the wire.
pub(crate) fn settings(redaction: &config::Redaction) -> Settings {
    Settings {
        ruleset_version: redaction.ruleset_version.clone(),
        off: redaction.off.clone(),
        on: redaction.on.clone(),
        allow: redaction.allow.clone(),
        rules_toml: redaction.rules.clone(),
        profile: Some(PROFILE.to_owned()),
    }
}

/// The key that bodies are fingerprinted with, made on first use.
fn load_key(path: &Path) -> Result<[u8; 32], StartError> {
    let failed = |error| StartError::Key { path: path.display().to_string(), error };
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut key = [0; 32];
            getrandom::fill(&mut key).map_err(|error| failed(io::Error::other(error)))?;
            crate::files::create(path, &key).map_err(failed)?;
            return Ok(key);
        }
        Err(error) => return Err(failed(error)),
    };
    bytes.try_into().map_err(|_| StartError::KeyLength(path.display().to_string()))
}

/// A process that forwards and no longer records would be a lie; the supervisor starts a new one.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

/// Where records are made and written.
struct Desk {
    scribe: Scribe,
    lines: Lines,
    mode: Mode,
    known: Known,
    writer: Writer,
    metrics: Arc<Metrics>,
    records: u64,
    /// Whether what was last to be written was.
    recording: bool,
    written: u64,
    sync_failures: u64,
    /// When a loss was last told.
    told: Option<Instant>,
}

impl Desk {
    fn run(mut self, intake: &Intake) {
        let mut batch = Batch::default();
        self.publish();
        while intake.take(&mut batch, IDLE) {
            let idle = batch.items.is_empty();
            self.work_through(&mut batch);
            if idle {
                // Rotation by age and checkpoints of clocks are due even if nothing happens.
                let ticked = self.writer.tick();
                self.heed(ticked);
            }
            self.flush();
            self.publish();
            batch.clear();
        }
        self.publish();
        if let Err(lost) = self.writer.close() {
            tell(&lost);
        }
    }

    fn work_through(&mut self, batch: &mut Batch) {
        let mut at = 0;
        for item in batch.items.drain(..) {
            let Item { exchange, at: when, step } = item;
            let what = match &step {
                Step::Order(_) => None,
                Step::Open(opening) => Some(What::Open(opening)),
                Step::Sent => Some(What::RequestSent),
                Step::Head(head) => Some(What::ResponseHead(head)),
                Step::Close(closing) => Some(What::Close(closing)),
                Step::Dropped { cause, direction, bytes, chunks } => Some(What::Dropped {
                    cause: *cause,
                    direction: *direction,
                    bytes: *bytes,
                    chunks: *chunks,
                }),
                Step::Passed { direction, bytes } => {
                    Some(What::Passed { direction: *direction, bytes: *bytes })
                }
                Step::Body(direction, length) => {
                    let data = &batch.bytes[at..at + length];
                    at += length;
                    Some(match direction {
                        scribe::event::Direction::Request => What::RequestBody(data),
                        scribe::event::Direction::Response => What::ResponseBody(data),
                    })
                }
            };
            if let Some(what) = what {
                let (writer, records) = (&mut self.writer, &mut self.records);
                self.scribe.take(&Event { exchange, at: when, what }, &mut |entry: Entry<'_>| {
                    *records += 1;
                    writer.append(entry.kind, entry.flags, entry.monotonic, entry.request, entry.payload);
                });
                if self.writer.buffered() > LARGE_WRITE {
                    self.flush();
                }
            } else if let Step::Order(order) = step {
                self.obey(order);
            }
        }
    }

    fn obey(&mut self, order: Order) {
        // Whoever gave an order and went away misses the answer, and nothing else.
        match order {
            Order::State { kind, payload, reply } => {
                let (payload, redacted) = self.scribe.redact_text(&payload);
                let sequence = self.state(kind, &payload, redacted);
                let _ = reply.send(self.try_flush().map(|()| sequence));
            }
            Order::ToolEvent { payload, reply } => {
                let _ = reply.send(self.take_event(&payload));
            }
            Order::Import { source, lines, reply } => {
                let _ = reply.send(self.import(source, &lines));
            }
            Order::Rotate(reply) => {
                let rotated = self.writer.rotate();
                let _ = reply.send(rotated.map_err(|lost| lost.to_string()));
            }
            Order::Closed(reply) => {
                let _ = reply.send(Ok(self.writer.closed_below()));
            }
            Order::Removal { plan, reply } => {
                self.writer.restate(&plan.restate);
                let noted = self.writer.note_removed(&plan);
                let _ = reply.send(noted.map_err(|lost| lost.to_string()));
            }
        }
    }

    fn state(&mut self, kind: wal::record::Kind, payload: &[u8], redacted: bool) -> u64 {
        let flags = if redacted { wal::record::flags::REDACTED } else { 0 };
        self.records += 1;
        self.writer.append(kind, flags, trace::clock::monotonic(), Id::default(), payload)
    }

    /// An event that was taken before is not written again.
    fn take_event(&mut self, payload: &[u8]) -> Result<u64, String> {
        let id = keeping::id(payload);
        if let Some(sequence) = id.as_deref().and_then(|id| self.known.sequence(id)) {
            return Ok(sequence);
        }
        let (kept, redacted) = keeping::keep(payload, self.scribe.redactor(), self.mode);
        let sequence = self.state(wal::record::Kind::ToolEvent, &kept, redacted);
        self.try_flush()?;
        if let Some(id) = id {
            self.known.note(&id, sequence);
        }
        Ok(sequence)
    }

    fn import(&mut self, source: Id, lines: &[NativeLine]) -> Result<Option<Imported>, String> {
        if !self.lines.fits(source, lines) {
            return Ok(None);
        }
        let (mut redactions, mut sequence) = (Redactions::new(), self.writer.last_sequence());
        for line in lines {
            let (writer, records) = (&mut self.writer, &mut self.records);
            self.lines.take(self.scribe.redactor(), source, line, &mut redactions, &mut |flags, payload| {
                *records += 1;
                let now = trace::clock::monotonic();
                sequence = writer.append(wal::record::Kind::NativeLine, flags, now, source, payload);
            });
        }
        self.try_flush().map(|()| Some(Imported { sequence, redactions }))
    }

    fn flush(&mut self) {
        let flushed = self.writer.flush();
        self.heed(flushed);
    }

    fn try_flush(&mut self) -> Result<(), String> {
        let flushed = self.writer.flush();
        let outcome = flushed.as_ref().err().map_or(Ok(()), |lost| Err(lost.to_string()));
        self.heed(flushed);
        outcome
    }

    /// A loss is told, though not hundreds of times a second; the writer puts it on record as soon as it can.
    fn heed(&mut self, result: Result<(), trace::Lost>) {
        let stats = self.writer.stats();
        if let Err(lost) = result {
            self.recording = false;
            if self.told.is_none_or(|told| told.elapsed() > BETWEEN_WARNINGS) {
                self.told = Some(Instant::now());
                tell(&lost);
            }
        } else if stats.sync_failures > self.sync_failures {
            self.recording = false;
        } else if stats.bytes_written > self.written {
            self.recording = true;
        }
        self.sync_failures = stats.sync_failures;
        self.written = stats.bytes_written;
    }

    fn publish(&self) {
        let stats = self.writer.stats();
        let counters = self.scribe.counters();
        *lock(&self.metrics.recording) = Recording {
            is_working: self.recording,
            records: self.records,
            written_bytes: stats.bytes_written,
            writes: stats.write_calls,
            syncs: stats.syncs,
            sync_micros: stats.sync_sum_us,
            longest_sync_micros: stats.sync_max_us,
            lost_records: stats.lost_records,
            lost_bytes: stats.lost_bytes,
            last_sequence: self.writer.last_sequence(),
            synced_sequence: self.writer.synced().sequence,
            segment: self.writer.current_segment(),
            decode_memory: counters.decode_memory as u64,
            redactions: counters.redactions,
            gaps: counters.gaps,
            last_error: stats.last_error,
        };
    }
}

fn tell(lost: &trace::Lost) {
    let facts = [
        ("error", lost.error.as_str()),
        ("records", &lost.records.to_string()),
        ("first_sequence", &lost.first_sequence.to_string()),
        ("last_sequence", &lost.last_sequence.to_string()),
    ];
    log::warn("records could not be written and are lost; forwarding goes on", &facts);
}
