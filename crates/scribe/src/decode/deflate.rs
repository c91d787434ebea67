//! The codings `gzip` (members one after the other) and `deflate` (with zlib's header or, as some send it, without).

use flate2::{Decompress, FlushDecompress, Status};

use super::budget::{Budget, Share};
use super::{Step, Stop};

/// The state of an inflater with its window of 32 KiB, and some.
const NEED: usize = 48 << 10;

const WINDOW_BITS: u8 = 15;

/// What stands around the compressed data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrapping {
    Gzip,
    /// Too little of it was seen: nothing, or one byte.
    Undecided(Option<u8>),
    Zlib,
    Bare,
}

/// Undoes `gzip` or `deflate`.
pub(super) struct Decoder {
    wrapping: Wrapping,
    inflater: Option<Decompress>,
    /// Whether what was begun has come to its end.
    ended: bool,
}

impl Decoder {
    pub(super) fn gzip() -> Self {
        Self { wrapping: Wrapping::Gzip, inflater: None, ended: false }
    }

    pub(super) fn deflate() -> Self {
        Self { wrapping: Wrapping::Undecided(None), inflater: None, ended: false }
    }

    pub(super) fn step(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        share: &mut Share,
        budget: &mut Budget,
    ) -> Step {
        let Some(&next) = input.first() else { return self.inflate(input, output) };
        if self.ended {
            match next {
                0x1f if self.wrapping == Wrapping::Gzip => self.begin(),
                0 => return skip_padding(input),
                _ => return Step::stopped(Stop::Broken),
            }
        }
        if self.inflater.is_some() {
            return self.inflate(input, output);
        }
        if self.wrapping == Wrapping::Undecided(None) && input.len() == 1 {
            self.wrapping = Wrapping::Undecided(Some(next));
            return Step { consumed: 1, ..Step::default() };
        }
        if !share.raise(budget, NEED) {
            return Step::stopped(Stop::Memory);
        }
        let Wrapping::Undecided(earlier) = self.wrapping else {
            self.begin();
            return self.inflate(input, output);
        };
        let (first, second) = earlier.map_or_else(|| (next, input[1]), |earlier| (earlier, next));
        self.wrapping = if is_zlib(first, second) { Wrapping::Zlib } else { Wrapping::Bare };
        self.begin();
        if let Some(earlier) = earlier {
            // A single byte holds no whole symbol, so nothing is produced yet.
            let step = self.inflate(&[earlier], output);
            if step.stop.is_some() {
                return Step::stopped(Stop::Broken);
            }
        }
        self.inflate(input, output)
    }

    /// Whether nothing was begun that has not come to its end.
    pub(super) fn is_at_rest(&self) -> bool {
        let untouched = self.inflater.is_none() && !matches!(self.wrapping, Wrapping::Undecided(Some(_)));
        self.ended || untouched
    }

    fn begin(&mut self) {
        self.ended = false;
        self.inflater = Some(match self.wrapping {
            Wrapping::Gzip => Decompress::new_gzip(WINDOW_BITS),
            wrapping => Decompress::new(wrapping == Wrapping::Zlib),
        });
    }

    fn inflate(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        let Some(inflater) = self.inflater.as_mut().filter(|_| !self.ended) else { return Step::default() };
        let (taken, made) = (inflater.total_in(), inflater.total_out());
        let status = inflater.decompress(input, output, FlushDecompress::None);
        self.ended = matches!(status, Ok(Status::StreamEnd));
        Step {
            consumed: difference(inflater.total_in(), taken),
            produced: difference(inflater.total_out(), made),
            idle: 0,
            stop: status.is_err().then_some(Stop::Broken),
        }
    }
}

/// The two bytes of zlib's header have a check of their own, which no sensible deflate data passes.
fn is_zlib(first: u8, second: u8) -> bool {
    first & 0x0f == 8 && first >> 4 <= 7 && u16::from_be_bytes([first, second]) % 31 == 0
}

/// Some writers fill a block with zeros.
fn skip_padding(input: &[u8]) -> Step {
    let consumed = input.iter().take_while(|byte| **byte == 0).count();
    Step { consumed, ..Step::default() }
}

/// Totals are 64 bits wide, but no call moves more than a slice.
fn difference(after: u64, before: u64) -> usize {
    usize::try_from(after - before).unwrap_or(usize::MAX)
}
