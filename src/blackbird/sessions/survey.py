"""Reads a trace for its sessions: all rows, or one session in detail. Goes through it record by record."""

from collections.abc import Iterator

import msgspec

from blackbird.exchange.clock import Clock
from blackbird.sessions.detail import Detail
from blackbird.sessions.rows import Row, Rows
from blackbird.trace import ids
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind, Record
from blackbird.trace.segment import Segment

_ENDS = frozenset({int(Kind.RESPONSE_END), int(Kind.ERROR)})


class Survey(msgspec.Struct, frozen=True):
    """The rows of a trace, and the segments that could not be read."""

    rows: Rows
    problems: list[TraceError]


def survey(trace: Trace, since: int | None = None) -> Survey:
    """All sessions; with `since` (nanoseconds since 1970), what they did from then on.

    Of segments that ended before, only what was stated is read: whose session it is, and its goal.
    """
    rows, problems = Rows(since), []
    for segment, following in _with_next(trace):
        if isinstance(segment, TraceError):
            problems.append(segment)
            continue
        try:
            if since is not None and following is not None and following.header.wall < since:
                for record in segment.pick([ids.ZERO], bodies=False):
                    rows.hear(record)
            else:
                _count(rows, segment, since)
        except TraceError as error:
            problems.append(error)
    return Survey(rows, problems)


def _with_next(trace: Trace) -> Iterator[tuple[Segment | TraceError, Segment | None]]:
    """Each segment with the one behind it, if that can be read."""
    previous: Segment | TraceError | None = None
    for segment in trace.segments():
        if previous is not None:
            yield previous, segment if isinstance(segment, Segment) else None
        previous = segment
    if previous is not None:
        yield previous, None


def _count(rows: Rows, segment: Segment, since: int | None) -> None:
    clock = Clock(segment.header)
    for record in _grouped(segment, bodies=False):
        # That a piece of a body came is told by the end of its request as well.
        if record.payload is None:
            rows.weigh(record)
            continue
        clock.take(record)
        wall = clock.wall(record)
        if since is None or _is_wanted(rows, record, wall, since):
            rows.take(record, wall)
        elif record.request == ids.ZERO:
            rows.hear(record)


def _is_wanted(rows: Rows, record: Record, wall: int, since: int) -> bool:
    """A request counts by its start: one that began before is none of those that are asked for."""
    is_first = record.request == ids.ZERO or record.kind == Kind.REQUEST_START
    return wall >= since if is_first else rows.has(record.request)


def examine(trace: Trace, found: Survey, row: Row) -> Detail:
    """One session in detail; only its own requests are read with their bodies."""
    wanted = frozenset(found.rows.requests(row))
    detail = Detail(row)
    for segment in trace.segments():
        if isinstance(segment, TraceError):
            continue
        clock = Clock(segment.header)
        try:
            for record in _grouped(segment, wanted):
                clock.take(record)
                detail.take(record, clock.wall(record))
        except TraceError:
            # It is among the problems of the survey already.
            continue
    return detail


def _grouped(segment: Segment, wanted: frozenset[bytes] | None = None, *, bodies: bool = True) -> Iterator[Record]:
    """What belongs to no request, and some or all requests.

    A seal is read request by request: to put its records in order takes longer, and all may be too many.
    """
    if not segment.is_sealed:
        for record in segment.records(bodies=bodies):
            if wanted is None or record.request in wanted or record.request == ids.ZERO:
                yield record
        return
    for request in (ids.ZERO, *segment.requests()):
        if wanted is None or request in wanted or request == ids.ZERO:
            records = segment.pick([request], bodies=bodies)
            if not bodies and records and records[-1].kind in _ENDS:
                # The end has the sizes of both bodies.
                records = [record for record in records if record.payload is not None]
            yield from records
