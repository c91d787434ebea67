//! The JSON payloads of wal/1, written from what happened.

use std::borrow::Cow;
use std::collections::BTreeMap;

use redact::Redactor;
use serde::{Serialize, Serializer};

use crate::event::{Attribution, Direction, Fields, Mode, Opening, ResponseHead, Timings, Via};

/// A header field as it is stored.
type StoredField<'a> = (Cow<'a, str>, Cow<'a, str>);

/// `request.start`.
#[derive(Serialize)]
pub(crate) struct RequestStart<'a> {
    method: Cow<'a, str>,
    target: Cow<'a, str>,
    version: &'a str,
    headers: Vec<StoredField<'a>>,
    upstream: Option<Cow<'a, str>>,
    url: Option<Cow<'a, str>>,
    session: Option<Cow<'a, str>>,
    task: Option<Cow<'a, str>>,
    run: Option<Cow<'a, str>>,
    attribution: Attribution,
    client: BTreeMap<&'a str, Cow<'a, str>>,
    #[serde(skip_serializing_if = "is_true")]
    recognised: bool,
    #[serde(skip_serializing_if = "is_reverse")]
    via: Via,
    mode: Mode,
    policy: &'a str,
}

/// `response.start`.
#[derive(Serialize)]
pub(crate) struct ResponseStart<'a> {
    status: u16,
    reason: Cow<'a, str>,
    version: &'a str,
    headers: Vec<StoredField<'a>>,
}

/// `response.end`, and `error` with its first three.
#[derive(Serialize)]
pub(crate) struct End<'a> {
    #[serde(flatten)]
    pub(crate) failure: Option<Failed<'a>>,
    pub(crate) request: BodyEnd<'a>,
    pub(crate) response: BodyEnd<'a>,
    pub(crate) timings: Timings,
    pub(crate) kept: Kept<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) websocket: Option<WebSocket<'a>>,
}

/// What both sides of a WebSocket sent.
#[derive(Serialize)]
pub(crate) struct WebSocket<'a> {
    pub(crate) client: Sent<'a>,
    pub(crate) server: Sent<'a>,
}

/// What one side sent.
#[derive(Serialize)]
pub(crate) struct Sent<'a> {
    pub(crate) messages: u64,
    pub(crate) pings: u64,
    pub(crate) pongs: u64,
    pub(crate) close: Option<Closed<'a>>,
}

/// How a side ended what it sent.
#[derive(Serialize)]
pub(crate) struct Closed<'a> {
    pub(crate) code: Option<u16>,
    pub(crate) reason: Option<Cow<'a, str>>,
}

/// What went wrong.
#[derive(Serialize)]
pub(crate) struct Failed<'a> {
    #[serde(rename = "where")]
    pub(crate) at: &'a str,
    pub(crate) code: &'a str,
    pub(crate) message: Cow<'a, str>,
}

/// What became of a body.
#[derive(Serialize)]
pub(crate) struct BodyEnd<'a> {
    pub(crate) wire: u64,
    pub(crate) decoded: u64,
    pub(crate) stored: u64,
    pub(crate) encoding: Option<&'a str>,
    pub(crate) hmac: Option<String>,
    pub(crate) complete: bool,
    pub(crate) redactions: &'a BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trailers: Option<Vec<StoredField<'a>>>,
}

/// What passthrough mode keeps; empty in other modes.
#[derive(Serialize, Default)]
pub(crate) struct Kept<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<&'a serde_json::Map<String, serde_json::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) response: Option<&'a serde_json::Map<String, serde_json::Value>>,
}

/// `gap`.
#[derive(Serialize)]
pub(crate) struct Gap {
    pub(crate) reason: &'static str,
    #[serde(serialize_with = "direction_name")]
    pub(crate) direction: Direction,
    pub(crate) bytes: u64,
    pub(crate) records: u64,
}

