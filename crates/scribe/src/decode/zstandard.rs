//! The coding `zstd`: frames one after the other, each with a window of its own size.

use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

use super::budget::{Budget, Share};
use super::{Step, Stop};

/// A context without its buffers.
const CONTEXT: usize = 192 << 10;

/// The largest block.
const BLOCK: u64 = 128 << 10;

/// The budget decides which windows are too large; this is the library's own bound.
const WINDOW_LOG_MAX: u32 = 31;

const MAGIC: [u8; 4] = 0xFD2F_B528_u32.to_le_bytes();

/// The header of a frame up to its content size.
const LONGEST_HEADER: usize = 18;

/// Undoes `zstd`.
#[derive(Default)]
pub(super) struct Decoder {
    context: Option<DCtx<'static>>,
    /// The beginning of a frame, until it tells the size of its window.
    header: Vec<u8>,
    /// Whether a frame was begun and has not ended.
    inside: bool,
    /// How much the frame needs to go on: the rest of a block, as a rule. Fed with no more than that, it tells which
    /// bytes gave text.
    wanted: usize,
}

impl Decoder {
    pub(super) fn step(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        share: &mut Share,
        budget: &mut Budget,
    ) -> Step {
        if self.inside {
            return self.decompress(input, output);
        }
        let Some(&next) = input.first() else { return Step::default() };
        self.header.push(next);
        let need = match needed(&self.header) {
            Header::Short if self.header.len() < LONGEST_HEADER => {
                return Step { consumed: 1, ..Step::default() };
            }
            Header::Short | Header::Wrong => {
                // What is no frame was not begun.
                self.header.clear();
                return Step::stopped(Stop::Broken);
            }
            Header::Needs(need) => need,
        };
        let fits = usize::try_from(need).is_ok_and(|need| share.raise(budget, need.saturating_add(CONTEXT)));
        if !fits {
            return Step::stopped(Stop::Memory);
        }
        if !self.begin() {
            return Step::stopped(Stop::Broken);
        }
        let header = std::mem::take(&mut self.header);
        let begun = self.decompress(&header, output);
        self.header = header;
        self.header.clear();
        Step { consumed: 1, idle: usize::from(begun.produced == 0), ..begun }
    }

    /// Whether nothing was begun that has not come to its end.
    pub(super) fn is_at_rest(&self) -> bool {
        !self.inside && self.header.is_empty()
    }

    fn begin(&mut self) -> bool {
        self.inside = true;
        self.wanted = LONGEST_HEADER;
        if self.context.is_some() {
            return true;
        }
        let Some(mut context) = DCtx::try_create() else { return false };
        let set = context.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX)).is_ok();
        self.context = Some(context);
        set
    }

    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        let Some(context) = &mut self.context else { return Step::stopped(Stop::Broken) };
        let room = output.len();
        let mut target = OutBuffer::around(output);
        let mut step = Step::default();
        loop {
            let end = input.len().min(step.consumed.saturating_add(self.wanted));
            let mut source = InBuffer::around(&input[step.consumed..end]);
            let result = context.decompress_stream(&mut target, &mut source);
            let (taken, made) = (source.pos(), target.pos() - step.produced);
            step.consumed += taken;
            step.produced += made;
            step.idle = if made > 0 { 0 } else { step.idle + taken };
            self.inside = !matches!(result, Ok(0));
            match result {
                Err(_) => step.stop = Some(Stop::Broken),
                Ok(hint) => self.wanted = hint,
            }
            let stuck = taken == 0 && made == 0;
            let done = step.consumed == input.len() || step.produced == room;
            if step.stop.is_some() || !self.inside || stuck || done {
                return step;
            }
        }
    }
}

/// What the beginning of a frame says.
#[derive(Debug, PartialEq, Eq)]
enum Header {
    /// It is not whole.
    Short,
    /// It is none.
    Wrong,
    /// How many bytes of buffers the frame needs.
    Needs(u64),
}

