//! Both sides of a WebSocket: messages spelled as frames, and read back from records.

use flate2::{Compress, Compression, FlushCompress};
use scribe::{Policy, ResponseHead, What};
use wal::record::{Kind, flags};

use crate::play::{Play, cut, opening, owned};

pub(crate) const DEFLATE: (&str, &str) = ("Sec-WebSocket-Extensions", "permessage-deflate");
pub(crate) const ANEW: (&str, &str) = (
    "Sec-WebSocket-Extensions",
    "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
);

/// What a side sends.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) binary: bool,
    pub(crate) packed: bool,
    pub(crate) data: Vec<u8>,
    /// Where it is cut into fragments.
    pub(crate) cuts: Vec<usize>,
    /// Control frames between the fragments.
    pub(crate) between: Vec<u8>,
}

impl Message {
    pub(crate) fn text(data: &str) -> Self {
        Self { binary: false, packed: false, data: data.as_bytes().to_vec(), cuts: vec![], between: vec![] }
    }

    pub(crate) fn packed(data: &str) -> Self {
        Self { packed: true, ..Self::text(data) }
    }

    pub(crate) fn fragments(self, cuts: &[usize]) -> Self {
        Self { cuts: cuts.to_vec(), ..self }
    }
}

/// Spells frames, as one side of a connection would.
pub(crate) struct Speller {
    mask: Option<[u8; 4]>,
    anew: bool,
    compress: Compress,
}

impl Speller {
    pub(crate) fn new(mask: Option<[u8; 4]>, anew: bool) -> Self {
        Self { mask, anew, compress: Compress::new(Compression::default(), false) }
    }

    pub(crate) fn frame(&self, first: u8, payload: &[u8]) -> Vec<u8> {
        let masked = if self.mask.is_some() { 0x80 } else { 0 };
        let mut out = vec![first];
        match payload.len() {
            length @ 0..=125 => out.push(masked | u8::try_from(length).unwrap()),
            length @ 126..=0xffff => {
                out.push(masked | 0x7e);
                out.extend_from_slice(&u16::try_from(length).unwrap().to_be_bytes());
            }
            length => {
                out.push(masked | 0x7f);
                out.extend_from_slice(&(length as u64).to_be_bytes());
            }
        }
        let mask = self.mask.unwrap_or_default();
        out.extend_from_slice(&mask[..if masked == 0 { 0 } else { 4 }]);
        out.extend(payload.iter().enumerate().map(|(at, byte)| byte ^ mask[at % 4]));
        out
    }

    fn deflate(&mut self, data: &[u8]) -> Vec<u8> {
        if self.anew {
            self.compress.reset();
        }
        let mut out = Vec::with_capacity(data.len() + 1024);
        self.compress.compress_vec(data, &mut out, FlushCompress::Sync).unwrap();
        if out.is_empty() {
            // After a flush, nothing is compressed to nothing; RFC 7692, section 7.2.3.6, says what to send then.
            return vec![0];
        }
        assert!(out.ends_with(b"\x00\x00\xff\xff"));
        out.truncate(out.len() - 4);
        out
    }

    pub(crate) fn message(&mut self, message: &Message) -> Vec<u8> {
        let data = if message.packed { self.deflate(&message.data) } else { message.data.clone() };
        let pieces = cut(&data, &message.cuts);
        let (mut out, last) = (Vec::new(), pieces.len() - 1);
        for (at, piece) in pieces.iter().enumerate() {
            let opcode = if at > 0 { 0 } else { 1 + u8::from(message.binary) };
            let packed = if message.packed && at == 0 { 0x40 } else { 0 };
            out.extend(self.frame(opcode | packed | if at == last { 0x80 } else { 0 }, piece));
            if at < last {
                for &opcode in &message.between {
                    out.extend(self.frame(0x80 | opcode, b"beat"));
                }
            }
        }
        out
    }

    pub(crate) fn all(&mut self, messages: &[Message]) -> Vec<u8> {
        messages.iter().flat_map(|message| self.message(message)).collect()
    }

    pub(crate) fn close(&self, code: u16, reason: &str) -> Vec<u8> {
        self.frame(0x88, &[&code.to_be_bytes(), reason.as_bytes()].concat())
    }
}

/// A WebSocket has begun, with these fields in the head that agreed to it.
pub(crate) fn begin(policy: Policy, fields: &[(&str, &str)]) -> Play {
    let mut play = Play::new(policy);
    let mut opening = opening(&[("Connection", "Upgrade"), ("Upgrade", "WebSocket")]);
    "GET".clone_into(&mut opening.method);
    play.tell(1, What::Open(&opening));
    play.tell(1, What::RequestSent);
    let head = ResponseHead {
        status: 101,
        reason: b"Switching Protocols".to_vec(),
        version: "HTTP/1.1",
        fields: owned(fields),
    };
    play.tell(1, What::ResponseHead(&head));
    play
}

/// A message as its records tell it: binary or not, data, and whether it came to its end.
pub(crate) type Told = (bool, Vec<u8>, bool);

/// The messages of a side, joined from their records.
pub(crate) fn told(play: &Play, from_client: bool) -> Vec<Told> {
    let mut messages: Vec<Told> = Vec::new();
    for made in play.of(Kind::WsFrame).filter(|made| (made.flags & flags::FROM_CLIENT != 0) == from_client) {
        if messages.last().is_none_or(|(_, _, ended)| *ended) {
            messages.push((made.flags & flags::BINARY != 0, Vec::new(), false));
        }
        let (_, data, ended) = messages.last_mut().unwrap();
        data.extend_from_slice(&made.payload);
        *ended = made.flags & flags::CONTINUES == 0;
    }
    messages
}

pub(crate) fn whole(messages: &[Message]) -> Vec<Told> {
    messages.iter().map(|message| (message.binary, message.data.clone(), true)).collect()
}
