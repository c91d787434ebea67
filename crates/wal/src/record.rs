//! Records: what a segment consists of, and how one is spelled in bytes.

use std::ops::Range;

use crate::checksum;
use crate::ids::Id;

/// The types of records that this version of the format knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Kind {
    /// The head of a request.
    RequestStart = 1,
    /// Bytes of a request's body.
    RequestBody = 2,
    /// The head of a response.
    ResponseStart = 3,
    /// Bytes of a response's body.
    ResponseBody = 4,
    /// The exchange came to its end.
    ResponseEnd = 5,
    /// The exchange ended otherwise.
    Error = 6,
    /// A WebSocket message, or a piece of one.
    WsFrame = 7,
    /// What is missing, and why.
    Gap = 8,
    /// What a tool stated.
    ToolEvent = 9,
    /// A line of an agent's own log.
    NativeLine = 10,
    /// What a user or harness stated.
    HarnessEvent = 11,
    /// What a model was asked and answered.
    Enrichment = 12,
    /// The state of the chain.
    Checkpoint = 13,
}

impl Kind {
    /// All types, by their numbers.
    pub const ALL: [Self; 13] = [
        Self::RequestStart,
        Self::RequestBody,
        Self::ResponseStart,
        Self::ResponseBody,
        Self::ResponseEnd,
        Self::Error,
        Self::WsFrame,
        Self::Gap,
        Self::ToolEvent,
        Self::NativeLine,
        Self::HarnessEvent,
        Self::Enrichment,
        Self::Checkpoint,
    ];

    /// Its number in a record.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The type with this number, if this version knows it.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code).checked_sub(1)?).copied()
    }

    /// Its name, such as `request.start`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RequestStart => "request.start",
            Self::RequestBody => "request.body.chunk",
            Self::ResponseStart => "response.start",
            Self::ResponseBody => "response.body.chunk",
            Self::ResponseEnd => "response.end",
            Self::Error => "error",
            Self::WsFrame => "ws.frame",
            Self::Gap => "gap",
            Self::ToolEvent => "tool.event",
            Self::NativeLine => "native.line",
            Self::HarnessEvent => "harness.event",
            Self::Enrichment => "enrichment",
            Self::Checkpoint => "checkpoint",
        }
    }
}

/// The flags of a record.
pub mod flags {
    /// At least one secret was replaced in the payload.
    pub const REDACTED: u16 = 1;
    /// The payload was decoded from what passed.
    pub const DECODED: u16 = 2;
    /// Of a WebSocket message: sent by the client.
    pub const FROM_CLIENT: u16 = 4;
    /// Reserved: the payload is encrypted.
    pub const ENCRYPTED: u16 = 8;
    /// Of a WebSocket message: it is binary.
    pub const BINARY: u16 = 16;
    /// Of a WebSocket message: it goes on in the next record of its direction; of an agent's line, in the next of its log.
    pub const CONTINUES: u16 = 32;
}

/// The version of records that this crate writes.
pub const VERSION: u8 = 1;

/// How many bytes stand before a payload.
pub const HEADER_BYTES: usize = 44;

/// The longest payload that a record may have.
pub const MAX_PAYLOAD: usize = 16 << 20;

/// How many bytes of a record its own checksum takes, and the root leaves out.
pub const CRC_BYTES: usize = 4;

/// A record. `kind` is the number of its type, since unknown ones are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record<'a> {
    /// The version of its spelling, [`VERSION`] in all that this crate makes.
    pub version: u8,
    /// The number of its type; see [`Kind::from_code`].
    pub kind: u8,
    /// Bits of [`flags`], and those that are not known.
    pub flags: u16,
    /// Its place in the trace.
    pub sequence: u64,
    /// When it happened, in monotonic nanoseconds.
    pub monotonic: u64,
    /// Whose record it is; zero if it belongs to no request.
    pub request: Id,
    /// What it holds.
    pub payload: &'a [u8],
}

impl Record<'_> {
    /// Its type, if this version knows it.
    #[must_use]
    pub fn known_kind(&self) -> Option<Kind> {
        Kind::from_code(self.kind)
    }

    /// All but the checksum and the payload: what stands in a segment between the two.
    #[must_use]
    pub(crate) fn head(&self) -> [u8; HEADER_BYTES - CRC_BYTES] {
        assert!(
            self.payload.len() <= MAX_PAYLOAD,
            "a payload of {} bytes is longer than a record takes",
            self.payload.len()
        );
        let length = u32::try_from(self.payload.len()).expect("a payload of at most 16 MiB fits");
        let mut head = [0; HEADER_BYTES - CRC_BYTES];
        head[0..4].copy_from_slice(&length.to_le_bytes());
        head[4] = self.version;
        head[5] = self.kind;
        head[6..8].copy_from_slice(&self.flags.to_le_bytes());
        head[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        head[16..24].copy_from_slice(&self.monotonic.to_le_bytes());
        head[24..40].copy_from_slice(&self.request.to_bytes());
        head
    }
}

/// Append `record`, spelled for the segment with the id `segment`, to `out`; returns where it stands there.
///
/// The chain takes `out[range.start + 4..range.end]`.
///
/// # Panics
///
/// If the payload is longer than [`MAX_PAYLOAD`]: no reader would take it for a record.
pub fn encode(out: &mut Vec<u8>, segment: Id, record: &Record<'_>) -> Range<usize> {
    let start = out.len();
    let head = record.head();
    let crc = checksum::of([segment.to_bytes().as_slice(), &head, record.payload]);
    out.reserve(HEADER_BYTES + record.payload.len());
    out.extend_from_slice(&crc.to_le_bytes());
    out.extend_from_slice(&head);
    out.extend_from_slice(record.payload);
    start..out.len()
}

#[cfg(test)]
mod tests {
    use super::{Kind, MAX_PAYLOAD, Record, encode, flags};
    use crate::ids::Id;

    #[test]
    fn codes_and_kinds_belong_together() {
        for (kind, code) in Kind::ALL.into_iter().zip(1..) {
            assert_eq!(kind.code(), code);
            assert_eq!(Kind::from_code(code), Some(kind));
        }
        assert_eq!(Kind::from_code(0), None);
        assert_eq!(Kind::from_code(14), None);
        assert_eq!(Kind::from_code(255), None);
    }

    /// Spelled by hand from the table of the format's page; the CRC is what Python's zlib says.
    #[test]
    fn bytes_of_the_page() {
        let record = Record {
            version: 1,
            kind: Kind::WsFrame.code(),
            flags: flags::REDACTED | flags::FROM_CLIENT,
            sequence: 0x0102,
            monotonic: 3000,
            request: Id(0xAA),
            payload: b"hi",
        };
        let mut out = vec![9];
        let range = encode(&mut out, Id(7), &record);
        assert_eq!(range, 1..47);
        let mut expected = vec![2, 0, 0, 0, 1, 7, 5, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0xB8, 0x0B, 0, 0, 0, 0, 0, 0];
        expected.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xAA]);
        expected.extend(b"hi");
        assert_eq!(out[5..], expected);
        assert_eq!(out[1..5], 0x4C92_4AF2_u32.to_le_bytes());
    }

    #[test]
    #[should_panic(expected = "longer than a record takes")]
    fn a_payload_that_no_reader_takes_is_refused() {
        let payload = vec![0; MAX_PAYLOAD + 1];
        let record = Record {
            version: 1,
            kind: 2,
            flags: 0,
            sequence: 1,
            monotonic: 0,
            request: Id(1),
            payload: &payload,
        };
        encode(&mut Vec::new(), Id(1), &record);
    }
}
