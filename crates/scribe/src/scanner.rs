//! Finds the values of listed keys in JSON that streams by: documents, lines and events, cut anywhere.

use memchr::{memchr, memchr3};
use redact::{Boundary, Redactor};
use serde_json::{Map, Value};

use crate::kept::{ENVELOPES, KEPT_KEYS, Kept};

/// The longest value that is looked at.
const LONGEST_VALUE: usize = 4 << 10;

/// Longer than any key on the lists.
const LONGEST_KEY: usize = 32;

/// How deep envelopes may lie in each other.
const DEEPEST: u32 = 32;

/// What a line of an event stream begins with if it holds data.
const DATA: &[u8] = b"data:";

/// Where in a line the scanner is. Documents and lines of JSON are data all along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// So many bytes of `data:` were seen.
    Beginning(usize),
    Data,
    /// Not data.
    Other,
    /// Behind a hole in a document: nobody can tell what is a string.
    Never,
}

/// Where in the JSON the scanner is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Between,
    /// In a string that may be a key of interest.
    Key {
        escaped: bool,
    },
    /// In a string of no interest.
    Text {
        escaped: bool,
    },
    /// In a value that is kept.
    Value {
        key: usize,
        nested: u32,
        quoted: bool,
        escaped: bool,
    },
}

/// What comes next in the innermost container, if that is one of interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Key,
    Colon,
    /// A value, and whether it is an envelope.
    Value(bool),
    Comma,
}

/// A scanner over one body.
#[derive(Debug)]
pub(crate) struct Scanner {
    boundary: Boundary,
    line: Line,
    state: State,
    next: Next,
    /// How many containers are open.
    depth: u32,
    /// How many of them, from the outermost on, are envelopes.
    envelopes: u32,
    /// Which of these are arrays, a bit each.
    arrays: u32,
    key: Vec<u8>,
    value: Vec<u8>,
    kept: Kept,
}

impl Scanner {
    pub(crate) fn new(boundary: Boundary) -> Self {
        let mut scanner = Self {
            boundary,
            line: Line::Data,
            state: State::Between,
            next: Next::Key,
            depth: 0,
            envelopes: 0,
            arrays: 0,
            key: Vec::new(),
            value: Vec::new(),
            kept: Kept::default(),
        };
        scanner.line = scanner.line_start();
        scanner
    }

    /// Look at more of the body.
    pub(crate) fn push(&mut self, redactor: &Redactor, mut data: &[u8]) {
        while let Some(&byte) = data.first() {
            let done = match self.line {
                Line::Beginning(seen) => self.begin_line(seen, byte),
                Line::Other => self.skip_line(data),
                Line::Never => return,
                Line::Data => self.json(redactor, data),
            };
            data = &data[done..];
        }
    }

    /// There is a hole in the body: go on with the next line, or not at all.
    pub(crate) fn lose_track(&mut self) {
        self.reset();
        self.line = if matches!(self.boundary, Boundary::None) { Line::Never } else { Line::Other };
    }

    /// What follows is another document.
    pub(crate) fn begin_document(&mut self) {
        self.reset();
        self.line = self.line_start();
    }

    /// What was found.
    pub(crate) fn kept(&self) -> &Map<String, Value> {
        self.kept.values()
    }

    /// Where a line begins.
    fn line_start(&self) -> Line {
        if matches!(self.boundary, Boundary::Event) { Line::Beginning(0) } else { Line::Data }
    }

    fn reset(&mut self) {
        self.state = State::Between;
        self.next = Next::Key;
        (self.depth, self.envelopes, self.arrays) = (0, 0, 0);
    }

    fn begin_line(&mut self, seen: usize, byte: u8) -> usize {
        if byte == b'\n' {
            // A blank line ends the event.
            self.line = Line::Beginning(0);
            self.reset();
        } else if byte == DATA[seen] {
            self.line = if seen + 1 == DATA.len() { Line::Data } else { Line::Beginning(seen + 1) };
        } else if byte != b'\r' || seen > 0 {
            self.line = Line::Other;
        }
        1
    }

    fn skip_line(&mut self, data: &[u8]) -> usize {
        memchr(b'\n', data).map_or(data.len(), |end| {
            self.line = self.line_start();
            end + 1
        })
    }

    fn end_line(&mut self) {
        // No string goes on behind a line break.
        let torn = match self.state {
            State::Between => false,
            State::Key { .. } | State::Text { .. } => true,
            State::Value { quoted, .. } => quoted,
        };
        if torn || matches!(self.boundary, Boundary::Line) {
            self.reset();
        }
        self.line = self.line_start();
    }

