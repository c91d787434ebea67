//! What the keeper does: seals, tombstones, pins.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use trace::{Clock, Disk, Persist, Reason, Retention, Writer};
use wal::ids::Id;
use wal::record::Kind;

use crate::disk::{Survival, World};
use crate::workload::{Bench, FOLDER, sim_list};

const DAY: Duration = Duration::from_secs(86_400);

fn say(bench: &Bench, writer: &mut Writer, kind: Kind, request: u128, value: &Value) {
    let monotonic = bench.clock.monotonic();
    writer.append(kind, 0, monotonic, Id(request), value.to_string().as_bytes());
}

/// One segment a day: segment N holds a request N of the session `s<N>`.
fn days(bench: &Bench, writer: &mut Writer, numbers: std::ops::RangeInclusive<u128>) {
    for number in numbers {
        let session = format!("s{number}");
        say(bench, writer, Kind::RequestStart, number, &json!({"session": session, "run": null}));
        say(bench, writer, Kind::ResponseBody, number, &json!("x".repeat(100)));
        writer.rotate().unwrap();
        bench.clock.advance(DAY);
    }
}

fn bench() -> (Bench, Writer) {
    let bench = Bench::new(World::default());
    let writer = bench.open(Persist::Each).unwrap();
    (bench, writer)
}

fn numbers(plan: &trace::Plan) -> Vec<u64> {
    plan.remove.iter().map(|removal| removal.segment).collect()
}

fn by_days(days: u32) -> Retention {
    Retention { days: Some(days), max_bytes: None }
}

/// Do as the recorder does.
fn clean(bench: &Bench, writer: &mut Writer, retention: &Retention) -> trace::Plan {
    let keeper = bench.keeper();
    let plan = keeper.plan(writer.closed_below(), retention, &keeper.pins().unwrap()).unwrap();
    writer.restate(&plan.restate);
    writer.note_removed(&plan).unwrap();
    let removed = keeper.remove(&plan).unwrap();
    assert_eq!((removed.segments, removed.bytes), (numbers(&plan), plan.bytes()));
    plan
}

#[test]
fn closed_segments_are_sealed_oldest_first_and_the_active_one_is_not() {
    let (mut bench, mut writer) = bench();
    days(&bench, &mut writer, 1..=2);
    bench.append(&mut writer, 50);
    writer.flush().unwrap();
    let keeper = bench.keeper();
    let raw = bench.disk.world(|world| world.file("00000001.wal").unwrap().len() as u64);
    let sealing = keeper.seal_next(writer.closed_below()).unwrap().unwrap();
    assert_eq!((sealing.segment, sealing.raw_bytes), (1, raw));
    assert_eq!(keeper.seal_next(writer.closed_below()).unwrap().unwrap().segment, 2);
    assert_eq!(keeper.seal_next(writer.closed_below()).unwrap(), None);
    assert_eq!(sim_list(&bench.disk), ["00000001.seal", "00000002.seal", "00000003.wal", "synced"]);
    writer.close().unwrap();
    assert_eq!(bench.check().sealed, 2);
}

#[test]
fn a_trace_goes_on_after_a_sealed_segment() {
    let (mut bench, mut writer) = bench();
    days(&bench, &mut writer, 1..=1);
    let last = writer.last_sequence();
    writer.close().unwrap();
    bench.keeper().seal_next(2).unwrap().unwrap();
    let mut writer = bench.open(Persist::Each).unwrap();
    assert_eq!(writer.last_sequence(), last);
    bench.append(&mut writer, 20);
    writer.close().unwrap();
    bench.check();
}

#[test]
fn a_corrupt_segment_is_not_sealed_and_does_not_stop_the_others() {
    let (bench, mut writer) = bench();
    days(&bench, &mut writer, 1..=2);
    let path = Path::new(FOLDER).join("00000001.wal");
    let mut bytes = bench.disk.read(&path, None).unwrap();
    bytes[200] ^= 1;
    bench.disk.remove(&path).unwrap();
    bench.disk.create(&path).unwrap().write(&bytes).unwrap();
    let keeper = bench.keeper();
    assert_eq!(keeper.seal_next(3).unwrap().unwrap().segment, 2);
    assert!(keeper.refused()[&1].starts_with("the segment is corrupt from byte"));
    assert!(!sim_list(&bench.disk).iter().any(|name| name.contains(".part")));
}

