//! What the writer does, one behaviour a test.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use trace::{Clock, Disk, OpenError, Persist, Writer};
use wal::ids::Id;
use wal::record::{Kind, MAX_PAYLOAD};
use wal::segment::Header;

use crate::disk::{Fault, Op, World};
use crate::workload::{Bench, FOLDER, options, published, sim_list};

fn bench() -> Bench {
    Bench::new(World::default())
}

fn header(bench: &Bench, number: u64) -> Header {
    let path = Path::new(FOLDER).join(format!("{number:08}.wal"));
    Header::parse(&bench.disk.read(&path, None).unwrap()).unwrap().0
}

fn flushed(bench: &mut Bench, writer: &mut Writer, length: usize) {
    bench.append(writer, length);
    writer.flush().unwrap();
}

fn fail(bench: &Bench, op: Op, count: u64) {
    bench.disk.world(|world| {
        let at = world.counts.get(&op).copied().unwrap_or(0);
        world.fault = Some(Fault { op, at, count, errno: 28, partial: 0 });
    });
}

#[test]
fn a_segment_is_made_with_its_first_record() {
    let mut bench = bench();
    let mut writer = bench.open(Persist::Each).unwrap();
    writer.flush().unwrap();
    assert_eq!(sim_list(&bench.disk), ["synced"]);
    assert_eq!((writer.current_segment(), writer.closed_below()), (None, 1));
    flushed(&mut bench, &mut writer, 20);
    assert_eq!(sim_list(&bench.disk), ["00000001.wal", "synced"]);
    assert_eq!((writer.current_segment(), writer.closed_below()), (Some(1), 1));
    let header = header(&bench, 1);
    assert_eq!((header.number, header.first_sequence, header.boot), (1, 1, [7; 16]));
    assert_eq!((header.policy.as_str(), header.instance), ("2026.11.3", writer.instance()));
}

#[test]
fn a_trace_nobody_wrote_to_stays_empty() {
    let bench = bench();
    bench.open(Persist::Each).unwrap().close().unwrap();
    assert_eq!(sim_list(&bench.disk), ["synced"]);
}

#[test]
fn one_flush_is_one_write() {
    let mut bench = bench();
    let mut writer = bench.open(Persist::Written).unwrap();
    flushed(&mut bench, &mut writer, 20);
    let before = writer.stats().write_calls;
    for _ in 0..4 {
        bench.append(&mut writer, 20);
    }
    assert_eq!(writer.buffered(), 4 * 64);
    writer.flush().unwrap();
    assert_eq!(writer.stats().write_calls, before + 1);
    assert_eq!(writer.buffered(), 0);
}

#[test]
fn each_flush_is_synced_and_published() {
    let mut bench = bench();
    let mut writer = bench.open(Persist::Each).unwrap();
    flushed(&mut bench, &mut writer, 20);
    flushed(&mut bench, &mut writer, 20);
    let length = bench.disk.world(|world| world.file("00000001.wal").unwrap().len() as u64);
    let synced = writer.synced();
    assert_eq!((synced.segment, synced.sequence, synced.offset), (1, 2, length));
    assert_eq!(bench.disk.world(|world| published(world)), synced);
}

#[test]
fn written_never_syncs_and_publishes_nothing() {
    let mut bench = bench();
    let mut writer = bench.open(Persist::Each).unwrap();
    flushed(&mut bench, &mut writer, 20);
    writer.close().unwrap();
    let syncs = |bench: &Bench| {
        let count = |world: &World, op| world.counts.get(&op).copied().unwrap_or(0);
        bench
            .disk
            .world(|world| count(world, Op::Sync) + count(world, Op::SyncFolder) + count(world, Op::SyncFile))
    };
    let before = syncs(&bench);
    bench.live(Persist::Written, false).unwrap();
    assert_eq!(syncs(&bench), before);
    assert!(!sim_list(&bench.disk).contains(&"synced".to_owned()));
    bench.check();
}

#[test]
fn the_next_recorder_begins_a_segment_of_its_own() {
    let mut bench = bench();
    let mut writer = bench.open(Persist::Each).unwrap();
    flushed(&mut bench, &mut writer, 20);
    let first = writer.instance();
    writer.close().unwrap();
    let mut writer = bench.open(Persist::Each).unwrap();
    flushed(&mut bench, &mut writer, 20);
    writer.close().unwrap();
    let (one, two) = (header(&bench, 1), header(&bench, 2));
    assert_eq!((one.instance, two.first_sequence, one.trace), (first, 3, two.trace));
    assert_ne!(one.instance, two.instance);
    assert_eq!(bench.check().checkpoints, ["stop", "stop"]);
}

