//! Damage shows, and never changes what a record says.

use proptest::prelude::*;
use wal::ids::Id;
use wal::record::{self, Record};
use wal::scan::{Scanner, Step};
use wal::segment::Header;

use crate::drafts::{Draft, Owned, segment, segment_with};

/// The records of a segment, and the places that are none.
fn read(bytes: &[u8]) -> (Vec<Owned>, Vec<(usize, usize, bool)>) {
    let (mut records, mut damage) = (Vec::new(), Vec::new());
    for step in Scanner::new(bytes).unwrap() {
        match step {
            Step::Record { record, .. } => records.push(Owned::of(&record)),
            Step::Corruption { start, end } => damage.push((start, end, false)),
            Step::Torn { start, end } => damage.push((start, end, true)),
        }
    }
    (records, damage)
}

/// Which record the byte at `offset` belongs to.
fn record_at(draft: &Draft, offset: usize) -> usize {
    draft.ends.iter().position(|&end| offset < end).unwrap()
}

fn start_of(draft: &Draft, number: usize) -> usize {
    if number == 0 { draft.header_length } else { draft.ends[number - 1] }
}

proptest! {
    #[test]
    fn one_flipped_bit_costs_one_record(draft in segment_with(8, 17_000), at: prop::sample::Index) {
        prop_assume!(!draft.records.is_empty());
        let bits = (draft.bytes.len() - draft.header_length) * 8;
        let bit = draft.header_length * 8 + at.index(bits);
        let mut bytes = draft.bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);

        let hit = record_at(&draft, bit / 8);
        let is_last = hit + 1 == draft.records.len();
        let (records, damage) = read(&bytes);
        let mut left = draft.records.clone();
        left.remove(hit);
        prop_assert_eq!(records, left);
        prop_assert_eq!(damage, [(start_of(&draft, hit), draft.ends[hit], is_last)]);
    }

    #[test]
    fn bytes_overwritten_anywhere_cost_the_records_they_touch(
        draft in segment(8),
        noise in prop::collection::vec(any::<u8>(), 1..200),
        at: prop::sample::Index,
    ) {
        let room = draft.bytes.len() - draft.header_length;
        prop_assume!(room > noise.len());
        let start = draft.header_length + at.index(room - noise.len());
        let mut bytes = draft.bytes.clone();
        bytes[start..start + noise.len()].copy_from_slice(&noise);
        let (first, last) = (record_at(&draft, start), record_at(&draft, start + noise.len() - 1));
        let (records, _) = read(&bytes);
        let untouched = [&draft.records[..first], &draft.records[last + 1..]].concat();
        prop_assert!(untouched.iter().all(|record| records.contains(record)));
        prop_assert!(records.iter().all(|record| draft.records.contains(record)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn cut_anywhere_the_records_before_are_there_and_the_rest_is_a_torn_tail(draft in segment(4)) {
        for end in draft.header_length..draft.bytes.len() {
            let whole = draft.ends.iter().filter(|&&record_end| record_end <= end).count();
            let torn_start = start_of(&draft, whole);
            let (records, damage) = read(&draft.bytes[..end]);
            prop_assert_eq!(&records, &draft.records[..whole]);
            let expected = if torn_start == end { vec![] } else { vec![(torn_start, end, true)] };
            prop_assert_eq!(damage, expected);
        }
    }
}

/// A segment with one record of `length` bytes behind `noise`.
fn behind(noise: &[u8], length: usize) -> Vec<u8> {
    let header = Header { id: Id(9), first_sequence: 1, ..Header::default() };
    let payload = vec![b'x'; length];
    let record = Record {
        version: 1,
        kind: 4,
        flags: 0,
        sequence: 7,
        monotonic: 0,
        request: Id(1),
        payload: &payload,
    };
    let mut bytes = [header.encode(), noise.to_vec()].concat();
    record::encode(&mut bytes, header.id, &record);
    bytes
}

/// Noise in which one offset in 256 looks like the head of a long record.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn a_long_record_is_found_behind_long_noise() {
    let noise = noise(256 << 10);
    let bytes = behind(&noise, 1 << 20);
    let start = bytes.len() - 44 - (1 << 20);
    let (records, damage) = read(&bytes);
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].sequence, 7);
    assert_eq!(damage, [(start - noise.len(), start, false)]);
}

#[test]
fn a_record_with_a_smaller_sequence_is_no_record() {
    let mut bytes = behind(&[], 3);
    let again = bytes[bytes.len() - 47..].to_vec();
    let end = bytes.len();
    bytes.extend(again);
    let (records, damage) = read(&bytes);
    assert_eq!(records.len(), 1);
    assert_eq!(damage, [(end, end + 47, true)]);
}

#[test]
fn the_first_record_may_not_lie_before_the_segment() {
    let header = Header { id: Id(9), first_sequence: 8, ..Header::default() };
    let record = |sequence| Record {
        version: 1,
        kind: 4,
        flags: 0,
        sequence,
        monotonic: 0,
        request: Id(1),
        payload: b"early",
    };
    let mut bytes = header.encode();
    let start = bytes.len();
    let early = record::encode(&mut bytes, header.id, &record(7));
    record::encode(&mut bytes, header.id, &record(8));
    let (records, damage) = read(&bytes);
    assert_eq!(records.iter().map(|record| record.sequence).collect::<Vec<_>>(), [8]);
    assert_eq!(damage, [(start, early.end, false)]);
}

#[test]
fn nothing_follows_the_last_sequence_there_is() {
    let header = Header { id: Id(9), first_sequence: u64::MAX, ..Header::default() };
    let mut bytes = header.encode();
    let record = Record {
        version: 1,
        kind: 4,
        flags: 0,
        sequence: u64::MAX,
        monotonic: 0,
        request: Id(1),
        payload: b"",
    };
    let range = record::encode(&mut bytes, header.id, &record);
    record::encode(&mut bytes, header.id, &record);
    let (records, damage) = read(&bytes);
    assert_eq!(records.len(), 1);
    assert_eq!(damage, [(range.end, range.end + 44, true)]);
}
