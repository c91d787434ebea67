"""Which requests a trace has, newest first as they are looked for, and one of them with its bodies."""

from collections.abc import Iterator

import msgspec

from blackbird.exchange.assemble import Part, assemble
from blackbird.exchange.clock import Clock
from blackbird.exchange.exchange import Exchange
from blackbird.trace import ids
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind, Record
from blackbird.trace.segment import Segment


class Selection(msgspec.Struct, frozen=True):
    """Which exchanges are wanted; `since` is in nanoseconds since 1970, `limit` takes the newest."""

    session: str | None = None
    task: str | None = None
    run: str | None = None
    since: int | None = None
    limit: int | None = None

    def has(self, exchange: Exchange) -> bool:
        """Whether an exchange is one of them."""
        if self.since is not None and (exchange.started_ns is None or exchange.started_ns < self.since):
            return False
        pairs = ((self.session, exchange.session), (self.task, exchange.task), (self.run, exchange.run))
        return all(wanted in (None, found) for wanted, found in pairs)


class Listing(msgspec.Struct, frozen=True):
    """Exchanges without their bodies, oldest first, and the segments that could not be read."""

    exchanges: list[Exchange]
    problems: list[TraceError]


def recent(trace: Trace, selection: Selection, live: bytes | None = None) -> Listing:
    """The newest exchanges that were asked for.

    Goes back from the newest segment and stops when there are enough: an exchange is placed by its first record, so
    nothing in an older segment is newer. With `since`, it stops behind the first segment that is older throughout.
    """
    walk = _Walk(live)
    found: list[Exchange] = []
    for exchanges in walk.back(trace):
        found += [exchange for exchange in exchanges if selection.has(exchange)]
        is_old = exchanges and all(_is_before(exchange, selection.since) for exchange in exchanges)
        if is_old or (selection.limit is not None and len(found) >= selection.limit):
            break
    else:
        found += [exchange for exchange in walk.rest() if selection.has(exchange)]
    found.sort(key=lambda exchange: exchange.provenance.first_sequence)
    return Listing(found if selection.limit is None else found[-selection.limit :], walk.problems)


def matching(trace: Trace, prefix: str) -> list[bytes]:
    """The requests whose id starts so (26 characters of it: the very one), oldest first."""
    found: dict[bytes, None] = {}
    for segment in trace.segments(newest_first=True):
        if isinstance(segment, Segment):
            wanted = [request for request in segment.requests() if ids.to_text(request).startswith(prefix)]
            found.update(dict.fromkeys(request for request in wanted if _is_exchange(segment, request)))
    return sorted(found)


def load(trace: Trace, request: bytes, live: bytes | None = None, *, bodies: bool = True) -> Exchange | None:
    """One exchange, with its bodies if asked for; of sealed segments, only its own parts are unpacked."""
    parts: list[Part] = []
    for segment in trace.segments(newest_first=True):
        if isinstance(segment, TraceError) or not segment.may_have(request):
            continue
        clock = Clock(segment.header)
        records = []
        for record in segment.pick([request, ids.ZERO], bodies=bodies):
            clock.take(record)
            if record.request == request:
                records.append(record)
        if records:
            parts.insert(0, Part(segment.header, clock, records))
        if any(record.kind == Kind.REQUEST_START for record in records):
            break
    return assemble(parts, live) if parts else None


def _is_exchange(segment: Segment, request: bytes) -> bool:
    """Whether an id is that of a request, and not of an imported log, which is nothing but lines."""
    return any(record.kind != Kind.NATIVE_LINE for record in segment.pick([request], bodies=False)[:1])


def _is_before(exchange: Exchange, since: int | None) -> bool:
    return since is not None and exchange.started_ns is not None and exchange.started_ns < since


class _Walk:
    """Goes back through the segments, and hands out each exchange when its first record was reached."""

    def __init__(self, live: bytes | None) -> None:
        self._live = live
        self._open: dict[bytes, list[Part]] = {}
        self.problems: list[TraceError] = []

    def back(self, trace: Trace) -> Iterator[list[Exchange]]:
        """The exchanges that started in each segment, from the newest segment on."""
        for segment in trace.segments(newest_first=True):
            if isinstance(segment, TraceError):
                self.problems.append(segment)
                continue
            yield [assemble(self._open.pop(request), self._live) for request in self._take(segment)]

    def rest(self) -> list[Exchange]:
        """The exchanges whose first records are gone."""
        return [assemble(parts, self._live) for parts in self._open.values()]

    def _take(self, segment: Segment) -> list[bytes]:
        clock = Clock(segment.header)
        groups: dict[bytes, list[Record]] = {}
        try:
            for record in segment.records(bodies=False):
                if record.request == ids.ZERO:
                    clock.take(record)
                elif record.kind != Kind.NATIVE_LINE:
                    groups.setdefault(record.request, []).append(record)
        except TraceError as error:
            self.problems.append(error)
        for request, records in groups.items():
            self._open.setdefault(request, []).insert(0, Part(segment.header, clock, records))
        return [
            request
            for request, records in groups.items()
            if any(record.kind == Kind.REQUEST_START for record in records)
        ]
