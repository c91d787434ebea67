"""Lines of agents' logs, out of the records that they are kept in."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from blackbird.imports.line import Line
from blackbird.trace.records import VERSION, Flag, Kind, Record


class Head(msgspec.Struct, frozen=True):
    """What the first line of a record's payload says: where the line stood in its file."""

    offset: int
    length: int


_HEAD = msgspec.json.Decoder(Head)


class _Begun(NamedTuple):
    head: Head
    segment: int | None
    sequence: int
    pieces: list[bytes]


class Joiner:
    """Joins the records of one source, in the order of the trace, into lines."""

    def __init__(self) -> None:
        self._begun: _Begun | None = None
        self._reached = 0

    def take(self, record: Record, segment: int | None = None) -> Line | None:
        """The line that ends with this record.

        One that was never finished was sent again, and is left out; so is one that is there already.
        """
        if record.kind != Kind.NATIVE_LINE or record.version != VERSION or record.payload is None:
            return None
        head, text = split(record.payload)
        if head is not None:
            self._begun = _Begun(head, segment, record.sequence, [])
        begun = self._begun
        if begun is None:
            return None
        begun.pieces.append(text)
        if record.flags & Flag.CONTINUES:
            return None
        self._begun = None
        offset, length = begun.head.offset, begun.head.length
        if length and offset < self._reached:
            return None
        self._reached = max(self._reached, offset + length)
        whole = b"".join(begun.pieces).decode(errors="replace")
        return Line(offset, length, whole, begun.segment, begun.sequence)


def lines(records: Iterable[Record], segment: int | None = None) -> Iterator[Line]:
    """The lines that the records of one source hold; records of other types are passed over."""
    joiner = Joiner()
    for record in records:
        line = joiner.take(record, segment)
        if line is not None:
            yield line


def split(payload: bytes) -> tuple[Head | None, bytes]:
    """Where the line stood, and the text. A piece that is not a line's first says nothing of that."""
    if payload[:1] == b"\n":
        return None, payload[1:]
    at = payload.find(b"\n")
    try:
        return _HEAD.decode(payload[:at] if at >= 0 else payload), payload[at + 1 :] if at >= 0 else b""
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None, payload
