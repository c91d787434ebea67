"""Edits change the stretches they name and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbox.document.document import parse
from blackbox.repair.edits import Change, Edit, apply_edits, changes_between
from tests.blackbox.syntax.soup import log_bytes


def edited(data: bytes, *edits: Edit) -> bytes:
    return apply_edits(parse(data), edits).emit()


def test_edit_replaces_columns_of_a_physical_line() -> None:
    assert edited(b"u: one\n  two\n", Edit(2, 2, 5, "2")) == b"u: one\n  2\n"


def test_edits_of_one_line_may_come_in_any_order() -> None:
    assert edited(b"u: abc\n", Edit(1, 3, 4, "AA"), Edit(1, 5, 6, "CC")) == b"u: AAbCC\n"


def test_edit_behind_the_last_line_appends() -> None:
    assert edited(b"u: one\n", Edit(2, 0, 0, "u: two")) == b"u: one\nu: two\n"


def test_appending_ends_the_last_line_first() -> None:
    assert edited(b"u: one", Edit(2, 0, 0, "u: two")) == b"u: one\nu: two\n"


def test_header_lines_can_be_edited() -> None:
    assert edited(b"---\nid: a\n---\n", Edit(2, 4, 5, "b")) == b"---\nid: b\n---\n"


@given(log_bytes)
@pytest.mark.requirement("FIX-12")
def test_no_edits_change_nothing(data: bytes) -> None:
    assert edited(data) == data


@given(log_bytes, st.integers(0, 200))
@pytest.mark.requirement("FIX-12")
def test_one_edit_changes_one_line(data: bytes, at: int) -> None:
    lines = list(parse(data).physical_lines)
    if not lines:
        return
    number = at % len(lines) + 1
    after = apply_edits(parse(data), [Edit(number, 0, 0, "u: ")])
    expected = [("u: " if n == number else "") + line for n, line in enumerate(lines, 1)]
    assert list(after.physical_lines) == expected
    assert after.final_newline == parse(data).final_newline
    assert after.has_bom == parse(data).has_bom


def test_changes_are_the_lines_that_differ() -> None:
    before, after = parse(b"u: one\nu: two\n"), parse(b"u: one\nu: 2\nu: three\n")
    assert changes_between(before, after) == [Change(2, "u: two", "u: 2"), Change(3, None, "u: three")]
