//! Encoded records that lie one after the other in memory.

use wal::checksum;
use wal::ids::Id;
use wal::record::{CRC_BYTES, HEADER_BYTES};

/// Where a record's length stands.
const LENGTH_AT: usize = 4;
/// Where its sequence stands.
const SEQUENCE_AT: usize = 12;

/// The whole records at the beginning of `bytes`, in order.
pub(crate) fn records(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (record, rest) = bytes.split_at_checked(length(bytes)?)?;
        bytes = rest;
        Some(record)
    })
}

/// The sequence of an encoded record.
pub(crate) fn sequence(record: &[u8]) -> Option<u64> {
    record.get(SEQUENCE_AT..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Make records that were encoded for another segment those of `segment`: only the checksum names it.
pub(crate) fn readdress(bytes: &mut [u8], segment: Id) {
    let mut at = 0;
    while let Some(length) = length(&bytes[at..]).filter(|length| at + length <= bytes.len()) {
        let record = &mut bytes[at..at + length];
        let crc = checksum::of([segment.to_bytes().as_slice(), &record[CRC_BYTES..]]);
        record[..CRC_BYTES].copy_from_slice(&crc.to_le_bytes());
        at += length;
    }
}

fn length(bytes: &[u8]) -> Option<usize> {
    let payload = u32::from_le_bytes(*bytes.get(LENGTH_AT..)?.first_chunk()?);
    Some(HEADER_BYTES + usize::try_from(payload).ok()?)
}

#[cfg(test)]
mod tests {
    use super::{readdress, records, sequence};
    use wal::ids::Id;
    use wal::record::{Kind, Record, VERSION, encode};

    fn two(segment: Id) -> Vec<u8> {
        let mut out = Vec::new();
        for (number, payload) in [(7, b"one".as_slice()), (8, b"")] {
            let record = Record {
                version: VERSION,
                kind: Kind::NativeLine.code(),
                flags: 0,
                sequence: number,
                monotonic: 1000,
                request: Id(0),
                payload,
            };
            encode(&mut out, segment, &record);
        }
        out
    }

    #[test]
    fn a_cut_record_is_none() {
        let bytes = two(Id(1));
        let sequences = |bytes: &[u8]| records(bytes).filter_map(sequence).collect::<Vec<_>>();
        assert_eq!(sequences(&bytes), [7, 8]);
        assert_eq!(sequences(&bytes[..bytes.len() - 1]), [7]);
        assert!(sequences(&bytes[..20]).is_empty());
    }

    #[test]
    fn readdressed_records_are_those_of_the_other_segment() {
        let mut bytes = two(Id(1));
        readdress(&mut bytes, Id(2));
        assert_eq!(bytes, two(Id(2)));
    }
}
