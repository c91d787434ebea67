//! The writer: records in, segments out, and a loss never hidden and never in the way.
//!
//! - `opening`, `recovery`: how a writer starts, and where a trace goes on that some recorder left.
//! - `active`, `succession`: the segment that is being written, and how the next one follows.
//! - `syncer`: waits for the disk, and says how far the trace is safe.
//! - `batch`, `loss`, `statements`, `identity`: encoded records, losses, checkpoints, fresh ids.

mod active;
mod batch;
mod identity;
mod loss;
mod opening;
mod recovery;
mod statements;
mod succession;
mod syncer;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use wal::ids::Id;
use wal::record::{Kind, MAX_PAYLOAD, Record, VERSION, encode};
use wal::synced::Synced;

use crate::clock::{Anchor, Clock, whole_microseconds};
use crate::disk::{Disk, Lock};
use crate::keeper::{Pins, Plan};
use crate::options::{Lost, OpenError, Options, Stats};

use active::Active;
use identity::Identity;
use loss::Loss;
use opening::Start;
use statements::{Occasion, checkpoint};
use succession::{Ending, Next};
use syncer::{Job, Syncer};

/// How far the two clocks may drift apart before they are anchored anew.
const CLOCK_DRIFT: Duration = Duration::from_secs(2);
/// How long the disk is left alone after it refused.
const PAUSE: Duration = Duration::from_millis(100);
/// How often an idle writer looks whether its folder is still there.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How much memory an empty buffer may keep.
const SPARE_BYTES: usize = 4 << 20;

/// The one that may write a trace. Nothing but opening it can fail for good: what cannot be written is counted, stated
/// in the trace as soon as that works again, and never waited for.
pub struct Writer {
    pub(crate) options: Options,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) lock: Box<dyn Lock>,
    pub(crate) identity: Identity,
    pub(crate) trace: Id,
    instance: Id,
    /// The sequence that the next record gets.
    sequence: u64,
    /// The last sequence that was written.
    pub(crate) written: u64,
    pub(crate) buffer: Vec<u8>,
    pub(crate) active: Option<Active>,
    pub(crate) next: Next,
    pub(crate) loss: Option<Loss>,
    /// When the disk may be asked again.
    pub(crate) retry_at: u64,
    looked_at: u64,
    pub(crate) syncer: Syncer,
    pub(crate) stats: Stats,
}

impl Writer {
    /// Take the lock, read where the trace goes on, and be ready. The first segment is made with the first record.
    ///
    /// # Errors
    ///
    /// If another process writes this trace, or the folder cannot be used.
    pub fn open(options: Options, disk: Arc<dyn Disk>, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        let Start { lock, mut identity, recovered, syncer } = opening::start(&options, &disk, &clock)?;
        let instance = identity.next(&*clock);
        let trace = recovered.trace.unwrap_or_else(|| identity.next(&*clock));
        let next = Next::after(recovered.next_number, identity.next(&*clock), recovered.previous_root);
        Ok(Self {
            options,
            lock,
            trace,
            instance,
            sequence: recovered.last_sequence + 1,
            written: recovered.last_sequence,
            buffer: Vec::new(),
            active: None,
            next,
            loss: None,
            retry_at: 0,
            looked_at: clock.monotonic(),
            identity,
            disk,
            clock,
            syncer,
            stats: Stats::default(),
        })
    }

    /// Add a record to the buffer; returns its sequence. `monotonic` is cut to whole microseconds.
    ///
    /// A body longer than a record takes is split, and the sequence of its last part returned. Anything else that long
    /// is lost, and a `gap` says so.
    pub fn append(&mut self, kind: Kind, flags: u16, monotonic: u64, request: Id, payload: &[u8]) -> u64 {
        if payload.len() <= MAX_PAYLOAD {
            return self.encode(kind, flags, monotonic, request, payload);
        }
        if matches!(kind, Kind::RequestBody | Kind::ResponseBody) {
            let parts = payload.chunks(MAX_PAYLOAD);
            return parts.map(|part| self.encode(kind, flags, monotonic, request, part)).last().unwrap_or(0);
        }
        let lost = self.take_sequence();
        let bytes = payload.len() as u64;
        let error = format!("a {} of {bytes} bytes is longer than a record takes", kind.name());
        self.stats.lost_records += 1;
        self.stats.lost_bytes += bytes;
        self.encode(Kind::Gap, 0, monotonic, request, &loss::gap(lost, lost, bytes, &error));
        lost
    }

