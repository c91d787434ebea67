"""Takes a segment as it grows, in any pieces, and gives each of its records once it is whole."""

from collections.abc import Iterator

from blackbird.trace import header as headers
from blackbird.trace.errors import TraceError
from blackbird.trace.header import Header
from blackbird.trace.records import FIELDS, FIELDS_AT, HEADER_BYTES, MAX_PAYLOAD, Record
from blackbird.trace.resync import Resync
from blackbird.trace.scan import record_at, seed_of


class Growing:
    """A segment of which more may come. What is not whole yet waits here and is never asked for again."""

    def __init__(self, *, bodies: bool) -> None:
        self._bodies = bodies
        self._pending = bytearray()
        self._least = 0
        #: How many bytes were no records, and had some behind them.
        self.damaged = 0
        self.header: Header | None = None

    def go_on(self, header: Header, sequence: int) -> None:
        """Take it from behind the record with this sequence on: the next bytes are those that follow it."""
        self.header = header
        self._least = sequence + 1

    def feed(self, data: bytes) -> Iterator[Record]:
        """The records that are whole now."""
        self._pending += data
        header = self.header or self._read_header()
        if header is not None:
            yield from self._records(header, is_closed=False)

    def close(self) -> Iterator[Record]:
        """The records behind damage that could still have been a record half written. Nothing more will come.

        Raises `TraceError` if the segment has no header that can be read.
        """
        if self.header is None:
            headers.parse(bytes(self._pending))
        else:
            yield from self._records(self.header, is_closed=True)

    def _read_header(self) -> Header | None:
        try:
            self.header = headers.parse(bytes(self._pending))
        except TraceError:
            return None
        self._least = self.header.first_sequence
        del self._pending[: len(self.header.raw)]
        return self.header

    def _records(self, header: Header, *, is_closed: bool) -> Iterator[Record]:
        data, self._pending = bytes(self._pending), bytearray()
        view, seed, offset = memoryview(data), seed_of(header), 0
        try:
            while offset < len(view):
                found = record_at(view, offset, seed, self._least, bodies=self._bodies)
                if found is None:
                    if not is_closed and _may_become_whole(view, offset):
                        return
                    behind = Resync(view, offset, seed).find(offset + 1, self._least)
                    if behind is None:
                        return
                    self.damaged += behind - offset
                    offset = behind
                    continue
                offset, self._least = found.end, found.record.sequence + 1
                yield found.record
        finally:
            self._pending[:0] = view[offset:]


def _may_become_whole(view: memoryview, offset: int) -> bool:
    if offset + HEADER_BYTES > len(view):
        return True
    length: int = FIELDS.unpack_from(view, offset + FIELDS_AT)[0]
    return length <= MAX_PAYLOAD and offset + HEADER_BYTES + length > len(view)
