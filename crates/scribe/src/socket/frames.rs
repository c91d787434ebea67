//! The frames of a WebSocket (RFC 6455, section 5), found in bytes that come in any pieces.
//!
//! Nothing is copied and nothing is kept but a head of at most fourteen bytes. Whatever a peer may have meant to say is
//! taken: masks on either side, and lengths that are spelled longer than they need to be.

use std::ops::Range;

/// The longest head: two bytes, a length of eight and a mask of four.
const LONGEST_HEAD: usize = 14;

/// The longest payload of a frame that controls the connection.
const LONGEST_CONTROL: u64 = 125;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opcode {
    /// A further piece of a message.
    Continuation,
    /// A message of text begins.
    Text,
    /// A message of bytes begins.
    Binary,
    /// This side has said all.
    Close,
    /// The other side is to answer.
    Ping,
    /// That answer.
    Pong,
}

impl Opcode {
    fn from_bits(bits: u8) -> Option<Self> {
        Some(match bits {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return None,
        })
    }

    /// Whether it is about the connection, and no part of a message.
    #[must_use]
    pub fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }
}

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// What it is.
    pub opcode: Opcode,
    /// Whether it is the last of its message.
    pub last: bool,
    /// The first reserved bit: with permessage-deflate, the message is compressed.
    pub packed: bool,
    /// What the payload is masked with.
    pub mask: Option<[u8; 4]>,
    /// How long the payload is.
    pub length: u64,
}

/// These bytes are no frames that could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadFrame;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A head; its payload follows, even if it is empty.
    Head(Head),
    /// Bytes of the payload, by where they lie in what was given.
    Payload {
        /// Where they are.
        place: Range<usize>,
        /// How many bytes of the payload came before.
        before: u64,
        /// Whether the frame ends here.
        ends: bool,
    },
}

/// Finds frames.
#[derive(Debug, Default)]
pub struct Frames {
    head: [u8; LONGEST_HEAD],
    /// How many bytes of the head are there.
    filled: usize,
    /// The payload that is being read: how much of it came, and how long it is.
    payload: Option<(u64, u64)>,
}

impl Frames {
    /// The next part of `data`, with the number of bytes up to its end; nothing if all of `data` was taken.
    ///
    /// # Errors
    ///
    /// The bytes are no frames; nothing after them can be read.
    pub fn next(&mut self, data: &[u8]) -> Result<Option<(usize, Part)>, BadFrame> {
        if let Some((came, length)) = self.payload {
            let left = length - came;
            if data.is_empty() && left > 0 {
                return Ok(None);
            }
            let here = usize::try_from(left).map_or(data.len(), |left| left.min(data.len()));
            let ends = here as u64 == left;
            self.payload = (!ends).then_some((came + here as u64, length));
            return Ok(Some((here, Part::Payload { place: 0..here, before: came, ends })));
        }
        let mut used = 0;
        while self.filled < self.needed() {
            let Some(&byte) = data.get(used) else { return Ok(None) };
            self.head[self.filled] = byte;
            self.filled += 1;
            used += 1;
        }
        let head = self.read_head()?;
        self.filled = 0;
        self.payload = Some((0, head.length));
        Ok(Some((used, Part::Head(head))))
    }

    /// Whether everything that began has come to its end.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.filled == 0 && self.payload.is_none()
    }

    /// How many bytes the head has, as far as can be told by now.
    fn needed(&self) -> usize {
        if self.filled < 2 {
            return 2;
        }
        let mask = if self.head[1] & 0x80 == 0 { 0 } else { 4 };
        2 + mask + self.length_bytes()
    }

    /// How many bytes besides the seven bits spell the length.
    fn length_bytes(&self) -> usize {
        match self.head[1] & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        }
    }

    fn read_head(&self) -> Result<Head, BadFrame> {
        let [first, second, rest @ ..] = &self.head;
        let opcode = Opcode::from_bits(first & 0x0f).ok_or(BadFrame)?;
        let (spelled, rest) = rest.split_at(self.length_bytes());
        let length = match spelled {
            [] => u64::from(second & 0x7f),
            _ => spelled.iter().fold(0, |length, byte| length << 8 | u64::from(*byte)),
        };
        let mask = (second & 0x80 != 0).then(|| [rest[0], rest[1], rest[2], rest[3]]);
        let head = Head { opcode, last: first & 0x80 != 0, packed: first & 0x40 != 0, mask, length };
        let reserved = first & 0x30 != 0 || length >> 63 != 0;
        let control = opcode.is_control() && (!head.last || head.packed || length > LONGEST_CONTROL);
        if reserved || control { Err(BadFrame) } else { Ok(head) }
    }
}

