"""Bytes in, entries out: headers, continuations and what the blocks contain."""

import pytest

from blackbox.document.scanner import Scanner
from blackbox.syntax.header import MAX_LINES
from blackbox.syntax.kinds import Kind


def scanned(data: bytes) -> tuple[Scanner, list[tuple[Kind, int, list[str]]]]:
    scanner = Scanner()
    entries = scanner.feed(data) + scanner.close()
    return scanner, [(line.kind, line.number, line.physical_lines) for line in entries]


@pytest.mark.requirement("LAYOUT-01")
def test_header_and_body() -> None:
    scanner, entries = scanned(b"---\nid: a\n---\n\nu: x\n")
    assert scanner.header is not None
    assert scanner.header.sources == ("---", "id: a", "---")
    assert entries == [(Kind.BLANK, 4, [""]), (Kind.USER, 5, ["u: x"])]


def test_fences_may_have_spaces_behind_them() -> None:
    scanner, entries = scanned(b"--- \nid: a\n---\t\r\nu: x\n")
    assert scanner.header is not None
    assert scanner.header.id == "a"
    assert len(entries) == 1


def test_blank_lines_may_stand_before_the_header() -> None:
    scanner, entries = scanned(b"\n\r\n---\nid: a\n---\nu: x\n")
    assert scanner.header is not None
    assert (scanner.header.first_line, scanner.header.line_of("id")) == (3, 4)
    assert entries == [(Kind.USER, 6, ["u: x"])]


@pytest.mark.parametrize("data", [b"u: x\n---\nid: a\n---\n", b" ---\nid: a\n---\n", b"----\n"])
def test_header_stands_at_the_very_top(data: bytes) -> None:
    assert scanned(data)[0].header is None


def test_later_fence_is_an_unknown_line() -> None:
    assert scanned(b"---\nid: a\n---\nu: x\n---\nu: y\n")[1] == [
        (Kind.USER, 4, ["u: x"]),
        (Kind.UNKNOWN, 5, ["---"]),
        (Kind.USER, 6, ["u: y"]),
    ]


def test_header_without_end_stops_at_the_first_event() -> None:
    scanner, entries = scanned(b"---\nid: a\n\n# remark\nt:read x\nu: y\n")
    assert scanner.header is not None
    assert (scanner.header.closed, scanner.header.id) == (False, "a")
    assert entries == [(Kind.TOOL, 5, ["t:read x"]), (Kind.USER, 6, ["u: y"])]


def test_header_without_end_is_given_up_after_many_lines() -> None:
    scanner = Scanner()
    scanner.feed(b"---\n" + b"k: v\n" * MAX_LINES)
    assert scanner.header is not None
    assert not scanner.header.closed


def test_header_without_end_is_waited_for_until_then() -> None:
    scanner = Scanner()
    assert scanner.feed(b"---\n" + b"k: v\n" * (MAX_LINES - 1)) == []
    assert scanner.header is None


@pytest.mark.requirement("LAYOUT-04")
def test_continuations_belong_to_the_line_above() -> None:
    assert scanned(b"u: a\n  b\n\tc\nu: d\n")[1] == [(Kind.USER, 1, ["u: a", "  b", "\tc"]), (Kind.USER, 4, ["u: d"])]


@pytest.mark.requirement("LAYOUT-04")
def test_unknown_and_comment_lines_have_continuations_too() -> None:
    assert [len(lines) for _, _, lines in scanned(b"what\n  b\n# c\n  d\n")[1]] == [2, 2]


def test_indented_line_below_a_blank_one_is_a_stray() -> None:
    assert [kind for kind, _, _ in scanned(b"u: a\n\n  b\n  c\n")[1]] == [
        Kind.USER,
        Kind.BLANK,
        Kind.CONTINUATION,
        Kind.CONTINUATION,
    ]


def test_spaces_alone_below_a_blank_line_are_blank() -> None:
    assert [kind for kind, _, _ in scanned(b"u: a\n\n   \n\t\n")[1]] == [
        Kind.USER,
        Kind.BLANK,
        Kind.BLANK,
        Kind.BLANK,
    ]


@pytest.mark.requirement("LAYOUT-06")
def test_lines_end_at_line_feeds_alone() -> None:
    text = "u: a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\rh\n"
    assert scanned(text.encode())[1] == [(Kind.USER, 1, [text[:-1]])]


def test_entry_is_held_until_the_next_begins() -> None:
    scanner = Scanner()
    assert scanner.feed(b"u: a\n") == []
    assert [line.physical_lines for line in scanner.feed(b"  b\nu: c\n")] == [["u: a", "  b"]]
    assert [line.source for line in scanner.flush()] == ["u: c"]
    assert scanner.flush() == []


def test_continuation_behind_a_flush_is_an_entry() -> None:
    scanner = Scanner()
    scanner.feed(b"u: a\n")
    scanner.flush()
    scanner.feed(b"  b\n")
    assert [line.kind for line in scanner.flush()] == [Kind.CONTINUATION]


@pytest.mark.parametrize(
    ("data", "flags"),
    [
        (b"u: a\n", (False, False, False, False, True)),
        (b"\xef\xbb\xbfu: a\n", (True, False, False, False, True)),
        (b"u: \xff\n", (False, True, False, False, True)),
        (b"u: \0\n", (False, False, True, False, True)),
        (b"u: a\r\n", (False, False, False, True, True)),
        (b"u: a", (False, False, False, False, False)),
    ],
    ids=["plain", "bom", "bad utf-8", "nul", "carriage return", "no final newline"],
)
def test_what_the_bytes_contain(data: bytes, flags: tuple[bool, ...]) -> None:
    scanner = scanned(data)[0]
    found = scanner.has_bom, scanner.has_bad_utf8, scanner.has_nul, scanner.has_carriage_return, scanner.final_newline
    assert found == flags


def test_byte_order_mark_counts_at_the_start_alone() -> None:
    scanner, entries = scanned(b"u: a\n\xef\xbb\xbfu: b\n")
    assert not scanner.has_bom
    assert entries[1][0] is Kind.UNKNOWN


@pytest.mark.requirement("ARGS-13")
def test_escape_rule_reaches_every_line() -> None:
    scanner = Scanner()
    lines = scanner.feed(b"---\nescape: 1\n---\nu: a\nu: b\n") + scanner.close()
    assert [line.escaped for line in lines] == [True, True]


def test_line_count_covers_all_physical_lines() -> None:
    assert scanned(b"\n---\nid: a\n---\nu: a\n  b\n\nu: c")[0].line_count == 8
