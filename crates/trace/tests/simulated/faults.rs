//! Every operation of the disk fails once, or for a while, in every way: nothing panics, nothing is hidden.

use std::time::Duration;

use trace::Persist;

use crate::disk::{Fault, Op, World};
use crate::workload::{Bench, goes_on};

const NO_SPACE: i32 = 28;
const INPUT_OUTPUT: i32 = 5;
const NO_PERMISSION: i32 = 13;

fn survives(fault: Fault, persist: Persist) -> bool {
    let mut bench = Bench::new(World::with_fault(fault));
    let opened = bench.live(persist, true);
    let reached = bench.disk.world(|world| world.counts.get(&fault.op).copied().unwrap_or(0) > fault.at);
    bench.disk.world(|world| world.fault = None);
    if opened.is_ok() {
        bench.check();
    }
    goes_on(&mut bench, persist);
    reached
}

/// Fail the first operation of this kind, then the second, until there are no more.
fn fail_each(op: Op, count: u64, errno: i32, partial: usize, persist: Persist) -> u64 {
    let mut at = 0;
    while survives(Fault { op, at, count, errno, partial }, persist) {
        at += 1;
    }
    at
}

#[test]
fn each_operation_may_fail_once() {
    for op in Op::ALL {
        let reached = fail_each(op, 1, INPUT_OUTPUT, 0, Persist::Each);
        let is_used = op != Op::SyncFile;
        assert_eq!(reached > 0, is_used, "{op:?} was reached {reached} times");
    }
}

#[test]
fn each_operation_may_fail_for_a_while() {
    for op in Op::ALL {
        for errno in [NO_SPACE, NO_PERMISSION] {
            fail_each(op, 6, errno, 0, Persist::Each);
        }
    }
}

#[test]
fn each_write_may_stop_in_the_middle() {
    for partial in [1, 43, 90, 200] {
        assert!(fail_each(Op::Write, 1, NO_SPACE, partial, Persist::Each) > 10);
        fail_each(Op::Write, 5, INPUT_OUTPUT, partial, Persist::Written);
    }
}

#[test]
fn the_syncing_thread_may_fail_too() {
    let persist = Persist::Grouped(Duration::ZERO);
    for op in [Op::Write, Op::Sync, Op::SyncFolder, Op::Overwrite, Op::Create] {
        fail_each(op, 1, INPUT_OUTPUT, 0, persist);
        fail_each(op, 3, NO_SPACE, 0, persist);
    }
}

#[test]
fn an_interrupted_write_is_made_again() {
    let interrupted = 4;
    let fault = Fault { op: Op::Write, at: 1, count: 3, errno: interrupted, partial: 0 };
    let mut bench = Bench::new(World::with_fault(fault));
    bench.live(Persist::Each, false).unwrap();
    assert_eq!(bench.lost, []);
    assert_eq!(bench.check().gaps, []);
}

#[test]
fn a_disk_that_never_comes_back_only_costs_records() {
    let fault = Fault { op: Op::Write, at: 4, count: u64::MAX / 2, errno: NO_SPACE, partial: 0 };
    let mut bench = Bench::new(World::with_fault(fault));
    bench.live(Persist::Each, false).unwrap();
    assert!(!bench.lost.is_empty());
    assert!(bench.lost.iter().all(|lost| lost.error.contains("No space left")), "{:?}", bench.lost);
    bench.disk.world(|world| world.fault = None);
    goes_on(&mut bench, Persist::Each);
}