/// Undo a mask; `before` bytes of the payload came earlier.
pub(crate) fn unmask(data: &mut [u8], mask: [u8; 4], before: u64) {
    let mut turned = mask;
    turned.rotate_left((before % 4) as usize);
    for piece in data.chunks_mut(4) {
        for (byte, mask) in piece.iter_mut().zip(turned) {
            *byte ^= mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All parts of `data`, given in pieces of so many bytes; payloads of a frame joined.
    fn read(data: &[u8], piece: usize) -> Result<Vec<(Head, Vec<u8>)>, BadFrame> {
        let (mut frames, mut found) = (Frames::default(), Vec::<(Head, Vec<u8>)>::new());
        for piece in data.chunks(piece.max(1)) {
            let mut at = 0;
            while let Some((used, part)) = frames.next(&piece[at..])? {
                match part {
                    Part::Head(head) => found.push((head, Vec::new())),
                    Part::Payload { place, before, ends } => {
                        let (head, payload) = found.last_mut().expect("a head came first");
                        assert_eq!(before, payload.len() as u64);
                        payload.extend_from_slice(&piece[at..][place]);
                        assert_eq!(ends, payload.len() as u64 == head.length);
                    }
                }
                at += used;
            }
        }
        Ok(found)
    }

    fn head(opcode: Opcode, length: u64) -> Head {
        Head { opcode, last: true, packed: false, mask: None, length }
    }

    #[test]
    fn the_examples_of_the_rfc_are_read() {
        let hello = (head(Opcode::Text, 5), b"Hello".to_vec());
        assert_eq!(read(b"\x81\x05Hello", 1), Ok(vec![hello]));
        let mask = Some([0x37, 0xfa, 0x21, 0x3d]);
        let found = read(b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", 3).expect("sound");
        assert_eq!(found[0].0, Head { mask, ..head(Opcode::Text, 5) });
        let mut payload = found[0].1.clone();
        unmask(&mut payload, [0x37, 0xfa, 0x21, 0x3d], 0);
        assert_eq!(payload, b"Hello");
    }

    #[test]
    fn all_three_lengths_are_read_even_if_they_are_too_long() {
        let long = [b"\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00".as_slice(), &vec![7; 65536]].concat();
        assert_eq!(read(&long, 1000), Ok(vec![(head(Opcode::Binary, 65536), vec![7; 65536])]));
        let middle = [b"\x82\x7e\x01\x00".as_slice(), &[7; 256]].concat();
        assert_eq!(read(&middle, 7), Ok(vec![(head(Opcode::Binary, 256), vec![7; 256])]));
        let odd = (head(Opcode::Text, 1), b"a".to_vec());
        assert_eq!(read(b"\x81\x7e\x00\x01a\x81\x7f\0\0\0\0\0\0\0\x01a", 2), Ok(vec![odd.clone(), odd]));
    }

    #[test]
    fn an_empty_payload_has_its_end() {
        let empty = |opcode| (head(opcode, 0), Vec::new());
        assert_eq!(read(b"\x81\x00\x89\x00", 1), Ok(vec![empty(Opcode::Text), empty(Opcode::Ping)]));
    }

    #[test]
    fn what_nobody_may_send_is_no_frame() {
        for bad in [
            b"\x83\x00".as_slice(),
            b"\x8b\x00",
            b"\xa1\x00",
            b"\x91\x00",
            b"\x09\x00",
            b"\xc9\x00",
            b"\x88\x7e\x00\x7e",
            b"\x82\x7f\x80\0\0\0\0\0\0\0",
        ] {
            assert_eq!(read(bad, 1), Err(BadFrame), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn a_mask_may_be_undone_in_any_pieces(data: Vec<u8>, mask: [u8; 4], at in 0..50_usize) {
            let mut whole = data.clone();
            unmask(&mut whole, mask, 0);
            let mut pieces = data.clone();
            let (one, two) = pieces.split_at_mut(at.min(data.len()));
            let before = one.len() as u64;
            unmask(one, mask, 0);
            unmask(two, mask, before);
            prop_assert_eq!(&pieces, &whole);
            unmask(&mut whole, mask, 0);
            prop_assert_eq!(whole, data);
        }

        #[test]
        fn any_bytes_are_read_alike_in_any_pieces(data: Vec<u8>, piece in 1..40_usize) {
            prop_assert_eq!(read(&data, piece).is_ok(), read(&data, data.len()).is_ok());
        }
    }
}
