//! Exchanges, each from its opening to its close, and the records that they leave.

use std::collections::HashMap;

use wal::ids::Id;
use wal::record::Kind;

use crate::body::Body;
use crate::desk::{Counters, Desk, Entry, Outlet, Policy};
use crate::event::{Closing, Direction, Event, Fields, Mode, Opening, ResponseHead, What};
use crate::payloads::{End, Failed, Kept, Replaced, RequestStart, ResponseStart};

/// The first status that is not informational.
const FIRST_FINAL: u16 = 200;

/// The status after which another protocol is spoken; no other response follows.
const SWITCHING: u16 = 101;

/// Turns each step of an exchange into redacted records.
pub struct Scribe {
    desk: Desk,
    exchanges: HashMap<u64, Exchange>,
    ignored: u64,
}

/// One request and its response.
struct Exchange {
    id: Id,
    request: Body,
    response: Body,
    /// Whether the final head of the response was seen.
    answered: bool,
}

impl Scribe {
    /// A scribe with no exchange open.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self { desk: Desk::new(policy), exchanges: HashMap::new(), ignored: 0 }
    }

    /// Take one step of an exchange, and hand the records that it makes to `out`.
    pub fn take(&mut self, event: &Event<'_>, out: &mut dyn FnMut(Entry<'_>)) {
        if let What::Open(opening) = &event.what {
            self.open(event, opening, out);
            return;
        }
        let Some(exchange) = self.exchanges.get_mut(&event.exchange) else {
            self.ignored += 1;
            return;
        };
        let desk = &mut self.desk;
        let mut outlet = Outlet { at: event.at, request: exchange.id, out };
        match &event.what {
            What::Open(_) => {}
            What::RequestBody(data) => exchange.request.take(desk, &mut outlet, data),
            // What was held back is safe now; the model may think for minutes before the exchange closes.
            What::RequestSent => exchange.request.finish(desk, &mut outlet),
            What::ResponseBody(data) => exchange.response.take(desk, &mut outlet, data),
            What::ResponseHead(head) => exchange.answer(desk, &mut outlet, head),
            What::Dropped { cause, direction, bytes, chunks } => {
                exchange.body(*direction).skip(desk, &mut outlet, *cause, (*bytes, *chunks));
            }
            What::Close(closing) => {
                exchange.close(desk, &mut outlet, closing);
                self.exchanges.remove(&event.exchange);
            }
        }
    }

    /// How many exchanges have not ended.
    #[must_use]
    pub fn open_exchanges(&self) -> usize {
        self.exchanges.len()
    }

    /// What was counted so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        Counters {
            redactions: self.desk.pen.redactions.clone(),
            gaps: self.desk.gaps.clone(),
            decode_memory: self.desk.decoding.budget.used(),
            ignored: self.ignored,
        }
    }

    /// The version of the rules of redaction.
    #[must_use]
    pub fn policy_version(&self) -> &str {
        self.desk.pen.redactor.version()
    }

    /// Redact a statement that is no part of an exchange; returns it and whether anything was replaced.
    #[must_use]
    pub fn redact_text(&self, text: &[u8]) -> (Vec<u8>, bool) {
        let (clean, counts) = self.desk.pen.redactor.redact(text);
        (clean.into_owned(), !counts.is_empty())
    }

    fn open(&mut self, event: &Event<'_>, opening: &Opening, out: &mut dyn FnMut(Entry<'_>)) {
        let desk = &mut self.desk;
        let mut outlet = Outlet { at: event.at, request: opening.request, out };
        let (payload, replaced) = RequestStart::new(opening, &desk.pen.redactor, desk.mode);
        desk.json.write(&mut outlet, Kind::RequestStart, replaced.any(), &payload);
        desk.count(replaced);
        let exchange = Exchange {
            id: opening.request,
            request: Body::new(Direction::Request, &opening.fields, desk),
            response: Body::new(Direction::Response, &Fields::new(), desk),
            answered: false,
        };
        if let Some(mut earlier) = self.exchanges.insert(event.exchange, exchange) {
            self.ignored += 1;
            earlier.request.abandon(desk);
            earlier.response.abandon(desk);
        }
    }
}

impl Exchange {
    fn body(&mut self, direction: Direction) -> &mut Body {
        match direction {
            Direction::Request => &mut self.request,
            Direction::Response => &mut self.response,
        }
    }

    fn answer(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>, head: &ResponseHead) {
        let (payload, replaced) = ResponseStart::new(head, &desk.pen.redactor);
        desk.json.write(outlet, Kind::ResponseStart, replaced.any(), &payload);
        desk.count(replaced);
        let is_final = head.status >= FIRST_FINAL || head.status == SWITCHING;
        if is_final && !self.answered {
            self.answered = true;
            self.response = Body::new(Direction::Response, &head.fields, desk);
        }
    }

    fn close(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>, closing: &Closing) {
        self.request.finish(desk, outlet);
        self.response.finish(desk, outlet);
        let redactor = &desk.pen.redactor;
        let mut replaced = Replaced::default();
        let failure = closing.failure.as_ref().map(|failure| Failed {
            at: failure.at,
            code: failure.code,
            message: replaced.text(redactor, failure.message.as_bytes()),
        });
        let kind = if failure.is_some() { Kind::Error } else { Kind::ResponseEnd };
        let mut response = self.response.end(closing.response_complete);
        response.trailers = Some(replaced.fields(redactor, &closing.trailers));
        let kept = match desk.mode {
            Mode::Passthrough => Kept { request: self.request.kept(), response: self.response.kept() },
            Mode::Full | Mode::Privacy => Kept::default(),
        };
        let request = self.request.end(closing.request_complete);
        let payload = End { failure, request, response, timings: closing.timings, kept };
        desk.json.write(outlet, kind, replaced.any(), &payload);
        desk.count(replaced);
    }
}
