"""Whose answers a trace has: the provider's ids of them, by the session of the client that asked.

Heads are read, and few bodies: those of requests that were under way when a log tells of an answer by its id alone.
"""

import bisect
from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from blackbird.canon import reading
from blackbird.exchange import payloads
from blackbird.exchange.assemble import Part, assemble
from blackbird.exchange.clock import Clock
from blackbird.sessions.links import sender_of
from blackbird.timeline.copies import Line
from blackbird.timeline.picking import pick
from blackbird.timeline.session import ENDS
from blackbird.trace import ids
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.header import Header
from blackbird.trace.records import Kind, Record, read_object
from blackbird.trace.segment import Segment

#: How long after an answer a client may write it down, and how far its clock may be off before.
_LATE = 10_000_000_000
_EARLY = 1_000_000_000

#: Ids of answers, by the client's id of the session.
Sent = dict[str, set[str]]


def read(trace: Trace, requests: Collection[bytes], lines: Iterable[Line]) -> Sent:
    """The answers of a trace. `requests` are those of the session that the lines are of.

    Requests without a client's id say nothing: whoever sent them may be that session.
    """
    heads = _Heads()
    for segment in trace.segments():
        if isinstance(segment, Segment):
            heads.take(segment)
    bare = sorted(line.at for line in lines if line.answer and line.request is None and line.at is not None)
    mine = {at for key in requests if key in heads.known for at in _during(heads.known[key], bare)}
    unexplained = [at for at in bare if at not in mine]
    others = ((key, request) for key, request in heads.known.items() if key not in requests)
    near = {key for key, request in others if _during(request, unexplained)}
    for key, answer in _answers(trace, near):
        heads.sent.setdefault(heads.known[key].session, set()).add(answer)
    return heads.sent


class _Request(msgspec.Struct):
    """A request: the client's id of its session, and when it began and ended; nanoseconds since 1970."""

    session: str
    began: int
    ended: int


class _Heads:
    """What the heads of requests and answers tell, segment by segment."""

    def __init__(self) -> None:
        self.known: dict[bytes, _Request] = {}
        self.sent: Sent = {}

    def take(self, segment: Segment) -> None:
        """All heads of a segment; the survey has named it already if it cannot be read."""
        clock = Clock(segment.header)
        try:
            for record in _heads(segment):
                clock.take(record)
                self._take(record, clock.wall(record))
        except TraceError:
            return

    def _take(self, record: Record, wall: int) -> None:
        if record.kind == Kind.REQUEST_START:
            session = sender_of(read_object(record) or {}).links.session
            if session is not None:
                self.known[record.request] = _Request(session, wall, wall)
            return
        request = self.known.get(record.request)
        if request is None:
            return
        request.ended = max(request.ended, wall)
        if record.kind == Kind.RESPONSE_START:
            answer = reading.provider_request(payloads.headers(read_object(record) or {}))
            self.sent.setdefault(request.session, set()).update(() if answer is None else (answer,))


def _heads(segment: Segment) -> Iterator[Record]:
    """All but bodies; of a seal request by request, since to put its records in order takes longer."""
    if not segment.is_sealed:
        yield from (record for record in segment.records(bodies=False) if record.payload is not None)
        return
    for request in (ids.ZERO, *segment.requests()):
        yield from (record for record in segment.pick([request], bodies=False) if record.payload is not None)


def _during(request: _Request, times: Sequence[int]) -> Sequence[int]:
    """Those of some times, which are in order, when a request was under way."""
    first = bisect.bisect_left(times, request.began - _EARLY)
    return times[first : bisect.bisect_right(times, request.ended + _LATE, lo=first)]


def _answers(trace: Trace, wanted: Collection[bytes]) -> Iterator[tuple[bytes, str]]:
    """The ids of the answers to some requests."""
    under_way: dict[bytes, list[tuple[Header, list[Record]]]] = {}
    for header, record in pick(trace, wanted):
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
    for seen in reading.read(exchange):
        if seen.reply is not None and seen.reply.response_id is not None:
            yield request, seen.reply.response_id
