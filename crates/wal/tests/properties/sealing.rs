//! A seal holds what the segment held, gives back its very bytes, and no damage to it goes unnoticed.

use std::io;

use proptest::prelude::*;
use wal::chain::Chain;
use wal::ids::Id;
use wal::record::{self, Record};
use wal::scan::{Scanner, Step};
use wal::sealed::{SealRefused, Sealed, SealedError, seal};
use wal::segment::Header;

use crate::drafts::{Draft, Owned, segment};

fn sealed(segment: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let sealing = seal(segment, &mut out).unwrap();
    assert_eq!(sealing.written, out.len() as u64);
    out
}

/// What a recorder that died may leave at the end: a part of a record, zeros, or anything.
fn tail(draft: &Draft, kind: u8, noise: &[u8]) -> Vec<u8> {
    match kind {
        0 => Vec::new(),
        1 => vec![0; noise.len()],
        2 => {
            let more = Record {
                version: 1,
                kind: 4,
                flags: 0,
                sequence: u64::MAX,
                monotonic: 0,
                request: Id(1),
                payload: noise,
            };
            let mut bytes = Vec::new();
            record::encode(&mut bytes, draft.header.id, &more);
            bytes.pop();
            bytes
        }
        _ => noise.to_vec(),
    }
}

proptest! {
    #[test]
    fn a_seal_gives_back_the_segment(
        draft in segment(30),
        kind in 0..4_u8,
        noise in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let tail = tail(&draft, kind, &noise);
        let segment = [draft.bytes.as_slice(), &tail].concat();
        let packed = sealed(&segment);
        let seal = Sealed::parse(&packed).unwrap();
        prop_assert_eq!(seal.unseal().unwrap(), segment);
        prop_assert_eq!(seal.torn_bytes(), tail.len() as u64);
    }

    #[test]
    fn a_seal_holds_the_records(draft in segment(30)) {
        let packed = sealed(&draft.bytes);
        let seal = Sealed::parse(&packed).unwrap();
        prop_assert_eq!(seal.header(), &draft.header);
        prop_assert_eq!(seal.record_count(), draft.records.len() as u64);
        prop_assert_eq!(seal.segment_bytes(), draft.bytes.len() as u64);
        let all = seal.records().unwrap();
        prop_assert_eq!(all.iter().map(|record| Owned::of(&record)).collect::<Vec<_>>(), draft.records.clone());

        let mut chain = Chain::new(&draft.bytes[..draft.header_length]);
        for step in Scanner::new(&draft.bytes).unwrap() {
            let Step::Record { offset, end, .. } = step else { panic!("{step:?}") };
            chain.update(&draft.bytes[offset + 4..end]);
        }
        prop_assert_eq!(seal.root(), chain.root());
    }

    #[test]
    fn a_request_is_read_alone(draft in segment(30)) {
        let packed = sealed(&draft.bytes);
        let seal = Sealed::parse(&packed).unwrap();
        let mut ids: Vec<Id> = Vec::new();
        for owned in &draft.records {
            if !ids.contains(&owned.request) {
                ids.push(owned.request);
            }
        }
        prop_assert_eq!(seal.groups().map(|group| group.id).collect::<Vec<_>>(), ids.clone());
        for info in seal.groups() {
            let group = seal.group(info.id).unwrap().unwrap();
            let found: Vec<Owned> = group.records().map(|record| Owned::of(&record)).collect();
            let expected: Vec<Owned> =
                draft.records.iter().filter(|owned| owned.request == info.id).cloned().collect();
            prop_assert_eq!(info.records, expected.len() as u64);
            prop_assert_eq!(info.bytes, expected.iter().map(|owned| owned.payload.len() as u64).sum::<u64>());
            prop_assert_eq!(found, expected);
        }
        prop_assert!(seal.group(Id(99)).unwrap().is_none());
    }

    #[test]
    fn damage_to_a_seal_is_an_error_or_changes_nothing(
        draft in segment(10),
        at: prop::sample::Index,
        bit in 0..8_u8,
    ) {
        let mut packed = sealed(&draft.bytes);
        let place = at.index(packed.len());
        packed[place] ^= 1 << bit;
        if let Ok(bytes) = Sealed::parse(&packed).and_then(|seal| seal.unseal()) {
            prop_assert_eq!(bytes, draft.bytes);
        }
    }

    #[test]
    fn a_seal_that_was_cut_is_refused(draft in segment(10), at: prop::sample::Index) {
        let packed = sealed(&draft.bytes);
        prop_assert!(Sealed::parse(&packed[..at.index(packed.len())]).is_err());
    }

    /// The footer's checksum is mended, so that what it guards is reached.
    #[test]
    fn any_index_is_read_without_a_panic(
        draft in segment(4),
        replaced in "(\\{|\\}|\\[|\\]|,|:|[0-9]{1,20}|\"(frames|unit|records|bytes|groups|rows|other|id|torn|raw)\"){0,30}",
    ) {
        let packed = with_index(&sealed(&draft.bytes), |_| replaced);
        prop_assert!(Sealed::parse(&packed).is_err());
    }

    #[test]
    fn numbers_of_the_index_that_do_not_fit_are_refused_or_harmless(
        draft in segment(6),
        which: prop::sample::Index,
        number in prop_oneof![Just(u64::MAX), Just(u64::from(u32::MAX)), Just(33 << 20), 0..300_u64],
    ) {
        let packed = with_index(&sealed(&draft.bytes), |index| {
            let numbers = digits(index);
            let (start, end) = numbers[which.index(numbers.len())];
            format!("{}{number}{}", &index[..start], &index[end..])
        });
        if let Ok(bytes) = Sealed::parse(&packed).and_then(|seal| seal.unseal()) {
            prop_assert_eq!(bytes, draft.bytes);
        }
    }
}

