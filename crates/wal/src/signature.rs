//! The bytes by which a segment is recognised, and the format's version.

/// The first eight bytes of every segment.
///
/// The first byte is not ASCII, so a transfer that drops the high bit shows; the CR LF at the end shows a transfer
/// that rewrites line ends.
pub const MAGIC: [u8; 8] = *b"\x89BBWAL\r\n";

/// The version of the format that this crate describes.
pub const FORMAT_VERSION: u16 = 1;

#[cfg(test)]
mod tests {
    use super::MAGIC;

    #[test]
    fn magic_is_not_valid_utf8() {
        assert!(std::str::from_utf8(&MAGIC).is_err());
    }

    #[test]
    fn magic_does_not_survive_a_line_end_conversion() {
        let unix: Vec<u8> = MAGIC.iter().copied().filter(|&byte| byte != b'\r').collect();
        assert_ne!(unix, MAGIC);
    }

    #[test]
    fn magic_does_not_survive_a_seven_bit_transfer() {
        assert_ne!(MAGIC.map(|byte| byte & 0x7f), MAGIC);
    }
}