/// Read the header of a frame (RFC 8878, 3.1.1.1).
fn needed(header: &[u8]) -> Header {
    let known = header.len().min(MAGIC.len());
    let skippable = header[0] & 0xf0 == 0x50 && header[1..known] == [0x2a, 0x4d, 0x18][..known - 1];
    if skippable {
        return if known < MAGIC.len() { Header::Short } else { Header::Needs(0) };
    }
    if header[..known] != MAGIC[..known] {
        return Header::Wrong;
    }
    let Some(&descriptor) = header.get(4) else { return Header::Short };
    let single = descriptor & 0x20 != 0;
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size_bytes = match descriptor >> 6 {
        0 => usize::from(single),
        bits => 1 << bits,
    };
    let mut at = 5;
    let window = header.get(at).copied().map(window_size);
    at += usize::from(!single) + dictionary;
    let Some(size) = header.get(at..at + size_bytes) else { return Header::Short };
    let size = (size_bytes > 0).then(|| content_size(size));
    let window = match (single, window, size) {
        (true, _, Some(size)) => size,
        (false, Some(window), _) => window,
        _ => return Header::Short,
    };
    let block = window.min(BLOCK);
    let ring = window.saturating_add(2 * block + 64);
    Header::Needs(size.map_or(ring, |size| ring.min(size)).saturating_add(block.max(4)))
}

fn window_size(descriptor: u8) -> u64 {
    let base = 1_u64 << (10 + (descriptor >> 3));
    base + base / 8 * u64::from(descriptor & 7)
}

fn content_size(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    // Two bytes start counting where one byte ends.
    u64::from_le_bytes(wide).saturating_add(if bytes.len() == 2 { 256 } else { 0 })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_context_takes_no_more_than_is_counted() {
        let text = b"what is allocated is counted, ".repeat(20_000);
        for (log, pledged) in [(17, true), (20, false), (22, false), (22, true)] {
            let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
            encoder.window_log(log).unwrap();
            if pledged {
                encoder.set_pledged_src_size(Some(text.len() as u64)).unwrap();
            }
            encoder.write_all(&text).unwrap();
            let packed = encoder.finish().unwrap();
            let (mut decoder, mut share, mut budget) =
                (Decoder::default(), Share::default(), Budget::new(64 << 20));
            let (mut at, mut made, mut output) = (0, 0, vec![0; 5000]);
            while made < text.len() {
                let step = decoder.step(&packed[at..], &mut output, &mut share, &mut budget);
                assert_eq!(step.stop, None);
                (at, made) = (at + step.consumed, made + step.produced);
                let real = decoder.context.as_ref().map_or(0, DCtx::sizeof);
                assert!(real <= budget.used(), "{log} {pledged}: {real} of {}", budget.used());
            }
            assert_eq!(made, text.len());
        }
    }

    #[test]
    fn headers_tell_what_a_frame_needs() {
        let header = |rest: &[u8]| needed(&[&MAGIC[..], rest].concat());
        assert_eq!(header(&[]), Header::Short);
        assert_eq!(header(&[0x00]), Header::Short);
        assert_eq!(header(&[0x00, 0x00]), Header::Needs(1024 + 2 * 1024 + 64 + 1024));
        assert_eq!(header(&[0x00, 0x51]), Header::Needs((1 << 20) / 8 * 9 + 3 * BLOCK + 64));
        assert_eq!(header(&[0x20, 100]), Header::Needs(100 + 100));
        assert_eq!(header(&[0x60, 1, 0]), Header::Needs(257 + 257));
        assert_eq!(header(&[0xe3, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0]), Header::Short);
        assert_eq!(header(&[0xe0, 255, 255, 255, 255, 255, 255, 255, 255]), Header::Needs(u64::MAX));
        assert_eq!(needed(&[0x28, 0xb5, 0x2e]), Header::Wrong);
        assert_eq!(needed(&[0x5f, 0x2a, 0x4d]), Header::Short);
        assert_eq!(needed(&[0x5f, 0x2a, 0x4d, 0x18]), Header::Needs(0));
        assert_eq!(needed(b"{"), Header::Wrong);
    }
}
