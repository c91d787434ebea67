"""Lines come out of their records as they went in, however they were cut and whatever was sent twice."""

import json

from hypothesis import given
from hypothesis import strategies as st

from blackbird.imports import kept
from blackbird.imports.line import Line
from blackbird.trace.records import Flag, Kind, Record
from tests.blackbird.trace.encoder import identifier, make_record

SOURCE = identifier(7)


def record(sequence: int, payload: bytes, flags: int = 0, kind: Kind = Kind.NATIVE_LINE) -> Record:
    return make_record(kind, sequence, SOURCE, payload, flags)


def head(offset: int, length: int) -> bytes:
    return json.dumps({"offset": offset, "length": length}).encode() + b"\n"


def test_a_line_says_where_it_stood_and_where_it_is_kept() -> None:
    found = list(kept.lines([record(9, head(40, 3) + b"one")], segment=2))
    assert found == [Line(40, 3, "one", 2, 9)]


def test_pieces_are_joined_and_a_character_between_two_is_whole() -> None:
    text = "aé".encode()
    pieces = [record(1, head(0, 3) + text[:2], Flag.CONTINUES), record(2, b"\n" + text[2:])]
    assert [line.text for line in kept.lines(pieces)] == ["aé"]


def test_a_line_that_was_begun_twice_counts_once() -> None:
    begun = record(1, head(0, 9) + b"half of", Flag.CONTINUES)
    again = [record(2, head(0, 9) + b"half of", Flag.CONTINUES), record(3, b"\n it")]
    assert list(kept.lines([begun, *again])) == [Line(0, 9, "half of it", None, 2)]


def test_a_line_that_was_sent_twice_counts_once_and_what_stands_beside_a_log_always() -> None:
    sent = [(1, head(0, 0) + b"{}"), (2, head(0, 3) + b"one"), (3, head(4, 3) + b"two"), (4, head(0, 3) + b"one")]
    records = [record(sequence, payload) for sequence, payload in [*sent, (5, head(0, 0) + b"{}")]]
    assert [line.text for line in kept.lines(records)] == ["{}", "one", "two", "{}"]


def test_other_records_and_rests_without_a_beginning_are_passed_over() -> None:
    odd = [
        record(1, b"\nthe rest of something"),
        record(2, b"no head at all"),
        record(3, head(0, 1) + b"x", kind=Kind.TOOL_EVENT),
        Record(1, Kind.NATIVE_LINE, 0, 4, 0, SOURCE, 9, None),
        Record(9, Kind.NATIVE_LINE, 0, 5, 0, SOURCE, 9, head(0, 1) + b"x"),
        record(6, b""),
    ]
    assert list(kept.lines(odd)) == []


@given(st.lists(st.text(min_size=1), min_size=1, max_size=6), st.integers(1, 7))
def test_any_lines_cut_anywhere_come_back(texts: list[str], size: int) -> None:
    records: list[Record] = []
    wanted, offset = [], 0
    for text in texts:
        data = text.encode("utf-8", "replace")
        wanted.append(data.decode())
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        for number, piece in enumerate(pieces):
            flags = Flag.CONTINUES if number < len(pieces) - 1 else 0
            before = head(offset, len(data)) if not number else b"\n"
            records.append(record(len(records) + 1, before + piece, flags))
        offset += len(data) + 1
    assert [line.text for line in kept.lines(records)] == wanted
