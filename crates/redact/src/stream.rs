//! Redaction of text that arrives in pieces, which finds what it would find in the whole.
//!
//! A piece is released as soon as nothing that may still come can change what is found in it: complete messages at
//! once, and a text without messages up to a few thousand bytes before its end.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::markers::{self, Markers};
use crate::messages::{Boundary, Piece};
use crate::redactor::{Redactor, Search};

/// What a stream holds back, in bytes.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// The end of a text: a match that begins before it is known by then.
    hold: usize,
    /// How long a match may keep text from being released.
    longest_match: usize,
    /// How long a message may be that is waited for.
    longest_message: usize,
}

const LIMITS: Limits = Limits { hold: 4096, longest_match: 256 << 10, longest_message: 1 << 20 };

/// How many released bytes are kept to look back at, for word boundaries and for what a word follows upon.
const CONTEXT: usize = 64;

/// A text that arrives in pieces. It holds the state alone: the redactor is passed in.
pub struct Stream {
    boundary: Boundary,
    limits: Limits,
    /// What is not released yet, behind `lead` bytes that are.
    held: Vec<u8>,
    lead: usize,
    /// The two bytes before what is held.
    before: [u8; 2],
    /// How long `held` has to be until it is worth to be searched again.
    enough: usize,
    /// The last two bytes that were pushed.
    last: [u8; 2],
    /// Whether the rest of a secret that was too long is still to come.
    swallowing: bool,
    search: Search,
}

impl Stream {
    /// An empty stream.
    #[must_use]
    pub fn new(boundary: Boundary) -> Self {
        Self::with_limits(boundary, LIMITS)
    }

    fn with_limits(boundary: Boundary, limits: Limits) -> Self {
        Self {
            boundary,
            limits,
            held: Vec::new(),
            lead: 0,
            before: [0; 2],
            enough: 2 * limits.hold,
            last: [0; 2],
            swallowing: false,
            search: Search::default(),
        }
    }

