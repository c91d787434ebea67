//! Exchanges, each from its opening to its close, and the records that they leave.

use std::collections::HashMap;

use redact::Redactor;
use wal::ids::Id;
use wal::record::Kind;

use crate::body::Body;
use crate::desk::{Counters, Desk, Entry, Outlet, Policy};
use crate::event::{Cause, Closing, Direction, Event, Fields, Mode, Opening, ResponseHead, Via, What};
use crate::payloads::{End, Failed, Kept, Replaced, RequestStart, ResponseStart};
use crate::socket::Socket;

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
    /// Whether the client asked to speak WebSocket.
    asked: bool,
    /// What both say once they do.
    socket: Option<Box<Socket>>,
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
            What::RequestBody(data) => exchange.take(desk, &mut outlet, Direction::Request, data),
            // What was held back is safe now; the model may think for minutes before the exchange closes.
            What::RequestSent => exchange.request.finish(desk, &mut outlet),
            What::ResponseBody(data) => exchange.take(desk, &mut outlet, Direction::Response, data),
            What::ResponseHead(head) => exchange.answer(desk, &mut outlet, head),
            What::Dropped { cause, direction, bytes, chunks } => {
                exchange.skip(desk, &mut outlet, *cause, *direction, (*bytes, *chunks));
            }
            What::Passed { direction, bytes } => exchange.body(*direction).count(*bytes),
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

    /// What finds secrets, for texts that are no part of an exchange.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.desk.pen.redactor
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
        let is_tunnel = opening.via == Via::Tunnel;
        let body = |direction, fields| {
            if is_tunnel { Body::counted(direction) } else { Body::new(direction, fields, desk) }
        };
        let exchange = Exchange {
            id: opening.request,
            request: body(Direction::Request, &opening.fields),
            response: body(Direction::Response, &Fields::new()),
            // No head makes a body of what passes through a tunnel.
            answered: is_tunnel,
            asked: asks_for_websocket(&opening.fields),
            socket: None,
        };
        if let Some(mut earlier) = self.exchanges.insert(event.exchange, exchange) {
            self.ignored += 1;
            earlier.request.abandon(desk);
            earlier.response.abandon(desk);
            if let Some(socket) = &mut earlier.socket {
                socket.abandon(desk);
            }
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

    fn take(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>, direction: Direction, data: &[u8]) {
        match &mut self.socket {
            Some(socket) => socket.take(desk, outlet, direction, data),
            None => self.body(direction).take(desk, outlet, data),
        }
    }

    fn skip(
        &mut self,
        desk: &mut Desk,
        outlet: &mut Outlet<'_>,
        cause: Cause,
        direction: Direction,
        lost: (u64, u64),
    ) {
        match &mut self.socket {
            Some(socket) => socket.skip(desk, outlet, cause, direction, lost),
            None => self.body(direction).skip(desk, outlet, cause, lost),
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
            if head.status == SWITCHING && self.asked {
                self.socket = Some(Box::new(Socket::new(&head.fields, desk)));
            }
        }
    }

    fn close(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>, closing: &Closing) {
        self.request.finish(desk, outlet);
        self.response.finish(desk, outlet);
        if let Some(socket) = &mut self.socket {
            socket.finish(desk, outlet);
        }
        let redactor = &desk.pen.redactor;
        let mut replaced = Replaced::default();
        let failure = closing.failure.as_ref().map(|failure| Failed {
            at: failure.at,
            code: failure.code,
            message: replaced.text(redactor, failure.message.as_bytes()),
        });
        let kind = if failure.is_some() { Kind::Error } else { Kind::ResponseEnd };
        let socket = self.socket.as_deref();
        let end = |direction, body: fn(&Self) -> &Body, complete| match socket {
            Some(socket) => socket.end(direction, complete),
            None => body(self).end(complete),
        };
        let request = end(Direction::Request, |exchange| &exchange.request, closing.request_complete);
        let mut response = end(Direction::Response, |exchange| &exchange.response, closing.response_complete);
        response.trailers = Some(replaced.fields(redactor, &closing.trailers));
        let kept = match desk.mode {
            Mode::Passthrough if socket.is_some() => socket.map(Socket::kept).unwrap_or_default(),
            Mode::Passthrough => Kept { request: self.request.kept(), response: self.response.kept() },
            Mode::Full | Mode::Privacy => Kept::default(),
        };
        let websocket = socket.map(|socket| socket.sent(redactor, &mut replaced));
        let payload = End { failure, request, response, timings: closing.timings, kept, websocket };
        desk.json.write(outlet, kind, replaced.any(), &payload);
        desk.count(replaced);
    }
}

/// Whether the fields of a request ask for a WebSocket.
fn asks_for_websocket(fields: &Fields) -> bool {
    let asked = |value: &[u8]| {
        value.split(|&byte| byte == b',').any(|token| token.trim_ascii().eq_ignore_ascii_case(b"websocket"))
    };
    fields.iter().any(|(name, value)| name.eq_ignore_ascii_case(b"upgrade") && asked(value))
}
