//! The trace on a real disk, with real processes that are killed, refused and given a strange umask.

#![allow(clippy::unwrap_used, reason = "a test that panics has done its job")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use trace::{Clock, Keeper, OpenError, Options, OsDisk, Persist, SystemClock, Writer, read_folder};
use wal::chain::{Chain, Root};
use wal::ids::Id;
use wal::record::Kind;
use wal::scan::{Scanner, Step};

/// Set for a process that a test starts: the folder of the trace that it writes.
const FOLDER: &str = "TRACE_TEST_FOLDER";
/// Set with it: how the process persists.
const PERSIST: &str = "TRACE_TEST_PERSIST";

fn options(folder: &Path, persist: Persist) -> Options {
    Options {
        folder: folder.to_path_buf(),
        rotate_bytes: 200_000,
        rotate_age: Duration::from_secs(3600),
        persist,
        policy: "2026.11.3".to_owned(),
        checkpoint_bytes: 50_000,
    }
}

fn open(folder: &Path, persist: Persist) -> Result<Writer, OpenError> {
    Writer::open(options(folder, persist), Arc::new(OsDisk), Arc::new(SystemClock::new()))
}

fn payload(sequence: u64) -> Vec<u8> {
    let length = usize::try_from(sequence * 37 % 3000).unwrap();
    let mut bytes = format!("record {sequence} ").into_bytes();
    bytes.resize(bytes.len() + length, b'.');
    bytes
}

/// Start this very test program again, as the process `role`.
fn start(role: &str, folder: &Path, persist: &str, umask: &str) -> Child {
    let program = std::env::current_exe().unwrap();
    let script = format!("umask {umask}; exec \"$0\" {role} --exact --ignored --nocapture");
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg(program).env(FOLDER, folder).env(PERSIST, persist);
    command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap()
}

/// Not a test: the process that is killed. It writes without end and says what it flushed.
#[test]
#[ignore = "started by the tests that kill it"]
fn writing_process() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let persist = match std::env::var(PERSIST).unwrap().as_str() {
        "each" => Persist::Each,
        "grouped" => Persist::Grouped(Duration::from_millis(2)),
        _ => Persist::Written,
    };
    let clock = SystemClock::new();
    let mut writer = open(Path::new(&folder), persist).unwrap();
    let mut out = std::io::stdout();
    loop {
        for _ in 0..5 {
            let bytes = payload(writer.last_sequence() + 1);
            writer.append(Kind::ResponseBody, 0, clock.monotonic(), Id(1), &bytes);
        }
        writer.flush().unwrap();
        let sequence = writer.last_sequence();
        writeln!(out, "flushed {sequence}").unwrap();
    }
}

/// Not a test: the process that writes a little under a strange umask, and seals it.
#[test]
#[ignore = "started by the test of modes"]
fn brief_process() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let folder = PathBuf::from(folder);
    let mut writer = open(&folder, Persist::Each).unwrap();
    writer.append(Kind::NativeLine, 0, clock.monotonic(), Id(0), b"first");
    writer.rotate().unwrap();
    writer.append(Kind::NativeLine, 0, clock.monotonic(), Id(0), b"second");
    writer.flush().unwrap();
    let keeper = Keeper::new(&folder, Arc::new(OsDisk), clock);
    keeper.seal_next(writer.closed_below()).unwrap().unwrap();
    writer.close().unwrap();
}

/// All records by sequence; panics if the chain does not fit or a sequence is missing.
fn read(folder: &Path) -> BTreeMap<u64, Vec<u8>> {
    let mut records = BTreeMap::new();
    let mut root = Root::default();
    for number in read_folder(folder).unwrap().segments.keys() {
        let bytes = fs::read(folder.join(format!("{number:08}.wal"))).unwrap();
        // A process that was killed between making a file and writing to it leaves a segment without a header.
        let Ok(scanner) = Scanner::new(&bytes) else { continue };
        assert_eq!(scanner.header().previous_root, root, "segment {number} does not follow the one before");
        let mut chain = Chain::new(scanner.header_bytes());
        for step in scanner {
            match step {
                Step::Record { offset, end, record } => {
                    chain.update(&bytes[offset + 4..end]);
                    assert_eq!(record.sequence, records.len() as u64 + 1);
                    records.insert(record.sequence, record.payload.to_vec());
                }
                Step::Torn { .. } => {}
                Step::Corruption { start, end } => {
                    panic!("segment {number} is corrupt from {start} to {end}")
                }
            }
        }
        root = chain.root();
    }
    records
}

