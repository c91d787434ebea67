"""A segment from end to end: records, corruption with both offsets, a torn tail."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blackbird.trace import header as headers
from blackbird.trace.records import Kind, Record
from blackbird.trace.scan import Corruption, Intact, Step, Torn, scan
from tests.blackbird.trace.encoder import Tracer, Written, encode_record, identifier, make_record
from tests.blackbird.trace.strategies import segments


def steps(data: bytes) -> list[Step]:
    return list(scan(data, headers.parse(data)))


def records_in(found: list[Step]) -> list[Record]:
    return [step.record for step in found if isinstance(step, Intact)]


def sample() -> Written:
    tracer = Tracer()
    tracer.exchange(1)
    tracer.exchange(2)
    tracer.checkpoint()
    return tracer.current


@pytest.mark.requirement("TRACE-06")
@given(segments())
def test_what_was_written_is_read(segment: Written) -> None:
    found = steps(segment.wal)
    assert records_in(found) == segment.records
    ends = [len(segment.header), *(step.end for step in found)]
    assert [step.offset for step in found if isinstance(step, Intact)] == ends[:-1]
    assert ends[-1] == len(segment.wal)


@pytest.mark.requirement("TRACE-14")
def test_cut_at_every_byte_is_a_torn_tail() -> None:
    segment = sample()
    starts = [segment.offset_of(record.sequence) for record in segment.records] + [len(segment.wal)]
    for end in range(len(segment.header), len(segment.wal)):
        whole = max(start for start in starts if start <= end)
        expected = segment.records[: starts.index(whole)]
        found = steps(segment.wal[:end])
        assert records_in(found) == expected
        assert [step for step in found if not isinstance(step, Intact)] == ([Torn(whole, end)] if whole < end else [])


@pytest.mark.requirement("TRACE-14")
@settings(max_examples=200)
@given(st.data())
def test_a_flipped_bit_costs_one_record_and_is_told(data: st.DataObject) -> None:
    segment = sample()
    raw = bytearray(segment.wal)
    at = data.draw(st.integers(len(segment.header), len(raw) - 1))
    raw[at] ^= 1 << data.draw(st.integers(0, 7))
    hit = max(record.sequence for record in segment.records if segment.offset_of(record.sequence) <= at)
    found = steps(bytes(raw))
    start, end = segment.offset_of(hit), segment.offset_of(hit + 1)
    assert records_in(found) == [record for record in segment.records if record.sequence != hit]
    damage = Torn(start, end) if hit == segment.records[-1].sequence else Corruption(start, end)
    assert [step for step in found if not isinstance(step, Intact)] == [damage]


def test_a_record_of_another_segment_is_corruption() -> None:
    segment = sample()
    foreign = encode_record(b"another segment!", make_record(Kind.GAP, 3, bytes(16), b"{}"))
    at = segment.offset_of(3)
    found = steps(segment.wal[:at] + foreign + segment.wal[at:])
    assert records_in(found) == segment.records
    assert Corruption(at, at + len(foreign)) in found


def test_a_record_that_stands_twice_is_corruption() -> None:
    segment = sample()
    start, end = segment.offset_of(3), segment.offset_of(4)
    found = steps(segment.wal[:end] + segment.wal[start:end] + segment.wal[end:])
    assert records_in(found) == segment.records
    assert Corruption(end, end + (end - start)) in found


def test_the_first_sequence_is_at_least_that_of_the_header() -> None:
    tracer = Tracer()
    tracer.sequence = 9
    segment = tracer.rotate()
    early = encode_record(segment.id, make_record(Kind.GAP, 9, bytes(16), b"{}"))
    assert steps(segment.header + early) == [Torn(len(segment.header), len(segment.header) + len(early))]
    late = make_record(Kind.GAP, 12, bytes(16), b"{}")
    assert records_in(steps(segment.header + encode_record(segment.id, late))) == [late]


def test_unknown_types_versions_and_flags_are_kept() -> None:
    segment = Tracer().current
    odd = Record(9, 200, 0xFFF0, 1, 7, identifier(1), 3, b"new")
    segment.records.append(odd)
    assert records_in(steps(segment.wal)) == [odd]
    assert odd.name == "type.200"


def test_bodies_are_checked_but_not_handed_on() -> None:
    segment = sample()
    found = records_in(list(scan(segment.wal, headers.parse(segment.wal), bodies=False)))
    assert [(record.sequence, record.length) for record in found] == [
        (record.sequence, record.length) for record in segment.records
    ]
    for record, before in zip(found, segment.records, strict=True):
        assert record.payload == (None if record.kind in (Kind.REQUEST_BODY, Kind.RESPONSE_BODY) else before.payload)
    broken = bytearray(segment.wal)
    broken[segment.offset_of(2) + 50] ^= 1
    damage = Corruption(segment.offset_of(2), segment.offset_of(3))
    assert damage in list(scan(bytes(broken), headers.parse(segment.wal), bodies=False))


def noise(size: int) -> bytes:
    """Bytes without a pattern, the same each time."""
    return hashlib.shake_128(b"noise").digest(size)


@pytest.mark.parametrize("junk", ["zeros", "random", "lengths"])
def test_the_way_behind_long_damage_is_found(junk: str) -> None:
    """Long stretches take the shortcut over checksums of prefixes: it must agree with the plain one."""
    segment = Tracer().current
    segment.records.append(make_record(Kind.RESPONSE_BODY, 1, identifier(1), b"before"))
    damage = {
        "zeros": bytes(300_000),
        "random": noise(300_000),
        "lengths": b"\x01\x02\x03\x04\x00\x00\x02\x00" * 4000,
    }[junk]
    long = make_record(Kind.RESPONSE_BODY, 2, identifier(1), noise(200_000))
    short = make_record(Kind.RESPONSE_END, 3, identifier(1), b"{}")
    start = len(segment.wal)
    data = segment.wal + damage + encode_record(segment.id, long) + encode_record(segment.id, short)
    found = steps(data)
    assert records_in(found) == [segment.records[0], long, short]
    assert Corruption(start, start + len(damage)) in found


@given(st.binary(max_size=400))
def test_any_bytes_behind_a_header_are_read(data: bytes) -> None:
    segment = Tracer().current
    found = steps(segment.header + data)
    at = len(segment.header)
    for step in found:
        start = step.offset if isinstance(step, Intact) else step.start
        assert start == at
        at = step.end
    assert at == len(segment.header) + len(data)
