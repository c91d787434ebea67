//! A recorder's life in short: appends, flushes, rotations, seals, removals, and what is expected of the trace then.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use trace::{Clock, Disk, Keeper, Lost, OpenError, Options, Persist, Retention, Writer};
use wal::ids::Id;
use wal::record::Kind;
use wal::synced::Synced;

use crate::clock::SetClock;
use crate::disk::{SimDisk, World};
use crate::verify::{self, Held};

pub(crate) const FOLDER: &str = "/trace";

pub(crate) fn options(persist: Persist) -> Options {
    Options {
        folder: FOLDER.into(),
        rotate_bytes: 2500,
        rotate_age: Duration::from_secs(3600),
        persist,
        policy: "2026.11.3".to_owned(),
        checkpoint_bytes: 900,
    }
}

/// A trace under test.
pub(crate) struct Bench {
    pub(crate) disk: SimDisk,
    pub(crate) clock: Arc<SetClock>,
    /// What was appended and is not known to be lost.
    pub(crate) expected: BTreeMap<u64, Vec<u8>>,
    pub(crate) lost: Vec<Lost>,
}

impl Bench {
    pub(crate) fn new(world: World) -> Self {
        let disk = SimDisk::of(world);
        Self { disk, clock: Arc::new(SetClock::new()), expected: BTreeMap::new(), lost: Vec::new() }
    }

    pub(crate) fn open(&self, persist: Persist) -> Result<Writer, OpenError> {
        let clock: Arc<dyn Clock> = self.clock.clone();
        Writer::open(options(persist), Arc::new(self.disk.clone()), clock)
    }

    pub(crate) fn keeper(&self) -> Keeper {
        let clock: Arc<dyn Clock> = self.clock.clone();
        Keeper::new(FOLDER, Arc::new(self.disk.clone()), clock)
    }

    pub(crate) fn append(&mut self, writer: &mut Writer, length: usize) {
        let payload = format!("{:width$}", writer.last_sequence() + 1, width = length).into_bytes();
        let request = Id(1 + u128::from(writer.last_sequence() / 7));
        let monotonic = self.clock.monotonic();
        let sequence = writer.append(Kind::ResponseBody, 0, monotonic, request, &payload);
        self.expected.insert(sequence, payload);
    }

    /// Take note of what a call of the writer lost.
    pub(crate) fn note(&mut self, outcome: Result<(), Lost>) {
        if let Err(lost) = outcome {
            self.expected
                .retain(|sequence, _| !(lost.first_sequence..=lost.last_sequence).contains(sequence));
            self.lost.push(lost);
        }
    }

    /// Write for a while. Errors of the keeper are those of the disk; it is asked again later.
    pub(crate) fn live(&mut self, persist: Persist, with_keeper: bool) -> Result<(), OpenError> {
        let mut writer = self.open(persist)?;
        let keeper = self.keeper();
        for round in 0..12_usize {
            for record in 0..=round % 4 {
                self.append(&mut writer, 20 + 60 * record);
            }
            let flushed = writer.flush();
            self.note(flushed);
            writer.settle();
            self.clock.advance(Duration::from_millis(120));
            if round == 5 {
                let rotated = writer.rotate();
                self.note(rotated);
            }
            if with_keeper && round % 4 == 3 {
                let _ = keeper.seal_next(writer.closed_below());
            }
            if with_keeper && round == 9 {
                self.remove_oldest(&mut writer, &keeper);
            }
        }
        let closed = writer.close();
        self.note(closed);
        Ok(())
    }

    fn remove_oldest(&mut self, writer: &mut Writer, keeper: &Keeper) {
        let Ok(pins) = keeper.pins() else { return };
        let retention = Retention { days: None, max_bytes: Some(3000) };
        let Ok(plan) = keeper.plan(writer.closed_below(), &retention, &pins) else { return };
        writer.restate(&plan.restate);
        let noted = writer.note_removed(&plan);
        let is_noted = noted.is_ok();
        self.note(noted);
        if is_noted {
            let _ = keeper.remove(&plan);
        }
    }

    /// Read the trace, and compare with what was appended.
    pub(crate) fn check(&self) -> Held {
        let held = verify::read(&self.disk, Path::new(FOLDER));
        for (sequence, payload) in &self.expected {
            assert!(held.has(*sequence), "record {sequence} is missing");
            if let Some(found) = held.records.get(sequence) {
                assert_eq!(found, payload, "record {sequence} holds something else");
            }
        }
        held
    }
}

/// How far the trace says that it is on the disk.
pub(crate) fn published(world: &World) -> Synced {
    world.file("synced").and_then(Synced::parse).unwrap_or_default()
}

/// That everything up to what was published is in a trace that went through a power cut.
pub(crate) fn check_promise(held: &Held, promised: Synced, appended: &BTreeMap<u64, Vec<u8>>) {
    for (sequence, payload) in appended.range(..=promised.sequence) {
        assert!(held.has(*sequence), "record {sequence} was said to be safe up to {}", promised.sequence);
        if let Some(found) = held.records.get(sequence) {
            assert_eq!(found, payload);
        }
    }
}

/// The trace goes on after whatever happened: another recorder opens it, writes, and all fits.
pub(crate) fn goes_on(bench: &mut Bench, persist: Persist) -> Held {
    let mut writer = bench.open(persist).unwrap();
    bench.append(&mut writer, 30);
    writer.flush().unwrap();
    bench.append(&mut writer, 40);
    writer.close().unwrap();
    bench.check()
}

pub(crate) fn sim_list(disk: &SimDisk) -> Vec<String> {
    disk.list(Path::new(FOLDER)).unwrap().into_iter().map(|entry| entry.name).collect()
}
