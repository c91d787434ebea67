//! The thread that looks after segments which are no longer written: seals them, and removes what has had its time.

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

/// How often the thread looks whether there is something to do.
const ROUND: Duration = Duration::from_secs(2);

/// How often retention is applied.
const RETENTION_ROUND: Duration = Duration::from_secs(600);

/// How much the thread yields to the others: sealing can wait, forwarding cannot.
const NICENESS: i32 = 10;

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
    retention: Retention,
    seals: bool,
}

/// Start the thread; it ends when it is told to.
pub(crate) fn start(
    config: &Config,
    keeper: Keeper,
    intake: Arc<Intake>,
) -> std::io::Result<(Sender<Chore>, JoinHandle<()>)> {
    let (sender, chores) = std::sync::mpsc::channel();
    let retention = Retention { days: config.trace.retention_days, max_bytes: config.trace.max_bytes };
    let upkeep = Upkeep { keeper, intake, retention, seals: config.trace.seal };
    let thread = std::thread::Builder::new().name("upkeep".to_owned()).spawn(move || upkeep.run(&chores))?;
    Ok((sender, thread))
}

impl Upkeep {
    fn run(&self, chores: &Receiver<Chore>) {
        // On Linux this is for the calling thread alone; where it is for all, it does no harm.
        if let Err(error) = rustix::process::nice(NICENESS) {
            log::debug("upkeep keeps its priority", &[("error", &error.to_string())]);
        }
        let mut next_retention = Instant::now() + ROUND;
        loop {
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
                        self.seal_one();
                    }
                    if Instant::now() >= next_retention && self.retention != Retention::default() {
                        next_retention = Instant::now() + RETENTION_ROUND;
                        self.apply_retention();
                    }
                }
            }
        }
    }

    fn seal_one(&self) {
        let sealed = self
            .closed_below()
            .and_then(|below| self.keeper.seal_next(below).map_err(|error| error.to_string()));
        match sealed {
            Ok(Some(sealing)) => log::info(
                "a segment was sealed",
                &[
                    ("segment", &sealing.segment.to_string()),
                    ("raw", &sealing.raw_bytes.to_string()),
                    ("sealed", &sealing.sealed_bytes.to_string()),
                ],
            ),
            Ok(None) => {}
            Err(error) => log::warn("a segment could not be sealed", &[("error", &error)]),
        }
    }

    fn seal_all(&self) -> Result<Value, String> {
        let below = self.closed_below()?;
        let mut sealed = Vec::new();
        while let Some(sealing) = self.keeper.seal_next(below).map_err(|error| error.to_string())? {
            sealed.push(
                json!({"segment": sealing.segment, "raw": sealing.raw_bytes, "sealed": sealing.sealed_bytes}),
            );
        }
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
