//! One message on its way into records: inflated, redacted by itself and written.

use std::collections::BTreeMap;

use redact::{Boundary, Stream};
use serde_json::{Map, Value};
use wal::record::flags;

use super::inflate::Inflate;
use crate::decode::Stop;
use crate::desk::{Desk, Outlet, Pen};
use crate::event::{Direction, Mode};
use crate::missing::Missing;
use crate::scanner::Scanner;
use crate::text::{PIECE, tear_word};

/// Who takes the messages of a direction.
enum Taker {
    Store(Stream),
    Scan(Box<Scanner>),
    Nobody,
}

/// The messages of one direction, one after the other.
pub(super) struct Messages {
    direction: Direction,
    taker: Taker,
    /// The flags of the message that is under way.
    flags: u16,
    packed: bool,
    /// Whether anything of it passed.
    begun: bool,
    /// Whether anything of it was written.
    written: bool,
    /// What the message has after inflating.
    length: u64,
    /// Why the rest of the message is lost.
    stopped: Option<Stop>,
    missing: Missing,
    pub(super) decoded: u64,
    pub(super) stored: u64,
    pub(super) redactions: BTreeMap<String, u64>,
}

impl Messages {
    pub(super) fn new(direction: Direction, mode: Mode) -> Self {
        let taker = match mode {
            Mode::Full => Taker::Store(Stream::new(Boundary::None)),
            Mode::Passthrough => Taker::Scan(Box::new(Scanner::new(Boundary::None))),
            Mode::Privacy => Taker::Nobody,
        };
        Self {
            direction,
            taker,
            flags: 0,
            packed: false,
            begun: false,
            written: false,
            length: 0,
            stopped: None,
            missing: Missing::default(),
            decoded: 0,
            stored: 0,
            redactions: BTreeMap::new(),
        }
    }

    /// Whether payloads are looked at.
    pub(super) fn are_read(&self) -> bool {
        !matches!(self.taker, Taker::Nobody)
    }

    /// A message begins.
    pub(super) fn begin(&mut self, binary: bool, packed: bool) {
        let sender = if self.direction == Direction::Request { flags::FROM_CLIENT } else { 0 };
        let binary = if binary { flags::BINARY } else { 0 };
        self.flags = sender | binary | if packed { flags::DECODED } else { 0 };
        self.packed = packed;
        self.begun = false;
        self.written = false;
        self.length = 0;
        self.stopped = None;
        match &mut self.taker {
            Taker::Store(stream) => *stream = Stream::new(Boundary::None),
            Taker::Scan(scanner) => scanner.begin_document(),
            Taker::Nobody => {}
        }
    }

    /// Take more of the message, as it passed but for the mask.
    pub(super) fn take(
        &mut self,
        desk: &mut Desk,
        outlet: &mut Outlet<'_>,
        inflate: Option<&mut Inflate>,
        data: &[u8],
    ) {
        self.begun = true;
        if let Some(inflate) = inflate.filter(|_| self.packed) {
            self.inflate(desk, outlet, data.len(), |decoding, sink| inflate.feed(decoding, data, sink));
            return;
        }
        for piece in data.chunks(PIECE) {
            self.push(&mut desk.pen, outlet, piece);
        }
    }

    /// Nothing more of the message is at hand for now: write what is ready.
    pub(super) fn pause(&mut self, pen: &mut Pen, outlet: &mut Outlet<'_>) {
        if !pen.payload.is_empty() {
            self.write(pen, outlet, false);
        }
    }

    /// The message is over.
    pub(super) fn end(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>, inflate: Option<&mut Inflate>) {
        // An empty payload holds no block whose end could be missing.
        if let Some(inflate) = inflate.filter(|_| self.packed && self.begun) {
            self.inflate(desk, outlet, 0, |decoding, sink| inflate.end(decoding, sink));
        }
        self.missing.say(desk, outlet, self.direction);
        let pen = &mut desk.pen;
        if let Taker::Store(stream) = &mut self.taker {
            pen.replaced |= stream.finish(&pen.redactor, &mut pen.payload, &mut pen.counts);
            pen.note(&mut self.redactions);
            // Of a message of which nothing could be read, the gap tells all there is to tell.
            if self.stopped.is_none() || self.written {
                self.write(pen, outlet, true);
            }
        }
    }

    /// The message breaks off here. If what follows it is lost, the word at its end may be half a secret and is left
    /// out; returns how long that is.
    pub(super) fn break_off(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>, lost: bool) -> u64 {
        let mut torn = 0;
        if let Taker::Store(stream) = &mut self.taker {
            let pen = &mut desk.pen;
            pen.replaced |= stream.finish(&pen.redactor, &mut pen.payload, &mut pen.counts);
            pen.note(&mut self.redactions);
            if lost || self.packed {
                torn = tear_word(&mut pen.payload);
            }
        }
        self.pause(&mut desk.pen, outlet);
        self.missing.say(desk, outlet, self.direction);
        torn
    }

    /// What passthrough mode keeps.
    pub(super) fn kept(&self) -> Option<&Map<String, Value>> {
        match &self.taker {
            Taker::Scan(scanner) => Some(scanner.kept()),
            Taker::Store(_) | Taker::Nobody => None,
        }
    }

    /// Inflate `bytes` of the wire by `feed`; what cannot be is missing.
    fn inflate(
        &mut self,
        desk: &mut Desk,
        outlet: &mut Outlet<'_>,
        bytes: usize,
        feed: impl FnOnce(&mut crate::decode::Decoding, &mut dyn FnMut(&[u8]) -> Option<Stop>) -> Option<Stop>,
    ) {
        if self.stopped.is_none() {
            let Desk { decoding, pen, decoded_limit, .. } = desk;
            let stop = feed(decoding, &mut |piece| {
                let room = decoded_limit.saturating_sub(self.length);
                let fits = usize::try_from(room).map_or(piece.len(), |room| piece.len().min(room));
                self.length += fits as u64;
                self.push(pen, outlet, &piece[..fits]);
                (fits < piece.len()).then_some(Stop::Enough)
            });
            if stop.is_none() {
                return;
            }
            self.stopped = stop;
            self.break_off(desk, outlet, true);
            if let Taker::Store(stream) = &mut self.taker {
                *stream = Stream::new(Boundary::None);
            }
        }
        let reason = self.stopped.map_or("", Stop::reason);
        let lost = Missing { reason, bytes: bytes as u64, records: 1 };
        self.missing.add(desk, outlet, self.direction, &lost);
    }

    fn push(&mut self, pen: &mut Pen, outlet: &mut Outlet<'_>, piece: &[u8]) {
        self.decoded += piece.len() as u64;
        match &mut self.taker {
            Taker::Store(stream) => {
                pen.replaced |= stream.push(&pen.redactor, piece, &mut pen.payload, &mut pen.counts);
                pen.note(&mut self.redactions);
            }
            Taker::Scan(scanner) => {
                if self.flags & flags::BINARY == 0 {
                    scanner.push(&pen.redactor, piece);
                }
            }
            Taker::Nobody => {}
        }
        if pen.is_full() {
            self.write(pen, outlet, false);
        }
    }

    fn write(&mut self, pen: &mut Pen, outlet: &mut Outlet<'_>, ends: bool) {
        self.stored += pen.write_message(outlet, self.flags, ends);
        self.written = true;
    }
}
