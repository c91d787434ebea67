//! permessage-deflate (RFC 7692): what was agreed upon, and messages inflated piece by piece.

use flate2::{Decompress, FlushDecompress, Status};

use crate::decode::{Decoding, Share, Stop};
use crate::event::{Direction, Fields};

/// What a `Sec-WebSocket-Extensions` calls it.
pub(crate) const NAME: &str = "permessage-deflate";

/// The state of an inflater with its window of 32 KiB, and some.
const NEED: usize = 48 << 10;

/// What a sender leaves out at the end of each message.
const TAIL: [u8; 4] = [0x00, 0x00, 0xff, 0xff];

/// Whether each message of a direction starts anew, if the head that changed the protocol agrees to compression at all.
pub(crate) fn agreed(fields: &Fields, direction: Direction) -> Option<Inflate> {
    let anew = match direction {
        Direction::Request => "client_no_context_takeover",
        Direction::Response => "server_no_context_takeover",
    };
    let named = fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case(b"sec-websocket-extensions"));
    for (_, value) in named {
        let value = String::from_utf8_lossy(value);
        for extension in value.split(',') {
            let mut words = extension.split(';').map(str::trim);
            if words.next().is_some_and(|name| name.eq_ignore_ascii_case(NAME)) {
                let anew = words.any(|word| word.eq_ignore_ascii_case(anew));
                return Some(Inflate { anew, ..Inflate::default() });
            }
        }
    }
    None
}

/// Inflates the messages of one direction.
#[derive(Default)]
pub(crate) struct Inflate {
    /// Each message starts with an empty window.
    anew: bool,
    inflater: Option<Decompress>,
    share: Share,
    /// Why nothing more can be inflated, until a message starts anew.
    stopped: Option<Stop>,
}

impl Inflate {
    /// A message begins.
    pub(crate) fn begin(&mut self) {
        if self.anew {
            self.stopped = None;
            if let Some(inflater) = &mut self.inflater {
                inflater.reset(false);
            }
        }
    }

    /// Inflate more of a message and hand it to `sink`, which may say stop.
    pub(crate) fn feed(
        &mut self,
        decoding: &mut Decoding,
        input: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> Option<Stop>,
    ) -> Option<Stop> {
        if self.stopped.is_none() {
            self.stopped = self.inflate(decoding, input, sink);
        }
        self.stopped
    }

    /// The message ends.
    pub(crate) fn end(
        &mut self,
        decoding: &mut Decoding,
        sink: &mut dyn FnMut(&[u8]) -> Option<Stop>,
    ) -> Option<Stop> {
        self.feed(decoding, &TAIL, sink)
    }

    /// Give the memory back.
    pub(crate) fn release(&mut self, decoding: &mut Decoding) {
        self.share.release(&mut decoding.budget);
        self.inflater = None;
        self.stopped = Some(Stop::Broken);
    }

    fn inflate(
        &mut self,
        decoding: &mut Decoding,
        mut input: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> Option<Stop>,
    ) -> Option<Stop> {
        if !self.share.raise(&mut decoding.budget, NEED) {
            return Some(Stop::Memory);
        }
        let inflater = self.inflater.get_or_insert_with(|| Decompress::new(false));
        let piece = decoding.piece();
        loop {
            let (taken, made) = (inflater.total_in(), inflater.total_out());
            let status = inflater.decompress(input, piece, FlushDecompress::Sync);
            let used = usize::try_from(inflater.total_in() - taken).unwrap_or(input.len());
            let produced = usize::try_from(inflater.total_out() - made).unwrap_or_default();
            input = &input[used..];
            if produced > 0 {
                if let Some(stop) = sink(&piece[..produced]) {
                    return Some(stop);
                }
            }
            match status {
                // A sender may end a block for good; what follows begins with an empty window.
                Ok(Status::StreamEnd) => inflater.reset(false),
                // Without progress there is an error unless there was nothing left to do.
                Ok(_) if produced == 0 && used == 0 => return (!input.is_empty()).then_some(Stop::Broken),
                Ok(_) => {}
                Err(_) => return Some(Stop::Broken),
            }
            if input.is_empty() && produced < piece.len() {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inflate(fields: &[(&str, &str)], messages: &[&[u8]]) -> Vec<Result<Vec<u8>, Stop>> {
        let fields = fields.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()));
        let mut inflate = agreed(&fields.collect(), Direction::Response).expect("agreed");
        let mut decoding = Decoding::new(1 << 20);
        let read = |message: &&[u8]| {
            let mut out = Vec::new();
            inflate.begin();
            let mut sink = |piece: &[u8]| {
                out.extend_from_slice(piece);
                None
            };
            let stop = inflate.feed(&mut decoding, message, &mut sink);
            let stop = stop.or_else(|| inflate.end(&mut decoding, &mut sink));
            stop.map_or(Ok(out), Err)
        };
        let read = messages.iter().map(read).collect();
        inflate.release(&mut decoding);
        assert_eq!(decoding.budget.used(), 0);
        read
    }

    const AGREED: (&str, &str) =
        ("Sec-WebSocket-Extensions", "foo, Permessage-Deflate; client_max_window_bits=10");

    #[test]
    fn the_examples_of_the_rfc_are_read() {
        let hello = || Ok(b"Hello".to_vec());
        // Section 7.2.3.2: the second message refers to the first.
        let shared = [b"\xf2\x48\xcd\xc9\xc9\x07\x00".as_slice(), b"\xf2\x00\x11\x00\x00"];
        assert_eq!(inflate(&[AGREED], &shared), [hello(), hello()]);
        // Section 7.2.3.3: a block without compression.
        assert_eq!(inflate(&[AGREED], &[b"\x00\x05\x00\xfa\xffHello\x00"]), [hello()]);
        // Section 7.2.3.4: a block that is the last of its stream.
        assert_eq!(inflate(&[AGREED], &[b"\xf3\x48\xcd\xc9\xc9\x07\x00\x00"]), [hello()]);
        // Section 7.2.3.5: two blocks.
        assert_eq!(inflate(&[AGREED], &[b"\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00"]), [hello()]);
    }

    #[test]
    fn messages_that_start_anew_survive_a_broken_one() {
        let messages = [b"\xff\xff".as_slice(), b"\xf2\x48\xcd\xc9\xc9\x07\x00"];
        assert_eq!(inflate(&[AGREED], &messages), [Err(Stop::Broken), Err(Stop::Broken)]);
        let anew = ("sec-websocket-extensions", "permessage-deflate; server_no_context_takeover");
        assert_eq!(inflate(&[anew], &messages), [Err(Stop::Broken), Ok(b"Hello".to_vec())]);
    }

    #[test]
    fn nothing_is_agreed_where_nothing_is_said() {
        assert!(agreed(&Fields::new(), Direction::Request).is_none());
        let other = vec![(b"sec-websocket-extensions".to_vec(), b"permessage-deflate-2, x".to_vec())];
        assert!(agreed(&other, Direction::Request).is_none());
    }
}
