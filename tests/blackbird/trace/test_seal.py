"""Sealed segments: the same records and the same root, one request by itself, and any damage told."""

import struct
import zlib
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from blackbird.trace import ids
from blackbird.trace.errors import TraceError
from blackbird.trace.records import Kind
from blackbird.trace.scan import Intact, Torn
from blackbird.trace.seal.reader import Sealed
from tests.blackbird.trace.encoder import Tracer, Written, encode_seal, finish_seal, identifier
from tests.blackbird.trace.strategies import segments


def sample() -> Written:
    tracer = Tracer()
    tracer.exchange(1)
    tracer.add(Kind.WS_FRAME, identifier(1), b"ping", flags=4)
    tracer.add(Kind.WS_FRAME, identifier(1), b"pong")
    tracer.exchange(2)
    tracer.checkpoint()
    return tracer.current


def taken_apart(seal: bytes) -> tuple[bytes, dict[str, Any], bytes]:
    """What lies before the index, the index, and the root."""
    offset, length, _, root = struct.unpack_from("<QII32s", seal, len(seal) - 64)
    index = msgspec.json.decode(zstandard.decompress(seal[offset : offset + length]))
    return seal[:offset], index, root


@pytest.mark.requirement("TRACE-07")
@given(segments(), st.binary(max_size=30), st.sampled_from([7, 64, 1 << 20]))
def test_a_seal_holds_what_the_segment_held(segment: Written, torn: bytes, frame_bytes: int) -> None:
    sealed = Sealed(encode_seal(segment.header, segment.records, torn, frame_bytes=frame_bytes))
    assert list(sealed.records()) == segment.records
    assert sealed.torn() == torn
    assert sealed.root() == segment.root == sealed.footer.root
    steps = list(sealed.steps())
    assert [step.offset for step in steps if isinstance(step, Intact)] == [
        segment.offset_of(record.sequence) for record in segment.records
    ]
    size = len(segment.wal)
    assert [step for step in steps if isinstance(step, Torn)] == ([Torn(size, size + len(torn))] if torn else [])


@given(segments())
def test_a_group_is_one_request(segment: Written) -> None:
    sealed = Sealed(segment.seal)
    requests = dict.fromkeys(record.request for record in segment.records)
    assert sealed.requests() == [request for request in requests if request != ids.ZERO]
    for request in requests:
        assert sealed.group(request) == [record for record in segment.records if record.request == request]
    assert sealed.group(b"?" * 16) == []


def test_without_bodies_their_frames_are_not_unpacked() -> None:
    segment = sample()
    start, index, root = taken_apart(segment.seal)
    broken = bytearray(start)
    for frame in index["frames"]:
        if frame["stream"] in ("request", "response"):
            broken[frame["offset"] : frame["offset"] + frame["length"]] = bytes(frame["length"])
    sealed = Sealed(finish_seal(bytes(broken), index, root))
    assert [record.length for record in sealed.records(bodies=False)] == [record.length for record in segment.records]
    assert sealed.group(identifier(1), bodies=False)[0].payload == segment.records[0].payload
    with pytest.raises(TraceError):
        list(sealed.records())


def test_frames_that_hold_another_request_are_left_alone() -> None:
    segment = sample()
    seal = encode_seal(segment.header, segment.records, frame_bytes=16)
    start, index, root = taken_apart(seal)
    wanted = next(group for group in index["groups"] if group["id"] == ids.to_text(identifier(2)))
    used = {number for stream in ("rows", "other", "request", "response") for number, _, _ in wanted[stream]}
    broken = bytearray(start)
    for number, frame in enumerate(index["frames"]):
        if number not in used:
            broken[frame["offset"] : frame["offset"] + frame["length"]] = bytes(frame["length"])
    sealed = Sealed(finish_seal(bytes(broken), index, root))
    assert sealed.group(identifier(2)) == [r for r in segment.records if r.request == identifier(2)]


@pytest.mark.requirement("TRACE-14")
@pytest.mark.parametrize("stream", ["request", "response"])
def test_a_group_whose_frame_is_damaged_is_refused(stream: str) -> None:
    start, index, root = taken_apart(sample().seal)
    frame = next(frame for frame in index["frames"] if frame["stream"] == stream)
    broken = bytearray(start)
    broken[frame["offset"] + frame["length"] - 1] ^= 0x10
    sealed = Sealed(finish_seal(bytes(broken), index, root))
    with pytest.raises(TraceError) as caught:
        sealed.group(identifier(1))
    assert caught.value.offset == frame["offset"]


def read_all(data: bytes) -> tuple[Any, ...]:
    sealed = Sealed(data)
    return list(sealed.steps()), sealed.root() == sealed.footer.root


