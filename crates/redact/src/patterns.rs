//! The language of patterns: the common subset of Python's `re` and Rust's `regex`, checked before it is compiled.
//!
//! Patterns that could end inside of a character, match nothing or begin otherwise than with an anchor are refused.

use regex::bytes::{Regex, RegexBuilder};
use regex_automata::meta;
use regex_automata::util::syntax;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::anchors::find_uncovered;
use crate::following::Following;
use crate::syntax::check_syntax;

/// The most memory that one compiled pattern may take, in bytes.
const SIZE_LIMIT: usize = 8 << 20;

/// How deep groups may stand in each other.
const NEST_LIMIT: u32 = 32;

/// Why a pattern is not part of the language.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Something that only one of the two languages has, or that they read differently.
    #[error("{what} at byte {at} is not part of the language of patterns")]
    Unknown {
        /// The part of the pattern.
        what: String,
        /// Where it stands in the pattern.
        at: usize,
    },
    /// The pattern can match nothing at all.
    #[error("it matches the empty string")]
    Empty,
    /// A repeated part of the pattern can match nothing at all.
    #[error("what is repeated may be empty")]
    EmptyRepeat,
    /// A negated class that lets bytes from `\x80` on pass.
    #[error("the negated class at byte {at} does not exclude the bytes from \\x80 on")]
    NegatedHigh {
        /// Where the class stands in the pattern.
        at: usize,
    },
    /// Bytes from `\x80` on that could be the end of a match in the middle of a character.
    #[error("bytes from \\x80 on are matched other than all of them, without an upper bound")]
    High,
    /// A match can begin otherwise than with an anchor.
    #[error("a match can begin with \"{0}\", and none of the anchors does")]
    Uncovered(String),
    /// The regular expression itself is wrong, or too large.
    #[error("{0}")]
    Syntax(String),
}

/// Compile a pattern for searching, every match of which begins with one of `anchors` if there are any.
pub(crate) fn compile_anchored(
    pattern: &str,
    anchors: &[String],
    fold: bool,
) -> Result<meta::Regex, PatternError> {
    check(pattern, fold)?;
    let regex = build_search(pattern, fold)?;
    match find_uncovered(&parse(pattern, fold)?, anchors, fold) {
        Some(begun) if !anchors.is_empty() => Err(PatternError::Uncovered(begun.escape_ascii().to_string())),
        _ => Ok(regex),
    }
}

/// How long a match of a pattern can be, if that is bounded.
pub(crate) fn longest(pattern: &str, fold: bool) -> Result<Option<usize>, PatternError> {
    Ok(parse(pattern, fold)?.properties().maximum_len())
}

/// Each anchor of a pattern, with what can follow upon it.
pub(crate) fn following(
    pattern: &str,
    anchors: &[String],
    fold: bool,
) -> Result<Vec<(String, Following)>, PatternError> {
    let tree = parse(pattern, fold)?;
    Ok(anchors.iter().map(|anchor| (anchor.clone(), Following::upon(anchor.as_bytes(), &tree))).collect())
}

/// Compile a pattern for searching.
pub(crate) fn compile(pattern: &str, fold: bool) -> Result<Regex, PatternError> {
    check(pattern, fold)?;
    build(pattern, fold)
}

/// Compile a pattern into one that matches only at the start of a text, behind one byte of any value.
///
/// That byte is what `\b` looks back at.
pub(crate) fn compile_behind(pattern: &str) -> Result<Regex, PatternError> {
    check(pattern, false)?;
    build(&format!(r"\A(?s:.)(?:{pattern})"), false)
}

/// Compile patterns into one that matches what any of them matches as a whole; none if there are none.
///
/// What is matched as a whole ends where the secret does, so that bytes from `\x80` on may be counted.
pub(crate) fn compile_whole(patterns: &[String]) -> Result<Option<Regex>, PatternError> {
    for pattern in patterns {
        check_tree(pattern, false)?;
    }
    if patterns.is_empty() {
        return Ok(None);
    }
    build(&format!(r"\A(?:{})\z", patterns.join("|")), false).map(Some)
}

fn build(pattern: &str, fold: bool) -> Result<Regex, PatternError> {
    RegexBuilder::new(pattern)
        .unicode(false)
        .case_insensitive(fold)
        .size_limit(SIZE_LIMIT)
        .nest_limit(NEST_LIMIT)
        .build()
        .map_err(|error| PatternError::Syntax(last_line(&error.to_string())))
}

