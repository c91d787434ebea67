//! The power goes at every operation: the next recorder goes on, the chain fits, and what was promised is there.

use std::collections::BTreeMap;
use std::time::Duration;

use trace::Persist;

use crate::disk::{Survival, World};
use crate::workload::{Bench, check_promise, goes_on, published};

/// All states of the disk through a recorder's life, and what it appended.
fn history(mut world: World, persist: Persist) -> (Vec<World>, BTreeMap<u64, Vec<u8>>) {
    world.history = Some(Vec::new());
    let mut bench = Bench::new(world);
    bench.live(persist, true).unwrap();
    assert_eq!(bench.lost, []);
    (bench.disk.world(|world| world.history.take().unwrap()), bench.expected)
}

/// Cut the power, let another recorder go on, and look.
fn recover(world: &World, survival: Survival, appended: &BTreeMap<u64, Vec<u8>>, persist: Persist) -> World {
    let mut bench = Bench::new(world.after_crash(survival));
    let held = goes_on(&mut bench, persist);
    check_promise(&held, published(world), appended);
    let keeper = bench.keeper();
    while keeper.seal_next(u64::MAX).unwrap().is_some() {}
    let tidied = bench.check();
    check_promise(&tidied, published(world), appended);
    assert_eq!(keeper.refused().len() as u64, tidied.unreadable);
    bench.disk.world(|world| world.clone())
}

fn survivals() -> Vec<Survival> {
    let by_chance = (1..=4).map(|seed| Survival::Some(seed * 7919));
    [Survival::Synced, Survival::All].into_iter().chain(by_chance).collect()
}

#[test]
fn a_power_cut_after_any_operation_keeps_the_promise() {
    let (worlds, appended) = history(World::default(), Persist::Each);
    assert!(worlds.len() > 60, "{} states", worlds.len());
    for world in &worlds {
        for survival in survivals() {
            recover(world, survival, &appended, Persist::Each);
        }
    }
}

#[test]
fn so_it_does_with_a_syncing_thread() {
    let persist = Persist::Grouped(Duration::ZERO);
    let (worlds, appended) = history(World::default(), persist);
    for (number, world) in worlds.iter().enumerate() {
        let survival = survivals()[number % survivals().len()];
        recover(world, survival, &appended, persist);
        recover(world, Survival::Synced, &appended, persist);
    }
}

#[test]
fn two_power_cuts_in_a_row_do_no_more_harm() {
    let (worlds, _) = history(World::default(), Persist::Each);
    for (number, world) in worlds.iter().enumerate().step_by(7) {
        let survival = survivals()[number % survivals().len()];
        let (second_life, appended) = history(world.after_crash(survival), Persist::Each);
        for (number, world) in second_life.iter().enumerate().step_by(3) {
            let survival = survivals()[number % survivals().len()];
            recover(world, survival, &appended, Persist::Each);
        }
    }
}

/// What a dead process wrote is vouched for by the next one's first header, so it must be on the disk before that.
#[test]
fn a_power_cut_after_a_kill_does_no_more_harm() {
    let persist = Persist::Grouped(Duration::from_secs(3600));
    let mut bench = Bench::new(World::default());
    let mut writer = bench.open(persist).unwrap();
    for _ in 0..3 {
        bench.append(&mut writer, 50);
        writer.flush().unwrap();
    }
    let killed = bench.disk.world(|world| world.after_kill());
    drop(writer);
    let (worlds, appended) = history(killed, Persist::Each);
    assert_eq!(appended.keys().next(), Some(&4));
    for world in &worlds {
        for survival in survivals() {
            recover(world, survival, &appended, Persist::Each);
        }
    }
}

#[test]
fn what_was_flushed_survives_the_death_of_the_process() {
    for persist in [Persist::Written, Persist::Each] {
        let (worlds, appended) = history(World::default(), persist);
        let last = worlds.last().unwrap();
        let mut bench = Bench::new(last.after_crash(Survival::All));
        bench.expected = appended;
        goes_on(&mut bench, persist);
        for world in &worlds {
            goes_on(&mut Bench::new(world.after_crash(Survival::All)), persist);
        }
    }
}
