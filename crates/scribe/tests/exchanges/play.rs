//! A scribe with a script: plays exchanges and keeps every record they make.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use redact::{Redactor, Settings};
use scribe::event::Cause;
use scribe::{Closing, Direction, Entry, Event, Mode, Opening, Policy, ResponseHead, Scribe, What};
use serde_json::Value;
use wal::ids::Id;
use wal::record::Kind;

/// A record that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) kind: Kind,
    pub(crate) flags: u16,
    pub(crate) monotonic: u64,
    pub(crate) request: Id,
    pub(crate) payload: Vec<u8>,
}

/// A single rule is made ready in no time, and most tests need no other.
const ONE_RULE: &str = r#"
format = "redaction/1"
version = "1"
[[class]]
name = "keys"
on = true
help = "Keys."
[[rule]]
id = "github-token"
class = "keys"
kind = "github_token"
anchors = ["ghp_"]
pattern = 'ghp_[A-Za-z0-9]{36,}'
"#;

/// The policy of most tests.
pub(crate) fn policy(mode: Mode) -> Policy {
    policy_with(Redactor::from_toml(ONE_RULE, None).unwrap(), mode)
}

/// A policy with the rules of the package.
pub(crate) fn real_policy(mode: Mode) -> Policy {
    let settings = Settings { profile: Some("wire".to_owned()), ..Settings::default() };
    policy_with(Redactor::from_settings(&settings).unwrap(), mode)
}

fn policy_with(redactor: Redactor, mode: Mode) -> Policy {
    Policy {
        redactor,
        mode,
        keep_undecodable: false,
        decode_memory: 32 << 20,
        decoded_limit: 64 << 20,
        hmac_key: [7; 32],
    }
}

/// The id of all requests here.
pub(crate) const REQUEST: Id = Id(0x0193_0000_0000_0000_0000_0000_0000_0042);

/// A scribe and what it wrote.
pub(crate) struct Play {
    pub(crate) scribe: Scribe,
    pub(crate) made: Vec<Made>,
    pub(crate) at: u64,
}

impl Play {
    pub(crate) fn new(policy: Policy) -> Self {
        Self { scribe: Scribe::new(policy), made: Vec::new(), at: 1_000_000 }
    }

    pub(crate) fn tell(&mut self, exchange: u64, what: What<'_>) {
        let made = &mut self.made;
        self.at += 1_234;
        self.scribe.take(&Event { exchange, at: self.at, what }, &mut |entry: Entry<'_>| {
            made.push(Made {
                kind: entry.kind,
                flags: entry.flags,
                monotonic: entry.monotonic,
                request: entry.request,
                payload: entry.payload.to_vec(),
            });
        });
    }

    /// Open exchange 1, with these fields on the request.
    pub(crate) fn open(&mut self, fields: &[(&str, &str)]) {
        self.tell(1, What::Open(&opening(fields)));
    }

    /// The response begins, with these fields.
    pub(crate) fn answer(&mut self, fields: &[(&str, &str)]) {
        let fields = owned(fields);
        let head = ResponseHead { status: 200, reason: b"OK".to_vec(), version: "HTTP/1.1", fields };
        self.tell(1, What::ResponseHead(&head));
    }

    pub(crate) fn request(&mut self, data: &[u8]) {
        self.tell(1, What::RequestBody(data));
    }

    pub(crate) fn response(&mut self, data: &[u8]) {
        self.tell(1, What::ResponseBody(data));
    }

    pub(crate) fn drop_response(&mut self, bytes: u64, chunks: u64) {
        let (cause, direction) = (Cause::QueueFull, Direction::Response);
        self.tell(1, What::Dropped { cause, direction, bytes, chunks });
    }

    pub(crate) fn close(&mut self) {
        let closing = Closing { request_complete: true, response_complete: true, ..Closing::default() };
        self.tell(1, What::Close(&closing));
    }

    /// All payloads of a kind, joined.
    pub(crate) fn joined(&self, kind: Kind) -> Vec<u8> {
        self.of(kind).flat_map(|made| made.payload.clone()).collect()
    }

    pub(crate) fn of(&self, kind: Kind) -> impl Iterator<Item = &Made> {
        self.made.iter().filter(move |made| made.kind == kind)
    }

    /// The payloads of a kind, read as JSON.
    pub(crate) fn json(&self, kind: Kind) -> Vec<Value> {
        self.of(kind).map(|made| serde_json::from_slice(&made.payload).unwrap()).collect()
    }

    /// The end of the exchange.
    pub(crate) fn end(&self) -> Value {
        self.json(Kind::ResponseEnd).pop().unwrap()
    }

    /// Everything that was written, to be searched for what must not be there.
    pub(crate) fn everything(&self) -> Vec<u8> {
        self.made.iter().flat_map(|made| made.payload.clone()).collect()
    }
}

/// Play one response body in the given pieces.
pub(crate) fn respond(policy: Policy, fields: &[(&str, &str)], pieces: &[&[u8]]) -> Play {
    let mut play = Play::new(policy);
    play.open(&[]);
    play.answer(fields);
    for piece in pieces {
        play.response(piece);
    }
    play.close();
    play
}

pub(crate) fn owned(fields: &[(&str, &str)]) -> Vec<(Vec<u8>, Vec<u8>)> {
    fields.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect()
}

pub(crate) fn opening(fields: &[(&str, &str)]) -> Opening {
    Opening {
        request: REQUEST,
        method: "POST".to_owned(),
        target: b"/v1/messages".to_vec(),
        version: "HTTP/1.1",
        fields: owned(fields),
        recognised: true,
        ..Opening::default()
    }
}

/// A secret that the rules know, spelled so that nobody takes this file for a leak.
pub(crate) fn secret() -> String {
    format!("ghp_{}", "a1B2c3D4e".repeat(4))
}

pub(crate) fn contains(haystack: &[u8], needle: &str) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle.as_bytes())
}

/// `text` cut at the given places, in whatever order they come.
pub(crate) fn cut<'t>(text: &'t [u8], places: &[usize]) -> Vec<&'t [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place % (text.len() + 1)).collect();
    places.sort_unstable();
    places.push(text.len());
    let mut from = 0;
    let piece = |to: usize| {
        let piece = &text[from..to];
        from = to;
        piece
    };
    places.into_iter().map(piece).collect()
}

/// The text in one of the codings, by its name; `raw-deflate` and `zlib` are both sent as `deflate`.
pub(crate) fn encode(coding: &str, text: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    match coding {
        "gzip" => {
            let mut encoder = GzEncoder::new(packed, Compression::default());
            encoder.write_all(text).unwrap();
            packed = encoder.finish().unwrap();
        }
        "zlib" => {
            let mut encoder = ZlibEncoder::new(packed, Compression::default());
            encoder.write_all(text).unwrap();
            packed = encoder.finish().unwrap();
        }
        "raw-deflate" => {
            let mut encoder = DeflateEncoder::new(packed, Compression::default());
            encoder.write_all(text).unwrap();
            packed = encoder.finish().unwrap();
        }
        "br" => packed = brotli(text, 18),
        "zstd" => packed = zstd::encode_all(text, 3).unwrap(),
        other => panic!("no coding {other}"),
    }
    packed
}

/// Brotli with a window of so many bits.
pub(crate) fn brotli(text: &[u8], lgwin: i32) -> Vec<u8> {
    let mut packed = Vec::new();
    let settings = brotli::enc::BrotliEncoderParams { lgwin, quality: 5, ..Default::default() };
    brotli::BrotliCompress(&mut &*text, &mut packed, &settings).unwrap();
    packed
}
