//! The header of a segment, read and written.

use thiserror::Error;

use crate::chain::Root;
use crate::checksum;
use crate::ids::Id;
use crate::signature::{FORMAT_VERSION, MAGIC};

/// How many bytes stand before the policy.
const FIXED_BYTES: usize = 146;

/// How many bytes a header has besides its policy.
const FRAME_BYTES: usize = FIXED_BYTES + 4;

/// The longest policy that a header takes.
pub const MAX_POLICY: usize = u16::MAX as usize;

/// The longest header that there can be.
pub const MAX_HEADER: usize = FRAME_BYTES + MAX_POLICY;

/// What a segment says of itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Header {
    /// The number of the segment.
    pub number: u64,
    /// The id of the segment.
    pub id: Id,
    /// The id of the trace, the same in each of its segments.
    pub trace: Id,
    /// The recorder process that wrote it.
    pub instance: Id,
    /// The root of the previous segment; zeros in the first.
    pub previous_root: Root,
    /// The sequence that its first record has.
    pub first_sequence: u64,
    /// The wall clock in nanoseconds since 1970, when the segment began.
    pub wall: i64,
    /// The monotonic clock, read together with the wall clock.
    pub monotonic: u64,
    /// Which boot of the machine the monotonic clock belongs to; zeros if unknown.
    pub boot: [u8; 16],
    /// The version of the redaction policy.
    pub policy: String,
}

/// Why a header cannot be read, and with it the whole segment.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum HeaderError {
    /// The bytes end before the header does.
    #[error("the segment ends after {have} bytes, inside its header of {need}")]
    TooShort {
        /// How many bytes there are.
        have: usize,
        /// How many there would have to be.
        need: usize,
    },
    /// The first bytes are not those of a segment.
    #[error("the file does not begin with a segment's signature")]
    Magic,
    /// The segment is in a version of the format that this program does not know.
    #[error("the segment has the format version {0}, and this program reads version {FORMAT_VERSION}")]
    Version(u16),
    /// The segment needs something that this program cannot do.
    #[error("the segment has the flags {0:#06x}, which this program does not know")]
    Flags(u16),
    /// Its two lengths do not fit each other.
    #[error("the header claims a length of {length} bytes, which does not fit its policy of {policy}")]
    Length {
        /// The length that the header claims.
        length: u32,
        /// The length of the policy that it claims.
        policy: u16,
    },
    /// The bytes are not those that were written.
    #[error("the checksum of the segment's header does not fit: its bytes were changed")]
    Crc,
    /// The policy is no text.
    #[error("the policy in the segment's header is not UTF-8")]
    Policy,
}

impl Header {
    /// The header in bytes.
    ///
    /// # Panics
    ///
    /// If the policy is longer than [`MAX_POLICY`].
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let policy_length = u16::try_from(self.policy.len()).expect("a policy is a short text");
        let length = u32::try_from(FRAME_BYTES + self.policy.len()).expect("a header of at most 64 KiB fits");
        let mut out = Vec::with_capacity(FRAME_BYTES + self.policy.len());
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        out.extend_from_slice(&0_u16.to_le_bytes());
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&self.id.to_bytes());
        out.extend_from_slice(&self.trace.to_bytes());
        out.extend_from_slice(&self.instance.to_bytes());
        out.extend_from_slice(&self.previous_root.0);
        out.extend_from_slice(&self.first_sequence.to_le_bytes());
        out.extend_from_slice(&self.wall.to_le_bytes());
        out.extend_from_slice(&self.monotonic.to_le_bytes());
        out.extend_from_slice(&self.boot);
        out.extend_from_slice(&policy_length.to_le_bytes());
        out.extend_from_slice(self.policy.as_bytes());
        let crc = checksum::of([out.as_slice()]);
        out.extend_from_slice(&crc.to_le_bytes());
        out
    }

    /// Read the header at the beginning of `bytes`; returns it with its length.
    ///
    /// # Errors
    ///
    /// If these bytes are no header, or one that this program must not read on from.
    pub fn parse(bytes: &[u8]) -> Result<(Self, usize), HeaderError> {
        let too_short = |need| HeaderError::TooShort { have: bytes.len(), need };
        if !bytes.starts_with(&MAGIC[..bytes.len().min(MAGIC.len())]) {
            return Err(HeaderError::Magic);
        }
        let fixed: &[u8; FIXED_BYTES] = bytes.first_chunk().ok_or_else(|| too_short(FRAME_BYTES))?;
        let version = u16::from_le_bytes(field(fixed, 8));
        if version != FORMAT_VERSION {
            return Err(HeaderError::Version(version));
        }
        let (length, policy) = (u32::from_le_bytes(field(fixed, 12)), u16::from_le_bytes(field(fixed, 144)));
        let end = FRAME_BYTES + usize::from(policy);
        if usize::try_from(length) != Ok(end) {
            return Err(HeaderError::Length { length, policy });
        }
        let whole = bytes.get(..end).ok_or_else(|| too_short(end))?;
        let (body, crc) = whole.split_at(end - 4);
        if checksum::of([body]).to_le_bytes() != crc {
            return Err(HeaderError::Crc);
        }
        match u16::from_le_bytes(field(fixed, 10)) {
            0 => Ok((Self::from_checked(fixed, &body[FIXED_BYTES..])?, end)),
            flags => Err(HeaderError::Flags(flags)),
        }
    }

    fn from_checked(fixed: &[u8; FIXED_BYTES], policy: &[u8]) -> Result<Self, HeaderError> {
        Ok(Self {
            number: u64::from_le_bytes(field(fixed, 16)),
            id: Id::from_bytes(field(fixed, 24)),
            trace: Id::from_bytes(field(fixed, 40)),
            instance: Id::from_bytes(field(fixed, 56)),
            previous_root: Root(field(fixed, 72)),
            first_sequence: u64::from_le_bytes(field(fixed, 104)),
            wall: i64::from_le_bytes(field(fixed, 112)),
            monotonic: u64::from_le_bytes(field(fixed, 120)),
            boot: field(fixed, 128),
            policy: std::str::from_utf8(policy).map_err(|_| HeaderError::Policy)?.to_owned(),
        })
    }
}