#[test]
fn a_seal_that_differs_from_its_segment_is_left_to_a_person() {
    let (bench, mut writer) = bench();
    days(&bench, &mut writer, 1..=2);
    let keeper = bench.keeper();
    keeper.seal_next(2).unwrap().unwrap();
    let sealed = bench.disk.read(&Path::new(FOLDER).join("00000001.seal"), None).unwrap();
    bench.disk.create(&Path::new(FOLDER).join("00000002.seal")).unwrap().write(&sealed).unwrap();
    assert_eq!(keeper.seal_next(3).unwrap(), None);
    assert!(keeper.refused()[&2].contains("something else"));
    assert!(sim_list(&bench.disk).contains(&"00000002.wal".to_owned()));
}

#[test]
fn a_torn_seal_is_dropped_and_made_again() {
    let (bench, mut writer) = bench();
    days(&bench, &mut writer, 1..=1);
    bench.disk.create(&Path::new(FOLDER).join("00000001.seal")).unwrap().write(b"torn").unwrap();
    bench.disk.create(&Path::new(FOLDER).join("00000001.seal.part")).unwrap();
    assert_eq!(bench.keeper().seal_next(2).unwrap().unwrap().segment, 1);
    assert_eq!(sim_list(&bench.disk), ["00000001.seal", "synced"]);
}

#[test]
fn old_segments_go_and_leave_tombstones() {
    let (bench, mut writer) = bench();
    days(&bench, &mut writer, 1..=4);
    bench.keeper().seal_next(2).unwrap().unwrap();
    let plan = clean(&bench, &mut writer, &by_days(2));
    assert_eq!(numbers(&plan), [1, 2]);
    assert!(
        plan.remove.iter().all(|removal| removal.reason == Reason::RetentionDays && removal.requests == 1)
    );
    assert!(plan.remove[0].because.contains("older than 2 days"), "{}", plan.remove[0].because);
    writer.close().unwrap();
    let held = bench.check();
    assert_eq!(held.removed.len(), 2);
    assert!(held.checkpoints.contains(&"removed".to_owned()));
    let status = bench.keeper().status().unwrap();
    assert_eq!((status.segments, status.gone, status.sealed, status.unreadable), (3, 2, 0, 0));
    let line = bench.disk.read(&Path::new(FOLDER).join("00000001.gone"), None).unwrap();
    let tombstone: Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(tombstone["reason"], "retention_days");
    assert_eq!(tombstone["requests"], 1);
}

#[test]
fn the_oldest_go_until_the_size_fits() {
    let (bench, mut writer) = bench();
    days(&bench, &mut writer, 1..=4);
    let total = bench.keeper().status().unwrap().bytes;
    let keeper = bench.keeper();
    let retention = Retention { days: None, max_bytes: Some(total - 1) };
    let plan = keeper.plan(writer.closed_below(), &retention, &keeper.pins().unwrap()).unwrap();
    assert_eq!(numbers(&plan), [1]);
    assert_eq!(plan.clone().by_hand().remove[0].reason, Reason::Clean);
    let nothing_fits = Retention { days: None, max_bytes: Some(0) };
    let plan = keeper.plan(u64::MAX, &nothing_fits, &keeper.pins().unwrap()).unwrap();
    assert_eq!(numbers(&plan), [1, 2, 3]);
}

#[test]
fn a_pinned_session_stays_with_all_its_requests() {
    let (bench, mut writer) = bench();
    days(&bench, &mut writer, 1..=3);
    // Request 2 goes on in segment 4, which holds no start of it.
    say(&bench, &mut writer, Kind::ResponseEnd, 2, &json!({}));
    writer.rotate().unwrap();
    bench.clock.advance(DAY);
    say(&bench, &mut writer, Kind::HarnessEvent, 0, &json!({"event": "pin", "session": "s2", "run": null}));
    say(&bench, &mut writer, Kind::HarnessEvent, 0, &json!({"event": "pin", "session": null, "run": "r9"}));
    say(
        &bench,
        &mut writer,
        Kind::HarnessEvent,
        0,
        &json!({"event": "run.start", "session": "x", "run": "r9"}),
    );
    writer.rotate().unwrap();
    days(&bench, &mut writer, 6..=9);
    let plan = clean(&bench, &mut writer, &by_days(1));
    assert_eq!(numbers(&plan), [1, 3, 6, 7, 8]);
    let kept: Vec<_> = plan.kept_by_pin.iter().map(|kept| (kept.segment, kept.pins.clone())).collect();
    let session = vec!["session s2".to_owned()];
    assert_eq!(kept, [(2, session.clone()), (4, session), (5, vec!["run r9".to_owned()])]);
    writer.close().unwrap();
    bench.check();
}

