//! The coding `br`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use brotli_decompressor::{
    Allocator, BrotliDecompressStream, BrotliResult, BrotliState, SliceWrapper, StandardAlloc,
};

use super::budget::{Budget, Share};
use super::{Step, Stop};

/// The state itself and its usual tables; what tables take beyond is counted when it is allocated.
const STATE: usize = 64 << 10;

/// Allocates, and counts what is allocated.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicUsize>);

impl<T: Clone + Default> Allocator<T> for Counting {
    type AllocatedMemory = <StandardAlloc as Allocator<T>>::AllocatedMemory;

    fn alloc_cell(&mut self, length: usize) -> Self::AllocatedMemory {
        self.0.fetch_add(length * size_of::<T>(), Ordering::Relaxed);
        StandardAlloc::default().alloc_cell(length)
    }

    fn free_cell(&mut self, cell: Self::AllocatedMemory) {
        self.0.fetch_sub(size_of_val(cell.slice()), Ordering::Relaxed);
    }
}

type State = BrotliState<Counting, Counting, Counting>;

/// Undoes `br`.
#[derive(Default)]
pub(super) struct Decoder {
    state: Option<Box<State>>,
    allocated: Counting,
    ended: bool,
}

impl Decoder {
    pub(super) fn step(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        share: &mut Share,
        budget: &mut Budget,
    ) -> Step {
        if self.ended {
            return if input.is_empty() { Step::default() } else { Step::stopped(Stop::Broken) };
        }
        let state = match (&mut self.state, input.first()) {
            (Some(state), _) => state,
            (None, None) => return Step::default(),
            (state @ None, Some(&first)) => {
                let Some(bits) = window_bits(first) else { return Step::stopped(Stop::Broken) };
                if !share.raise(budget, STATE + (1 << bits)) {
                    return Step::stopped(Stop::Memory);
                }
                let count = &self.allocated;
                state.insert(Box::new(State::new_strict(count.clone(), count.clone(), count.clone())))
            }
        };
        let (mut left, mut consumed) = (input.len(), 0);
        let (mut room, mut produced) = (output.len(), 0);
        let mut total = 0;
        let result = BrotliDecompressStream(
            &mut left,
            &mut consumed,
            input,
            &mut room,
            &mut produced,
            output,
            &mut total,
            state,
        );
        self.ended = matches!(result, BrotliResult::ResultSuccess);
        let stop = if matches!(result, BrotliResult::ResultFailure) {
            Some(Stop::Broken)
        } else if share.raise(budget, STATE + self.allocated.0.load(Ordering::Relaxed)) {
            None
        } else {
            Some(Stop::Memory)
        };
        Step { consumed, produced, idle: 0, stop }
    }

    /// Whether nothing was begun that has not come to its end.
    pub(super) fn is_at_rest(&self) -> bool {
        self.ended || self.state.is_none()
    }
}

/// How large a window the first byte of a stream asks for; a reserved value has none.
fn window_bits(first: u8) -> Option<u8> {
    match (first & 1, (first >> 1) & 7, (first >> 4) & 7) {
        (0, _, _) => Some(16),
        (_, 0, 0) => Some(17),
        (_, 0, 1) => None,
        (_, 0, low) => Some(8 + low),
        (_, high, _) => Some(17 + high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_read_from_the_first_byte() {
        let sizes: Vec<_> = [0b0, 0b1, 0b1_0001, 0b10_0001, 0b111_0001, 0b11, 0b1111].map(window_bits).into();
        assert_eq!(sizes, [Some(16), Some(17), None, Some(10), Some(15), Some(18), Some(24)]);
    }

    #[test]
    fn memory_is_counted_and_given_back() {
        let mut packed = Vec::new();
        let text = b"what is allocated is counted, ".repeat(4000);
        let settings = brotli::enc::BrotliEncoderParams { lgwin: 18, ..Default::default() };
        brotli::BrotliCompress(&mut text.as_slice(), &mut packed, &settings).unwrap();
        let (mut decoder, mut share, mut budget) =
            (Decoder::default(), Share::default(), Budget::new(1 << 20));
        let mut output = vec![0; 1000];
        assert_eq!(decoder.step(&packed, &mut output, &mut share, &mut budget).produced, 1000);
        let allocated = decoder.allocated.0.load(Ordering::Relaxed);
        assert!(allocated > 64 << 10, "{allocated}");
        assert!(budget.used() >= allocated && budget.used() >= STATE + (1 << 18), "{}", budget.used());
        decoder.state = None;
        assert_eq!(decoder.allocated.0.load(Ordering::Relaxed), 0);
    }
}