    /// Take at least one byte of JSON; returns how many.
    fn json(&mut self, redactor: &Redactor, data: &[u8]) -> usize {
        let byte = data[0];
        if byte == b'\n' {
            self.end_line();
            return 1;
        }
        match self.state {
            State::Between => self.between(byte),
            State::Text { escaped: true } => self.state = State::Text { escaped: false },
            State::Key { escaped: true } => {
                self.state = State::Key { escaped: false };
                // No key on the lists is spelled with an escape, so one that is shall equal none.
                self.key.clear();
                self.key.resize(LONGEST_KEY, 0);
            }
            State::Text { .. } | State::Key { .. } => return self.string(data),
            State::Value { key, nested, quoted, escaped } => {
                return self.value(redactor, byte, key, nested, quoted, escaped);
            }
        }
        1
    }

    /// Go to the end of a string, or to what needs a closer look.
    fn string(&mut self, data: &[u8]) -> usize {
        let plain = memchr3(b'"', b'\\', b'\n', data).unwrap_or(data.len());
        let is_key = matches!(self.state, State::Key { .. });
        if is_key {
            let room = LONGEST_KEY.saturating_sub(self.key.len());
            self.key.extend_from_slice(&data[..plain.min(room)]);
        }
        match data.get(plain) {
            Some(b'"') => {
                self.state = State::Between;
                if is_key {
                    self.next = Next::Colon;
                }
                plain + 1
            }
            Some(b'\\') => {
                self.state =
                    if is_key { State::Key { escaped: true } } else { State::Text { escaped: true } };
                plain + 1
            }
            _ => plain,
        }
    }

    /// Whether the innermost container is one of interest, and an object.
    fn in_object(&self) -> bool {
        self.depth > 0 && self.depth == self.envelopes && self.arrays & (1 << (self.depth - 1)) == 0
    }

    fn between(&mut self, byte: u8) {
        match byte {
            b'"' if self.in_object() && self.next == Next::Key => {
                self.key.clear();
                self.state = State::Key { escaped: false };
            }
            b'"' => self.state = State::Text { escaped: false },
            b'{' | b'[' => self.open(byte == b'['),
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.envelopes = self.envelopes.min(self.depth);
                if self.depth == self.envelopes {
                    self.next = Next::Comma;
                }
            }
            b':' if self.in_object() && self.next == Next::Colon => self.choose(),
            b',' if self.in_object() => self.next = Next::Key,
            _ => {}
        }
    }

    fn open(&mut self, array: bool) {
        let outer_is_array = self.depth > 0 && self.depth == self.envelopes && !self.in_object();
        let is_envelope =
            self.depth == 0 || outer_is_array || self.in_object() && self.next == Next::Value(true);
        if is_envelope && self.envelopes < DEEPEST {
            self.arrays = self.arrays & !(1 << self.envelopes) | u32::from(array) << self.envelopes;
            self.envelopes += 1;
            self.next = Next::Key;
        }
        self.depth += 1;
    }

    /// Behind a key: what is to be done with its value?
    fn choose(&mut self) {
        self.next = Next::Value(ENVELOPES.iter().any(|name| name.as_bytes() == self.key));
        if let Some(key) = KEPT_KEYS.iter().position(|name| name.as_bytes() == self.key) {
            self.value.clear();
            self.state = State::Value { key, nested: 0, quoted: false, escaped: false };
        }
    }

    fn value(
        &mut self,
        redactor: &Redactor,
        byte: u8,
        key: usize,
        mut nested: u32,
        mut quoted: bool,
        mut escaped: bool,
    ) -> usize {
        let mut ends = false;
        if quoted {
            ends = byte == b'"' && !escaped && nested == 0;
            quoted = byte != b'"' || escaped;
            escaped = byte == b'\\' && !escaped;
        } else {
            match byte {
                b',' | b'}' | b']' if nested == 0 => {
                    self.keep(redactor, key);
                    return 0;
                }
                b'"' => quoted = true,
                b'{' | b'[' => nested += 1,
                b'}' | b']' => {
                    nested -= 1;
                    ends = nested == 0;
                }
                _ => {}
            }
        }
        if self.value.len() <= LONGEST_VALUE {
            self.value.push(byte);
        }
        if ends {
            self.keep(redactor, key);
        } else {
            self.state = State::Value { key, nested, quoted, escaped };
        }
        1
    }

    fn keep(&mut self, redactor: &Redactor, key: usize) {
        if self.value.len() <= LONGEST_VALUE {
            self.kept.add(redactor, KEPT_KEYS[key], &self.value);
        }
        self.state = State::Between;
        self.next = Next::Comma;
    }
}