/// The `N` bytes at `offset`, which the caller knows to be there.
fn field<const N: usize>(bytes: &[u8; FIXED_BYTES], offset: usize) -> [u8; N] {
    bytes[offset..offset + N].try_into().expect("a slice of N bytes is an array of N bytes")
}

#[cfg(test)]
mod tests {
    use super::{Header, HeaderError};
    use crate::chain::Root;
    use crate::ids::Id;

    fn header() -> Header {
        Header {
            number: 12,
            id: Id(1),
            trace: Id(2),
            instance: Id(3),
            previous_root: Root([4; 32]),
            first_sequence: 88,
            wall: -2,
            monotonic: 5000,
            boot: [6; 16],
            policy: "2026.11.3".to_owned(),
        }
    }

    /// Each field where the table of the format's page puts it.
    #[test]
    fn bytes_of_the_page() {
        let bytes = header().encode();
        assert_eq!(bytes.len(), 159);
        assert_eq!(bytes[..8], [0x89, 0x42, 0x42, 0x57, 0x41, 0x4C, 0x0D, 0x0A]);
        assert_eq!(bytes[8..16], [1, 0, 0, 0, 159, 0, 0, 0]);
        assert_eq!(bytes[16..24], [12, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!((bytes[39], bytes[55], bytes[71]), (1, 2, 3));
        assert_eq!(bytes[72..104], [4; 32]);
        assert_eq!(bytes[104..112], [88, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[112..120], [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
        assert_eq!(bytes[120..128], [0x88, 0x13, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[128..144], [6; 16]);
        assert_eq!(bytes[144..146], [9, 0]);
        assert_eq!(bytes[146..155], *b"2026.11.3");
        assert_eq!(bytes[155..], crate::checksum::of([&bytes[..155]]).to_le_bytes());
    }

    /// The header with `bytes` at `offset`, and a checksum that fits.
    fn changed(offset: usize, bytes: &[u8]) -> Vec<u8> {
        let mut header = header().encode();
        header[offset..offset + bytes.len()].copy_from_slice(bytes);
        let body = header.len() - 4;
        let crc = crate::checksum::of([&header[..body]]);
        header[body..].copy_from_slice(&crc.to_le_bytes());
        header
    }

    #[test]
    fn what_this_version_does_not_know_is_refused() {
        assert_eq!(Header::parse(&changed(0, b"PNG")), Err(HeaderError::Magic));
        assert_eq!(Header::parse(&changed(8, &[2])), Err(HeaderError::Version(2)));
        assert_eq!(Header::parse(&changed(10, &[1])), Err(HeaderError::Flags(1)));
        assert_eq!(Header::parse(&changed(12, &[160])), Err(HeaderError::Length { length: 160, policy: 9 }));
        assert_eq!(Header::parse(&changed(146, &[0xFF])), Err(HeaderError::Policy));
    }
}
