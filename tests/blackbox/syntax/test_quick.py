"""Shortcuts: the plain lines they take, and the ones they leave to the full parser."""

import pytest

from blackbox.syntax.quick import Head, call_head, call_metadata, trailing_metadata
from tests.blackbox.syntax.soup import line_of


@pytest.mark.parametrize(
    ("source", "head"),
    [
        ("t:read id=c1 src/a.py → [ok]", Head("read", {"id": "c1"}, 24)),
        ("o: id=c1 → [ok] ts=1", Head("", {"id": "c1", "ts": "1"}, 11)),
        ('t:grep "a b" step=2', Head("grep", {"step": "2"}, -1)),
        ("t:test", Head("test", {}, -1)),
    ],
)
def test_plain_lines_are_taken(source: str, head: Head) -> None:
    assert call_head(line_of(source).kind, source) == head


@pytest.mark.parametrize(
    "source",
    [
        't:x "a → b" → c',
        "t:x a→b",
        " t:x",
        "t:x\ta",
        "t:x a\r",
        "t: x",
        "t:x k=[a] → b",
        't:x k="a → b',
        "t:x →  b",
    ],
)
def test_odd_lines_are_declined(source: str) -> None:
    assert call_head(line_of(source).kind, source) is None


@pytest.mark.parametrize("part", ['x=b="c id=5 d"', '="x id=5"', 'id="a b"', "id=1 interrupted", "id=[a]", "id=a\\b"])
def test_odd_call_parts_are_declined(part: str) -> None:
    assert call_metadata(part) is None


@pytest.mark.parametrize("text", ['x id="a b"', "x id=5 interrupted", "id=5", "x  id=5 ", "x id=[5]"])
def test_odd_runs_are_declined(text: str) -> None:
    assert trailing_metadata(text, 0, len(text)) is None


def test_an_empty_place_before_the_arrow_is_no_word() -> None:
    line = line_of("t!:mcp__issues__ready id=JAMrARSQ  → [running]")
    assert call_head(line.kind, line.source) == Head("mcp__issues__ready", {"id": "JAMrARSQ"}, 37)


@pytest.mark.parametrize(
    ("source", "behind"),
    [
        ("t!:x id=1 → [running] tokens_in=2", {}),
        ("t!:x id=1 → [running] tokens_in=2 ts=3", {"tokens_in": "2", "ts": "3"}),
    ],
)
def test_brief_head_reads_behind_the_result_only_what_joins_or_dates(source: str, behind: dict[str, str]) -> None:
    line = line_of(source)
    assert line.brief_head.metadata == {"id": "1", **behind}
