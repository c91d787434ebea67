//! What a request shares with an earlier one: a history that is sent again is stored once.

use std::collections::VecDeque;

use super::frames::Cursor;
use super::index::{Piece, Stretch, length};

/// The shortest beginning that is worth a piece of its own.
const LEAST: u64 = 4 << 10;

/// How many pieces a body may consist of. Above, it is stored whole again, or the index would grow with the square of
/// a session's turns.
const MOST_PIECES: usize = 64;

/// How many conversations are followed at the same time.
const MOST_TIPS: usize = 16;

/// The last request of a conversation.
struct Tip<'a> {
    body: Vec<&'a [u8]>,
    stretch: Stretch,
}

/// The conversations whose next request may begin like the last one did.
#[derive(Default)]
pub(super) struct Sharing<'a> {
    tips: VecDeque<Tip<'a>>,
}

impl<'a> Sharing<'a> {
    /// Place a body: as the beginning of an earlier one, if there is such, and the rest at the cursor.
    ///
    /// Beginnings in earlier frames do not count, so that a request is read from the frame it ends in.
    pub(super) fn place(&mut self, body: Vec<&'a [u8]>, cursor: &mut Cursor) -> (Stretch, u64) {
        let total: u64 = body.iter().map(|part| part.len() as u64).sum();
        let common = self.tips.iter().map(|tip| common_length(&tip.body, &body)).enumerate();
        let Some((place, common)) =
            common.max_by_key(|&(_, common)| common).filter(|&(_, common)| common >= LEAST)
        else {
            let stretch = cursor.advance(total);
            self.follow(Tip { body, stretch: stretch.clone() });
            return (stretch, 0);
        };
        let continues = common * 2 >= length(&self.tips[place].stretch);
        let beginning = cut(&self.tips[place].stretch, common);
        let here = cursor.current_frame();
        let is_usable =
            beginning.len() < MOST_PIECES && beginning.iter().all(|piece| u64::from(piece.0) == here);
        let (mut stretch, shared) = if is_usable { (beginning, common) } else { (Stretch::new(), 0) };
        stretch.extend(cursor.advance(total - shared));
        if continues {
            self.tips.remove(place);
        }
        self.follow(Tip { body, stretch: stretch.clone() });
        (stretch, shared)
    }

    fn follow(&mut self, tip: Tip<'a>) {
        if length(&tip.stretch) < LEAST {
            return;
        }
        if self.tips.len() == MOST_TIPS {
            self.tips.pop_front();
        }
        self.tips.push_back(tip);
    }
}

/// The first `wanted` bytes of a stretch.
fn cut(stretch: &Stretch, wanted: u64) -> Stretch {
    let mut rest = wanted;
    let mut beginning = Stretch::new();
    for &Piece(frame, offset, piece_length) in stretch {
        if rest == 0 {
            break;
        }
        let taken = u32::try_from(rest).map_or(piece_length, |rest| rest.min(piece_length));
        beginning.push(Piece(frame, offset, taken));
        rest -= u64::from(taken);
    }
    beginning
}

/// How many bytes two texts have in common at their beginnings.
fn common_length(left: &[&[u8]], right: &[&[u8]]) -> u64 {
    let (mut left, mut right) = (left.iter().copied(), right.iter().copied());
    let (mut one, mut other): (&[u8], &[u8]) = (&[], &[]);
    let mut common = 0;
    loop {
        if one.is_empty() {
            let Some(next) = left.next() else { return common };
            one = next;
        } else if other.is_empty() {
            let Some(next) = right.next() else { return common };
            other = next;
        } else {
            let both = one.len().min(other.len());
            let same = common_prefix(&one[..both], &other[..both]);
            common += same as u64;
            if same < both {
                return common;
            }
            (one, other) = (&one[both..], &other[both..]);
        }
    }
}

/// How many bytes two slices of one length have in common at their beginnings.
fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    const BLOCK: usize = 4096;
    let blocks = left.chunks(BLOCK).zip(right.chunks(BLOCK)).take_while(|(one, other)| one == other);
    let start: usize = blocks.map(|(one, _)| one.len()).sum();
    start + left[start..].iter().zip(&right[start..]).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::{Piece, common_length, cut};
    use proptest::prelude::*;

    #[test]
    fn a_stretch_is_cut_inside_a_piece() {
        let stretch = vec![Piece(1, 10, 5), Piece(2, 0, 7)];
        assert_eq!(cut(&stretch, 8), [Piece(1, 10, 5), Piece(2, 0, 3)]);
        assert_eq!(cut(&stretch, 5), [Piece(1, 10, 5)]);
        assert_eq!(cut(&stretch, 0), []);
    }

    proptest! {
        #[test]
        fn common_beginnings_are_measured_across_parts(
            common in prop::collection::vec(0..3_u8, 0..10_000),
            tails: (Vec<u8>, Vec<u8>),
            parts in (1..5_000_usize, 1..5_000_usize),
        ) {
            let (left, right) = ([&common[..], &tails.0].concat(), [&common[..], &tails.1].concat());
            let expected = left.iter().zip(&right).take_while(|(one, other)| one == other).count();
            let (left, right): (Vec<_>, Vec<_>) = (left.chunks(parts.0).collect(), right.chunks(parts.1).collect());
            prop_assert_eq!(common_length(&left, &right), expected as u64);
        }
    }
}