#[test]
fn what_a_killed_process_flushed_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("trace");
    let mut last = 0;
    for round in 0..24_u64 {
        let mut child =
            start("writing_process", &folder, ["each", "grouped", "written"][(round % 3) as usize], "022");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // The kill comes while the process goes on: at no particular place in its loop.
        for line in lines
            .by_ref()
            .map_while(Result::ok)
            .filter_map(|line| flushed(&line))
            .take(1 + (round * 7 % 40) as usize)
        {
            last = line;
        }
        std::thread::sleep(Duration::from_micros(round * 331 % 2000));
        child.kill().unwrap();
        child.wait().unwrap();
        last = lines.map_while(Result::ok).filter_map(|line| flushed(&line)).last().unwrap_or(last);
        let records = read(&folder);
        assert!(records.len() as u64 >= last, "{} records, and {last} were flushed", records.len());
    }
    let records = read(&folder);
    let bodies = records.iter().filter(|(_, bytes)| bytes.starts_with(b"record"));
    assert!(bodies.clone().count() > 100);
    assert!(bodies.into_iter().all(|(&sequence, bytes)| *bytes == payload(sequence)));
}

fn flushed(line: &str) -> Option<u64> {
    line.split_once("flushed ")?.1.parse().ok()
}

#[test]
fn modes_are_the_same_under_any_umask() {
    for umask in ["000", "077", "277", "777"] {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("home/trace");
        let mut child = start("brief_process", &folder, "each", umask);
        assert!(child.wait().unwrap().success(), "under the umask {umask}");
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700, "under the umask {umask}");
        assert_eq!(mode(folder.parent().unwrap()), 0o700, "under the umask {umask}");
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path), 0o600, "{} under the umask {umask}", path.display());
            names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
        names.sort();
        assert_eq!(names, ["00000001.seal", "00000002.wal", "lock", "synced"]);
    }
}

#[test]
fn a_second_process_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("trace");
    let mut child = start("writing_process", &folder, "written", "022");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.find(|line| line.as_ref().is_ok_and(|line| flushed(line).is_some())).unwrap().unwrap();
    let Err(error) = open(&folder, Persist::Each) else { panic!("two processes write one trace") };
    assert!(error.to_string().contains(&format!("process {};", child.id())), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
    open(&folder, Persist::Each).unwrap().close().unwrap();
}

#[test]
fn a_folder_that_vanishes_is_made_again() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("trace");
    let mut writer = open(&folder, Persist::Each).unwrap();
    writer.append(Kind::NativeLine, 0, 0, Id(0), b"gone with the folder");
    writer.flush().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    writer.rotate().unwrap();
    writer.append(Kind::NativeLine, 0, 0, Id(0), b"there again");
    writer.flush().unwrap();
    let numbers: Vec<u64> = read_folder(&folder).unwrap().segments.into_keys().collect();
    assert_eq!(numbers, [2]);
    assert!(matches!(open(&folder, Persist::Each), Err(OpenError::Locked { .. })));
}

#[test]
fn a_folder_that_another_recorder_took_is_left_to_it() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("trace");
    let mut first = open(&folder, Persist::Each).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let _second = open(&folder, Persist::Each).unwrap();
    first.append(Kind::NativeLine, 0, 0, Id(0), b"not here");
    let lost = first.flush().unwrap_err();
    assert_eq!(lost.error, "another recorder writes this trace now");
    assert!(read_folder(&folder).unwrap().segments.is_empty());
}
