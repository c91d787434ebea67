//! A WebSocket: both directions from frames to messages, and what is said of them at the end.

pub mod frames;
mod inflate;
mod message;
mod side;

use std::borrow::Cow;

use redact::Redactor;

use crate::desk::{Desk, Outlet};
use crate::event::{Cause, Direction, Fields, Mode};
use crate::payloads::{BodyEnd, Closed, Kept, Replaced, Sent, WebSocket};
use side::Side;

/// Both directions of a WebSocket.
pub(crate) struct Socket {
    client: Side,
    server: Side,
    mode: Mode,
}

impl Socket {
    /// A WebSocket that begins, with the fields of the head that agreed to it.
    pub(crate) fn new(fields: &Fields, desk: &Desk) -> Self {
        Self {
            client: Side::new(Direction::Request, fields, desk),
            server: Side::new(Direction::Response, fields, desk),
            mode: desk.mode,
        }
    }

    /// Take more bytes of the wire.
    pub(crate) fn take(
        &mut self,
        desk: &mut Desk,
        outlet: &mut Outlet<'_>,
        direction: Direction,
        data: &[u8],
    ) {
        self.side(direction).take(desk, outlet, data);
    }

    /// Bytes passed that nobody kept.
    pub(crate) fn skip(
        &mut self,
        desk: &mut Desk,
        outlet: &mut Outlet<'_>,
        cause: Cause,
        direction: Direction,
        lost: (u64, u64),
    ) {
        self.side(direction).skip(desk, outlet, cause, lost);
    }

    /// Write what was held back, and what is missing.
    pub(crate) fn finish(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>) {
        self.client.finish(desk, outlet);
        self.server.finish(desk, outlet);
    }

    /// Give back what decoding took; nothing more will be written.
    pub(crate) fn abandon(&mut self, desk: &mut Desk) {
        self.client.abandon(desk);
        self.server.abandon(desk);
    }

    /// What became of the frames of a direction.
    pub(crate) fn end(&self, direction: Direction, complete: bool) -> BodyEnd<'_> {
        match direction {
            Direction::Request => self.client.end(complete),
            Direction::Response => self.server.end(complete),
        }
    }

    /// What passthrough mode keeps.
    pub(crate) fn kept(&self) -> Kept<'_> {
        Kept { request: self.client.kept(), response: self.server.kept() }
    }

    /// What both sides sent.
    pub(crate) fn sent(&self, redactor: &Redactor, replaced: &mut Replaced) -> WebSocket<'_> {
        WebSocket {
            client: self.sent_by(&self.client, redactor, replaced),
            server: self.sent_by(&self.server, redactor, replaced),
        }
    }

    fn sent_by<'a>(&self, side: &'a Side, redactor: &Redactor, replaced: &mut Replaced) -> Sent<'a> {
        let tally = &side.tally;
        let close = tally.close.as_ref().map(|payload| {
            let (code, reason) = payload.split_at_checked(2).unwrap_or_default();
            let code = code.try_into().ok().map(u16::from_be_bytes);
            let reason = (self.mode == Mode::Full).then(|| match reason {
                [] => Cow::Borrowed(""),
                reason => replaced.text(redactor, reason),
            });
            Closed { code, reason }
        });
        Sent { messages: tally.messages, pings: tally.pings, pongs: tally.pongs, close }
    }

    fn side(&mut self, direction: Direction) -> &mut Side {
        match direction {
            Direction::Request => &mut self.client,
            Direction::Response => &mut self.server,
        }
    }
}
