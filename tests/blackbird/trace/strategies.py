"""Segments that a recorder could have written, for property tests."""

import struct

from hypothesis import strategies as st

from blackbird.trace.records import Record
from tests.blackbird.trace.encoder import Written, encode_header, identifier

_U64 = st.integers(0, 2**64 - 1)
_PAYLOADS = st.one_of(st.binary(max_size=40), st.sampled_from([b"", b'{"a":1}', bytes(60), b"data: x\n\n" * 9]))
_REQUESTS = st.sampled_from([bytes(16), identifier(1), identifier(2), b"\xff" * 16])
_TIMES = st.one_of(_U64, st.integers(0, 10**9).map(lambda number: number * 1000))


@st.composite
def segments(draw: st.DrawFn) -> Written:
    """A segment with up to a dozen records of any type, with holes in their sequences."""
    first = draw(st.integers(1, 2**40))
    header = encode_header(
        draw(st.integers(1, 2**32)),
        id_=draw(st.binary(min_size=16, max_size=16)),
        previous_root=draw(st.binary(min_size=32, max_size=32)),
        first_sequence=first,
        wall=draw(st.integers(-(2**63), 2**63 - 1)),
        monotonic=draw(_TIMES),
        policy=draw(st.text(max_size=12)),
    )
    records = []
    sequence = first - 1
    for _ in range(draw(st.integers(0, 12))):
        sequence += draw(st.integers(1, 300))
        payload = draw(_PAYLOADS)
        kind, flags = draw(st.integers(0, 15)), draw(st.integers(0, 0xFFFF))
        records.append(Record(1, kind, flags, sequence, draw(_TIMES), draw(_REQUESTS), len(payload), payload))
    number = struct.unpack_from("<Q", header, 16)[0]
    return Written(number, header, records)