/// Compile a pattern that can be asked for a match at one place alone.
fn build_search(pattern: &str, fold: bool) -> Result<meta::Regex, PatternError> {
    meta::Builder::new()
        .configure(meta::Config::new().utf8_empty(false).nfa_size_limit(Some(SIZE_LIMIT)))
        .syntax(
            syntax::Config::new().unicode(false).utf8(false).case_insensitive(fold).nest_limit(NEST_LIMIT),
        )
        .build(pattern)
        .map_err(|error| PatternError::Syntax(last_line(&error.to_string())))
}

/// The parser draws the pattern over several lines and ends with the reason.
fn last_line(text: &str) -> String {
    let line = text.lines().last().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

fn check(pattern: &str, fold: bool) -> Result<(), PatternError> {
    check_high(&check_tree(pattern, fold)?, false)
}

/// Check what holds for every pattern.
fn check_tree(pattern: &str, fold: bool) -> Result<Hir, PatternError> {
    check_syntax(pattern)?;
    let tree = parse(pattern, fold)?;
    if may_be_empty(&tree) {
        return Err(PatternError::Empty);
    }
    check_parts(&tree)?;
    Ok(tree)
}

fn may_be_empty(tree: &Hir) -> bool {
    tree.properties().minimum_len().unwrap_or_default() == 0
}

/// What is repeated is never empty, because how often nothing is repeated is where languages differ; nor is a secret.
fn check_parts(tree: &Hir) -> Result<(), PatternError> {
    match tree.kind() {
        HirKind::Repetition(repetition) if may_be_empty(&repetition.sub) => Err(PatternError::EmptyRepeat),
        HirKind::Capture(capture) if may_be_empty(&capture.sub) => Err(PatternError::Empty),
        kind => kind.subs().iter().try_for_each(check_parts),
    }
}

/// The tree of a pattern.
pub(crate) fn parse(pattern: &str, fold: bool) -> Result<Hir, PatternError> {
    ParserBuilder::new()
        .unicode(false)
        .utf8(false)
        .case_insensitive(fold)
        .nest_limit(NEST_LIMIT)
        .build()
        .parse(pattern)
        .map_err(|error| PatternError::Syntax(last_line(&error.to_string())))
}

/// Whether bytes from `\x80` on occur only as a class of all of them that is repeated without an upper bound.
fn check_high(tree: &Hir, unbounded: bool) -> Result<(), PatternError> {
    match tree.kind() {
        HirKind::Empty | HirKind::Look(_) => Ok(()),
        HirKind::Literal(literal) if literal.0.is_ascii() => Ok(()),
        HirKind::Literal(_) => Err(PatternError::High),
        HirKind::Class(class) => match high_bytes(class) {
            0 => Ok(()),
            128 if unbounded => Ok(()),
            _ => Err(PatternError::High),
        },
        HirKind::Repetition(repetition) => check_high(&repetition.sub, repetition.max.is_none()),
        HirKind::Capture(capture) => check_high(&capture.sub, unbounded),
        HirKind::Alternation(branches) => {
            branches.iter().try_for_each(|branch| check_high(branch, unbounded))
        }
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| check_high(part, false)),
    }
}

/// How many of the 128 bytes from `\x80` on a class has.
fn high_bytes(class: &Class) -> usize {
    let Class::Bytes(bytes) = class else { return 0 };
    let high = bytes.ranges().iter().filter(|range| range.end() >= 0x80);
    high.map(|range| usize::from(range.end() - range.start().max(0x80)) + 1).sum()
}

