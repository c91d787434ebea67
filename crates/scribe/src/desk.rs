//! What all exchanges share: the policy, memory for decoding and writing, and counters.

use std::collections::BTreeMap;

use hmac::{Hmac, Mac};
use redact::Redactor;
use serde::Serialize;
use sha2::Sha256;
use wal::ids::Id;
use wal::record::{Kind, flags};

use crate::decode::Decoding;
use crate::event::{Direction, Mode};
use crate::payloads::{self, Gap, Replaced};

/// The longest payload that a body is written in.
const LONGEST_PAYLOAD: usize = 1 << 20;

/// How much of a body is gathered before it is written, while more of it is at hand.
const GATHERED: usize = 512 << 10;

/// What a buffer may keep for the next event.
const LONGEST_IDLE: usize = 4 << 20;

/// How bodies are treated.
pub struct Policy {
    /// The rules of redaction.
    pub redactor: Redactor,
    /// What is recorded.
    pub mode: Mode,
    /// Whether bodies that cannot be decoded, and so not redacted, are stored as they are.
    pub keep_undecodable: bool,
    /// How many bytes of memory all decoders together may take.
    pub decode_memory: usize,
    /// How many bytes a body may have after decoding.
    pub decoded_limit: u64,
    /// The key of this home, under which bodies are hashed.
    pub hmac_key: [u8; 32],
}

/// A record, but for what the writer of the trace adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its type.
    pub kind: Kind,
    /// Its flags.
    pub flags: u16,
    /// When it happened: monotonic nanoseconds, a multiple of 1000.
    pub monotonic: u64,
    /// Which request it belongs to.
    pub request: Id,
    /// What it holds, without secrets.
    pub payload: &'a [u8],
}

/// What was counted since the scribe was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// Secrets that were replaced, by their kind; those in heads count as `header`, `target` or `text`.
    pub redactions: BTreeMap<String, u64>,
    /// Records of what is missing, by their reason.
    pub gaps: BTreeMap<&'static str, u64>,
    /// Bytes of memory that decoders hold now.
    pub decode_memory: usize,
    /// Events of exchanges that are not open.
    pub ignored: u64,
}

/// Where the entries of one event go.
pub(crate) struct Outlet<'a> {
    pub(crate) at: u64,
    pub(crate) request: Id,
    pub(crate) out: &'a mut dyn FnMut(Entry<'_>),
}

impl Outlet<'_> {
    pub(crate) fn write(&mut self, kind: Kind, flags: u16, payload: &[u8]) {
        let monotonic = self.at - self.at % 1000;
        (self.out)(Entry { kind, flags, monotonic, request: self.request, payload });
    }

    /// Write bytes of a body in payloads that are not too long.
    pub(crate) fn write_body(&mut self, direction: Direction, flags: u16, bytes: &[u8]) {
        let kind = match direction {
            Direction::Request => Kind::RequestBody,
            Direction::Response => Kind::ResponseBody,
        };
        for payload in bytes.chunks(LONGEST_PAYLOAD) {
            self.write(kind, flags, payload);
        }
    }
}

/// What is needed to redact a text and write it.
pub(crate) struct Pen {
    pub(crate) redactor: Redactor,
    pub(crate) payload: Vec<u8>,
    /// Whether a secret was replaced in `payload`.
    pub(crate) replaced: bool,
    /// What was replaced since it was last noted.
    pub(crate) counts: BTreeMap<String, u64>,
    pub(crate) redactions: BTreeMap<String, u64>,
}

impl Pen {
    /// Whether enough was gathered for a record.
    pub(crate) fn is_full(&self) -> bool {
        self.payload.len() >= GATHERED
    }

    /// A short text without its secrets.
    pub(crate) fn clean(&self, text: &str) -> String {
        payloads::text(self.redactor.redact(text.as_bytes()).0).into_owned()
    }

    /// Add what was replaced to the totals, here and of a body.
    pub(crate) fn note(&mut self, of_body: &mut BTreeMap<String, u64>) {
        while let Some((kind, count)) = self.counts.pop_first() {
            *self.redactions.entry(kind.clone()).or_default() += count;
            *of_body.entry(kind).or_default() += count;
        }
    }

