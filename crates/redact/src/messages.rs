//! Where messages end in a stream: at line feeds, or at the blank lines of server-sent events.

use std::ops::Range;

/// Where no pattern crosses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Boundary {
    /// The text is one message.
    None,
    /// Each line is a message, as in NDJSON.
    Line,
    /// A blank line ends a message, as in server-sent events: `\n\n`, `\n\r\n` or `\r\r`.
    Event,
}

/// A piece of a stream, and the two bytes before it.
pub(crate) struct Piece<'d> {
    pub(crate) boundary: Boundary,
    pub(crate) before: [u8; 2],
    pub(crate) data: &'d [u8],
}

impl Piece<'_> {
    /// Where the last complete message ends.
    pub(crate) fn last_end(&self) -> Option<usize> {
        let mut rest = self.data;
        loop {
            let place = match self.boundary {
                Boundary::None => None,
                Boundary::Line => memchr::memrchr(b'\n', rest),
                Boundary::Event => memchr::memrchr2(b'\n', b'\r', rest),
            }?;
            if self.ends_at(place) {
                return Some(place + 1);
            }
            rest = &rest[..place];
        }
    }

    /// The messages, the last one perhaps without its end.
    pub(crate) fn messages(&self) -> Vec<Range<usize>> {
        let mut start = 0;
        let mut messages = Vec::new();
        for place in memchr::memchr2_iter(b'\n', b'\r', self.data).filter(|&place| self.ends_at(place)) {
            messages.push(start..place + 1);
            start = place + 1;
        }
        if start < self.data.len() {
            messages.push(start..self.data.len());
        }
        messages
    }

    /// Whether a message ends inside of `range` or where it does, so that another begins.
    pub(crate) fn is_crossed(&self, range: &Range<usize>) -> bool {
        let end = range.end.min(self.data.len());
        // What ends with the text crosses nothing.
        let end = if end == self.data.len() { end - 1 } else { end };
        let line_ends = memchr::memchr2_iter(b'\n', b'\r', &self.data[range.start..end]);
        line_ends.map(|place| range.start + place).any(|place| self.ends_at(place))
    }

    /// Whether a message ends behind the byte at `place`.
    fn ends_at(&self, place: usize) -> bool {
        let back = |steps: usize| match place.checked_sub(steps) {
            Some(earlier) => self.data[earlier],
            None => self.before[2 + place - steps],
        };
        match (self.boundary, self.data[place]) {
            (Boundary::Line, b'\n') => true,
            (Boundary::Event, b'\n') => back(1) == b'\n' || (back(1) == b'\r' && back(2) == b'\n'),
            (Boundary::Event, b'\r') => back(1) == b'\r',
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece<'d>(boundary: Boundary, before: &str, data: &'d str) -> Piece<'d> {
        let before = before.as_bytes();
        Piece { boundary, before: [before[0], before[1]], data: data.as_bytes() }
    }

    #[test]
    fn the_last_end_is_found() {
        for (boundary, before, data, end) in [
            (Boundary::None, "\n\n", "a\n\n", None),
            (Boundary::Line, "ab", "a\nb\nc", Some(4)),
            (Boundary::Line, "ab", "abc", None),
            (Boundary::Event, "ab", "a\n\nb\nc", Some(3)),
            (Boundary::Event, "ab", "a\r\n\r\n", Some(5)),
            (Boundary::Event, "ab", "a\r\n\r", None),
            (Boundary::Event, "a\n", "\nb", Some(1)),
            (Boundary::Event, "\n\r", "\n", Some(1)),
            (Boundary::Event, "a\n", "\r\nb", Some(2)),
            (Boundary::Event, "a\r", "\n\r", None),
            (Boundary::Event, "a\r", "\rb", Some(1)),
        ] {
            assert_eq!(piece(boundary, before, data).last_end(), end, "{before:?} {data:?}");
        }
    }

    #[test]
    fn the_messages_are_all_of_the_text() {
        assert_eq!(piece(Boundary::Event, "ab", "a\n\n\nb\n\nc").messages(), [0..3, 3..4, 4..7, 7..8]);
        assert_eq!(piece(Boundary::Line, "ab", "\na\n").messages(), [0..1, 1..3]);
        assert!(piece(Boundary::Line, "ab", "").messages().is_empty());
    }

    #[test]
    fn a_range_crosses_an_end_that_it_reaches() {
        let lines = piece(Boundary::Line, "ab", "ab\ncd\n");
        for (range, crossed) in
            [(0..2, false), (0..3, true), (1..4, true), (3..5, false), (3..6, false), (4..usize::MAX, false)]
        {
            assert_eq!(lines.is_crossed(&range), crossed, "{range:?}");
        }
        assert!(lines.is_crossed(&(0..usize::MAX)));
    }
}
