"""Tombstones and the file `synced`: whole, or one exception."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.trace import synced, tombstones
from blackbird.trace.errors import TraceError
from tests.blackbird.trace.encoder import Tracer, encode_synced, tombstone

_U64 = st.integers(0, 2**64 - 1)


def sample() -> dict[str, Any]:
    tracer = Tracer()
    tracer.exchange(1)
    return tombstone(tracer.current)


def test_a_tombstone_is_read_and_new_keys_are_ignored() -> None:
    stone = tombstones.parse(json.dumps(sample() | {"new": [1]}).encode() + b"\n")
    assert (stone.segment, stone.first_sequence, stone.last_sequence, stone.reason) == (1, 1, 6, "clean")
    assert stone.root == sample()["root"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"schema": "tombstone/2"}, "its schema is 'tombstone/2'"),
        ({"root": "00"}, "at `$.root`"),
        ({"previous_root": "G" * 64}, "at `$.previous_root`"),
        ({"segment": -1}, "at `$.segment`"),
        ({"id": "harbour"}, "'harbour' is no id"),
    ],
)
def test_another_tombstone_is_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(TraceError) as caught:
        tombstones.parse(json.dumps(sample() | change).encode())
    assert reason in caught.value.reason


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b'"\xff"', b"[" * 100_000, b'{"schema":' * 5000])
def test_what_is_no_tombstone_is_refused(data: bytes) -> None:
    with pytest.raises(TraceError):
        tombstones.parse(data)


@given(_U64, _U64, _U64)
def test_synced_reads_back(segment: int, sequence: int, offset: int) -> None:
    assert synced.parse(encode_synced(segment, sequence, offset)) == synced.Synced(segment, sequence, offset)


@given(st.integers(0, 27), st.integers(0, 7))
def test_no_bit_of_synced_can_change_unseen(at: int, bit: int) -> None:
    data = bytearray(encode_synced(3, 912, 4096))
    data[at] ^= 1 << bit
    with pytest.raises(TraceError):
        synced.parse(bytes(data))


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with pytest.raises(TraceError):
        synced.parse(data)
    with pytest.raises(TraceError):
        tombstones.parse(data)