    /// Hand the buffer to the operating system, and do what is due: a checkpoint, a rotation, a sync.
    ///
    /// # Errors
    ///
    /// If records are lost by this. The writer goes on: it starts another segment as soon as the disk takes one, with a
    /// `gap` that names what is missing.
    pub fn flush(&mut self) -> Result<(), Lost> {
        self.leave_unsyncable();
        self.write_out()?;
        let Some(active) = &self.active else { return Ok(()) };
        let now = Anchor::now(&*self.clock);
        let drift = now.wall.abs_diff(active.anchor.wall_at(now.monotonic));
        let age = now.monotonic.saturating_sub(active.begun);
        if active.end >= self.options.rotate_bytes || age >= nanoseconds(self.options.rotate_age) {
            self.finish(&Occasion::Rotation)
        } else if drift > nanoseconds(CLOCK_DRIFT) {
            self.checkpoint(&Occasion::Clock)
        } else if active.end - active.checkpoint_end >= self.options.checkpoint_bytes {
            self.checkpoint(&Occasion::Interval)
        } else {
            Ok(())
        }
    }

    /// What must be done even if nothing is recorded; to be called about every second.
    ///
    /// # Errors
    ///
    /// As [`Writer::flush`].
    pub fn tick(&mut self) -> Result<(), Lost> {
        let now = self.clock.monotonic();
        if now.saturating_sub(self.looked_at) >= nanoseconds(LOOK_EVERY) {
            self.looked_at = now;
            if self.active.is_some() && !self.lock.stands() {
                self.syncer.report(format!("{} was removed or replaced", self.options.folder.display()));
                self.leave(Ending::Broken);
            }
        }
        self.flush()
    }

    /// Close the segment, synced; the next record begins another.
    ///
    /// # Errors
    ///
    /// As [`Writer::flush`].
    pub fn rotate(&mut self) -> Result<(), Lost> {
        self.leave_unsyncable();
        self.write_out()?;
        self.finish(&Occasion::Rotation)
    }

    /// Wait until the disk has all that was flushed; at once if syncing is not promised.
    pub fn settle(&self) {
        self.syncer.settle();
    }

    /// Close the trace: the last checkpoint, synced, and the lock given back.
    ///
    /// # Errors
    ///
    /// As [`Writer::flush`].
    pub fn close(mut self) -> Result<(), Lost> {
        self.retry_at = 0;
        self.leave_unsyncable();
        self.write_out()?;
        self.finish(&Occasion::Stop)
    }

    /// State in the trace, synced, that the segments of `plan` will be removed. Nothing is stated of an empty plan.
    ///
    /// # Errors
    ///
    /// As [`Writer::flush`]; nothing may be removed then.
    pub fn note_removed(&mut self, plan: &Plan) -> Result<(), Lost> {
        if plan.remove.is_empty() {
            return Ok(());
        }
        self.leave_unsyncable();
        self.write_out()?;
        let removals = plan.remove.iter().map(|removal| (removal.segment, removal.root));
        let segments = plan.earlier.iter().copied().chain(removals).collect();
        self.checkpoint(&Occasion::Removed(segments))?;
        self.syncer.settle();
        match self.current_segment().filter(|&number| self.syncer.has_failed(number)) {
            Some(_) => Err(self.nothing_done("the disk could not sync the checkpoint")),
            None => Ok(()),
        }
    }

    /// Say again what decides about pins and stands in segments that will be removed; returns how many statements.
    /// They are buffered: [`Writer::note_removed`] writes and syncs them.
    pub fn restate(&mut self, pins: &Pins) -> usize {
        let monotonic = self.clock.monotonic();
        let statements = pins.statements(&self.options.policy);
        for payload in &statements {
            self.append(Kind::HarnessEvent, 0, monotonic, Id::default(), payload);
        }
        statements.len()
    }

