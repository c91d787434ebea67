//! One body on its way into records: counted, hashed, decoded, redacted and written, piece by piece.

use std::borrow::Cow;

use hmac::{Hmac, Mac};
use redact::Boundary;
use serde_json::{Map, Value};
use sha2::Sha256;

use crate::decode::{Chain, Coding, Stop};
use crate::desk::{Desk, Outlet};
use crate::event::{Cause, Direction, Fields, Mode};
use crate::missing::{self, Missing, QUEUE_FULL, UNDECODABLE};
use crate::payloads::{self, BodyEnd, Gap};
use crate::text::Text;

/// How the bytes that pass are read.
enum Reading {
    /// They are the text.
    Plain,
    /// The text is what the chain makes of them.
    Coded(Chain),
    /// They are stored as they are, unread.
    Raw,
    /// They are not stored, for the reason that is given.
    Lost(&'static str),
    /// They are none of our business.
    Blind,
}

/// One body.
pub(crate) struct Body {
    direction: Direction,
    wire: u64,
    /// Nothing once bytes were dropped.
    hmac: Option<Hmac<Sha256>>,
    encoding: Option<String>,
    reading: Reading,
    text: Text,
    missing: Missing,
    /// What a decoder took since it last gave text; it is missing if no more comes of it.
    waiting: Missing,
}

impl Body {
    /// A body of which nothing passed yet, with the fields of its head.
    pub(crate) fn new(direction: Direction, fields: &Fields, desk: &Desk) -> Self {
        let kind = media_type(fields);
        let boundary = boundary(&kind);
        let listed = listed(fields, b"content-encoding");
        let coding = Coding::read(&listed);
        let encoding = (!matches!(coding, Coding::Identity)).then(|| desk.pen.clean(&listed));
        let scanned = desk.mode == Mode::Passthrough && may_be_json(&kind);
        let reading = match coding {
            _ if desk.mode != Mode::Full && !scanned => Reading::Blind,
            Coding::Identity => Reading::Plain,
            Coding::Coded(chain) => Reading::Coded(chain),
            Coding::Unknown if desk.keep_undecodable && desk.mode == Mode::Full => Reading::Raw,
            Coding::Unknown => Reading::Lost(UNDECODABLE),
        };
        let decoded = matches!(reading, Reading::Coded(_));
        Self {
            direction,
            wire: 0,
            hmac: Some(desk.hmac()),
            encoding,
            reading,
            text: Text::new(direction, boundary, decoded, scanned),
            missing: Missing::default(),
            waiting: Missing::default(),
        }
    }

    /// The body of a tunnel, which is counted and nothing else.
    pub(crate) fn counted(direction: Direction) -> Self {
        Self {
            direction,
            wire: 0,
            hmac: None,
            encoding: None,
            reading: Reading::Blind,
            text: Text::new(direction, Boundary::None, false, false),
            missing: Missing::default(),
            waiting: Missing::default(),
        }
    }

    /// Count bytes of the wire that are not looked at.
    pub(crate) fn count(&mut self, bytes: u64) {
        self.wire += bytes;
    }

    /// Take more bytes of the wire.
    pub(crate) fn take(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>, data: &[u8]) {
        self.wire += data.len() as u64;
        if let Some(hmac) = &mut self.hmac {
            hmac.update(data);
        }
        match &mut self.reading {
            Reading::Blind => {}
            Reading::Plain => {
                let torn = self.text.take(&mut desk.pen, outlet, data);
                if torn > 0 {
                    let gap = Gap { reason: QUEUE_FULL, direction: self.direction, bytes: torn, records: 1 };
                    desk.write_gap(outlet, &gap);
                }
            }
            Reading::Coded(_) => self.decode(desk, outlet, data),
            Reading::Raw => self.text.take_raw(outlet, data),
            Reading::Lost(reason) => {
                let reason = *reason;
                self.lose(desk, outlet, reason, data.len() as u64, 1);
            }
        }
    }

    /// Bytes passed that nobody kept.
    pub(crate) fn skip(
        &mut self,
        desk: &mut Desk,
        outlet: &mut Outlet<'_>,
        cause: Cause,
        (bytes, chunks): (u64, u64),
    ) {
        let torn = match &mut self.reading {
            Reading::Plain => self.text.tear(&mut desk.pen, outlet),
            Reading::Coded(_) => {
                // Behind a hole, nothing of a compressed body can be read.
                self.stop_reading(desk, outlet, UNDECODABLE);
                0
            }
            Reading::Raw | Reading::Lost(_) | Reading::Blind => 0,
        };
        self.say_missing(desk, outlet);
        self.hmac = None;
        self.wire += bytes;
        let reason = missing::reason(cause);
        let gap = Gap { reason, direction: self.direction, bytes: bytes + torn, records: chunks };
        desk.write_gap(outlet, &gap);
    }

