"""How entries are shown."""

import pytest

from blackbox.document.document import parse
from blackbox.reading.entries import as_object, highlight, raw, styled
from blackbox.report.search import compile_pattern


@pytest.mark.parametrize(
    "source",
    [
        "u: hi step=1",
        "t:read a → [ok] x ts=2025-11-06T00:00:00Z",
        "o: id=c1 → [err: no]",
        "  stray",
        "???",
        "# t=1",
        "@end",
    ],
)
def test_styles_change_no_character(source: str) -> None:
    (line,) = parse(source).lines
    assert [text.plain for text in styled(line)] == [source]


def test_continuations_are_lines_of_their_own() -> None:
    (line,) = parse("a: one\n  two\n").lines
    assert [text.plain for text in styled(line)] == ["a: one", "  two"]
    assert raw(line) == b"a: one\n  two\n"


def test_log_cannot_steer_the_terminal() -> None:
    (line,) = parse(b"u: \x1b[2J gone\r").lines
    assert [text.plain for text in styled(line)] == ["u: \\x1b[2J gone"]


def test_what_was_found_is_marked() -> None:
    (line,) = parse("u: one two\n").lines
    text = highlight(styled(line)[0], compile_pattern("two"))
    assert [(span.start, span.end) for span in text.spans if "yellow" in str(span.style)] == [(7, 10)]


def test_error_is_red() -> None:
    (line,) = parse("t:test → [err: 1 failed]\n").lines
    assert styled(line)[0].style == "bold red"


def test_object_of_an_entry() -> None:
    (line,) = parse("t:read id=c1 a.py step=3 → [ok]\n  more\n").lines
    value = as_object("x/1", "a.bbox", line)
    assert value == {
        "schema": "x/1",
        "file": "a.bbox",
        "line": 1,
        "last_line": 2,
        "type": "tool",
        "name": "read",
        "id": "c1",
        "step": 3,
        "ts": None,
        "text": "t:read id=c1 a.py step=3 → [ok]\n  more",
    }
