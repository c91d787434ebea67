//! Rows: what a sealed segment keeps of each record besides its payload, in columns of numbers.

use crate::record::{MAX_PAYLOAD, Record};

/// What is kept of one record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row {
    pub(super) kind: u8,
    pub(super) flags: u16,
    pub(super) sequence: u64,
    pub(super) monotonic: u64,
    pub(super) length: u32,
}

/// What the first row of a group is told as a difference from, and what times are counted in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base {
    pub(super) sequence: u64,
    pub(super) monotonic: u64,
    pub(super) unit: u64,
}

/// How many columns there are.
const COLUMNS: usize = 5;

/// The fewest bytes that `count` rows can take.
pub(super) fn least(count: u64) -> u64 {
    (COLUMNS as u64).saturating_mul(count.saturating_add(4))
}

/// The most bytes that `count` rows can take: LEB128 of 8, 16, 64, 64 and 25 bits.
pub(super) fn most(count: u64) -> u64 {
    (COLUMNS as u64 * 4).saturating_add(count.saturating_mul(2 + 3 + 10 + 10 + 4))
}

/// Append the rows of one group to `out`.
pub(super) fn encode<'a>(out: &mut Vec<u8>, records: impl IntoIterator<Item = Record<'a>>, base: Base) {
    let mut columns: [Vec<u8>; COLUMNS] = Default::default();
    let mut before = base;
    for record in records {
        let [kinds, flags, sequences, times, lengths] = &mut columns;
        put(kinds, u64::from(record.kind));
        put(flags, u64::from(record.flags));
        put(sequences, record.sequence - before.sequence);
        put(times, zigzag(record.monotonic, before.monotonic, base.unit));
        put(lengths, record.payload.len() as u64);
        before = Base { sequence: record.sequence, monotonic: record.monotonic, unit: base.unit };
    }
    for column in columns {
        let length = u32::try_from(column.len()).expect("the rows of a segment are shorter than 4 GiB");
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&column);
    }
}

/// The `count` rows that `bytes` hold; nothing if they hold anything else.
pub(super) fn decode(mut bytes: &[u8], count: usize, base: Base) -> Option<Vec<Row>> {
    let mut columns: [&[u8]; COLUMNS] = Default::default();
    for column in &mut columns {
        let (length, rest) = bytes.split_first_chunk()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        (*column, bytes) = rest.split_at_checked(length)?;
    }
    let mut rows = Vec::with_capacity(count.min(columns[0].len()));
    let mut before = base;
    for number in 0..count {
        let [kinds, flags, sequences, times, lengths] = &mut columns;
        let step = take(sequences)?;
        if number > 0 && step == 0 {
            return None;
        }
        let row = Row {
            kind: u8::try_from(take(kinds)?).ok()?,
            flags: u16::try_from(take(flags)?).ok()?,
            sequence: before.sequence.checked_add(step)?,
            monotonic: unzigzag(take(times)?, before.monotonic, base.unit),
            length: u32::try_from(take(lengths)?).ok().filter(|&length| length as usize <= MAX_PAYLOAD)?,
        };
        before = Base { sequence: row.sequence, monotonic: row.monotonic, unit: base.unit };
        rows.push(row);
    }
    (bytes.is_empty() && columns.iter().all(|column| column.is_empty())).then_some(rows)
}

/// The way from one time to another, as a number that is small if they are near.
///
/// Differences wrap at 64 bits, so that any two times have one. Where the unit is not 1 they cannot wrap.
#[expect(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "the bits are meant, not the number")]
fn zigzag(to: u64, from: u64, unit: u64) -> u64 {
    let difference = (to / unit).wrapping_sub(from / unit) as i64;
    ((difference << 1) ^ (difference >> 63)) as u64
}

fn unzigzag(number: u64, from: u64, unit: u64) -> u64 {
    let difference = (number >> 1) ^ (number & 1).wrapping_neg();
    from.wrapping_add(difference.wrapping_mul(unit))
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

fn take(column: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = column.split_first()?;
        *column = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Base, Row, decode, encode, least, most, put, take};
    use crate::ids::Id;
    use crate::record::Record;
    use proptest::prelude::*;

    const BASE: Base = Base { sequence: 10, monotonic: 5000, unit: 1000 };

    fn record(row: &Row) -> Record<'static> {
        const ZEROS: &[u8] = &[0; 300];
        Record {
            version: 1,
            kind: row.kind,
            flags: row.flags,
            sequence: row.sequence,
            monotonic: row.monotonic,
            request: Id(1),
            payload: &ZEROS[..row.length as usize],
        }
    }

    /// Worked out by hand from the page.
    #[test]
    fn columns_of_the_page() {
        let rows = [
            Row { kind: 1, flags: 0, sequence: 10, monotonic: 6000, length: 200 },
            Row { kind: 5, flags: 300, sequence: 13, monotonic: 4000, length: 0 },
        ];
        let mut out = Vec::new();
        encode(&mut out, rows.iter().map(record), BASE);
        let expected = [
            [2, 0, 0, 0, 1, 5].as_slice(),
            &[3, 0, 0, 0, 0, 0xAC, 0x02],
            &[2, 0, 0, 0, 0, 3],
            &[2, 0, 0, 0, 2, 3],
            &[3, 0, 0, 0, 0xC8, 0x01, 0],
        ];
        assert_eq!(out, expected.concat());
        assert_eq!(decode(&out, 2, BASE), Some(rows.to_vec()));
        assert_eq!(decode(&out, 1, BASE), None);
        assert_eq!(decode(&out, 3, BASE), None);
    }

    #[test]
    fn a_sequence_that_does_not_rise_is_refused() {
        let stays =
            [2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0];
        assert_eq!(decode(&stays, 2, BASE), None);
    }

    #[test]
    fn numbers_of_more_than_64_bits_are_refused() {
        let mut largest = Vec::new();
        put(&mut largest, u64::MAX);
        assert_eq!(take(&mut largest.as_slice()), Some(u64::MAX));
        assert_eq!(take(&mut [0xFF; 11].as_slice()), None);
        let beyond = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02];
        assert_eq!(take(&mut beyond.as_slice()), None);
        assert_eq!(take(&mut [0x80].as_slice()), None);
    }

    proptest! {
        #[test]
        fn rows_read_back(
            fields in prop::collection::vec((any::<u8>(), any::<u16>(), 1..u64::MAX / 64, any::<u64>(), 0..300_u32), 0..40),
            start: u64,
            in_microseconds: bool,
        ) {
            let unit = if in_microseconds { 1000 } else { 1 };
            let base = Base { sequence: 1, monotonic: start / unit * unit, unit };
            let mut sequence = 1;
            let rows: Vec<Row> = fields.into_iter().map(|(kind, flags, step, time, length)| {
                sequence += step;
                Row { kind, flags, sequence, monotonic: time / unit * unit, length }
            }).collect();
            let mut out = Vec::new();
            encode(&mut out, rows.iter().map(record), base);
            let count = rows.len() as u64;
            prop_assert!((least(count)..=most(count)).contains(&(out.len() as u64)));
            prop_assert_eq!(decode(&out, rows.len(), base), Some(rows));
        }

        #[test]
        fn any_bytes_are_rows_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..80), count in 0..20_usize) {
            if let Some(rows) = decode(&bytes, count, BASE) {
                prop_assert_eq!(rows.len(), count);
            }
        }
    }
}
