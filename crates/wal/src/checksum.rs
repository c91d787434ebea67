//! The CRC-32 that guards every record.
//!
//! It is zlib's polynomial, so Python's standard library can check a segment without a compiled package.

/// The CRC-32 of `parts` read as one run of bytes.
///
/// A record's header and payload live in separate buffers; taking them as parts spares the writer a copy.
#[must_use]
pub fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::of;
    use proptest::prelude::*;

    /// The textbook algorithm, one bit at a time: slow, short, and independent of the crate under test.
    fn bitwise(bytes: &[u8]) -> u32 {
        let mut crc = u32::MAX;
        for &byte in bytes {
            crc ^= u32::from(byte);
            for _ in 0..8 {
                crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
            }
        }
        !crc
    }

    #[test]
    fn published_check_value() {
        assert_eq!(of([b"123456789".as_slice()]), 0xCBF4_3926);
    }

    /// `zlib.crc32(bytes(range(256)))` in Python.
    #[test]
    fn value_computed_by_zlib() {
        let bytes: Vec<u8> = (0..=u8::MAX).collect();
        assert_eq!(of([bytes.as_slice()]), 0x2905_8C73);
    }

    #[test]
    fn nothing_sums_to_zero() {
        assert_eq!(of([]), 0);
        assert_eq!(of([b"".as_slice(), b""]), 0);
    }

    proptest! {
        #[test]
        fn agrees_with_the_textbook(bytes: Vec<u8>) {
            prop_assert_eq!(of([bytes.as_slice()]), bitwise(&bytes));
        }

        #[test]
        fn parts_sum_like_the_whole(parts: Vec<Vec<u8>>) {
            let whole = parts.concat();
            prop_assert_eq!(of(parts.iter().map(Vec::as_slice)), of([whole.as_slice()]));
        }

        #[test]
        fn one_flipped_bit_never_goes_unnoticed(
            bytes in prop::collection::vec(any::<u8>(), 1..256),
            at: prop::sample::Index,
            bit in 0..8_u8,
        ) {
            let mut damaged = bytes.clone();
            let position = at.index(damaged.len());
            damaged[position] ^= 1 << bit;
            prop_assert_ne!(of([damaged.as_slice()]), of([bytes.as_slice()]));
        }
    }
}
