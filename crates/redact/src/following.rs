//! Which bytes can follow upon an anchor, so that most places where one stands need no regular expression.

use regex_syntax::hir::{Class, Hir, HirKind};

/// How many bytes behind an anchor are looked at.
const DEPTH: usize = 3;

/// A set of bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Bytes([u64; 4]);

impl Bytes {
    const ALL: Self = Self([u64::MAX; 4]);

    fn add(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn has(&self, byte: u8) -> bool {
        (self.0[usize::from(byte >> 6)] >> (byte & 63)) & 1 == 1
    }
}

/// The bytes that can stand first, second and third behind an anchor of a match.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Following {
    places: [Bytes; DEPTH],
    /// How many bytes have to follow at least.
    least: usize,
}

/// What is still to be matched, the next part last.
type Rest<'t> = Vec<Part<'t>>;

#[derive(Clone, Copy)]
enum Part<'t> {
    Tree(&'t Hir),
    Bytes(&'t [u8]),
    /// A part that has to come so many times more, and may come so many times more.
    Times(&'t Hir, u32, Option<u32>),
}

impl Following {
    /// What can follow upon `anchor` where a match of `tree` begins with it.
    ///
    /// An anchor of a tree that means letters of either case is in small ones, and the tree has both.
    pub(crate) fn upon(anchor: &[u8], tree: &Hir) -> Self {
        let mut following = Self { least: DEPTH, ..Self::default() };
        let mut open: Vec<(Rest, usize)> = vec![(vec![Part::Tree(tree)], 0)];
        while let Some((mut rest, matched)) = open.pop() {
            let Some(depth) = matched.checked_sub(anchor.len()) else {
                let Some(part) = rest.pop() else { continue };
                follow(part, rest, matched, &mut open, |set| set.contains(anchor[matched]));
                continue;
            };
            match rest.pop() {
                _ if depth == DEPTH => {}
                // The match can end here, and anything can come behind it.
                None => {
                    following.least = following.least.min(depth);
                    following.places[depth..].fill(Bytes::ALL);
                }
                Some(part) => follow(part, rest, matched, &mut open, |set| {
                    set.each(|byte| following.places[depth].add(byte));
                    true
                }),
            }
        }
        following
    }

    /// Whether a match can go on with `rest`, which is all that stands behind the anchor.
    pub(crate) fn allows(&self, rest: &[u8]) -> bool {
        rest.len() >= self.least && rest.iter().zip(&self.places).all(|(&byte, set)| set.has(byte))
    }
}

/// The bytes that one step of a match can take.
enum Step<'t> {
    One(u8),
    Class(&'t Class),
}

impl Step<'_> {
    fn each(&self, mut take: impl FnMut(u8)) {
        match self {
            Self::One(byte) => take(*byte),
            Self::Class(Class::Bytes(class)) => {
                class.ranges().iter().flat_map(|range| range.start()..=range.end()).for_each(take);
            }
            // Patterns are on bytes; were this one not, anything could follow.
            Self::Class(Class::Unicode(_)) => (0..=255).for_each(take),
        }
    }

    fn contains(&self, wanted: u8) -> bool {
        let mut found = false;
        self.each(|byte| found |= byte == wanted);
        found
    }
}

/// Go one step into `part`, in every way that `accept` allows.
fn follow<'t>(
    part: Part<'t>,
    mut rest: Rest<'t>,
    matched: usize,
    open: &mut Vec<(Rest<'t>, usize)>,
    mut accept: impl FnMut(Step) -> bool,
) {
    let tree = match part {
        Part::Bytes(bytes) => {
            if let [first, behind @ ..] = bytes {
                if accept(Step::One(*first)) {
                    rest.push(Part::Bytes(behind));
                    open.push((rest, matched + 1));
                }
            } else {
                open.push((rest, matched));
            }
            return;
        }
        Part::Times(tree, least, most) => {
            if least == 0 {
                open.push((rest.clone(), matched));
            }
            if most != Some(0) {
                rest.push(Part::Times(tree, least.saturating_sub(1), most.map(|most| most - 1)));
                rest.push(Part::Tree(tree));
                open.push((rest, matched));
            }
            return;
        }
        Part::Tree(tree) => tree,
    };
    match tree.kind() {
        HirKind::Empty | HirKind::Look(_) => open.push((rest, matched)),
        HirKind::Literal(literal) => {
            rest.push(Part::Bytes(&literal.0));
            open.push((rest, matched));
        }
        HirKind::Class(class) => {
            if accept(Step::Class(class)) {
                open.push((rest, matched + 1));
            }
        }
        HirKind::Repetition(repeat) => {
            rest.push(Part::Times(&repeat.sub, repeat.min, repeat.max));
            open.push((rest, matched));
        }
        HirKind::Capture(capture) => {
            rest.push(Part::Tree(&capture.sub));
            open.push((rest, matched));
        }
        HirKind::Concat(parts) => {
            rest.extend(parts.iter().rev().map(Part::Tree));
            open.push((rest, matched));
        }
        HirKind::Alternation(branches) => {
            for branch in branches {
                let mut rest = rest.clone();
                rest.push(Part::Tree(branch));
                open.push((rest, matched));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::parse;

    fn allows(pattern: &str, anchor: &str, fold: bool, rest: &[u8]) -> bool {
        let tree = parse(pattern, fold).expect("part of the language");
        Following::upon(anchor.as_bytes(), &tree).allows(rest)
    }

    #[test]
    fn what_cannot_follow_is_refused() {
        let pattern = r"token(?:=|: {1,2}| = )(?P<secret>[a-z]{8,})";
        for (rest, allowed) in [
            (&b"=abc"[..], true),
            (b": ab", true),
            (b" = a", true),
            (b"s=abc", false),
            (b"_a", false),
            (b" -a", false),
            (b"=A", false),
            (b"=a", false),
            (b"", false),
        ] {
            assert_eq!(allows(pattern, "token", false, rest), allowed, "{}", rest.escape_ascii());
        }
    }

    #[test]
    fn a_match_that_may_end_lets_anything_follow() {
        assert!(allows("ab+", "ab", false, b""));
        assert!(allows("ab+", "ab", false, b"!!"));
        assert!(allows("ab{2,}", "ab", false, b"b!!"));
        assert!(!allows("ab{2,}", "ab", false, b"!!!"));
        assert!(!allows("ab{2,}", "ab", false, b""));
    }

    #[test]
    fn only_the_ways_that_begin_with_the_anchor_count() {
        let pattern = r"(?:xa|yb)[0-9]";
        assert!(allows(r"(?:xa1|yb2)z", "xa", false, b"1z"));
        assert!(!allows(r"(?:xa1|yb2)z", "xa", false, b"2z"));
        assert!(allows(pattern, "x", false, b"a1"));
        assert!(!allows(pattern, "x", false, b"b1"));
    }

    #[test]
    fn letters_of_either_case_follow_where_they_are_meant() {
        assert!(allows("pass(?:word|wd)", "pass", true, b"WoR"));
        assert!(!allows("pass(?:word|wd)", "pass", false, b"WoR"));
    }
}
