"""The one escape rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbox.syntax.escape import bad_sequences, escape_controls, unescape


@pytest.mark.parametrize(
    ("escaped", "plain"),
    [
        (r"a \→ b", "a → b"),
        (r"id\=5", "id=5"),
        (r"\"x\"", '"x"'),
        (r"\[ok]", "[ok]"),
        (r"\# no comment", "# no comment"),
        (r"\\n", r"\n"),
        (r"a\nb", "a\nb"),
        (r"a\rb\tc", "a\rb\tc"),
        (r"\s two", "  two"),
        (r"\e", ""),
        (r"\x1b[0m", "\x1b[0m"),
        (r"\u2028", "\u2028"),
        (r"\x41\u0042", "AB"),
    ],
)
@pytest.mark.requirement("ARGS-13")
def test_known_sequences(escaped: str, plain: str) -> None:
    assert unescape(escaped) == plain


@pytest.mark.parametrize("text", [r"\q", r"\x4", r"\xZZ", r"\u12", "\\"])
def test_unknown_sequences_stay_as_they_are(text: str) -> None:
    assert unescape(text) == text
    assert bad_sequences(text) == [0]


def test_bad_sequences_are_found_where_they_stand() -> None:
    assert bad_sequences(r"\\ \q \n \z") == [3, 9]


def test_controls_are_numbered_and_backslashes_doubled() -> None:
    assert escape_controls("a\\b\x1b\x00\r\ud800") == r"a\\b\x1b\x00\r\ud800"


@given(st.text(st.characters()))
def test_escaped_controls_read_back(text: str) -> None:
    assert unescape(escape_controls(text)) == text


@given(st.text(alphabet="\\nrtsexu0aZ→"))
def test_unescape_takes_any_text(text: str) -> None:
    assert len(unescape(text)) <= len(text)