    /// Write what was gathered; returns how many bytes that is.
    pub(crate) fn write(&mut self, outlet: &mut Outlet<'_>, direction: Direction, decoded: bool) -> u64 {
        let decoded = if decoded { flags::DECODED } else { 0 };
        outlet.write_body(direction, self.flags() | decoded, &self.payload);
        self.clear()
    }

    /// Write what was gathered of a message, with these flags; all but the last record of it say that it goes on.
    pub(crate) fn write_message(&mut self, outlet: &mut Outlet<'_>, flags: u16, ends: bool) -> u64 {
        let flags = self.flags() | flags;
        let mut rest = self.payload.as_slice();
        while rest.len() > LONGEST_PAYLOAD {
            let (piece, later) = rest.split_at(LONGEST_PAYLOAD);
            outlet.write(Kind::WsFrame, flags | flags::CONTINUES, piece);
            rest = later;
        }
        if ends || !rest.is_empty() {
            outlet.write(Kind::WsFrame, flags | if ends { 0 } else { flags::CONTINUES }, rest);
        }
        self.clear()
    }

    fn flags(&self) -> u16 {
        if self.replaced { flags::REDACTED } else { 0 }
    }

    fn clear(&mut self) -> u64 {
        let length = self.payload.len() as u64;
        self.payload.clear();
        self.payload.shrink_to(LONGEST_IDLE);
        self.replaced = false;
        length
    }
}

/// Memory for payloads of JSON.
#[derive(Default)]
pub(crate) struct Json(Vec<u8>);

impl Json {
    pub(crate) fn write(
        &mut self,
        outlet: &mut Outlet<'_>,
        kind: Kind,
        redacted: bool,
        payload: &impl Serialize,
    ) {
        self.0.clear();
        serde_json::to_writer(&mut self.0, payload)
            .expect("texts and numbers are JSON, and memory takes them");
        outlet.write(kind, if redacted { flags::REDACTED } else { 0 }, &self.0);
        self.0.shrink_to(LONGEST_IDLE);
    }
}

/// What all exchanges share.
pub(crate) struct Desk {
    pub(crate) mode: Mode,
    pub(crate) keep_undecodable: bool,
    pub(crate) decoded_limit: u64,
    pub(crate) decoding: Decoding,
    pub(crate) pen: Pen,
    pub(crate) gaps: BTreeMap<&'static str, u64>,
    pub(crate) json: Json,
    /// Room for what a mask was taken off.
    pub(crate) unmasked: Vec<u8>,
    hmac: Hmac<Sha256>,
}

impl Desk {
    pub(crate) fn new(policy: Policy) -> Self {
        let pen = Pen {
            redactor: policy.redactor,
            payload: Vec::new(),
            replaced: false,
            counts: BTreeMap::new(),
            redactions: BTreeMap::new(),
        };
        Self {
            mode: policy.mode,
            keep_undecodable: policy.keep_undecodable,
            decoded_limit: policy.decoded_limit,
            decoding: Decoding::new(policy.decode_memory),
            pen,
            gaps: BTreeMap::new(),
            json: Json::default(),
            unmasked: Vec::new(),
            hmac: Hmac::new_from_slice(&policy.hmac_key).expect("HMAC takes keys of any length"),
        }
    }

    /// A hash to be fed with a body.
    pub(crate) fn hmac(&self) -> Hmac<Sha256> {
        self.hmac.clone()
    }

    /// Write what is missing.
    pub(crate) fn write_gap(&mut self, outlet: &mut Outlet<'_>, gap: &Gap) {
        *self.gaps.entry(gap.reason).or_default() += 1;
        self.json.write(outlet, Kind::Gap, false, gap);
    }

    /// Count what was replaced in a head.
    pub(crate) fn count(&mut self, replaced: Replaced) {
        let Replaced { headers, targets, texts } = replaced;
        for (place, count) in [("header", headers), ("target", targets), ("text", texts)] {
            if count > 0 {
                *self.pen.redactions.entry(place.to_owned()).or_default() += count;
            }
        }
    }
}