#[test]
fn a_second_recorder_is_refused_and_told_by_whom() {
    let bench = bench();
    let _first = bench.open(Persist::Each).unwrap();
    let Err(error) = bench.open(Persist::Each) else { panic!("two recorders write one trace") };
    assert!(matches!(error, OpenError::Locked { pid: Some(4711), .. }));
    assert!(error.to_string().contains("process 4711; stop that recorder first"), "{error}");
}

#[test]
fn a_segment_ends_by_size_and_by_age() {
    let mut bench = bench();
    let mut writer = bench.open(Persist::Each).unwrap();
    flushed(&mut bench, &mut writer, 3000);
    assert_eq!(writer.current_segment(), None);
    flushed(&mut bench, &mut writer, 20);
    bench.clock.advance(Duration::from_secs(3599));
    writer.tick().unwrap();
    assert_eq!(writer.current_segment(), Some(2));
    bench.clock.advance(Duration::from_secs(1));
    writer.tick().unwrap();
    assert_eq!((writer.current_segment(), writer.closed_below()), (None, 3));
    assert_eq!(bench.check().checkpoints, ["rotation", "rotation"]);
}

#[test]
fn checkpoints_come_at_intervals_and_when_the_clock_is_set() {
    let mut bench = bench();
    let mut writer = bench.open(Persist::Each).unwrap();
    flushed(&mut bench, &mut writer, 20);
    bench.clock.set_wall_ahead(Duration::from_secs(2));
    writer.tick().unwrap();
    assert!(bench.check().checkpoints.is_empty());
    bench.clock.set_wall_ahead(Duration::from_millis(1));
    writer.tick().unwrap();
    writer.tick().unwrap();
    assert_eq!(bench.check().checkpoints, ["clock"]);
    flushed(&mut bench, &mut writer, 900);
    assert_eq!(bench.check().checkpoints, ["clock", "interval"]);
}

#[test]
fn a_gap_names_exactly_what_is_missing() {
    let mut bench = bench();
    let mut writer = bench.open(Persist::Each).unwrap();
    flushed(&mut bench, &mut writer, 20);
    fail(&bench, Op::Write, 1);
    for _ in 0..2 {
        bench.append(&mut writer, 50);
    }
    let lost = writer.flush().unwrap_err();
    assert_eq!((lost.records, lost.bytes, lost.first_sequence, lost.last_sequence), (2, 100, 2, 3));
    bench.note(Err(lost));
    bench.append(&mut writer, 30);
    let lost = writer.flush().unwrap_err();
    assert_eq!((lost.first_sequence, lost.last_sequence), (5, 5));
    bench.note(Err(lost));
    bench.clock.advance(Duration::from_millis(100));
    bench.append(&mut writer, 30);
    writer.flush().unwrap();
    let held = bench.check();
    assert_eq!(held.gaps, [2..=5]);
    let gap: Value = serde_json::from_slice(&held.records[&6]).unwrap();
    assert_eq!(held.kinds[&6], Kind::Gap.code());
    let expected = json!({
        "reason": "write_error", "direction": null, "bytes": 130, "records": 4, "first_sequence": 2,
        "last_sequence": 5, "error": "No space left on device (os error 28)",
    });
    assert_eq!(gap, expected);
    assert_eq!((writer.stats().lost_records, writer.stats().lost_bytes), (3, 130));
    assert_eq!(header(&bench, 2).first_sequence, 6);
}

#[test]
fn a_loss_is_stated_even_if_nothing_follows() {
    let mut bench = bench();
    let mut writer = bench.open(Persist::Grouped(Duration::ZERO)).unwrap();
    flushed(&mut bench, &mut writer, 20);
    fail(&bench, Op::Write, 1);
    bench.append(&mut writer, 20);
    let lost = writer.flush();
    bench.note(lost);
    bench.clock.advance(Duration::from_millis(100));
    writer.tick().unwrap();
    writer.settle();
    assert_eq!(bench.check().gaps, [2..=2]);
    assert_eq!(writer.synced().sequence, 3);
}

#[test]
fn a_segment_without_a_beginning_leaves_no_file() {
    let mut bench = bench();
    let mut writer = bench.open(Persist::Each).unwrap();
    fail(&bench, Op::Write, 3);
    for _ in 0..3 {
        bench.append(&mut writer, 20);
        let lost = writer.flush();
        bench.note(lost);
        assert_eq!(sim_list(&bench.disk), ["synced"]);
        bench.clock.advance(Duration::from_millis(100));
    }
    flushed(&mut bench, &mut writer, 20);
    assert_eq!(bench.check().gaps, [1..=5]);
}

