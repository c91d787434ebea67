"""Whose answers a trace has: the provider's ids of them, by the session of the client that asked.

Looked at are requests that were under way about when a log tells of an answer: their heads, and few bodies, those of
requests that were under way just when a log tells of an answer by its id alone.
"""

import bisect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from blackbird.canon import reading
from blackbird.exchange import payloads
from blackbird.exchange.assemble import Part, assemble
from blackbird.exchange.clock import Clock
from blackbird.sessions.links import sender_of
from blackbird.timeline.copies import Line
from blackbird.timeline.picking import ALL, Extent, Span, pick, segments
from blackbird.timeline.session import ENDS, FAULTS
from blackbird.trace import ids
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.header import Header
from blackbird.trace.records import Kind, Record, read_object
from blackbird.trace.segment import Segment

#: How long after an answer a client may write it down, and how far its clock may be off before.
_LATE = 10_000_000_000
_EARLY = 1_000_000_000
#: How far apart the clocks may be if a log has the very id of the request.
_APART = 3_600_000_000_000

#: Ids of answers, by the client's id of the session.
Sent = dict[str, set[str]]


def read(
    trace: Trace,
    requests: Collection[bytes],
    lines: Iterable[Line],
    extent: Extent = ALL,
    spans: Mapping[int, Span] | None = None,
) -> Sent:
    """The answers of a trace that some lines may tell of. `requests` are those of the session that the lines are of.

    Requests without a client's id say nothing: whoever sent them may be that session. `spans` has the segments with
    requests, and when those were under way; without, any segment may have some.
    """
    told = [line for line in lines if line.answers and line.at is not None]
    times = sorted(line.at for line in told if line.at is not None)
    heads = _Heads(extent)
    numbers = around(spans, times) if spans is not None else None
    for segment in segments(trace, numbers) if times else ():
        heads.take(segment)
    bare = sorted(line.at for line in told if line.request is None and line.at is not None)
    mine = {at for key in requests if key in heads.known for at in _during(heads.known[key], bare)}
    unexplained = [at for at in bare if at not in mine]
    others = ((key, request) for key, request in heads.known.items() if key not in requests)
    near = {key for key, request in others if _during(request, unexplained)}
    places = dict.fromkeys(near, numbers) if numbers is not None else None
    for key, answer in _answers(trace, near, extent, places):
        heads.known[key].answers.add(answer)
    sent: Sent = {}
    for request in heads.known.values():
        if _during(request, times, early=_APART, late=_APART):
            sent.setdefault(request.session, set()).update(request.answers)
    return sent


def around(spans: Mapping[int, Span], times: Sequence[int]) -> frozenset[int]:
    """The segments that have something of the requests that were under way around some times, which are in order.

    One that was under way before and after has pieces in all segments between.
    """
    found: set[int] = set()
    for first, last in _stretches(times):
        touched = [number for number, (began, ended) in spans.items() if began <= last and ended >= first]
        found.update(range(min(touched), max(touched) + 1) if touched else ())
    return frozenset(found)


def _stretches(times: Sequence[int]) -> list[Span]:
    """The times with all around them, those that touch in one."""
    found: list[Span] = []
    for at in times:
        first = at - _APART
        if found and first <= found[-1][1]:
            first = found.pop()[0]
        found.append((first, at + _APART))
    return found


class _Request(msgspec.Struct):
    """A request: the client's id of its session, when it began and ended, and the ids of what it got."""

    session: str
    began: int
    ended: int
    answers: set[str]


class _Heads:
    """What the heads of requests and answers tell, segment by segment."""

    def __init__(self, extent: Extent) -> None:
        self._extent = extent
        self.known: dict[bytes, _Request] = {}

    def take(self, segment: Segment) -> None:
        """All heads of a segment; the survey has named it already if it cannot be read."""
        clock = Clock(segment.header)
        try:
            for record in _heads(segment):
                clock.take(record)
                if self._extent.has(record):
                    self._take(record, clock.wall(record))
        except TraceError:
            return

    def _take(self, record: Record, wall: int) -> None:
        if record.kind == Kind.REQUEST_START:
            session = sender_of(read_object(record) or {}).links.session
            if session is not None:
                self.known[record.request] = _Request(session, wall, wall, set())
            return
        request = self.known.get(record.request)
        if request is None:
            return
        request.ended = max(request.ended, wall)
        if record.kind == Kind.RESPONSE_START:
            answer = reading.provider_request(payloads.headers(read_object(record) or {}))
            request.answers.update(() if answer is None else (answer,))


def _heads(segment: Segment) -> Iterator[Record]:
    """All but bodies; of a seal request by request, since to put its records in order takes longer."""
    if not segment.is_sealed:
        yield from (record for record in segment.records(bodies=False) if record.payload is not None)
        return
    for request in (ids.ZERO, *segment.requests()):
        yield from (record for record in segment.pick([request], bodies=False) if record.payload is not None)


def _during(request: _Request, times: Sequence[int], *, early: int = _EARLY, late: int = _LATE) -> Sequence[int]:
    """Those of some times, which are in order, when a request was under way."""
    first = bisect.bisect_left(times, request.began - early)
    return times[first : bisect.bisect_right(times, request.ended + late, lo=first)]


def _answers(
    trace: Trace, wanted: Collection[bytes], extent: Extent, places: Mapping[bytes, Collection[int]] | None
) -> Iterator[tuple[bytes, str]]:
    """The ids of the answers to some requests."""
    under_way: dict[bytes, list[tuple[Header, list[Record]]]] = {}
    for header, record in pick(trace, wanted, extent, places):
        pieces = under_way.setdefault(record.request, [])
        if not pieces or pieces[-1][0].number != header.number:
            pieces.append((header, []))
        pieces[-1][1].append(record)
        if record.kind in ENDS:
            yield from _told(record.request, under_way.pop(record.request))
    for request, pieces in under_way.items():
        yield from _told(request, pieces)


def _told(request: bytes, pieces: Iterable[tuple[Header, list[Record]]]) -> Iterator[tuple[bytes, str]]:
    exchange = assemble([Part(header, Clock(header), records) for header, records in pieces], None)
    try:
        replies = [seen.reply for seen in reading.read(exchange)]
    except FAULTS:
        # Whoever has the request tells what is wrong with it; nothing is known of its answer.
        return
    yield from (
        (request, reply.response_id) for reply in replies if reply is not None and reply.response_id is not None
    )
