"""Some of a trace's records, up to one of them; what cannot be read is passed over, since the survey has named it."""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.header import Header
from blackbird.trace.records import Record
from blackbird.trace.segment import Segment


class Extent(NamedTuple):
    """How much of a trace is read: all, or up to a record.

    `instance` is the recorder that wrote the last of it. What it has not ended yet is left out, so that the same
    records give the same timeline, whoever reads them and when; without it, what is under way is told as such.
    """

    sequence: int | None = None
    instance: bytes | None = None

    def has(self, record: Record) -> bool:
        """Whether a record is read."""
        return self.sequence is None or record.sequence <= self.sequence

    def up_to(self, sequence: int) -> "Extent":
        """No further than this record."""
        return self._replace(sequence=sequence if self.sequence is None else min(sequence, self.sequence))


ALL = Extent()

#: From when to when something was under way: nanoseconds since 1970.
Span = tuple[int, int]


class Places(NamedTuple):
    """Where things stand in a trace, so that no more of it is opened than has something of them.

    `logs` has the segments that each log is in, `spans` those that have requests, and from when to when those were
    under way.
    """

    logs: Mapping[bytes, Collection[int]]
    spans: Mapping[int, Span]


class Picked(NamedTuple):
    """A record, and the header of its segment."""

    header: Header
    record: Record


def pick(
    trace: Trace,
    wanted: Collection[bytes],
    extent: Extent = ALL,
    places: Mapping[bytes, Collection[int]] | None = None,
) -> Iterator[Picked]:
    """The records of some requests or files, each one's in order; of a seal, one is unpacked at a time.

    `places` are the segments that each of them is in; without, any may be.
    """
    known = None if places is None else {number for one in wanted for number in places.get(one, ())}
    for segment in segments(trace, known) if wanted else ():
        try:
            for record in _records(segment, wanted):
                if extent.has(record):
                    yield Picked(segment.header, record)
        except TraceError:
            continue


def segments(trace: Trace, numbers: Collection[int] | None = None) -> Iterator[Segment]:
    """Those of some segments that are there, or of all."""
    for place in trace.places() if numbers is None or numbers else ():
        if numbers is None or place.number in numbers:
            try:
                content = trace.open(place)
            except TraceError:
                continue
            if isinstance(content, Segment):
                yield content


def _records(segment: Segment, wanted: Collection[bytes]) -> Iterator[Record]:
    if not segment.is_sealed:
        yield from (record for record in segment.records() if record.request in wanted)
        return
    for one in wanted:
        if segment.may_have(one):
            yield from segment.pick([one])
