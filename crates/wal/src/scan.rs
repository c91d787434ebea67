//! The scanner: the records of a segment in order, and the damage between them.

use std::iter::FusedIterator;

use crate::checksum;
use crate::ids::Id;
use crate::record::{CRC_BYTES, HEADER_BYTES, MAX_PAYLOAD, Record};
use crate::segment::{Header, HeaderError};

/// What stands next in a segment. Offsets count from the beginning of the file; `end` is the first byte after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step<'a> {
    /// An intact record.
    Record {
        /// Where it begins.
        offset: usize,
        /// Where it ends.
        end: usize,
        /// The record.
        record: Record<'a>,
    },
    /// Bytes that are no record, with an intact one after them.
    Corruption {
        /// Where they begin.
        start: usize,
        /// Where the next intact record begins.
        end: usize,
    },
    /// Bytes that are no record, up to the end: the last write of a recorder that died.
    Torn {
        /// Where they begin.
        start: usize,
        /// The end of the file.
        end: usize,
    },
}

/// Reads a whole segment, step by step.
#[derive(Debug, Clone)]
pub struct Scanner<'a> {
    segment: &'a [u8],
    header: Header,
    header_length: usize,
    at: usize,
    /// The smallest sequence that the next record may have; nothing if there is none left.
    floor: Option<u64>,
    /// An intact record that was found behind damage and is handed out next.
    found: Option<Step<'a>>,
    prefixes: Option<Prefixes>,
}

impl<'a> Scanner<'a> {
    /// Read the header of `segment`; the records follow by iteration.
    ///
    /// # Errors
    ///
    /// If the header cannot be read: without it no record can be checked.
    pub fn new(segment: &'a [u8]) -> Result<Self, HeaderError> {
        let (header, header_length) = Header::parse(segment)?;
        let floor = Some(header.first_sequence);
        Ok(Self { segment, header, header_length, at: header_length, floor, found: None, prefixes: None })
    }

    /// What the segment says of itself.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The bytes of the header, which the chain begins with.
    #[must_use]
    pub fn header_bytes(&self) -> &'a [u8] {
        &self.segment[..self.header_length]
    }

    /// The intact record at `offset`, if there is one.
    fn intact(&mut self, offset: usize, is_damaged_before: bool) -> Option<Step<'a>> {
        let (end, record) = plausible(self.segment, offset, self.floor?)?;
        let stated = u32::from_le_bytes(*self.segment[offset..].first_chunk()?);
        let body = offset + CRC_BYTES;
        let actual = if is_damaged_before && record.payload.len() > Prefixes::WORTH_IT {
            let prefixes = self.prefixes.get_or_insert_with(|| Prefixes::of(self.segment, offset));
            prefixes.checksum(self.segment, self.header.id, body, end)
        } else {
            checksum::of([self.header.id.to_bytes().as_slice(), &self.segment[body..end]])
        };
        (actual == stated).then_some(Step::Record { offset, end, record })
    }

    fn take(&mut self, step: Step<'a>) -> Step<'a> {
        if let Step::Record { end, record, .. } = &step {
            self.at = *end;
            self.floor = record.sequence.checked_add(1);
        }
        step
    }
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Step<'a>;

    fn next(&mut self) -> Option<Step<'a>> {
        if let Some(found) = self.found.take() {
            return Some(self.take(found));
        }
        let (start, end) = (self.at, self.segment.len());
        if start == end {
            return None;
        }
        if let Some(step) = self.intact(start, false) {
            return Some(self.take(step));
        }
        self.found = (start + 1..end.saturating_sub(HEADER_BYTES - 1)).find_map(|at| self.intact(at, true));
        if let Some(Step::Record { offset, .. }) = self.found {
            return Some(Step::Corruption { start, end: offset });
        }
        self.at = end;
        Some(Step::Torn { start, end })
    }
}

impl FusedIterator for Scanner<'_> {}