impl<'a> RequestStart<'a> {
    /// Returns the payload and the secrets that were replaced in it.
    pub(crate) fn new(opening: &'a Opening, redactor: &'a Redactor, mode: Mode) -> (Self, Replaced) {
        let mut replaced = Replaced::default();
        let identity = &opening.identity;
        let payload = Self {
            method: replaced.text(redactor, opening.method.as_bytes()),
            target: replaced.target(redactor, &opening.target),
            version: opening.version,
            headers: replaced.fields(redactor, &opening.fields),
            upstream: replaced.known(redactor, opening.upstream.as_deref()),
            url: opening.url.as_ref().map(|url| replaced.target(redactor, url.as_bytes())),
            session: replaced.known(redactor, identity.session.as_deref()),
            task: replaced.known(redactor, identity.task.as_deref()),
            run: replaced.known(redactor, identity.run.as_deref()),
            attribution: identity.attribution,
            client: opening
                .client
                .iter()
                .map(|(name, id)| (*name, replaced.text(redactor, id.as_bytes())))
                .collect(),
            recognised: opening.recognised,
            via: opening.via,
            mode,
            policy: redactor.version(),
        };
        (payload, replaced)
    }
}

impl<'a> ResponseStart<'a> {
    /// Returns the payload and the secrets that were replaced in it.
    pub(crate) fn new(head: &'a ResponseHead, redactor: &Redactor) -> (Self, Replaced) {
        let mut replaced = Replaced::default();
        let payload = Self {
            status: head.status,
            reason: replaced.text(redactor, &head.reason),
            version: head.version,
            headers: replaced.fields(redactor, &head.fields),
        };
        (payload, replaced)
    }
}

/// How many texts of a head held secrets, by where they stood.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Replaced {
    pub(crate) headers: u64,
    pub(crate) targets: u64,
    pub(crate) texts: u64,
}

impl Replaced {
    pub(crate) fn any(self) -> bool {
        self.headers + self.targets + self.texts > 0
    }

    /// Header fields without their secrets; a name can be one, too.
    pub(crate) fn fields<'a>(&mut self, redactor: &Redactor, fields: &'a Fields) -> Vec<StoredField<'a>> {
        let stored = |(name, value): &'a (Vec<u8>, Vec<u8>)| {
            let clean_name = redactor.redact(name).0;
            let clean = redact::header_value(redactor, name, value);
            self.headers += u64::from(*clean_name != **name) + u64::from(*clean != **value);
            (text(clean_name), text(clean))
        };
        fields.iter().map(stored).collect()
    }

    /// Prose without its secrets.
    pub(crate) fn text<'a>(&mut self, redactor: &Redactor, bytes: &'a [u8]) -> Cow<'a, str> {
        let clean = redactor.redact(bytes).0;
        self.texts += u64::from(*clean != *bytes);
        text(clean)
    }

    /// The same of a text that may be missing.
    fn known<'a>(&mut self, redactor: &Redactor, known: Option<&'a str>) -> Option<Cow<'a, str>> {
        known.map(|known| self.text(redactor, known.as_bytes()))
    }

    fn target<'a>(&mut self, redactor: &Redactor, bytes: &'a [u8]) -> Cow<'a, str> {
        let clean = redact::target(redactor, bytes);
        self.targets += u64::from(*clean != *bytes);
        text(clean)
    }
}

/// Bytes of a head as text: UTF-8, or else Latin-1, in which any bytes are text.
pub(crate) fn text(bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
    let latin = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect();
    match bytes {
        Cow::Borrowed(bytes) => {
            std::str::from_utf8(bytes).map_or_else(|_| Cow::Owned(latin(bytes)), Cow::Borrowed)
        }
        Cow::Owned(bytes) => {
            Cow::Owned(String::from_utf8(bytes).unwrap_or_else(|error| latin(error.as_bytes())))
        }
    }
}

/// A digest in hexadecimal digits.
pub(crate) fn hexadecimal(digest: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let pairs = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    pairs.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_true(value: &bool) -> bool {
    *value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_reverse(via: &Via) -> bool {
    *via == Via::Reverse
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn direction_name<S: Serializer>(direction: &Direction, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match direction {
        Direction::Request => "request",
        Direction::Response => "response",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_8_stays_and_everything_else_is_latin_1() {
        for (bytes, expected) in [(&b"caf\xc3\xa9"[..], "café"), (b"caf\xe9", "café"), (b"\xff\xc3", "ÿÃ")]
        {
            assert_eq!(text(Cow::Borrowed(bytes)), expected);
            assert_eq!(text(Cow::Owned(bytes.to_vec())), expected);
        }
    }

    #[test]
    fn digits_are_small() {
        assert_eq!(hexadecimal(&[0x00, 0xff, 0x1a]), "00ff1a");
    }
}
