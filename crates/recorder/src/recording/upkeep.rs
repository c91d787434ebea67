//! The thread that looks after segments which are no longer written: seals them, and removes what has had its time;
//! and after what was left for the recorder while it did not answer.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::oneshot;
use trace::{Keeper, Plan, Retention};

use crate::config::Config;
use crate::log;
use crate::recording::intake::{Intake, Item, Step};
use crate::recording::orders::{Order, Reply};
use crate::recording::sealing;
use crate::tools::keeping;
use crate::tools::spool::Spool;

/// How often the thread looks whether there is something to do.
const ROUND: Duration = Duration::from_secs(2);

/// How often retention is applied.
const RETENTION_ROUND: Duration = Duration::from_secs(600);

/// Something that is asked of the thread.
pub(crate) enum Chore {
    /// Seal all that is closed; answers with what was sealed.
    Seal(Reply<Value>),
    /// Remove what has had its time, or only tell what would be removed.
    Clean { retention: Option<Retention>, dry_run: bool, reply: Reply<Value> },
    /// End the thread.
    Stop,
}

/// The thread's own view of its work.
struct Upkeep {
    keeper: Keeper,
    intake: Arc<Intake>,
    spool: Spool,
    retention: Retention,
    seals: bool,
    /// The recorder's configuration, for the process that seals.
    config: PathBuf,
    /// Below this number everything was sealed that can be.
    sealed_below: Cell<u64>,
}

/// Start the thread; it ends when it is told to.
pub(crate) fn start(
    config: &Config,
    keeper: Keeper,
    intake: Arc<Intake>,
) -> std::io::Result<(Sender<Chore>, JoinHandle<()>)> {
    let (sender, chores) = std::sync::mpsc::channel();
    let retention = Retention { days: config.trace.retention_days, max_bytes: config.trace.max_bytes };
    let upkeep = Upkeep {
        keeper,
        intake,
        spool: Spool::of(&config.home),
        retention,
        seals: config.trace.seal,
        config: config.path.clone(),
        sealed_below: Cell::new(0),
    };
    let thread = std::thread::Builder::new().name("upkeep".to_owned()).spawn(move || upkeep.run(&chores))?;
    Ok((sender, thread))
}

impl Upkeep {
    fn run(&self, chores: &Receiver<Chore>) {
        let mut next_retention = Instant::now() + ROUND;
        loop {
            self.empty_spool();
            match chores.recv_timeout(ROUND) {
                Ok(Chore::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                // Whoever asked and went away misses the answer, and nothing else.
                Ok(Chore::Seal(reply)) => drop(reply.send(self.seal_all())),
                Ok(Chore::Clean { retention, dry_run, reply }) => {
                    drop(reply.send(self.clean(
                        retention.as_ref().unwrap_or(&self.retention),
                        true,
                        dry_run,
                    )));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self.seals {
                        self.seal_new();
                    }
                    if Instant::now() >= next_retention && self.retention != Retention::default() {
                        next_retention = Instant::now() + RETENTION_ROUND;
                        self.apply_retention();
                    }
                }
            }
        }
    }

    /// Take in the events that hooks could not hand over. What cannot be written now is tried again later.
    fn empty_spool(&self) {
        match self.spool.take() {
            Ok(None) => {}
            Ok(Some(events)) => {
                let lines = events.split(|byte| *byte == b'\n').filter(|line| keeping::is_event(line));
                let taken = lines
                    .map(|line| self.ask(|reply| Order::ToolEvent { payload: line.to_vec(), reply }))
                    .collect::<Result<Vec<_>, _>>();
                let emptied = taken.and_then(|taken| {
                    self.spool.forget().map(|()| taken.len()).map_err(|error| error.to_string())
                });
                match emptied {
                    Ok(count) => {
                        log::info("events were taken out of the spool", &[("events", &count.to_string())]);
                    }
                    Err(error) => log::warn("the spool could not be emptied", &[("error", &error)]),
                }
            }
            Err(error) => log::warn("the spool could not be read", &[("error", &error.to_string())]),
        }
    }

    /// Seal what was closed since the last time.
    fn seal_new(&self) {
        let sealed = self.closed_below().and_then(|below| {
            if below <= self.sealed_below.get() {
                return Ok(Vec::new());
            }
            self.seal(below)
        });
        match sealed {
            Ok(sealed) => {
                for segment in sealed {
                    log::info("a segment was sealed", &[("segment", &segment.to_string())]);
                }
            }
            Err(error) => log::warn("a segment could not be sealed", &[("error", &error)]),
        }
    }

    fn seal(&self, below: u64) -> Result<Vec<Value>, String> {
        // What is refused now will be refused again: it is not tried every other second.
        self.sealed_below.set(below);
        sealing::start(&self.config, below)
    }

    fn seal_all(&self) -> Result<Value, String> {
        let sealed = self.seal(self.closed_below()?)?;
        Ok(json!({"ok": true, "sealed": sealed}))
    }

    fn apply_retention(&self) {
        match self.clean(&self.retention, false, false) {
            Ok(answer) if answer["removed"].as_array().is_some_and(|removed| !removed.is_empty()) => {
                log::info("segments were removed", &[("removed", &answer["removed"].to_string())]);
            }
            Ok(_) => {}
            Err(error) => log::warn("retention could not be applied", &[("error", &error)]),
        }
    }

    fn clean(&self, retention: &Retention, by_hand: bool, dry_run: bool) -> Result<Value, String> {
        let pins = self.keeper.pins().map_err(|error| error.to_string())?;
        let below = self.closed_below()?;
        let plan = self.keeper.plan(below, retention, &pins).map_err(|error| error.to_string())?;
        let plan = if by_hand { plan.by_hand() } else { plan };
        let answer = tell(&plan, dry_run);
        if !dry_run && !plan.remove.is_empty() {
            // What is removed is on record before it goes.
            self.ask(|reply| Order::Removal { plan: Box::new(plan.clone()), reply })?;
            self.keeper.remove(&plan).map_err(|error| error.to_string())?;
        }
        Ok(answer)
    }

    fn closed_below(&self) -> Result<u64, String> {
        self.ask(Order::Closed)
    }

    fn ask<T>(&self, order: impl FnOnce(Reply<T>) -> Order) -> Result<T, String> {
        ask_blocking(&self.intake, order)
    }
}

/// Give the recording thread an order and wait for its answer; not for threads that forward.
pub(crate) fn ask_blocking<T>(intake: &Intake, order: impl FnOnce(Reply<T>) -> Order) -> Result<T, String> {
    let (reply, answer) = oneshot::channel();
    intake.push(Item { exchange: 0, at: 0, step: Step::Order(order(reply)) });
    answer.blocking_recv().unwrap_or_else(|_| Err("the recorder is stopping".to_owned()))
}

fn tell(plan: &Plan, dry_run: bool) -> Value {
    let removed: Vec<Value> = plan
        .remove
        .iter()
        .map(|removal| {
            json!({
                "segment": removal.segment,
                "bytes": removal.bytes,
                "requests": removal.requests,
                "reason": removal.reason.name(),
            })
        })
        .collect();
    let kept: Vec<Value> = plan
        .kept_by_pin
        .iter()
        .map(|kept| json!({"segment": kept.segment, "bytes": kept.bytes, "pins": kept.pins}))
        .collect();
    json!({"ok": true, "removed": removed, "kept_by_pin": kept, "dry_run": dry_run})
}
