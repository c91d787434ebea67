//! Whether every match of a pattern begins with one of its anchors, which the search for them relies on.

use regex_syntax::hir::{Class, Hir, HirKind};

/// What is still to be matched, the next part last.
type Rest<'t> = Vec<Part<'t>>;

#[derive(Clone)]
enum Part<'t> {
    Tree(&'t Hir),
    /// A part that has to come so many times more, and may come so many times more.
    Times(&'t Hir, u32, Option<u32>),
}

/// The beginning of a match that none of the anchors covers; `None` if there is none.
///
/// With `fold` both the tree and the anchors mean letters of either case, and it is enough to look at small ones.
pub(crate) fn find_uncovered(tree: &Hir, anchors: &[String], fold: bool) -> Option<Vec<u8>> {
    let mut open: Vec<(Rest, Vec<u8>)> = vec![(vec![Part::Tree(tree)], Vec::new())];
    while let Some((mut rest, begun)) = open.pop() {
        if anchors.iter().any(|anchor| begun.starts_with(anchor.as_bytes())) {
            continue;
        }
        if !anchors.iter().any(|anchor| anchor.as_bytes().starts_with(&begun)) {
            return Some(begun);
        }
        match rest.pop() {
            None => return Some(begun),
            Some(Part::Times(tree, least, most)) => {
                if least == 0 {
                    open.push((rest.clone(), begun.clone()));
                }
                if most != Some(0) {
                    rest.push(Part::Times(tree, least.saturating_sub(1), most.map(|most| most - 1)));
                    rest.push(Part::Tree(tree));
                    open.push((rest, begun));
                }
            }
            Some(Part::Tree(tree)) => step(tree, &rest, &begun, fold, &mut open),
        }
    }
    None
}

/// Go one step into `tree`, in every way that is possible.
fn step<'t>(tree: &'t Hir, rest: &Rest<'t>, begun: &[u8], fold: bool, open: &mut Vec<(Rest<'t>, Vec<u8>)>) {
    let mut push = |parts: Vec<Part<'t>>, bytes: &[u8]| {
        open.push(([rest.as_slice(), &parts].concat(), [begun, bytes].concat()));
    };
    match tree.kind() {
        HirKind::Empty | HirKind::Look(_) => push(vec![], &[]),
        HirKind::Literal(literal) => push(vec![], &literal.0),
        HirKind::Class(Class::Unicode(_)) => push(vec![], &[0xff]),
        HirKind::Class(Class::Bytes(class)) => {
            let bytes = class.ranges().iter().flat_map(|range| range.start()..=range.end());
            for byte in bytes.filter(|byte| !(fold && byte.is_ascii_uppercase())) {
                push(vec![], &[byte]);
            }
        }
        HirKind::Repetition(repeat) => push(vec![Part::Times(&repeat.sub, repeat.min, repeat.max)], &[]),
        HirKind::Capture(capture) => push(vec![Part::Tree(&capture.sub)], &[]),
        HirKind::Concat(parts) => push(parts.iter().rev().map(Part::Tree).collect(), &[]),
        HirKind::Alternation(branches) => {
            for branch in branches {
                push(vec![Part::Tree(branch)], &[]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::parse;

    fn uncovered(pattern: &str, anchors: &[&str], fold: bool) -> Option<String> {
        let tree = parse(pattern, fold).expect("part of the language");
        let anchors: Vec<String> = anchors.iter().map(ToString::to_string).collect();
        find_uncovered(&tree, &anchors, fold).map(|begun| begun.escape_ascii().to_string())
    }

    #[test]
    fn anchors_that_cover_every_match() {
        for (pattern, anchors) in [
            (r"\bgh[po]_[a-z]{36,}", &["ghp_", "gho_"][..]),
            (r"(?:\b|\\[nr])(?P<secret>sk-[a-z]+)", &["sk-", r"\nsk-", r"\rsk-"]),
            (r"(?:ab)*c", &["a", "c"]),
            (r"a{2,3}b", &["aa"]),
            (r"a?b", &["ab", "b"]),
            (r"key", &["key", "k"]),
        ] {
            assert_eq!(uncovered(pattern, anchors, false), None, "{pattern}");
        }
        assert_eq!(uncovered("pass[_-]?word", &["pass_word", "pass-w", "passw"], true), None);
    }

    #[test]
    fn a_beginning_that_is_missing_is_named() {
        for (pattern, anchors, begun) in [
            (r"gh[po]_", &["ghp_"][..], "gho"),
            (r"a?b", &["a"], "b"),
            (r"a", &["ab"], "a"),
            (r"a{1,3}", &["aa"], "a"),
            (r"(?:ab)*c", &["ab"], "c"),
            (r"[a\x80-\xff]+", &["a"], r"\xff"),
        ] {
            assert_eq!(uncovered(pattern, anchors, false).as_deref(), Some(begun), "{pattern}");
        }
        assert_eq!(uncovered("(?i:k)ey", &["key"], false).as_deref(), Some("K"));
    }
}
