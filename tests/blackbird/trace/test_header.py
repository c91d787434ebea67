"""The header of a segment: all of its fields, and all that makes it unreadable."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.trace import header
from blackbird.trace.errors import TraceError
from tests.blackbird.trace.encoder import encode_header

WHOLE = encode_header(policy="2026.11.3+user.0a1b2c3d")


def sealed(data: bytes) -> bytes:
    """The same with a CRC that fits."""
    return data[:-4] + struct.pack("<I", zlib.crc32(data[:-4]))


def changed(at: int, data: bytes) -> bytes:
    return sealed(WHOLE[:at] + data + WHOLE[at + len(data) :])


def test_every_field_is_read() -> None:
    raw = encode_header(
        7,
        id_=b"i" * 16,
        trace=b"t" * 16,
        instance=b"n" * 16,
        previous_root=b"r" * 32,
        first_sequence=88,
        wall=-5,
        monotonic=2**64 - 1,
        boot=b"b" * 16,
        policy="1.ü",
    )
    assert header.parse(raw + b"more") == header.Header(
        7, b"i" * 16, b"t" * 16, b"n" * 16, b"r" * 32, 88, -5, 2**64 - 1, b"b" * 16, "1.ü", raw
    )


@pytest.mark.parametrize(
    ("data", "reason", "offset"),
    [
        (b"", "a header has at least 150 bytes, here are 0", 0),
        (WHOLE[:149], "a header has at least 150 bytes, here are 149", 149),
        (changed(0, b"\x88"), "it does not start as a segment does", 0),
        (changed(8, b"\x02"), "it has the format version 2, and this reader knows 1", 8),
        (changed(10, b"\x01"), "its header has the flags 0x0001, which this reader does not know", 10),
        (changed(12, b"\x96"), "its header says that it is 150 bytes long, and holds 173", 12),
        (WHOLE[:-1], "its header is 173 bytes long, and only 172 are here", 172),
        (WHOLE[:-1] + b"?", "the checksum of its header does not fit", 169),
        (changed(146, b"\xff"), "the policy in its header is no UTF-8", 146),
    ],
)
def test_unreadable(data: bytes, reason: str, offset: int) -> None:
    with pytest.raises(TraceError) as caught:
        header.parse(data)
    assert (caught.value.reason, caught.value.offset) == (reason, offset)


@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 7))
def test_no_bit_can_change_unseen(at: int, bit: int) -> None:
    data = bytearray(WHOLE)
    data[at] ^= 1 << bit
    with pytest.raises(TraceError):
        header.parse(bytes(data))
