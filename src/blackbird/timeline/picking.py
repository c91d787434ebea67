"""Some of a trace's records; what cannot be read is passed over, since the survey has named it."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.header import Header
from blackbird.trace.records import Record
from blackbird.trace.segment import Segment


class Picked(NamedTuple):
    """A record, and the header of its segment."""

    header: Header
    record: Record


def pick(trace: Trace, wanted: Collection[bytes]) -> Iterator[Picked]:
    """The records of some requests or files, each one's in order; of a seal, one is unpacked at a time."""
    for segment in trace.segments() if wanted else ():
        if not isinstance(segment, Segment):
            continue
        try:
            yield from (Picked(segment.header, record) for record in _records(segment, wanted))
        except TraceError:
            continue


def _records(segment: Segment, wanted: Collection[bytes]) -> Iterator[Record]:
    if not segment.is_sealed:
        yield from (record for record in segment.records() if record.request in wanted)
        return
    for one in wanted:
        if segment.may_have(one):
            yield from segment.pick([one])
