//! Where a body ends, and which of its bytes are payload.
//!
//! Bytes are looked at and never copied: what passes is the very spelling that came, chunk sizes and extensions
//! included. The syntax of chunks is read strictly, since two readers of one stream must never disagree.

use std::ops::Range;

/// The longest line of a chunk's size with its extensions.
const LONGEST_SIZE_LINE: usize = 4096;

/// The most bytes of trailer fields.
const LONGEST_TRAILERS: usize = 64 << 10;

/// A body of which a part is still to come.
#[derive(Debug)]
pub(crate) enum Body {
    /// There is nothing more.
    Done,
    /// So many bytes more.
    Length(u64),
    /// Chunks, up to the last and its trailers.
    Chunked(Chunks),
    /// All up to the end of the connection.
    UntilClose,
}

/// The syntax of a chunked body is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadChunk(pub(crate) &'static str);

/// Where in the syntax of chunks the next byte stands.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    state: State,
    /// Bytes of the line that is being read.
    line: usize,
    /// Bytes of the chunk that are still to come.
    left: u64,
    /// How many digits the size has had.
    digits: usize,
    trailers: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Size,
    Extension,
    SizeEnd,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    TrailerName,
    Trailer,
    TrailerEnd,
    LastEnd,
    Done,
}

impl Body {
    /// A chunked body from its first byte on.
    pub(crate) fn chunked() -> Self {
        Self::Chunked(Chunks::default())
    }

    /// A body of a stated length.
    pub(crate) fn length(bytes: u64) -> Self {
        if bytes == 0 { Self::Done } else { Self::Length(bytes) }
    }

    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Self::Done)
    }

    /// Look at more of the stream: tells how many of its bytes belong to this body, and where among them is payload.
    pub(crate) fn advance(
        &mut self,
        data: &[u8],
        mut payload: impl FnMut(Range<usize>),
    ) -> Result<usize, BadChunk> {
        match self {
            Self::Done => Ok(0),
            Self::UntilClose => {
                payload(0..data.len());
                Ok(data.len())
            }
            Self::Length(left) => {
                let used = usize::try_from(*left).map_or(data.len(), |left| left.min(data.len()));
                if used > 0 {
                    payload(0..used);
                }
                *left -= used as u64;
                if *left == 0 {
                    *self = Self::Done;
                }
                Ok(used)
            }
            Self::Chunked(chunks) => chunks.advance(data, &mut payload),
        }
    }

    /// The trailer fields of a chunked body that came to its end, as they were spelled.
    pub(crate) fn finish_chunks(&mut self) -> Option<Vec<u8>> {
        let Self::Chunked(chunks) = self else { return None };
        if chunks.state != State::Done {
            return None;
        }
        let trailers = std::mem::take(&mut chunks.trailers);
        *self = Self::Done;
        Some(trailers)
    }
}

impl Chunks {
    fn advance(&mut self, data: &[u8], payload: &mut impl FnMut(Range<usize>)) -> Result<usize, BadChunk> {
        let mut at = 0;
        while at < data.len() && self.state != State::Done {
            if self.state == State::Data {
                let here =
                    usize::try_from(self.left).map_or(data.len() - at, |left| left.min(data.len() - at));
                payload(at..at + here);
                at += here;
                self.left -= here as u64;
                if self.left == 0 {
                    self.state = State::DataCr;
                }
            } else {
                self.step(data[at])?;
                at += 1;
            }
        }
        Ok(at)
    }

    fn step(&mut self, byte: u8) -> Result<(), BadChunk> {
        self.state = match (self.state, byte) {
            (State::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                self.digit(byte)?;
                State::Size
            }
            (State::Size, b';') if self.digits > 0 => State::Extension,
            (State::Size, b'\r') if self.digits > 0 => State::SizeEnd,
            (State::Extension, b'\r') => State::SizeEnd,
            (State::Extension, b'\t' | b' '..=b'~' | 0x80..) => {
                self.grow(LONGEST_SIZE_LINE, "a chunk extension is too long")?;
                State::Extension
            }
            (State::SizeEnd, b'\n') => {
                self.line = 0;
                self.digits = 0;
                if self.left == 0 { State::TrailerStart } else { State::Data }
            }
            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => State::Size,
            (State::TrailerStart, b'\r') => State::LastEnd,
            (State::TrailerStart | State::TrailerName, _) if is_name(byte) => {
                self.keep(byte)?;
                State::TrailerName
            }
            (State::TrailerName, b':') | (State::Trailer, b'\t' | b' '..=b'~' | 0x80..) => {
                self.keep(byte)?;
                State::Trailer
            }
            (State::Trailer, b'\r') => State::TrailerEnd,
            (State::TrailerEnd, b'\n') => {
                self.trailers.extend_from_slice(b"\r\n");
                State::TrailerStart
            }
            (State::LastEnd, b'\n') => State::Done,
            (State::Size | State::Extension | State::SizeEnd, _) => {
                return Err(BadChunk("a chunk's size is malformed"));
            }
            (State::DataCr | State::DataLf, _) => {
                return Err(BadChunk("a chunk is longer than its size says"));
            }
            _ => return Err(BadChunk("the trailers are malformed")),
        };
        Ok(())
    }

