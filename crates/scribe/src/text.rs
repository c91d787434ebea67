//! The text of one body: redacted and written, or searched for what passthrough mode keeps.

use std::collections::BTreeMap;

use memchr::memchr;
use redact::{Boundary, Stream};
use serde_json::{Map, Value};

use crate::desk::{Outlet, Pen};
use crate::event::Direction;
use crate::scanner::Scanner;

/// How much of a text is redacted at a time.
pub(crate) const PIECE: usize = 256 << 10;

/// How long a word at the edge of a hole can be.
const LONGEST_WORD: usize = 4 << 10;

/// Who takes the text.
enum Taker {
    Store(Stream),
    Scan(Box<Scanner>),
}

/// The text of one body.
pub(crate) struct Text {
    direction: Direction,
    boundary: Boundary,
    /// Whether it was decoded from what passed.
    coded: bool,
    taker: Taker,
    /// Behind a hole: how much was left out of the word that it tore.
    torn: Option<usize>,
    pub(crate) decoded: u64,
    pub(crate) stored: u64,
    pub(crate) redactions: BTreeMap<String, u64>,
}

impl Text {
    pub(crate) fn new(direction: Direction, boundary: Boundary, coded: bool, scanned: bool) -> Self {
        let taker = if scanned {
            Taker::Scan(Box::new(Scanner::new(boundary)))
        } else {
            Taker::Store(Stream::new(boundary))
        };
        Self {
            direction,
            boundary,
            coded,
            taker,
            torn: None,
            decoded: 0,
            stored: 0,
            redactions: BTreeMap::new(),
        }
    }

    /// Take more of the text without writing what there is at once.
    pub(crate) fn push(&mut self, pen: &mut Pen, outlet: &mut Outlet<'_>, piece: &[u8]) {
        self.decoded += piece.len() as u64;
        match &mut self.taker {
            Taker::Store(stream) => {
                pen.replaced |= stream.push(&pen.redactor, piece, &mut pen.payload, &mut pen.counts);
                pen.note(&mut self.redactions);
            }
            Taker::Scan(scanner) => scanner.push(&pen.redactor, piece),
        }
        if pen.is_full() {
            self.flush(pen, outlet);
        }
    }

    /// Write what was redacted so far.
    pub(crate) fn flush(&mut self, pen: &mut Pen, outlet: &mut Outlet<'_>) {
        if !pen.payload.is_empty() {
            self.stored += pen.write(outlet, self.direction, self.coded);
        }
    }

    /// Take text that passed as it is. Returns how much of it was left out because a hole tore it.
    pub(crate) fn take(&mut self, pen: &mut Pen, outlet: &mut Outlet<'_>, data: &[u8]) -> u64 {
        let (left_out, whole) = data.split_at(self.leave_out(data));
        self.decoded += left_out.len() as u64;
        for piece in whole.chunks(PIECE) {
            self.push(pen, outlet, piece);
        }
        self.flush(pen, outlet);
        left_out.len() as u64
    }

    /// Store bytes that cannot be read.
    pub(crate) fn take_raw(&mut self, outlet: &mut Outlet<'_>, data: &[u8]) {
        outlet.write_body(self.direction, 0, data);
        self.stored += data.len() as u64;
    }

    /// The text is over: write what was held back.
    pub(crate) fn finish(&mut self, pen: &mut Pen, outlet: &mut Outlet<'_>) {
        self.end_stream(pen);
        self.flush(pen, outlet);
    }

    /// A hole follows. The word before it may be the beginning of a secret that no rule knows by it, so it is left
    /// out; returns how long it is.
    pub(crate) fn tear(&mut self, pen: &mut Pen, outlet: &mut Outlet<'_>) -> u64 {
        self.end_stream(pen);
        let word = tear_word(&mut pen.payload);
        self.flush(pen, outlet);
        match &mut self.taker {
            Taker::Store(stream) => {
                *stream = Stream::new(self.boundary);
                self.torn = Some(self.torn.unwrap_or_default());
            }
            Taker::Scan(scanner) => scanner.lose_track(),
        }
        word
    }

    /// What passthrough mode keeps.
    pub(crate) fn kept(&self) -> Option<&Map<String, Value>> {
        match &self.taker {
            Taker::Store(_) => None,
            Taker::Scan(scanner) => Some(scanner.kept()),
        }
    }

    fn end_stream(&mut self, pen: &mut Pen) {
        if let Taker::Store(stream) = &mut self.taker {
            pen.replaced |= stream.finish(&pen.redactor, &mut pen.payload, &mut pen.counts);
            pen.note(&mut self.redactions);
        }
    }

    /// How much of `data` belongs to what a hole tore.
    fn leave_out(&mut self, data: &[u8]) -> usize {
        let Some(before) = self.torn else { return 0 };
        let end = match self.boundary {
            Boundary::None => {
                let room = LONGEST_WORD.saturating_sub(before);
                let end = data.iter().take(room).position(|byte| !is_word(*byte));
                end.or_else(|| (data.len() >= room).then_some(room))
            }
            Boundary::Line | Boundary::Event => memchr(b'\n', data),
        };
        self.torn = if end.is_some() { None } else { Some(before + data.len()) };
        end.unwrap_or(data.len())
    }
}

/// Leave out the word at the end; returns how long it is.
pub(crate) fn tear_word(text: &mut Vec<u8>) -> u64 {
    let word = text.iter().rev().take(LONGEST_WORD).take_while(|byte| is_word(**byte)).count();
    text.truncate(text.len() - word);
    word as u64
}

/// Whether a byte can stand inside a secret.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-+/=.~%\\".contains(&byte)
}
