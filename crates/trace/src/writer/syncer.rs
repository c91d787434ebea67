//! The syncer: waits for the disk on its own thread, and publishes how far the trace is safe.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use wal::synced::Synced;

use crate::clock::Clock;
use crate::disk::{Disk, File};
use crate::options::{Persist, Stats};

/// Something to be synced.
pub(crate) struct Job {
    /// The segment's file.
    pub(crate) file: Arc<dyn File>,
    /// What is safe once it is done.
    pub(crate) upto: Synced,
    /// Whether the file's name may not be on the disk yet.
    pub(crate) is_new: bool,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    is_urgent: bool,
    is_busy: bool,
    is_stopping: bool,
    synced: Synced,
    /// The segment whose file must never be synced again: the disk forgets what it could not write.
    failed: Option<u64>,
    cell: Option<Arc<dyn File>>,
    syncs: u64,
    sum_us: u64,
    max_us: u64,
    failures: u64,
    last_error: Option<String>,
}

struct Shared {
    disk: Arc<dyn Disk>,
    clock: Arc<dyn Clock>,
    folder: PathBuf,
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wait for the disk, then publish.
    fn perform(&self, job: &Job) {
        if self.state().failed == Some(job.upto.segment) {
            return;
        }
        let begun = self.clock.monotonic();
        let outcome = job
            .file
            .sync()
            .and_then(|()| if job.is_new { self.disk.sync_folder(&self.folder) } else { Ok(()) });
        let took_us = self.clock.monotonic().saturating_sub(begun) / 1000;
        let mut state = self.state();
        if let Err(error) = outcome {
            state.failed = Some(job.upto.segment);
            state.failures += 1;
            state.last_error = Some(format!(
                "segment {} could not be synced after record {}: {error}; the rest of it may not survive a power cut",
                job.upto.segment, state.synced.sequence
            ));
            return;
        }
        state.syncs += 1;
        state.sum_us += took_us;
        state.max_us = state.max_us.max(took_us);
        state.synced = job.upto;
        let cell = state.cell.clone();
        drop(state);
        if let Some(Err(error)) = cell.map(|cell| cell.overwrite(&job.upto.encode())) {
            self.state().last_error = Some(format!("the file `synced` could not be written: {error}"));
        }
    }

    /// The life of the thread: wait for something, let more of it gather, sync it.
    fn run(&self, interval: Duration) {
        let mut state = self.state();
        loop {
            while state.queue.is_empty() && !state.is_stopping {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let due = Instant::now() + interval;
            while !state.is_urgent && !state.is_stopping {
                let Some(left) = due.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
                else {
                    break;
                };
                state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            }
            if state.is_stopping {
                return;
            }
            state.is_busy = true;
            let jobs = std::mem::take(&mut state.queue);
            drop(state);
            for job in &jobs {
                self.perform(job);
            }
            state = self.state();
            state.is_busy = false;
            state.is_urgent = state.is_urgent && !state.queue.is_empty();
            self.changed.notify_all();
        }
    }
}

/// Syncs as the promise asks: at intervals on a thread, at once, or never.
pub(crate) struct Syncer {
    shared: Arc<Shared>,
    persist: Persist,
    thread: Option<JoinHandle<()>>,
}

impl Syncer {
    /// Begin where the trace is known to be safe up to `synced`.
    pub(crate) fn start(
        disk: Arc<dyn Disk>,
        clock: Arc<dyn Clock>,
        folder: PathBuf,
        persist: Persist,
        synced: Synced,
        cell: Option<Arc<dyn File>>,
    ) -> io::Result<Self> {
        let state = Mutex::new(State { synced, cell, ..State::default() });
        let shared = Arc::new(Shared { disk, clock, folder, state, changed: Condvar::new() });
        let thread = match persist {
            Persist::Grouped(interval) => {
                let shared = Arc::clone(&shared);
                Some(Builder::new().name("trace-sync".to_owned()).spawn(move || shared.run(interval))?)
            }
            Persist::Written | Persist::Each => None,
        };
        Ok(Self { shared, persist, thread })
    }

    /// See to it that `job` is synced as promised.
    pub(crate) fn post(&self, job: Job) {
        match self.persist {
            Persist::Written => {}
            Persist::Each => self.shared.perform(&job),
            Persist::Grouped(_) => {
                let mut state = self.shared.state();
                match state.queue.back_mut().filter(|last| last.upto.segment == job.upto.segment) {
                    Some(last) => last.upto = job.upto,
                    None => state.queue.push_back(job),
                }
                self.shared.changed.notify_all();
            }
        }
    }

    /// Wait until all that was posted is synced, or was found to be impossible.
    pub(crate) fn settle(&self) {
        if self.thread.is_none() {
            return;
        }
        let mut state = self.shared.state();
        while !state.queue.is_empty() || state.is_busy {
            state.is_urgent = true;
            self.shared.changed.notify_all();
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether the file of this segment could not be synced.
    pub(crate) fn has_failed(&self, segment: u64) -> bool {
        self.shared.state().failed == Some(segment)
    }

    /// Whether the names in the folder are known to be on the disk with this segment among them.
    pub(crate) fn has_synced(&self, segment: u64) -> bool {
        self.shared.state().synced.segment == segment
    }

    /// Publish in another file from now on, since the folder was made anew.
    pub(crate) fn publish_in(&self, cell: Arc<dyn File>) {
        self.shared.state().cell = Some(cell);
    }

    /// How far the trace is safe.
    pub(crate) fn synced(&self) -> Synced {
        self.shared.state().synced
    }

    /// Note something that went wrong.
    pub(crate) fn report(&self, error: String) {
        self.shared.state().last_error = Some(error);
    }

    /// Fill in what the syncer knows.
    pub(crate) fn add_to(&self, stats: &mut Stats) {
        let known = self.shared.state();
        stats.syncs = known.syncs;
        stats.sync_sum_us = known.sum_us;
        stats.sync_max_us = known.max_us;
        stats.sync_failures = known.failures;
        stats.last_error.clone_from(&known.last_error);
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.shared.state().is_stopping = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to sync; the segment stays as it is.
            let _ = thread.join();
        }
    }
}