    /// How many bytes wait to be flushed.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.buffer.len()
    }

    /// The sequence of the last record that was appended.
    #[must_use]
    pub fn last_sequence(&self) -> u64 {
        self.sequence - 1
    }

    /// How far the trace is known to be on the disk.
    #[must_use]
    pub fn synced(&self) -> Synced {
        self.syncer.synced()
    }

    /// What was done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let mut stats = self.stats.clone();
        self.syncer.add_to(&mut stats);
        stats.write_calls += self.active.as_ref().map_or(0, |active| active.write_calls);
        stats
    }

    /// The id of this writer.
    #[must_use]
    pub fn instance(&self) -> Id {
        self.instance
    }

    /// The number of the segment that is being written.
    #[must_use]
    pub fn current_segment(&self) -> Option<u64> {
        self.active.as_ref().map(|active| active.number)
    }

    /// All segments with a smaller number are closed: the limit for the keeper.
    #[must_use]
    pub fn closed_below(&self) -> u64 {
        self.current_segment().unwrap_or_else(|| self.next.closed_below())
    }

    fn encode(&mut self, kind: Kind, flags: u16, monotonic: u64, request: Id, payload: &[u8]) -> u64 {
        let sequence = self.take_sequence();
        let record = record(kind, flags, sequence, monotonic, request, payload);
        encode(&mut self.buffer, self.next.id, &record);
        sequence
    }

    pub(crate) fn take_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence - 1
    }

    /// Write the buffer, into a new segment if there is none.
    fn write_out(&mut self) -> Result<(), Lost> {
        if self.buffer.is_empty() && self.loss.is_none() {
            return Ok(());
        }
        let is_begun = self.active.is_none();
        self.begin_segment()?;
        let Some(active) = &mut self.active else { return Ok(()) };
        let outcome = active.write(&self.buffer);
        let whole = outcome.as_ref().map_or_else(|cut| cut.whole, |()| self.buffer.len());
        self.stats.bytes_written += whole as u64;
        if whole > 0 || is_begun {
            self.written = active.last_sequence;
            let is_new = !self.syncer.has_synced(active.number);
            self.syncer.post(Job { file: Arc::clone(&active.file), upto: active.position(), is_new });
        }
        match outcome {
            Ok(()) => {
                self.buffer.clear();
                self.buffer.shrink_to(SPARE_BYTES);
                Ok(())
            }
            Err(cut) => {
                self.leave(Ending::Broken);
                self.lose(whole, &cut.error.to_string())
            }
        }
    }

    /// Give up what is buffered from `from` on, and count it. Nothing is lost with an empty buffer.
    pub(crate) fn lose(&mut self, from: usize, error: &str) -> Result<(), Lost> {
        self.retry_at = self.clock.monotonic().saturating_add(nanoseconds(PAUSE));
        self.syncer.report(error.to_owned());
        let lost = loss::of_records(&self.buffer[from..], error);
        self.buffer.clear();
        let Some(lost) = lost else { return Ok(()) };
        self.stats.lost_records += lost.records;
        self.stats.lost_bytes += lost.bytes;
        let before = self.loss.take();
        self.loss = Some(Loss {
            first_sequence: before.as_ref().map_or(self.written + 1, |loss| loss.first_sequence),
            last_sequence: lost.last_sequence,
            bytes: before.as_ref().map_or(0, |loss| loss.bytes) + lost.bytes,
            error: error.to_owned(),
            gap_sequence: self.take_sequence(),
        });
        Err(lost)
    }

    /// Write down the state of the chain, in a new segment if there is none.
    fn checkpoint(&mut self, occasion: &Occasion) -> Result<(), Lost> {
        self.begin_segment()?;
        let Some(active) = &mut self.active else {
            return Err(self.nothing_done("the disk does not take a new segment"));
        };
        active.anchor = Anchor::now(&*self.clock);
        let (anchor, root) = (active.anchor, active.chain.root());
        let payload = checkpoint(occasion, active.last_sequence, root, anchor);
        self.encode(Kind::Checkpoint, 0, anchor.monotonic, Id::default(), &payload);
        self.write_out()?;
        if let Some(active) = &mut self.active {
            active.checkpoint_end = active.end;
        }
        Ok(())
    }

    /// Close the segment if there is one. The next may only be there if this one is on the disk, or a power cut would
    /// leave a chain that does not fit.
    fn finish(&mut self, occasion: &Occasion) -> Result<(), Lost> {
        if self.active.is_none() {
            self.syncer.settle();
            return Ok(());
        }
        self.checkpoint(occasion)?;
        self.syncer.settle();
        self.leave(Ending::Whole);
        Ok(())
    }

    /// A statement of the writer itself that could not be made: no record is lost by it.
    fn nothing_done(&self, error: &str) -> Lost {
        Lost {
            records: 0,
            bytes: 0,
            first_sequence: self.sequence,
            last_sequence: self.last_sequence(),
            error: error.to_owned(),
        }
    }

    pub(crate) fn path(&self, number: u64) -> PathBuf {
        crate::folder::Form::Wal.path(&self.options.folder, number)
    }
}

pub(crate) fn record(
    kind: Kind,
    flags: u16,
    sequence: u64,
    monotonic: u64,
    request: Id,
    payload: &[u8],
) -> Record<'_> {
    let monotonic = whole_microseconds(monotonic);
    Record { version: VERSION, kind: kind.code(), flags, sequence, monotonic, request, payload }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