/// The record that stands at `offset` if its checksum fits: all that can be told without computing it.
fn plausible(segment: &[u8], offset: usize, floor: u64) -> Option<(usize, Record<'_>)> {
    let head: &[u8; HEADER_BYTES] = segment.get(offset..)?.first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(field(head, 4))).ok()?;
    let sequence = u64::from_le_bytes(field(head, 12));
    if length > MAX_PAYLOAD || sequence < floor {
        return None;
    }
    let payload = segment.get(offset + HEADER_BYTES..)?.get(..length)?;
    Some((offset + HEADER_BYTES + length, read(head, payload)))
}

/// The record at `offset`, where a scanner found one.
pub(crate) fn known(segment: &[u8], offset: usize) -> Record<'_> {
    let (_, record) = plausible(segment, offset, 0).expect("a scanner found a record here");
    record
}

fn read<'a>(head: &[u8; HEADER_BYTES], payload: &'a [u8]) -> Record<'a> {
    Record {
        version: head[8],
        kind: head[9],
        flags: u16::from_le_bytes(field(head, 10)),
        sequence: u64::from_le_bytes(field(head, 12)),
        monotonic: u64::from_le_bytes(field(head, 20)),
        request: Id::from_bytes(field(head, 28)),
        payload,
    }
}

/// The `N` bytes at `offset`.
fn field<const N: usize>(head: &[u8; HEADER_BYTES], offset: usize) -> [u8; N] {
    head[offset..offset + N].try_into().expect("a slice of N bytes is an array of N bytes")
}

/// The checksums of all beginnings of a damaged segment, from which that of any part follows in constant time.
///
/// In damage, one offset in 256 looks like a long record. Reading each of those to its end would take hours for a
/// segment of the usual size.
#[derive(Debug, Clone)]
struct Prefixes {
    start: usize,
    marks: Vec<u32>,
}

impl Prefixes {
    /// How many bytes lie between two marks.
    const STRIDE: usize = 1024;

    /// The length from which on the detour is shorter than reading the bytes.
    const WORTH_IT: usize = 16 * Self::STRIDE;

    fn of(segment: &[u8], start: usize) -> Self {
        let mut hasher = crc32fast::Hasher::new();
        let mut marks = vec![0];
        for stride in segment[start..].chunks_exact(Self::STRIDE) {
            hasher.update(stride);
            marks.push(hasher.clone().finalize());
        }
        Self { start, marks }
    }

    /// The checksum of the bytes from `start` to `end`.
    fn up_to(&self, segment: &[u8], end: usize) -> u32 {
        let mark = (end - self.start) / Self::STRIDE;
        let mut hasher = crc32fast::Hasher::new_with_initial(self.marks[mark]);
        hasher.update(&segment[self.start + mark * Self::STRIDE..end]);
        hasher.finalize()
    }

    /// The checksum of a record: of the segment's id followed by the bytes from `from` to `to`.
    ///
    /// A CRC is linear: with `shift` for the effect of as many zero bytes, `up_to(to)` is `shift(up_to(from))` XOR the
    /// checksum of the part, and the record's is `shift(checksum of the id)` XOR that.
    fn checksum(&self, segment: &[u8], id: Id, from: usize, to: usize) -> u32 {
        let length = u64::try_from(to - from).expect("a length in memory fits 64 bits");
        let before = checksum::of([id.to_bytes().as_slice()]) ^ self.up_to(segment, from);
        let mut shifted = crc32fast::Hasher::new_with_initial_len(before, length);
        shifted.combine(&crc32fast::Hasher::new_with_initial_len(0, length));
        shifted.finalize() ^ self.up_to(segment, to)
    }
}

#[cfg(test)]
mod tests {
    use super::Prefixes;
    use crate::checksum;
    use crate::ids::Id;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_short_way_to_a_checksum_leads_to_the_same(
            bytes in prop::collection::vec(any::<u8>(), 1..8000),
            id: u128,
            ends: (prop::sample::Index, prop::sample::Index, prop::sample::Index),
        ) {
            let mut ends = [ends.0, ends.1, ends.2].map(|end| end.index(bytes.len() + 1));
            ends.sort_unstable();
            let [start, from, to] = ends;
            let short = Prefixes::of(&bytes, start).checksum(&bytes, Id(id), from, to);
            prop_assert_eq!(short, checksum::of([Id(id).to_bytes().as_slice(), &bytes[from..to]]));
        }
    }
}