    fn digit(&mut self, byte: u8) -> Result<(), BadChunk> {
        let value = char::from(byte).to_digit(16).map_or(0, u64::from);
        self.digits += 1;
        // Fifteen digits cannot overflow, and no chunk needs more.
        if self.digits > 15 {
            return Err(BadChunk("a chunk's size is too large"));
        }
        self.left = self.left << 4 | value;
        Ok(())
    }

    fn keep(&mut self, byte: u8) -> Result<(), BadChunk> {
        self.trailers.push(byte);
        self.grow(LONGEST_TRAILERS, "the trailers are too long")
    }

    fn grow(&mut self, limit: usize, problem: &'static str) -> Result<(), BadChunk> {
        self.line += 1;
        if self.line > limit { Err(BadChunk(problem)) } else { Ok(()) }
    }
}

/// Whether a byte may stand in the name of a field.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Read = (Vec<u8>, usize, Option<Vec<u8>>);

    /// Reads `data` in pieces of the given sizes; returns payload, bytes used and trailers.
    fn read(body: &mut Body, data: &[u8], pieces: &[usize]) -> Result<Read, BadChunk> {
        let (mut payload, mut at, mut sizes) = (Vec::new(), 0, pieces.iter().cycle());
        while at < data.len() {
            let size = sizes.next().map_or(data.len(), |size| (*size).max(1)).min(data.len() - at);
            let used =
                body.advance(&data[at..at + size], |part| payload.extend_from_slice(&data[at..][part]))?;
            at += used;
            if let Some(trailers) = body.finish_chunks() {
                return Ok((payload, at, Some(trailers)));
            }
            if used < size {
                break;
            }
        }
        Ok((payload, at, None))
    }

    #[test]
    fn chunks_with_extensions_and_trailers_are_read() {
        let data = b"4;a=\"b\"\r\nWiki\r\n0B\r\npedia in \r\n \r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\nGET /";
        let expected =
            (b"Wikipedia in \r\n ".to_vec(), data.len() - 5, Some(b"X-Sum: 1\r\nY: 2\r\n".to_vec()));
        // The second chunk has eleven bytes, a line break among them.
        let spelled = String::from_utf8_lossy(data).replace("0B\r\npedia in \r\n ", "0C\r\npedia in \r\n ");
        assert_eq!(read(&mut Body::chunked(), spelled.as_bytes(), &[7]), Ok(expected));
    }

    #[test]
    fn malformed_chunks_are_refused() {
        for (bad, problem) in [
            (b"\r\n".as_slice(), "a chunk's size is malformed"),
            (b"g\r\n", "a chunk's size is malformed"),
            (b"4\nWiki", "a chunk's size is malformed"),
            (b" 4\r\n", "a chunk's size is malformed"),
            (b"4 \r\n", "a chunk's size is malformed"),
            (b"0x4\r\n", "a chunk's size is malformed"),
            (b"-1\r\n", "a chunk's size is malformed"),
            (b"4;a\nWiki", "a chunk's size is malformed"),
            (b"1000000000000000\r\n", "a chunk's size is too large"),
            (b"3\r\nWiki\r\n", "a chunk is longer than its size says"),
            (b"4\r\nWiki\n0\r\n\r\n", "a chunk is longer than its size says"),
            (b"0\r\nX: 1\n\r\n", "the trailers are malformed"),
            (b"0\r\nOPTIONS * HTTP/1.1\r\n\r\n", "the trailers are malformed"),
            (b"0\r\n: 1\r\n\r\n", "the trailers are malformed"),
            (b"0\r\nX: 1\r\n folded\r\n\r\n", "the trailers are malformed"),
            (b"0\r\nX\r\n\r\n", "the trailers are malformed"),
        ] {
            assert_eq!(read(&mut Body::chunked(), bad, &[1]), Err(BadChunk(problem)), "{bad:?}");
        }
    }

    #[test]
    fn a_length_ends_where_it_says() {
        let mut body = Body::length(3);
        assert_eq!(read(&mut body, b"abcdef", &[2]), Ok((b"abc".to_vec(), 3, None)));
        assert!(body.is_done());
        assert!(Body::length(0).is_done());
    }

    proptest! {
        #[test]
        fn any_pieces_give_the_same_payload(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..8),
            pieces in prop::collection::vec(1..50_usize, 1..6),
        ) {
            let mut data = Vec::new();
            for chunk in &chunks {
                data.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                data.extend_from_slice(chunk);
                data.extend_from_slice(b"\r\n");
            }
            data.extend_from_slice(b"0\r\n\r\n");
            let length = data.len();
            data.extend_from_slice(b"rest");
            prop_assert_eq!(read(&mut Body::chunked(), &data, &pieces), Ok((chunks.concat(), length, Some(Vec::new()))));
        }

        #[test]
        fn any_bytes_are_read_or_refused(data: Vec<u8>, pieces in prop::collection::vec(1..50_usize, 1..4)) {
            let whole = read(&mut Body::chunked(), &data, &[data.len().max(1)]);
            prop_assert_eq!(read(&mut Body::chunked(), &data, &pieces), whole);
        }
    }
}
