//! A reader of the whole trace, written for the tests alone: chain, sequences, gaps and checkpoints must fit.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

use serde_json::Value;
use trace::Disk;
use wal::chain::{Chain, Root};
use wal::ids::Id;
use wal::record::Kind;
use wal::scan::{Scanner, Step};
use wal::sealed::Sealed;

/// What a trace holds.
#[derive(Default, Debug)]
pub(crate) struct Held {
    /// The payloads by sequence.
    pub(crate) records: BTreeMap<u64, Vec<u8>>,
    /// The types by sequence.
    pub(crate) kinds: BTreeMap<u64, u8>,
    /// What gaps say is missing.
    pub(crate) gaps: Vec<RangeInclusive<u64>>,
    /// What tombstones stand for.
    pub(crate) removed: Vec<RangeInclusive<u64>>,
    /// Why checkpoints were written.
    pub(crate) checkpoints: Vec<String>,
    pub(crate) unreadable: u64,
    pub(crate) sealed: u64,
    pub(crate) segments: u64,
    root: Root,
    trace: Option<Id>,
}

impl Held {
    pub(crate) fn has(&self, sequence: u64) -> bool {
        self.records.contains_key(&sequence) || self.removed.iter().any(|range| range.contains(&sequence))
    }

    fn take_segment(&mut self, number: u64, bytes: &[u8], is_sealed: bool) {
        let Ok(scanner) = Scanner::new(bytes) else {
            self.unreadable += 1;
            return;
        };
        let header = scanner.header().clone();
        assert_eq!(header.number, number, "the header of a segment has the number of its file");
        assert_eq!(header.previous_root, self.root, "segment {number} does not follow the one before");
        assert_eq!(*self.trace.get_or_insert(header.trace), header.trace, "one folder, one trace");
        let mut chain = Chain::new(scanner.header_bytes());
        let mut before = header.first_sequence - 1;
        for step in scanner {
            match step {
                Step::Record { offset, end, record } => {
                    if record.known_kind() == Some(Kind::Checkpoint) {
                        self.check(record.payload, before, chain.root());
                    }
                    if record.known_kind() == Some(Kind::Gap) {
                        self.take_gap(record.payload);
                    }
                    chain.update(&bytes[offset + 4..end]);
                    before = record.sequence;
                    self.kinds.insert(record.sequence, record.kind);
                    let twice = self.records.insert(record.sequence, record.payload.to_vec());
                    assert!(twice.is_none(), "sequence {} is there twice", record.sequence);
                }
                Step::Torn { .. } => {}
                Step::Corruption { start, end } => {
                    panic!("segment {number} is corrupt from {start} to {end}")
                }
            }
        }
        self.root = chain.root();
        self.segments += 1;
        self.sealed += u64::from(is_sealed);
    }

    fn check(&mut self, payload: &[u8], before: u64, root: Root) {
        let value: Value = serde_json::from_slice(payload).unwrap();
        assert_eq!(value["sequence"], before);
        assert_eq!(value["root"], root.to_string());
        self.checkpoints.push(value["reason"].as_str().unwrap().to_owned());
    }

    fn take_gap(&mut self, payload: &[u8]) {
        let value: Value = serde_json::from_slice(payload).unwrap();
        assert_eq!(value["reason"], "write_error");
        let (first, last) =
            (value["first_sequence"].as_u64().unwrap(), value["last_sequence"].as_u64().unwrap());
        assert_eq!(value["records"], last - first + 1);
        self.gaps.push(first..=last);
    }

    fn take_tombstone(&mut self, number: u64, bytes: &[u8]) {
        let value: Value = serde_json::from_slice(bytes).unwrap();
        assert_eq!(value["segment"], number);
        assert_eq!(value["previous_root"], self.root.to_string());
        self.root = value["root"].as_str().unwrap().parse().unwrap();
        self.removed
            .push(value["first_sequence"].as_u64().unwrap()..=value["last_sequence"].as_u64().unwrap());
    }
}

/// Read all of it; panics if anything does not fit.
pub(crate) fn read(disk: &dyn Disk, folder: &Path) -> Held {
    let mut names: Vec<String> = disk.list(folder).unwrap().into_iter().map(|entry| entry.name).collect();
    names.sort();
    let has = |name: &str| names.iter().any(|known| known == name);
    let bytes = |name: &str| disk.read(&folder.join(name), None).unwrap();
    let mut held = Held::default();
    let last = names.iter().filter_map(|name| name.split('.').next()?.parse::<u64>().ok()).max().unwrap_or(0);
    for number in 1..=last {
        let [wal, seal, gone] = ["wal", "seal", "gone"].map(|suffix| format!("{number:08}.{suffix}"));
        if has(&seal) {
            let sealed = bytes(&seal);
            held.take_segment(number, &Sealed::parse(&sealed).unwrap().unseal().unwrap(), true);
        } else if has(&wal) {
            held.take_segment(number, &bytes(&wal), false);
        } else {
            assert!(has(&gone), "segment {number} is missing");
            held.take_tombstone(number, &bytes(&gone));
        }
    }
    for sequence in 1..=held.records.keys().next_back().copied().unwrap_or(0) {
        let is_covered = held.gaps.iter().any(|range| range.contains(&sequence));
        assert!(held.has(sequence) || is_covered, "sequence {sequence} is missing and no gap covers it");
        let is_there = held.records.contains_key(&sequence);
        assert!(!(is_there && is_covered), "sequence {sequence} is there, and a gap says that it is not");
    }
    held
}