    /// How many bytes are held back.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len() - self.lead
    }

    /// Take more of the text; append what is safe to `out` and count what was replaced in it. Returns whether
    /// anything was.
    pub fn push(
        &mut self,
        redactor: &Redactor,
        data: &[u8],
        out: &mut Vec<u8>,
        counts: &mut BTreeMap<String, u64>,
    ) -> bool {
        let mut sink = Sink { redactor, out, counts, replaced: false };
        let data = self.swallow(data);
        let piece = Piece { boundary: self.boundary, before: self.last, data };
        let (complete, rest) = data.split_at(piece.last_end().unwrap_or_default());
        if !complete.is_empty() {
            self.release_messages(complete, &mut sink);
        }
        self.remember(complete);
        if self.held.is_empty() {
            self.before = self.last;
        }
        self.remember(rest);
        self.held.extend_from_slice(rest);
        let unbounded =
            self.boundary == Boundary::None || self.lead > 0 || self.held() > self.limits.longest_message;
        if unbounded && self.held.len() >= self.enough {
            self.release_settled(&mut sink);
        }
        sink.replaced
    }

    /// Release what is left: the text ends here.
    pub fn finish(
        &mut self,
        redactor: &Redactor,
        out: &mut Vec<u8>,
        counts: &mut BTreeMap<String, u64>,
    ) -> bool {
        let mut sink = Sink { redactor, out, counts, replaced: false };
        redactor.search(&self.held, self.lead, &mut self.search);
        sink.write(&self.held, self.lead..self.held.len(), &self.search);
        self.forget();
        self.last = [0; 2];
        self.swallowing = false;
        sink.replaced
    }

    /// Release complete messages, the first of which begins with what is held.
    fn release_messages(&mut self, complete: &[u8], sink: &mut Sink) {
        let before = if self.held.is_empty() { self.last } else { self.before };
        let mut joined = std::mem::take(&mut self.held);
        let data = if joined.is_empty() {
            complete
        } else {
            joined.extend_from_slice(complete);
            &joined
        };
        let piece = Piece { boundary: self.boundary, before, data };
        let by_message = sink.redactor.words().next().is_some() || {
            sink.redactor.search(data, self.lead, &mut self.search);
            self.search.extents.iter().any(|extent| piece.is_crossed(extent))
        };
        if by_message {
            for message in piece.messages() {
                let text = &data[message.clone()];
                let from = self.lead.saturating_sub(message.start).min(text.len());
                sink.redactor.search(text, from, &mut self.search);
                sink.write(text, from..text.len(), &self.search);
            }
        } else {
            sink.write(data, self.lead..data.len(), &self.search);
        }
        self.held = joined;
        self.forget();
    }

    /// Release all that no text to come can change.
    fn release_settled(&mut self, sink: &mut Sink) {
        sink.redactor.search(&self.held, self.lead, &mut self.search);
        let mut cut = self.settled(sink.redactor);
        if cut <= self.lead && self.held() > self.limits.longest_match {
            cut = self.forced();
            let reaches = |(secret, _): &(Range<usize>, usize)| secret.end == self.held.len();
            self.swallowing = cut == self.held.len() && self.search.secrets.last().is_some_and(reaches);
        }
        if cut > self.lead {
            sink.write(&self.held, self.lead..cut, &self.search);
            let keep = cut.saturating_sub(CONTEXT);
            self.held.drain(..keep);
            self.lead = cut - keep;
            self.before = [0; 2];
        }
        // A match that grows is not searched with every piece, or that would take time without bound.
        self.enough = self.held.len() + self.limits.hold.max(self.held() / 2);
    }

    /// How far nothing can change any more: a place some bytes before the end, in no match, marker or word.
    fn settled(&mut self, redactor: &Redactor) -> usize {
        let data = &self.held;
        let extents = &mut self.search.extents;
        // A secret that begins where a marker ends is left alone, so that the marker has to be seen with it.
        extents.extend(Markers::in_text(data).ranges().map(|marker| marker.start..marker.end + 1));
        extents.sort_unstable_by_key(|extent| std::cmp::Reverse(extent.end));
        let mut cut = data.len().saturating_sub(self.limits.hold);
        loop {
            let before = cut;
            for extent in extents.iter() {
                if extent.end > cut {
                    cut = cut.min(extent.start);
                }
            }
            cut = redactor.words().fold(cut, |cut, words| words.begin_of_word(data, cut));
            if cut == before {
                return cut;
            }
        }
    }

    /// How far to release when a match keeps all back: to the end of whatever is found by now.
    fn forced(&mut self) -> usize {
        let length = self.held.len();
        let extents = &mut self.search.extents;
        extents.sort_unstable_by_key(|extent| extent.start);
        let mut cut = length - self.limits.hold;
        let mut open = length;
        for extent in extents.iter().take_while(|extent| extent.start < length) {
            if extent.end > length {
                open = open.min(extent.start);
            } else if extent.start < cut {
                cut = cut.max(extent.end);
            }
        }
        // The end of a block is waited for in any case.
        if open > self.lead { cut.min(open) } else { cut }
    }

    /// What is left of `data` behind the rest of a secret that was released already.
    fn swallow<'d>(&mut self, data: &'d [u8]) -> &'d [u8] {
        if !self.swallowing {
            return data;
        }
        let end = data.iter().position(|&byte| !is_token(byte));
        self.swallowing = end.is_none();
        let (gone, rest) = data.split_at(end.unwrap_or(data.len()));
        self.remember(gone);
        rest
    }

    fn remember(&mut self, data: &[u8]) {
        match data {
            [] => {}
            [only] => self.last = [self.last[1], *only],
            [.., before, last] => self.last = [*before, *last],
        }
    }

    fn forget(&mut self) {
        self.held.clear();
        self.lead = 0;
        self.enough = 2 * self.limits.hold;
    }
}

/// Whether a byte can belong to a key or token.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=_.~%-".contains(&byte)
}

/// Where released text goes.
struct Sink<'s> {
    redactor: &'s Redactor,
    out: &'s mut Vec<u8>,
    counts: &'s mut BTreeMap<String, u64>,
    replaced: bool,
}

impl Sink<'_> {
    /// Append the bytes of `range` with a marker for each secret that begins in it.
    fn write(&mut self, data: &[u8], range: Range<usize>, search: &Search) {
        let mut copied = range.start;
        for (secret, rank) in search.secrets.iter().take_while(|(secret, _)| secret.start < range.end) {
            let kind = self.redactor.kind(*rank);
            self.out.extend_from_slice(&data[copied..secret.start]);
            markers::write(kind, self.out);
            copied = secret.end.min(range.end);
            self.replaced = true;
            match self.counts.get_mut(kind) {
                Some(count) => *count += 1,
                None => drop(self.counts.insert(kind.to_owned(), 1)),
            }
        }
        self.out.extend_from_slice(&data[copied..range.end]);
    }
}

#[cfg(test)]
mod tests;
