"""Reads a seal: one request without unpacking the others, or all records in the order of their sequences."""

import heapq
import zlib
from collections import Counter
from collections.abc import Iterator

from blackbird.trace import header as headers
from blackbird.trace import ids
from blackbird.trace.chain import Chain
from blackbird.trace.errors import TraceError
from blackbird.trace.header import Header
from blackbird.trace.records import HEADER_BYTES, Record, is_body, spell_fields
from blackbird.trace.scan import Intact, Step, Torn
from blackbird.trace.seal import index as indexes
from blackbird.trace.seal.columns import read_rows
from blackbird.trace.seal.index import Footer, Group, Index, Stretch


class Sealed:
    """A sealed segment. Frames are unpacked when something in them is asked for, the last of each stream is kept."""

    def __init__(self, data: bytes | memoryview) -> None:
        self._data = memoryview(data)
        self.header, first = _read_start(self._data)
        footer, index = indexes.read(self._data, first)
        self.footer: Footer = footer
        self.index: Index = index
        self._unpacked: dict[str, tuple[int, bytes]] = {}
        self._sizes: Counter[str] = Counter()
        for frame in index.frames:
            self._sizes[frame.stream] += frame.raw
        self._groups = {group.id: group for group in index.groups}
        if len(self._groups) != len(index.groups):
            raise TraceError("two groups of its index have the same id", footer.offset)

    def requests(self) -> list[bytes]:
        """The ids of its requests, in the order of their first records."""
        return [ids.from_text(group.id) or ids.ZERO for group in self.index.groups if group.id]

    def has(self, request: bytes) -> bool:
        """Whether a request has records here."""
        return ids.to_text(request) in self._groups

    def group(self, request: bytes, *, bodies: bool = True) -> list[Record]:
        """The records of one request, or with the id of zeros those that belong to none."""
        found = self._groups.get(ids.to_text(request) if request != ids.ZERO else "")
        if found is None:
            return []
        rows = self._rows(found)
        return self._with_payloads(found, rows, bodies=bodies, alone=True)

    def records(self, *, bodies: bool = True) -> Iterator[Record]:
        """All records in the order of their sequences; of the groups, only those that overlap are held at once."""
        waiting = sorted(
            ((rows[0].sequence, number, group, rows) for number, group, rows in self._all_rows() if rows),
            key=lambda entry: entry[:2],
            reverse=True,
        )
        running: list[tuple[int, int, list[Record]]] = []
        last = 0
        while waiting or running:
            while waiting and (not running or waiting[-1][0] <= running[0][0]):
                sequence, number, group, rows = waiting.pop()
                records = self._with_payloads(group, rows, bodies=bodies)
                heapq.heappush(running, (sequence, number, records[::-1]))
            sequence, number, rest = running[0]
            if sequence <= last:
                raise TraceError(f"two of its records have the sequence {sequence}", self.footer.offset)
            yield rest.pop()
            last = sequence
            if rest:
                heapq.heapreplace(running, (rest[-1].sequence, number, rest))
            else:
                heapq.heappop(running)

    def steps(self, *, bodies: bool = True) -> Iterator[Step]:
        """What a scan of the segment would have found; offsets are those in the file that was sealed."""
        offset = len(self.header.raw)
        for record in self.records(bodies=bodies):
            end = offset + HEADER_BYTES + record.length
            yield Intact(offset, end, record)
            offset = end
        torn = len(self.torn())
        if offset + torn != self.index.bytes:
            reason = f"its records make a segment of {offset + torn} bytes, and its index says {self.index.bytes}"
            raise TraceError(reason, self.footer.offset)
        if torn:
            yield Torn(offset, offset + torn)

    def torn(self) -> bytes:
        """The bytes of the torn tail."""
        return self._read("other", self.index.torn)

    def root(self) -> bytes:
        """The root that the records give; the footer holds what it was when they were sealed."""
        chain = Chain(self.header.raw)
        for record in self.records():
            chain.add(spell_fields(record))
            chain.add(record.payload or b"")
        return chain.root()

    def _all_rows(self) -> Iterator[tuple[int, Group, list[Record]]]:
        total = 0
        for number, group in enumerate(self.index.groups):
            rows = self._rows(group)
            total += len(rows)
            yield number, group, rows
        if total != self.index.records:
            reason = f"it holds {total} records, and its index says {self.index.records}"
            raise TraceError(reason, self.footer.offset)

    def _rows(self, group: Group) -> list[Record]:
        data = self._read("rows", group.rows)
        request = (ids.from_text(group.id) if group.id else None) or ids.ZERO
        return read_rows(data, group.count, self.header, self.index.unit, request)

    def _with_payloads(self, group: Group, rows: list[Record], *, bodies: bool, alone: bool = False) -> list[Record]:
        if not bodies and all(is_body(row.kind) for row in rows):
            # An imported file is nothing but lines.
            return rows
        streams = {"other": memoryview(self._read("other", group.other))}
        if bodies:
            streams["request"] = memoryview(self._read("request", group.request, alone=alone))
            streams["response"] = memoryview(self._read("response", group.response, alone=alone))
        places = dict.fromkeys(streams, 0)
        records: list[Record] = []
        for row in rows:
            stream = row.direction or "other"
            if stream not in streams:
                records.append(row)
                continue
            start = places[stream]
            places[stream] = end = start + row.length
            payload = bytes(streams[stream][start:end]) if bodies or not is_body(row.kind) else None
            records.append(
                Record(
                    row.version, row.kind, row.flags, row.sequence, row.monotonic, row.request, row.length, payload
                )
            )
        for stream, place in places.items():
            if place != len(streams[stream]):
                reason = f"the payloads of the group {group.id!r} do not fill its part of the stream `{stream}`"
                raise TraceError(reason, self.footer.offset)
        return records

    def _read(self, stream: str, stretch: Stretch, *, alone: bool = False) -> bytes:
        """The bytes of a stretch; `alone` if nothing else of its frames will be asked for."""
        if sum(length for _, _, length in stretch) > self._sizes[stream]:
            raise TraceError(f"a stretch is longer than the whole stream `{stream}`", self.footer.offset)
        pieces = []
        alone = alone and len({number for number, _, _ in stretch}) == len(stretch)
        for number, offset, length in stretch:
            if number >= len(self.index.frames) or self.index.frames[number].stream != stream:
                raise TraceError(f"frame {number} is not one of the stream `{stream}`", self.footer.offset)
            about = self.index.frames[number]
            if offset + length > about.raw:
                raise TraceError(f"a stretch reaches beyond frame {number}", self.footer.offset)
            if alone:
                pieces.append(indexes.unpack_part(self._data, about, offset, length))
            else:
                pieces.append(self._frame(stream, number)[offset : offset + length])
        return b"".join(pieces)

    def _frame(self, stream: str, number: int) -> bytes:
        kept, data = self._unpacked.get(stream, (-1, b""))
        if kept == number:
            return data
        about = self.index.frames[number]
        packed = self._data[about.offset : about.offset + about.length]
        data = indexes.unpack(packed, about.raw, about.offset)
        if zlib.crc32(data) != about.crc:
            raise TraceError(f"the checksum of frame {number} does not fit", about.offset)
        self._unpacked[stream] = (number, data)
        return data


def _read_start(data: memoryview) -> tuple[Header, int]:
    if len(data) < indexes.PREFIX.size:
        raise TraceError("it is too short for a seal", len(data))
    magic, version, flags, length = indexes.PREFIX.unpack_from(data)
    if magic != indexes.MAGIC:
        raise TraceError("it does not start as a seal does")
    if version != indexes.VERSION:
        raise TraceError(f"it has the seal version {version}, and this reader knows {indexes.VERSION}", 8)
    if flags:
        raise TraceError(f"it has the flags {flags:#06x}, which this reader does not know", 10)
    first = indexes.PREFIX.size + length
    if first > len(data):
        raise TraceError("its header reaches beyond its end", 12)
    header = headers.parse(data[indexes.PREFIX.size : first])
    if len(header.raw) != length:
        raise TraceError("its header is not as long as it says", 12)
    return header, first
