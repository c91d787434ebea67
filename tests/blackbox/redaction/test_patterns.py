"""The language of patterns: what is in it, what is not, and how matches begin."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbox.redaction.patterns import (
    ANY_BYTE,
    PatternError,
    behind_anchors,
    check,
    least_length,
    least_run,
    literal_prefix,
    parse,
)
from blackbox.redaction.rules import Rule, built_in

LETTERS = sum(1 << byte for byte in b"abcdefghijklmnopqrstuvwxyz")


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("a.b", "`.` is not in the language, at position 2"),
        ("^a", "`^` is not in the language, at position 1"),
        ("a$", "`$` is not in the language, at position 2"),
        (r"\Aa", r"`\A` is not in the language, at position 3"),
        (r"a\Z", r"`\Z` is not in the language, at position 4"),
        (r"a\W", r"`\W` is not in the language, at position 4"),
        (r"(?:a)\1", r"`\1` is not in the language, at position 8"),
        ("(a)", "only (?:…), (?P<secret>…) and (?i:…) are groups of the language, at position 1"),
        ("(?=a)b", "only (?:…), (?P<secret>…) and (?i:…) are groups of the language, at position 1"),
        ("(?:a", "a group is not closed, at position 5"),
        ("a)", "`)` closes nothing, at position 2"),
        ("a++", "a repeat of a repeat, or a possessive one, at position 3"),
        ("*a", "`*` has nothing to repeat, at position 1"),
        ("a{,3}", "`{` starts no count; write `\\{` for the character, at position 2"),
        ("a{3,2}", "the count ends before it begins, at position 2"),
        ("(?:a?)+", "what is repeated may be empty, at position 8"),
        ("a]", "`]` has to be written `\\]`, at position 2"),
        ("[a", "a class is not closed, is empty, or has a bracket that is not escaped, at position 3"),
        ("[]a]", "a class is not closed, is empty, or has a bracket that is not escaped, at position 2"),
        ("[a[]", "a class is not closed, is empty, or has a bracket that is not escaped, at position 3"),
        ("[z-a]", "a range has no order, at position 5"),
        ("[a&&b]", "a doubled sign in a class is an operator to Rust; escape it, at position 3"),
        ("[^a]", "a negated class has to exclude \\x80-\\xff, at position 5"),
        (r"[\x80-\x90]+", "a class has all bytes from \\x80 on, or none, at position 12"),
        (r"\x8", "`\\x` needs two hexadecimal digits, at position 3"),
        ("ü", "it has characters beyond ASCII; write them as \\xHH"),
        ("a*", "it matches the empty string"),
        (r"\b", "it matches the empty string"),
    ],
)
def test_outside_of_the_language(pattern: str, problem: str) -> None:
    with pytest.raises(PatternError) as caught:
        check(pattern)
    assert str(caught.value) == problem


@pytest.mark.parametrize("pattern", [r"a[\x80-\xff]", r"a[\x80-\xff]{1,3}", r"a[b\x80-\xff]?"])
def test_match_must_not_end_inside_of_a_character(pattern: str) -> None:
    with pytest.raises(PatternError, match="so a match could end inside of a character"):
        check(pattern)
    assert least_length(check(pattern, whole=True)) == (1 if pattern.endswith("?") else 2)


@pytest.mark.parametrize(
    "pattern", [r"a[\x80-\xff]+", r"a(?:[!\x80-\xff]+|\\[ -~])+", r"[^a\x80-\xff]", r"a{2}b+?[\w-]"]
)
def test_inside_of_the_language(pattern: str) -> None:
    assert least_length(check(pattern)) >= 1
    assert re.compile(pattern.encode()).groups == 0


def test_least_length() -> None:
    assert least_length(parse(r"a(?:bc|d){2,3}e?\b[fg]+")) == 4


def test_what_follows_an_anchor() -> None:
    node = parse("to(?:ken|y)[=:]")
    assert behind_anchors(node, (b"token", b"toy")) == {
        b"token": 1 << 0x3D | 1 << 0x3A,
        b"toy": 1 << 0x3D | 1 << 0x3A,
    }
    assert behind_anchors(parse("tok(?:en)?"), (b"tok",)) == {b"tok": ANY_BYTE}
    assert behind_anchors(parse("TOk+", fold=True), (b"to",), fold=True) == {b"to": 1 << 0x4B | 1 << 0x6B}


@pytest.mark.parametrize(
    ("pattern", "anchors"), [("abc", [b"b"]), ("a?bc", [b"ab"]), ("[ab]c", [b"a"]), ("ab", [b"abc"])]
)
def test_anchors_that_cannot_be_right(pattern: str, anchors: list[bytes]) -> None:
    with pytest.raises(PatternError, match="a match can begin with none of the anchors"):
        behind_anchors(parse(pattern), tuple(anchors))


@pytest.mark.parametrize(
    ("pattern", "length"),
    [
        ("ab[c-e]{3,}", 5),
        ("abA", 2),
        (r"(?:\b|\\[nr])abc", 3),
        ("=abc", 3),
        ("a(?:bc|B)d", 1),
        ("ab?c", 2),
        ("(?:ab){2}", 4),
    ],
)
def test_least_run(pattern: str, length: int) -> None:
    assert least_run(parse(pattern), LETTERS) == length


def test_literal_prefix() -> None:
    assert literal_prefix(parse("ab[cd]e")) == b"ab"
    assert literal_prefix(parse("a|b")) == b""
    assert literal_prefix(parse("a")) == b"a"


_PATTERNS = [item.pattern for item in built_in().items if isinstance(item, Rule) and not item.fold]


@given(
    st.sampled_from(_PATTERNS).flatmap(lambda pattern: st.from_regex(re.compile(pattern.encode()), fullmatch=True))
)
def test_no_match_is_shorter_than_the_least_length(text: bytes) -> None:
    matching = [pattern for pattern in _PATTERNS if re.fullmatch(pattern.encode(), text)]
    assert all(len(text) >= least_length(parse(pattern)) for pattern in matching)