#[test]
fn a_sync_that_failed_ends_the_segment_and_loses_nothing() {
    let mut bench = bench();
    let mut writer = bench.open(Persist::Each).unwrap();
    flushed(&mut bench, &mut writer, 20);
    fail(&bench, Op::Sync, 1);
    flushed(&mut bench, &mut writer, 20);
    assert_eq!(writer.synced().sequence, 1);
    assert!(writer.stats().last_error.unwrap().contains("segment 1 could not be synced after record 1"));
    flushed(&mut bench, &mut writer, 20);
    assert_eq!((writer.current_segment(), writer.synced().sequence), (Some(2), 3));
    assert_eq!((writer.stats().sync_failures, writer.stats().lost_records), (1, 0));
    assert_eq!(bench.check().records.len(), 3);
}

#[test]
fn an_unreadable_header_keeps_its_number() {
    let mut bench = bench();
    let mut writer = bench.open(Persist::Each).unwrap();
    flushed(&mut bench, &mut writer, 20);
    writer.close().unwrap();
    bench.disk.create(&Path::new(FOLDER).join("00000002.wal")).unwrap().write(b"\x89BBWAL").unwrap();
    let mut writer = bench.open(Persist::Each).unwrap();
    flushed(&mut bench, &mut writer, 20);
    assert_eq!(writer.current_segment(), Some(3));
    assert_eq!(header(&bench, 3).first_sequence, 3);
    assert_eq!(bench.check().unreadable, 1);
}

#[test]
fn sequences_never_go_back_behind_what_was_published() {
    let mut bench = bench();
    let mut writer = bench.open(Persist::Each).unwrap();
    flushed(&mut bench, &mut writer, 20);
    flushed(&mut bench, &mut writer, 20);
    drop(writer);
    bench.disk.remove(&Path::new(FOLDER).join("00000001.wal")).unwrap();
    let writer = bench.open(Persist::Each).unwrap();
    assert_eq!(writer.last_sequence(), 2);
}

#[test]
fn a_body_too_long_for_a_record_is_split_and_anything_else_is_a_gap() {
    let bench = bench();
    let mut writer = bench.open(Persist::Written).unwrap();
    let long = vec![b'x'; MAX_PAYLOAD + 1];
    let monotonic = bench.clock.monotonic();
    assert_eq!(writer.append(Kind::NativeLine, 0, monotonic, Id(0), &long), 1);
    assert_eq!(writer.append(Kind::ResponseBody, 0, monotonic, Id(1), &long), 4);
    writer.flush().unwrap();
    let held = bench.check();
    assert_eq!(held.gaps, [1..=1]);
    assert_eq!((held.records[&3].len(), held.records[&4].len()), (MAX_PAYLOAD, 1));
}

#[test]
fn a_loss_begins_where_the_trace_ends() {
    let mut bench = bench();
    let mut writer = bench.open(Persist::Each).unwrap();
    let monotonic = bench.clock.monotonic();
    writer.append(Kind::NativeLine, 0, monotonic, Id(0), &vec![b'x'; MAX_PAYLOAD + 1]);
    fail(&bench, Op::Create, 1);
    assert_eq!(writer.flush().unwrap_err().first_sequence, 2);
    bench.clock.advance(Duration::from_millis(100));
    flushed(&mut bench, &mut writer, 20);
    assert_eq!(bench.check().gaps, [1..=2]);
}

/// Its header names the sequence after a loss that no record tells of any more.
#[test]
fn a_segment_without_records_does_not_say_where_the_trace_ends() {
    let mut bench = bench();
    let mut writer = bench.open(Persist::Written).unwrap();
    flushed(&mut bench, &mut writer, 20);
    fail(&bench, Op::Write, 1);
    bench.append(&mut writer, 20);
    let lost = writer.flush();
    bench.note(lost);
    bench.clock.advance(Duration::from_millis(100));
    writer.flush().unwrap();
    assert_eq!(header(&bench, 2).first_sequence, 3);
    drop(writer);
    let path = Path::new(FOLDER).join("00000002.wal");
    let bytes = bench.disk.read(&path, None).unwrap();
    let (_, header_length) = Header::parse(&bytes).unwrap();
    bench.disk.remove(&path).unwrap();
    bench.disk.create(&path).unwrap().write(&bytes[..header_length + 30]).unwrap();
    let mut writer = bench.open(Persist::Written).unwrap();
    assert_eq!(writer.last_sequence(), 1);
    flushed(&mut bench, &mut writer, 20);
    bench.check();
}

#[test]
fn a_policy_must_fit_a_header() {
    let bench = bench();
    let mut options = options(Persist::Each);
    options.policy = "x".repeat(65_536);
    let opened = Writer::open(options, std::sync::Arc::new(bench.disk.clone()), bench.clock.clone());
    assert!(matches!(opened, Err(OpenError::Policy(65_536))));
}

/// The recorder writes on one thread and keeps on another.
#[test]
fn writer_and_keeper_may_change_threads() {
    fn may_move<T: Send>() {}
    fn may_be_shared<T: Send + Sync>() {}
    may_move::<Writer>();
    may_be_shared::<trace::Keeper>();
}