/// Whether a class has bytes from `\x80` on.
pub(crate) fn lets_high_pass(class: &Hir) -> bool {
    check_high(class, false).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(pattern: &str) -> PatternError {
        match compile(pattern, false) {
            Ok(_) => panic!("{pattern} was accepted"),
            Err(error) => error,
        }
    }

    #[test]
    fn the_language_is_accepted() {
        for pattern in [
            r"\bgh[po]_[A-Za-z0-9]{36,}",
            r"(?i:password)\s*[=:]\s*(?P<secret>[^\s\x80-\xff]{4,100}?)",
            r"(?P<secret>[!-~\x80-\xff]+)@",
            r"a(?:b|cd)*?\d+\w{3}\x2d\.\-[a\-\]]x",
            r"://[^:/@\x80-\xFF]+",
        ] {
            compile(pattern, false).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        }
    }

    #[test]
    fn what_only_one_language_has_is_refused() {
        for pattern in [
            "^a",
            "a$",
            "a.b",
            r"\Aa",
            r"a\z",
            r"a\Z",
            r"\Ba",
            r"\D",
            r"\S",
            r"\W",
            r"\1",
            r"\pL",
            r"\<a",
            r"a\>",
            "a(?=b)",
            "(?!a)b",
            "(?<=a)b",
            "(?<!a)b",
            "(?>a)",
            "(?i)a",
            "(?x:a)",
            "(?P<other>a)",
            "(a)",
            "(?P=secret)",
            "a++",
            "a*+",
            "a?+",
            "a{2}{3}",
            "a{,3}",
            "a{x",
            "a**",
            "*a",
            "|*a",
            r"a\b+",
            "[[a]]",
            "[a&&b]",
            "[a--b]",
            "[a~~b]",
            "[]a]",
            r"[\b]",
            "[a",
            "a\\",
            "é",
            "[é]",
            r"\u0041",
            r"\x4",
            r"\x{41}",
            "a]",
            "a}",
            r"\f",
            "[[:alpha:]]",
        ] {
            let error = problem(pattern);
            assert!(
                matches!(error, PatternError::Unknown { .. } | PatternError::Syntax(_)),
                "{pattern}: {error}"
            );
        }
    }

    #[test]
    fn a_pattern_that_matches_nothing_is_refused() {
        for pattern in ["", "a*", "(?:a|)", r"\b", "(?:)", "a(?P<secret>b*)"] {
            assert_eq!(problem(pattern), PatternError::Empty, "{pattern}");
        }
    }

    #[test]
    fn a_repeat_of_what_may_be_empty_is_refused() {
        for pattern in ["a(?:b*)*", "a(?:b|)+", r"a(?:\b)?", "(?:a(?:b?){2})+"] {
            assert_eq!(problem(pattern), PatternError::EmptyRepeat, "{pattern}");
        }
    }

    #[test]
    fn high_bytes_come_all_together_and_without_a_bound() {
        for pattern in [r"a\xff", r"[\x80-\xff]", r"[\x80-\xff]{1,9}", r"[\x80-\xfe]+", r"(?:a[\x80-\xff])+"]
        {
            assert_eq!(problem(pattern), PatternError::High, "{pattern}");
        }
    }

    #[test]
    fn a_negated_class_excludes_the_high_bytes() {
        assert_eq!(problem(r#"a[^"]+"#), PatternError::NegatedHigh { at: 1 });
        assert_eq!(problem(r#"[^"\x81-\xff]+"#), PatternError::NegatedHigh { at: 0 });
    }

    #[test]
    fn a_pattern_too_large_is_refused() {
        let error = problem(r"(?:(?:\w{1000}){1000}){10}");
        assert!(matches!(error, PatternError::Syntax(_)), "{error}");
    }

    /// The bytes that a pattern for one byte matches.
    fn bytes_of(pattern: &str) -> Vec<u8> {
        let regex = compile(pattern, false).expect("part of the language");
        (0..=255).filter(|&byte| regex.is_match(&[byte])).collect()
    }

    #[test]
    fn classes_are_those_of_ascii() {
        assert_eq!(bytes_of(r"\s"), b"\t\n\x0b\x0c\r ");
        assert_eq!(bytes_of(r"\d"), b"0123456789");
        assert_eq!(bytes_of(r"\w"), b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz");
        assert_eq!(bytes_of("(?i:k)"), b"Kk");
        assert_eq!(bytes_of("(?i:[^k\\x80-\\xff])").len(), 126);
    }

    #[test]
    fn the_edge_of_a_word_is_that_of_ascii() {
        let regex = compile(r"\bkey", false).expect("part of the language");
        for (text, found) in [(&b"key"[..], true), (b"\xe9key", true), (b"_key", false), (b"1key", false)] {
            assert_eq!(regex.is_match(text), found, "{text:?}");
        }
    }

    #[test]
    fn whole_matches_reach_from_the_first_byte_to_the_last() {
        let patterns = ["x+".to_owned(), "a|ab".to_owned()];
        let regex = compile_whole(&patterns).expect("part of the language").expect("not empty");
        for (text, whole) in [(&b"xxx"[..], true), (b"ab", true), (b"xxa", false), (b"ab\n", false)] {
            assert_eq!(regex.is_match(text), whole, "{text:?}");
        }
    }
}
