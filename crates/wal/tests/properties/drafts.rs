//! Segments of any content, for property tests.

use proptest::prelude::*;
use wal::chain::Root;
use wal::ids::Id;
use wal::record::{self, Record};
use wal::segment::Header;

/// A record that owns its payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) kind: u8,
    pub(crate) flags: u16,
    pub(crate) sequence: u64,
    pub(crate) monotonic: u64,
    pub(crate) request: Id,
    pub(crate) payload: Vec<u8>,
}

impl Owned {
    pub(crate) fn borrowed(&self) -> Record<'_> {
        let Self { kind, flags, sequence, monotonic, request, .. } = *self;
        Record { version: 1, kind, flags, sequence, monotonic, request, payload: &self.payload }
    }

    pub(crate) fn of(record: &Record<'_>) -> Self {
        assert_eq!(record.version, 1);
        let Record { kind, flags, sequence, monotonic, request, .. } = *record;
        Self { kind, flags, sequence, monotonic, request, payload: record.payload.to_vec() }
    }
}

/// A segment, and what was put into it.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) header: Header,
    pub(crate) records: Vec<Owned>,
    pub(crate) bytes: Vec<u8>,
    /// Where each record ends.
    pub(crate) ends: Vec<usize>,
    pub(crate) header_length: usize,
}

impl Draft {
    fn new(header: Header, records: Vec<Owned>) -> Self {
        let mut bytes = header.encode();
        let header_length = bytes.len();
        let ends = records
            .iter()
            .map(|owned| record::encode(&mut bytes, header.id, &owned.borrowed()).end)
            .collect();
        Self { header, records, bytes, ends, header_length }
    }
}

pub(crate) fn header() -> impl Strategy<Value = Header> {
    let ids = (any::<u128>(), any::<u128>(), any::<u128>());
    let clocks = (any::<i64>(), time(), any::<[u8; 16]>());
    (any::<u64>(), ids, any::<[u8; 32]>(), 0..1_u64 << 62, clocks, ".{0,12}").prop_map(
        |(number, (id, trace, instance), root, first_sequence, (wall, monotonic, boot), policy)| Header {
            number,
            id: Id(id),
            trace: Id(trace),
            instance: Id(instance),
            previous_root: Root(root),
            first_sequence,
            wall,
            monotonic,
            boot,
            policy,
        },
    )
}

/// Mostly what clocks say, in microseconds; sometimes anything.
fn time() -> impl Strategy<Value = u64> {
    prop_oneof![9 => (0..1_u64 << 40).prop_map(|time| time * 1000), 1 => any::<u64>()]
}

/// A type that is known or not, of a request out of three or of none, not always one after the other.
fn record(longest: usize) -> impl Strategy<Value = (u64, Owned)> {
    let kind = prop_oneof![8 => 1..=13_u8, 1 => any::<u8>()];
    let flags = prop_oneof![8 => 0..64_u16, 1 => any::<u16>()];
    let step = prop_oneof![8 => Just(1), 1 => 1..1_u64 << 40];
    let payload = prop_oneof![
        8 => prop::collection::vec(any::<u8>(), 0..60),
        1 => Just(Vec::new()),
        1 => prop::collection::vec(any::<u8>(), longest),
    ];
    (step, kind, flags, time(), 0..4_u128, payload).prop_map(
        |(step, kind, flags, monotonic, request, payload)| {
            (step, Owned { kind, flags, sequence: 0, monotonic, request: Id(request), payload })
        },
    )
}

/// A segment of up to `most` records, all of them short.
pub(crate) fn segment(most: usize) -> impl Strategy<Value = Draft> {
    segment_with(most, 100)
}

/// A segment of up to `most` records, some of them `longest` bytes long.
pub(crate) fn segment_with(most: usize, longest: usize) -> impl Strategy<Value = Draft> {
    (header(), prop::collection::vec(record(longest), 0..=most)).prop_map(|(header, mut steps)| {
        let mut sequence = header.first_sequence;
        for (step, owned) in &mut steps {
            owned.sequence = sequence;
            sequence += *step;
        }
        Draft::new(header, steps.into_iter().map(|(_, owned)| owned).collect())
    })
}