    /// Write what was held back, and what is missing. Once that is done, doing it again changes nothing.
    pub(crate) fn finish(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>) {
        match self.reading {
            Reading::Plain => self.text.finish(&mut desk.pen, outlet),
            Reading::Coded(_) => {
                let torn = self.stop_reading(desk, outlet, UNDECODABLE);
                if torn > 0 && self.missing.records == 0 {
                    self.lose(desk, outlet, UNDECODABLE, torn.min(self.wire), 1);
                }
            }
            Reading::Raw | Reading::Lost(_) | Reading::Blind => {}
        }
        self.say_missing(desk, outlet);
        self.abandon(desk);
    }

    /// Give back what decoding took; nothing more will be written.
    pub(crate) fn abandon(&mut self, desk: &mut Desk) {
        if let Reading::Coded(chain) = &mut self.reading {
            chain.release(&mut desk.decoding.budget);
        }
        self.reading = Reading::Blind;
    }

    /// What became of the body.
    pub(crate) fn end(&self, complete: bool) -> BodyEnd<'_> {
        let hmac = self.hmac.clone().map(|hmac| payloads::hexadecimal(&hmac.finalize().into_bytes()));
        BodyEnd {
            wire: self.wire,
            decoded: self.text.decoded,
            stored: self.text.stored,
            encoding: self.encoding.as_deref(),
            hmac,
            complete,
            redactions: &self.text.redactions,
            trailers: None,
        }
    }

    /// What passthrough mode keeps of it.
    pub(crate) fn kept(&self) -> Option<&Map<String, Value>> {
        self.text.kept()
    }

    fn decode(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>, data: &[u8]) {
        let Self { reading: Reading::Coded(chain), text, .. } = self else { return };
        let Desk { decoding, pen, decoded_limit, .. } = desk;
        let fed = chain.feed(decoding, data, &mut |piece| {
            let room = decoded_limit.saturating_sub(text.decoded);
            let fits = usize::try_from(room).map_or(piece.len(), |room| piece.len().min(room));
            text.push(pen, outlet, &piece[..fits]);
            (fits < piece.len()).then_some(Stop::Enough)
        });
        text.flush(pen, outlet);
        if fed.read.is_some() {
            self.waiting = Missing::default();
        }
        let rest = &data[fed.read.unwrap_or_default()..];
        let Some(stop) = fed.stop else {
            self.waiting.bytes += rest.len() as u64;
            self.waiting.records += u64::from(!rest.is_empty());
            return;
        };
        self.stop_reading(desk, outlet, stop.reason());
        if let Reading::Lost(reason) = self.reading {
            self.lose(desk, outlet, reason, rest.len() as u64, 1);
        } else {
            self.say_missing(desk, outlet);
            self.text.take_raw(outlet, rest);
        }
    }

    /// Write the text there is, and expect no more of it: what waited for more is missing. Returns how much of the
    /// text was left out because it was torn.
    fn stop_reading(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>, reason: &'static str) -> u64 {
        let Self { reading: Reading::Coded(chain), text, .. } = self else { return 0 };
        let torn = if chain.is_at_rest() {
            text.finish(&mut desk.pen, outlet);
            0
        } else {
            text.tear(&mut desk.pen, outlet)
        };
        chain.release(&mut desk.decoding.budget);
        let raw = reason == UNDECODABLE && desk.keep_undecodable && desk.mode == Mode::Full;
        self.reading = if raw { Reading::Raw } else { Reading::Lost(reason) };
        self.missing = Missing { reason, ..std::mem::take(&mut self.waiting) };
        torn
    }

    fn lose(
        &mut self,
        desk: &mut Desk,
        outlet: &mut Outlet<'_>,
        reason: &'static str,
        bytes: u64,
        records: u64,
    ) {
        self.missing.add(desk, outlet, self.direction, &Missing { reason, bytes, records });
    }

    fn say_missing(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>) {
        self.missing.say(desk, outlet, self.direction);
    }
}

/// The values of all fields of a name, as one list.
fn listed(fields: &Fields, name: &[u8]) -> String {
    let of_name = fields.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name));
    let values: Vec<_> = of_name.map(|(_, value)| payloads::text(Cow::Borrowed(value))).collect();
    values.join(", ").trim().to_owned()
}

/// What a body is, in small letters and without parameters.
fn media_type(fields: &Fields) -> String {
    let value = listed(fields, b"content-type");
    value.split([';', ',']).next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Where in a body of this type no secret goes on.
fn boundary(media_type: &str) -> Boundary {
    match media_type {
        "text/event-stream" => Boundary::Event,
        "application/x-ndjson" | "application/ndjson" | "application/jsonl" | "application/json-seq" => {
            Boundary::Line
        }
        _ => Boundary::None,
    }
}

/// Whether passthrough mode looks into a body of this type; one without a type gets the benefit of the doubt.
fn may_be_json(media_type: &str) -> bool {
    media_type.is_empty() || media_type.contains("json") || media_type == "text/event-stream"
}
