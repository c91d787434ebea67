//! What stands in the place of a secret, written and found again.

use std::ops::Range;

const BEGIN: &[u8] = b"[redacted:";

/// Write the marker of a kind.
pub(crate) fn write(kind: &str, text: &mut Vec<u8>) {
    text.extend_from_slice(BEGIN);
    text.extend_from_slice(kind.as_bytes());
    text.push(b']');
}

/// The markers that stand in a text already, in order.
pub(crate) struct Markers(Vec<Range<usize>>);

impl Markers {
    pub(crate) fn in_text(data: &[u8]) -> Self {
        let brackets = memchr::memmem::find_iter(data, BEGIN);
        Self(brackets.filter_map(|start| Some(start..start + marker_length(&data[start..])?)).collect())
    }

    pub(crate) fn ranges(&self) -> impl Iterator<Item = &Range<usize>> {
        self.0.iter()
    }

    /// Whether a secret was found because of a marker: it touches one, or the match that led to it began in one.
    pub(crate) fn explain(&self, secret: &Range<usize>, begin: usize) -> bool {
        self.touch(secret) || self.hold(begin)
    }

    /// Whether a span overlaps a marker, ends where one begins, or begins where one ends.
    fn touch(&self, span: &Range<usize>) -> bool {
        let next = self.0.partition_point(|marker| marker.end < span.start);
        self.0.get(next).is_some_and(|marker| marker.start <= span.end)
    }

    /// Whether a byte is a marker's.
    fn hold(&self, byte: usize) -> bool {
        let next = self.0.partition_point(|marker| marker.end <= byte);
        self.0.get(next).is_some_and(|marker| marker.start <= byte)
    }
}

/// The length of the marker at the start of `text`, which begins as one does.
fn marker_length(text: &[u8]) -> Option<usize> {
    let kind = &text[BEGIN.len()..];
    let letters = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
    let length = kind.iter().position(|byte| !letters(byte))?;
    (kind[0].is_ascii_lowercase() && kind[length] == b']').then_some(BEGIN.len() + length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_markers_are_found() {
        let text = b"[redacted:a] [redacted:] [redacted:1] [redacted:b[redacted:c_2] [redacted:D] [redacted:";
        assert_eq!(Markers::in_text(text).0, [0..12, 49..63]);
    }

    #[test]
    fn what_is_written_is_found() {
        let mut text = b"..".to_vec();
        write("private_key", &mut text);
        assert_eq!(Markers::in_text(&text).0.first(), Some(&(2..text.len())));
    }

    #[test]
    fn neighbours_touch() {
        let markers = Markers(vec![5..10, 20..30]);
        for (span, touches) in
            [(0..4, false), (0..5, true), (9..12, true), (10..12, true), (11..19, false), (0..99, true)]
        {
            assert_eq!(markers.touch(&span), touches, "{span:?}");
        }
        assert!(!markers.touch(&(31..40)));
    }

    #[test]
    fn what_begins_in_a_marker_is_explained_by_it() {
        let markers = Markers(vec![5..10, 20..30]);
        for (begin, explained) in [(4, false), (5, true), (9, true), (10, false), (29, true), (30, false)] {
            assert_eq!(markers.explain(&(40..44), begin), explained, "{begin}");
        }
        assert!(markers.explain(&(10..12), 0));
    }
}