#[test]
fn a_pinned_session_keeps_the_lines_of_its_log_and_no_others() {
    let (bench, mut writer) = bench();
    for number in 1..=3u128 {
        let session = format!("s{number}");
        let data = json!({"source": format!("src_{}", Id(number + 100))});
        let opened = json!({"event": "import.open", "session": session, "run": null, "data": data});
        say(&bench, &mut writer, Kind::HarnessEvent, 0, &opened);
        say(&bench, &mut writer, Kind::NativeLine, number + 100, &json!({"offset": 0, "length": 9}));
        writer.rotate().unwrap();
        bench.clock.advance(DAY);
    }
    say(&bench, &mut writer, Kind::HarnessEvent, 0, &json!({"event": "pin", "session": "s2", "data": null}));
    writer.rotate().unwrap();
    bench.clock.advance(DAY * 30);
    let plan = clean(&bench, &mut writer, &by_days(10));
    assert_eq!(plan.kept_by_pin.iter().map(|kept| kept.segment).collect::<Vec<_>>(), [2]);
    assert!(numbers(&plan).starts_with(&[1, 3]));
    // A log is no request.
    assert!(plan.remove.iter().all(|removal| removal.requests == 0));
}

#[test]
fn a_pin_outlives_the_segment_that_it_was_made_in() {
    let (bench, mut writer) = bench();
    say(&bench, &mut writer, Kind::HarnessEvent, 0, &json!({"event": "pin", "session": "s3"}));
    writer.rotate().unwrap();
    bench.clock.advance(DAY);
    days(&bench, &mut writer, 2..=5);
    let plan = clean(&bench, &mut writer, &by_days(1));
    assert_eq!(numbers(&plan), [1, 2, 4]);
    assert_eq!(bench.keeper().status().unwrap().pins, ["session s3"]);
    assert_eq!(clean(&bench, &mut writer, &by_days(1)).kept_by_pin.len(), 1);
    say(&bench, &mut writer, Kind::HarnessEvent, 0, &json!({"event": "unpin", "session": "s3"}));
    writer.flush().unwrap();
    assert_eq!(numbers(&clean(&bench, &mut writer, &by_days(1))), [3]);
    writer.close().unwrap();
    bench.check();
}

#[test]
fn an_interrupted_removal_is_finished_later() {
    let (bench, mut writer) = bench();
    days(&bench, &mut writer, 1..=3);
    let keeper = bench.keeper();
    let plan = keeper.plan(writer.closed_below(), &by_days(1), &keeper.pins().unwrap()).unwrap();
    writer.note_removed(&plan).unwrap();
    bench.disk.world(|world| world.history = Some(Vec::new()));
    keeper.remove(&plan).unwrap();
    writer.close().unwrap();
    let states = bench.disk.world(|world| world.history.take().unwrap());
    assert!(states.len() >= 12, "{} states", states.len());
    for state in states {
        for survival in [Survival::Synced, Survival::All, Survival::Some(3), Survival::Some(4)] {
            let mut after = Bench::new(state.after_crash(survival));
            after.expected.clone_from(&bench.expected);
            after.check();
            let keeper = after.keeper();
            while keeper.seal_next(u64::MAX).unwrap().is_some() {}
            after.check();
            let left = sim_list(&after.disk);
            assert!(!left.iter().any(|name| name.contains(".part")), "{left:?}");
            let has = |name: &str| left.iter().any(|found| found == name);
            assert!(!(has("00000001.gone") && has("00000001.seal")), "{left:?}");
        }
    }
}

#[test]
fn a_tombstone_of_another_segment_removes_nothing() {
    let (bench, mut writer) = bench();
    days(&bench, &mut writer, 1..=3);
    clean(&bench, &mut writer, &by_days(2));
    let tombstone = bench.disk.read(&Path::new(FOLDER).join("00000001.gone"), None).unwrap();
    let forged = String::from_utf8(tombstone).unwrap().replace("\"segment\":1,", "\"segment\":2,");
    bench.disk.create(&Path::new(FOLDER).join("00000002.gone")).unwrap().write(forged.as_bytes()).unwrap();
    bench.keeper().seal_next(3).unwrap();
    assert!(sim_list(&bench.disk).contains(&"00000002.wal".to_owned()));
}
