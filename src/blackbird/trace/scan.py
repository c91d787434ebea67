"""Reads a segment from its first byte to its last: intact records, corruption between them, a torn tail."""

import zlib
from collections.abc import Iterator

import msgspec

from blackbird.trace.header import Header
from blackbird.trace.records import FIELDS, FIELDS_AT, HEADER_BYTES, MAX_PAYLOAD, Record, is_body
from blackbird.trace.resync import Resync

_CRC_BYTES = 4


class Intact(msgspec.Struct, frozen=True, gc=False):
    """A record, and the bytes it takes in the segment's file."""

    offset: int
    end: int
    record: Record


class Corruption(msgspec.Struct, frozen=True):
    """Bytes that are no record, with an intact record behind them."""

    start: int
    end: int


class Torn(msgspec.Struct, frozen=True):
    """Bytes that are no record, up to the end of the file: the last write of a recorder that died."""

    start: int
    end: int


Step = Intact | Corruption | Torn


def scan(data: bytes | memoryview, header: Header, *, bodies: bool = True) -> Iterator[Step]:
    """What lies behind the header, in order. Without `bodies`, those payloads are checked but not handed on."""
    view = memoryview(data)
    seed = seed_of(header)
    offset, least = len(header.raw), header.first_sequence
    resync: Resync | None = None
    while offset < len(view):
        found = record_at(view, offset, seed, least, bodies=bodies)
        if found is None:
            resync = resync or Resync(view, offset, seed)
            start, next_offset = offset, resync.find(offset + 1, least)
            if next_offset is None:
                yield Torn(start, len(view))
                return
            yield Corruption(start, next_offset)
            offset = next_offset
            continue
        yield found
        offset, least = found.end, found.record.sequence + 1


def seed_of(header: Header) -> int:
    """What the checksums of a segment's records start from."""
    return zlib.crc32(header.id)


def record_at(view: memoryview, offset: int, seed: int, least: int, *, bodies: bool) -> Intact | None:
    """The record that starts here, if it is whole and its sequence at least this."""
    if offset + HEADER_BYTES > len(view):
        return None
    length, version, kind, flags, sequence, monotonic, request = FIELDS.unpack_from(view, offset + FIELDS_AT)
    end = offset + HEADER_BYTES + length
    if length > MAX_PAYLOAD or end > len(view) or sequence < least:
        return None
    expected = int.from_bytes(view[offset : offset + _CRC_BYTES], "little")
    if zlib.crc32(view[offset + FIELDS_AT : end], seed) != expected:
        return None
    wanted = bodies or not is_body(kind)
    payload = bytes(view[offset + HEADER_BYTES : end]) if wanted else None
    return Intact(offset, end, Record(version, kind, flags, sequence, monotonic, request, length, payload))
