"""How large a trace is, from when to when it goes, and what is pinned in it."""

import msgspec

from blackbird.exchange.clock import Clock, to_rfc3339
from blackbird.exchange.pins import pins_in_force
from blackbird.trace import ids
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind, Record
from blackbird.trace.segment import Segment, State


class Summary(msgspec.Struct, frozen=True):
    """What there is. Sizes are in bytes; `sealed_raw_bytes` is what the sealed segments were before."""

    segments: int
    sealed: int
    gone: int
    written_bytes: int
    sealed_bytes: int
    sealed_raw_bytes: int
    oldest: str | None
    newest: str | None
    pins: list[str]
    free_bytes: int | None
    unreadable: list[str]

    @property
    def ratio(self) -> float | None:
        """How many times smaller sealing made what is sealed."""
        return round(self.sealed_raw_bytes / self.sealed_bytes, 1) if self.sealed_bytes else None


def summarise(trace: Trace) -> Summary:
    """Look at each segment; of sealed ones, only at what belongs to no request."""
    places = trace.places()
    opened = list(trace.segments())
    segments = [segment for segment in opened if isinstance(segment, Segment)]
    unreadable = [segment.message for segment in opened if isinstance(segment, TraceError)]
    events: list[Record] = []
    for segment in segments:
        try:
            events += _events(segment)
        except TraceError as error:
            unreadable.append(error.message)
    sizes = {state: sum(place.size for place in places if place.state is state) for state in State}
    counts = {state: sum(place.state is state for place in places) for state in State}
    return Summary(
        segments=counts[State.WRITTEN] + counts[State.SEALED],
        sealed=counts[State.SEALED],
        gone=counts[State.GONE],
        written_bytes=sizes[State.WRITTEN],
        sealed_bytes=sizes[State.SEALED],
        sealed_raw_bytes=sum(segment.raw_size for segment in segments if segment.is_sealed),
        oldest=to_rfc3339(segments[0].header.wall) if segments else None,
        newest=_newest(segments[-1]) if segments else None,
        pins=pins_in_force(events),
        free_bytes=trace.free_bytes(),
        unreadable=unreadable,
    )


def _events(segment: Segment) -> list[Record]:
    return [record for record in segment.pick([ids.ZERO], bodies=False) if record.kind == Kind.HARNESS_EVENT]


def _newest(segment: Segment) -> str | None:
    """When the last record was written that can be read."""
    clock = Clock(segment.header)
    newest = segment.header.wall
    try:
        for record in segment.records(bodies=False):
            clock.take(record)
            newest = clock.wall(record)
    except TraceError:
        return to_rfc3339(newest)
    return to_rfc3339(newest)