/// Where the numbers of a JSON text stand. Those in ids do not count, as they are in strings.
fn digits(text: &str) -> Vec<(usize, usize)> {
    let (mut found, mut start, mut in_string) = (Vec::new(), None, false);
    for (at, character) in text.char_indices() {
        in_string ^= character == '"';
        match (start, character.is_ascii_digit() && !in_string) {
            (None, true) => start = Some(at),
            (Some(begin), false) => {
                found.push((begin, at));
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// The same seal with another index, and a footer that fits it.
fn with_index(packed: &[u8], change: impl FnOnce(&str) -> String) -> Vec<u8> {
    let (before, footer) = packed.split_at(packed.len() - 64);
    let start = usize::try_from(u64::from_le_bytes(footer[..8].try_into().unwrap())).unwrap();
    let index = zstd::decode_all(&before[start..]).unwrap();
    let changed = change(std::str::from_utf8(&index).unwrap());
    let index = zstd::bulk::compress(changed.as_bytes(), 1).unwrap();
    let mut new_footer = footer.to_vec();
    new_footer[8..12].copy_from_slice(&u32::try_from(index.len()).unwrap().to_le_bytes());
    new_footer[12..16].copy_from_slice(&u32::try_from(changed.len()).unwrap().to_le_bytes());
    let crc = wal::checksum::of([index.as_slice(), &new_footer[..48]]);
    new_footer[48..52].copy_from_slice(&crc.to_le_bytes());
    [&before[..start], &index, &new_footer].concat()
}

/// A segment with `count` records of `length` bytes, each of its own request.
fn long_segment(count: u64, length: usize) -> Vec<u8> {
    let header = Header { id: Id(9), first_sequence: 1, ..Header::default() };
    let mut bytes = header.encode();
    for sequence in 1..=count {
        let payload = vec![sequence.to_le_bytes()[0]; length];
        let request = Id(u128::from(sequence));
        let record =
            Record { version: 1, kind: 4, flags: 0, sequence, monotonic: 0, request, payload: &payload };
        record::encode(&mut bytes, header.id, &record);
    }
    bytes
}

#[test]
fn a_request_may_lie_in_two_frames() {
    let segment = long_segment(3, 5 << 20);
    let packed = sealed(&segment);
    let seal = Sealed::parse(&packed).unwrap();
    let second = seal.group(Id(2)).unwrap().unwrap();
    let payload = second.records().next().unwrap().payload;
    assert_eq!(payload.len(), 5 << 20);
    assert!(payload.iter().all(|&byte| byte == 2));
    assert!(seal.unseal().unwrap() == segment);
}

/// Only the frames of a request are read: another one may be damaged.
#[test]
fn a_damaged_frame_costs_its_requests_alone() {
    let packed = with_a_damaged_last_frame();
    let seal = Sealed::parse(&packed).unwrap();
    assert!(seal.group(Id(1)).is_ok());
    assert!(matches!(seal.group(Id(3)), Err(SealedError::Frame { .. })));
    assert!(matches!(seal.records(), Err(SealedError::Frame { .. })));
}

fn with_a_damaged_last_frame() -> Vec<u8> {
    let mut packed = sealed(&long_segment(3, 5 << 20));
    let footer = packed.len() - 64;
    let index = usize::try_from(u64::from_le_bytes(packed[footer..footer + 8].try_into().unwrap())).unwrap();
    packed[index - 8] ^= 0x55;
    packed
}

#[test]
fn another_root_is_told() {
    let mut packed = sealed(&long_segment(3, 10));
    let footer = packed.len() - 64;
    packed[footer + 16] ^= 1;
    let packed = with_index(&packed, str::to_owned);
    let seal = Sealed::parse(&packed).unwrap();
    assert!(seal.group(Id(1)).unwrap().is_some());
    assert!(matches!(seal.records(), Err(SealedError::Root { stated, .. }) if stated == seal.root()));
    assert!(matches!(seal.unseal(), Err(SealedError::Root { .. })));
}

#[test]
fn a_corrupt_segment_is_not_sealed() {
    let mut segment = long_segment(3, 10);
    segment[150 + 20] ^= 1;
    let refused = seal(&segment, io::sink());
    assert!(matches!(refused, Err(SealRefused::Corruption { start: 150, end: 204 })), "{refused:?}");
}

#[test]
fn a_segment_with_a_record_of_another_version_is_not_sealed() {
    let header = Header { id: Id(9), first_sequence: 1, ..Header::default() };
    let mut segment = header.encode();
    let record =
        Record { version: 2, kind: 2, flags: 0, sequence: 4, monotonic: 0, request: Id(1), payload: b"" };
    record::encode(&mut segment, header.id, &record);
    let refused = seal(&segment, io::sink());
    assert!(matches!(refused, Err(SealRefused::RecordVersion { sequence: 4, version: 2 })), "{refused:?}");
}

#[test]
fn what_is_no_segment_is_not_sealed() {
    assert!(matches!(seal(b"not a segment", io::sink()), Err(SealRefused::Header(_))));
}

#[test]
fn a_disk_that_is_full_is_told() {
    let mut room = [0; 100];
    let refused = seal(&long_segment(3, 10), room.as_mut_slice());
    assert!(matches!(refused, Err(SealRefused::Write(_))), "{refused:?}");
}

/// A segment of conversations whose requests each begin with the one before, but for its last two bytes.
fn conversations(count: usize, turns: usize) -> Vec<u8> {
    let header = Header { id: Id(9), first_sequence: 1, ..Header::default() };
    let mut bytes = header.encode();
    let mut histories = vec![Vec::new(); count];
    let mut sequence = 0;
    for turn in 0..turns {
        for (number, history) in histories.iter_mut().enumerate() {
            let words = (0..if turn == 0 { 1000 } else { 30 })
                .map(|word| format!("{} ", (number + 3) * (turn + 7) * (word + 11)));
            history.extend(words.collect::<String>().into_bytes());
            let body = [history.as_slice(), b"]}"].concat();
            for payload in body.chunks(5000) {
                sequence += 1;
                let request = Id((number * 1000 + turn + 1) as u128);
                let record =
                    Record { version: 1, kind: 2, flags: 0, sequence, monotonic: 0, request, payload };
                record::encode(&mut bytes, header.id, &record);
            }
        }
    }
    bytes
}

/// How many bytes the frames of requests hold, and in how many pieces a request lies at most.
fn stored_requests(packed: &[u8]) -> (u64, usize) {
    let mut found = (0, 0);
    with_index(packed, |text| {
        let index: serde_json::Value = serde_json::from_str(text).unwrap();
        let frames = index["frames"].as_array().unwrap().iter().filter(|frame| frame["stream"] == "request");
        let pieces = index["groups"]
            .as_array()
            .unwrap()
            .iter()
            .map(|group| group["request"].as_array().unwrap().len());
        found = (frames.map(|frame| frame["raw"].as_u64().unwrap()).sum(), pieces.max().unwrap());
        text.to_owned()
    });
    found
}

#[test]
fn a_history_that_is_sent_again_is_stored_once() {
    let segment = conversations(3, 12);
    let packed = sealed(&segment);
    let (stored, pieces) = stored_requests(&packed);
    let last_requests: u64 = Sealed::parse(&packed)
        .unwrap()
        .groups()
        .filter(|group| group.id.0 % 1000 == 12)
        .map(|group| group.bytes)
        .sum();
    assert_eq!(stored, last_requests + 3 * 11 * 2);
    assert_eq!(pieces, 12);
    assert!(Sealed::parse(&packed).unwrap().unseal().unwrap() == segment);
}

#[test]
fn a_request_lies_in_a_bounded_number_of_pieces() {
    let segment = conversations(1, 140);
    let packed = sealed(&segment);
    assert_eq!(stored_requests(&packed).1, 64);
    let seal = Sealed::parse(&packed).unwrap();
    assert!(seal.unseal().unwrap() == segment);
    let last = seal.group(Id(140)).unwrap().unwrap();
    assert!(last.records().last().unwrap().payload.ends_with(b" ]}"));
}

#[test]
fn more_conversations_than_are_followed_are_sealed_all_the_same() {
    let segment = conversations(20, 3);
    let packed = sealed(&segment);
    assert!(Sealed::parse(&packed).unwrap().unseal().unwrap() == segment);
}