@pytest.mark.requirement("TRACE-14")
def test_cut_at_any_byte_it_is_refused() -> None:
    seal = sample().seal
    for end in range(len(seal)):
        with pytest.raises(TraceError):
            Sealed(seal[:end])


@pytest.mark.requirement("TRACE-14")
@settings(max_examples=300)
@given(st.data())
def test_no_bit_can_change_unseen(data: st.DataObject) -> None:
    seal = bytearray(sample().seal)
    expected = read_all(bytes(seal))
    at = data.draw(st.integers(0, len(seal) - 1))
    seal[at] ^= 1 << data.draw(st.integers(0, 7))
    try:
        found = read_all(bytes(seal))
    except TraceError:
        return
    # zstd has a few bits that mean nothing; what is read must then be the very same.
    assert found == expected


def changed(change: Any) -> bytes:
    start, index, root = taken_apart(sample().seal)
    change(index)
    return finish_seal(start, index, root)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda index: index.update(records=99), "it holds 15 records, and its index says 99"),
        (lambda index: index.update(bytes=1), "its records make a segment of"),
        (lambda index: index.update(unit=7), "its index cannot be read: Invalid enum value 7"),
        (lambda index: index.pop("groups"), "its index cannot be read: Object missing required field `groups`"),
        (lambda index: index["groups"][0].update(count=3), "a column of a group has 8 numbers for 3 records"),
        (lambda index: index["groups"][0].update(id="me"), "a group of its index has the id 'me', which is none"),
        (lambda index: index["groups"].append(index["groups"][0]), "two groups of its index have the same id"),
        (lambda index: index["groups"][0].update(rows=[[0, 0, 5]]), "a column of a group is longer than its rows"),
        (lambda index: index["groups"][0].update(rows=[[99, 0, 5]]), "frame 99 is not one of the stream `rows`"),
        (lambda index: index["groups"][0].update(rows=[[1, 0, 5]]), "frame 1 is not one of the stream `rows`"),
        (lambda index: index["groups"][0].update(other=[]), "the payloads of the group"),
        (
            lambda index: index["groups"][0].update(request=[[2, 0, 10**12]]),
            "a stretch is longer than the whole stream",
        ),
        (
            lambda index: index["frames"][0].update(raw=1 << 40),
            "its index cannot be read: Expected `int` <= 33554432",
        ),
        (lambda index: index["frames"][0].update(raw=77), "a frame is not as long as the index says"),
        (lambda index: index["frames"][0].update(crc=1), "the checksum of frame 0 does not fit"),
        (lambda index: index["frames"][0].update(length=1 << 40), "frame 0 reaches into the index"),
        (lambda index: index["frames"][1].update(offset=0), "frame 1 starts before the end of what lies before it"),
    ],
)
def test_an_index_that_does_not_fit_is_refused(change: Any, reason: str) -> None:
    with pytest.raises(TraceError) as caught:
        read_all(changed(change))
    assert reason in caught.value.reason


def test_a_frame_that_asks_for_a_large_window_is_refused() -> None:
    start, _, root = taken_apart(sample().seal)
    # Four bytes of content size, a window of 2**28 bytes, one raw block.
    packed = bytes.fromhex("28b52ffd 80 90 02000000 110000") + b"{}"
    assert zstandard.get_frame_parameters(packed).window_size == 1 << 28
    raw = b"{}"
    footer = struct.pack("<QII", len(start), len(packed), len(raw)) + root
    footer += struct.pack("<II", zlib.crc32(packed + footer), 0) + b"\x89BBSEA\r\n"
    with pytest.raises(TraceError) as caught:
        Sealed(start + packed + footer)
    assert caught.value.offset == len(start)
    assert "needs too large a window" in caught.value.reason


def test_an_index_beyond_all_means_is_refused_before_it_is_unpacked() -> None:
    start, _, root = taken_apart(sample().seal)
    packed = zstandard.compress(b"{}")
    footer = struct.pack("<QII", len(start), len(packed), 0xFFFFFFFF) + root
    footer += struct.pack("<II", zlib.crc32(packed + footer), 0) + b"\x89BBSEA\r\n"
    with pytest.raises(TraceError, match="at most 268435456 are read"):
        Sealed(start + packed + footer)


@given(st.binary(max_size=300))
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(TraceError):
        Sealed(data)
    with pytest.raises(TraceError):
        Sealed(b"\x89BBSEA\r\n" + data)


@settings(max_examples=150)
@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["frames", "groups", "unit", "records", "bytes", "torn", "id", "count", "rows"]),
                inner,
            )
        ),
    )
)
def test_any_index_is_read_or_refused(index: Any) -> None:
    start, _, root = taken_apart(sample().seal)
    try:
        list(Sealed(finish_seal(start, index, root)).steps())
    except TraceError:
        return
