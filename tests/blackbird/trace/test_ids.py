"""Ids as bytes and as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.trace import ids


@given(st.binary(min_size=16, max_size=16))
def test_text_reads_back(identifier: bytes) -> None:
    text = ids.to_text(identifier)
    assert len(text) == 26
    assert ids.from_text(text) == identifier


def test_alphabet_ends_and_order() -> None:
    assert ids.to_text(bytes(16)) == "0" * 26
    assert ids.to_text(b"\xff" * 16) == "7" + "Z" * 25
    assert ids.to_text(bytes(15) + b"\x1f") == "0" * 25 + "Z"
    assert ids.request_name(bytes(16)) == "req_" + "0" * 26


@given(st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16))
def test_text_sorts_as_bytes_do(one: bytes, other: bytes) -> None:
    assert (one < other) == (ids.to_text(one) < ids.to_text(other))


@pytest.mark.parametrize("text", ["", "0" * 25, "0" * 27, "8" + "0" * 25, "I" * 26, "0" * 25 + "u", "é" * 26])
def test_other_text_is_no_id(text: str) -> None:
    assert ids.from_text(text) is None
