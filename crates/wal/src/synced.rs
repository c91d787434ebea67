//! The file `synced`: how far a trace is known to be on the disk.

use crate::checksum;

/// How many bytes the file has.
pub const BYTES: usize = 28;

/// The last record that survives a power cut.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Synced {
    /// The number of the segment that it is in.
    pub segment: u64,
    /// Its sequence.
    pub sequence: u64,
    /// Where it ends in the segment's file.
    pub offset: u64,
}

impl Synced {
    /// The file's content.
    #[must_use]
    pub fn encode(&self) -> [u8; BYTES] {
        let mut out = [0; BYTES];
        out[0..8].copy_from_slice(&self.segment.to_le_bytes());
        out[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        out[16..24].copy_from_slice(&self.offset.to_le_bytes());
        let crc = checksum::of([&out[..24]]);
        out[24..].copy_from_slice(&crc.to_le_bytes());
        out
    }

    /// What the file says; nothing if it is torn or was changed, as if it were missing.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
        let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        if bytes[24..] != checksum::of([&bytes[..24]]).to_le_bytes() {
            return None;
        }
        Some(Self { segment: number(0)?, sequence: number(8)?, offset: number(16)? })
    }
}

#[cfg(test)]
mod tests {
    use super::Synced;
    use proptest::prelude::*;

    #[test]
    fn bytes_of_the_page() {
        let encoded = Synced { segment: 12, sequence: 0x0201, offset: 150 }.encode();
        let fields = [12, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 150, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(encoded[..24], fields);
        assert_eq!(encoded[24..], crate::checksum::of([fields.as_slice()]).to_le_bytes());
    }

    proptest! {
        #[test]
        fn reads_back(segment: u64, sequence: u64, offset: u64) {
            let synced = Synced { segment, sequence, offset };
            prop_assert_eq!(Synced::parse(&synced.encode()), Some(synced));
        }

        #[test]
        fn one_flipped_bit_is_as_good_as_no_file(segment: u64, sequence: u64, bit in 0..224_usize) {
            let mut bytes = Synced { segment, sequence, offset: 1 }.encode();
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(Synced::parse(&bytes), None);
        }

        #[test]
        fn another_length_is_as_good_as_no_file(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            prop_assume!(bytes.len() != super::BYTES);
            prop_assert_eq!(Synced::parse(&bytes), None);
        }
    }
}
