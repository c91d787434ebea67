//! Random lives of a trace: whatever happens in whatever order, the trace reads back as what was not lost.

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use trace::{Persist, Writer};

use crate::disk::{Fault, Op, SimDisk, Survival, World};
use crate::verify;
use crate::workload::{Bench, FOLDER, check_promise, published};

#[derive(Clone, Debug)]
enum Step {
    Append(usize),
    Flush,
    Settle,
    Rotate,
    Tick(u64),
    SetClock(u64),
    Seal,
    Reopen,
    Kill,
    PowerCut(u64),
    Fail { op: Op, count: u64, partial: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let op = prop::sample::select(vec![Op::Write, Op::Create, Op::Sync, Op::SyncFolder, Op::Overwrite]);
    let fail = (op, 1..4_u64, prop::sample::select(vec![0, 10, 100]));
    let step = prop_oneof![
        8 => (0..300_usize).prop_map(Step::Append),
        6 => Just(Step::Flush),
        2 => Just(Step::Settle),
        1 => Just(Step::Rotate),
        2 => (1..4_000_u64).prop_map(Step::Tick),
        1 => (1..10_u64).prop_map(Step::SetClock),
        1 => Just(Step::Seal),
        1 => Just(Step::Reopen),
        1 => Just(Step::Kill),
        1 => any::<u64>().prop_map(Step::PowerCut),
        2 => fail.prop_map(|(op, count, partial)| Step::Fail { op, count, partial }),
    ];
    prop::collection::vec(step, 1..60)
}

fn persists() -> impl Strategy<Value = Persist> {
    prop::sample::select(vec![Persist::Each, Persist::Grouped(Duration::ZERO)])
}

/// The process dies, with what it had not flushed.
fn kill(bench: &mut Bench, writer: Writer) {
    let world = bench.disk.world(|world| world.clone());
    let unwritten = first_unwritten(bench, &world);
    drop(writer);
    bench.disk = SimDisk::of(world.after_kill());
    bench.expected.retain(|sequence, _| *sequence < unwritten);
}

/// The power goes. Of a disk that refused to sync nothing can be expected then, not even that the chain fits.
fn cut_power(bench: &mut Bench, writer: Writer, seed: u64) {
    let world = bench.disk.world(|world| world.clone());
    if world.has_refused_to_sync {
        return kill(bench, writer);
    }
    drop(writer);
    bench.disk = SimDisk::of(world.after_crash(Survival::Some(seed)));
    let held = verify::read(&bench.disk, Path::new(FOLDER));
    check_promise(&held, published(&world), &bench.expected);
    bench.expected.retain(|sequence, _| held.has(*sequence));
}

/// The first expected record that is not in the file yet, only in the writer's buffer.
fn first_unwritten(bench: &Bench, world: &World) -> u64 {
    let held = verify::read(&SimDisk::of(world.after_kill()), Path::new(FOLDER));
    let missing = bench.expected.keys().find(|sequence| !held.has(**sequence));
    missing.copied().unwrap_or(u64::MAX)
}

fn take(bench: &mut Bench, mut writer: Writer, step: &Step, persist: Persist) -> Writer {
    match *step {
        Step::Append(length) => bench.append(&mut writer, length),
        Step::Flush => {
            let flushed = writer.flush();
            let is_flushed = flushed.is_ok();
            bench.note(flushed);
            if is_flushed && writer.stats().lost_records == 0 {
                bench.check();
            }
        }
        Step::Settle => writer.settle(),
        Step::Rotate => {
            let rotated = writer.rotate();
            bench.note(rotated);
        }
        Step::Tick(milliseconds) => {
            bench.clock.advance(Duration::from_millis(milliseconds));
            let ticked = writer.tick();
            bench.note(ticked);
        }
        Step::SetClock(seconds) => bench.clock.set_wall_ahead(Duration::from_secs(seconds)),
        Step::Seal => drop(bench.keeper().seal_next(writer.closed_below())),
        Step::Reopen => {
            bench.disk.world(|world| world.fault = None);
            let closed = writer.close();
            bench.note(closed);
            writer = bench.open(persist).unwrap();
        }
        Step::Kill => {
            kill(bench, writer);
            writer = bench.open(persist).unwrap();
        }
        Step::PowerCut(seed) => {
            cut_power(bench, writer, seed);
            writer = bench.open(persist).unwrap();
        }
        Step::Fail { op, count, partial } => bench.disk.world(|world| {
            let at = world.counts.get(&op).copied().unwrap_or(0) + u64::from(partial > 0);
            world.fault = Some(Fault { op, at, count, errno: 28, partial });
        }),
    }
    writer
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn nothing_is_lost_unsaid(steps in steps(), persist in persists()) {
        let mut bench = Bench::new(World::default());
        let mut writer = bench.open(persist).unwrap();
        for step in &steps {
            writer = take(&mut bench, writer, step, persist);
        }
        bench.disk.world(|world| world.fault = None);
        bench.clock.advance(Duration::from_secs(1));
        let closed = writer.close();
        bench.note(closed);
        bench.check();
    }
}
