"""Reads what a trace has of one session, in order, and makes its timeline: once, or as it grows."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from blackbird.exchange import payloads
from blackbird.exchange.clock import Clock
from blackbird.imports import files, sources
from blackbird.imports.sources import Source, Sources
from blackbird.sessions import rows, survey
from blackbird.sessions.choice import choose
from blackbird.sessions.follow import Follower
from blackbird.sessions.links import sender_of
from blackbird.timeline import forms, relatives
from blackbird.timeline.picking import ALL, Extent, Places
from blackbird.timeline.scopes import Scope, Scopes, Subject
from blackbird.timeline.session import News, Session
from blackbird.timeline.timeline import Timeline
from blackbird.trace import ids
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.header import Header
from blackbird.trace.records import Kind, Record, read_object
from blackbird.trace.segment import Place, Segment
from blackbird.trace.tombstones import Tombstone
from blackbox.errors import BlackboxError, ReadError
from blackbox.redaction.config import load_redactor

#: The rules for traffic, as the recorder has them.
_PROFILE = "wire"


class Wanted(NamedTuple):
    """A session that is asked for, and the segments that have something of it; None: any may."""

    scope: Scope
    segments: frozenset[int] | None = None
    #: Where logs and requests stand, which tell whose its lines are.
    places: Places | None = None


class Gathered:
    """A session as far as it was read; it can take more."""

    def __init__(self, scope: Scope, session: Session) -> None:
        self.scope = scope
        self.session = session
        self.news: News = []
        self.problems: list[BlackboxError] = list(scope.problems)

    @property
    def can_grow(self) -> bool:
        """Whether more can be taken. What a log waits for was handed out as if nothing came any more, and which of
        its lines are its own may look otherwise with the next."""
        return not self.scope.sources

    def take(self, header: Header, clock: Clock, record: Record) -> None:
        """A record of its requests, logs and statements, in the order of the trace."""
        if record.request == ids.ZERO and record.kind == Kind.TOOL_EVENT:
            self.session.tool_event(header, record, clock.wall(record))
        elif record.request == ids.ZERO:
            self.session.statement(header, record, clock.wall(record))
        elif record.kind == Kind.NATIVE_LINE:
            self.news += self.session.line(self.scope.sources[record.request], header, record)
        else:
            self.news += self.session.record(header, clock, record)

    def timeline(self) -> Timeline:
        """All so far."""
        faults = (f"{fault.source}: {fault.message}" for fault in self.session.faults)
        told = dict.fromkeys([*(problem.message for problem in self.problems), *faults])
        return self.session.timeline(self.news, told)


def scopes(trace: Trace) -> list[Scope]:
    """All sessions of a trace, newest first."""
    found = survey.survey(trace)
    known = found.rows.rows()
    finder = Scopes(known, sources.find(trace).current())
    return [finder.of(row, found.rows.requests(row), found.problems) for row in known]


def scope(trace: Trace, name: str | None) -> Scope:
    """The session that an id names: its own, a run's or a client's, whole or by its start; else the newest."""
    found = survey.survey(trace)
    known = found.rows.rows()
    row = choose(known, name)
    return Scopes(known, sources.find(trace).current()).of(row, found.rows.requests(row), found.problems)


def load(trace: Trace, name: str | None = None, *, live: bytes | None = None) -> Timeline:
    """The timeline of a session."""
    return read(trace, scope(trace, name), live=live)


def read(trace: Trace, wanted: Scope, *, live: bytes | None = None) -> Timeline:
    """The timeline of what a scope has."""
    found = next(gather(trace, [Wanted(wanted)], live=live))
    gone = next((problem for problem in found.problems if isinstance(problem, ReadError)), None)
    if not found.news and gone is not None:
        # A session of which nothing is left must not look like one in which nothing happened.
        raise ReadError(f"{gone.message}; the log was not kept in the trace", "bring the file back to where it was")
    return found.timeline()


def gather(
    trace: Trace, wanted: Iterable[Wanted], *, extent: Extent = ALL, live: bytes | None = None
) -> Iterator[Gathered]:
    """What a trace has of some sessions, in one go through it; each is handed out when there is no more of it."""
    redact = _redactor()
    waiting = [_Reading(each, _session(trace, each, redact, extent, live)) for each in wanted]
    for place in trace.places():
        for each in [each for each in waiting if each.ends_before(place.number)]:
            waiting.remove(each)
            yield each.end(extent)
        here = [each for each in waiting if each.is_in(place.number)]
        if here:
            _read_segment(trace, place, here, extent)
    yield from (each.end(extent) for each in waiting)


class _Reading:
    """A session that is being read."""

    def __init__(self, wanted: Wanted, session: Session) -> None:
        self._segments = wanted.segments
        self.found = Gathered(wanted.scope, session)

    def is_in(self, number: int) -> bool:
        """Whether a segment may have something of it."""
        return self._segments is None or number in self._segments

    def ends_before(self, number: int) -> bool:
        """Whether this segment and those behind it have nothing of it."""
        return self._segments is not None and max(self._segments, default=0) < number

    def end(self, extent: Extent) -> Gathered:
        found = self.found
        for source in found.scope.sources.values():
            if not source.is_kept:
                try:
                    found.news += _outside(found.session, source)
                except ReadError as error:
                    found.problems.append(error)
        if extent.instance is None:
            found.news += found.session.rest(found.news)
        else:
            found.news += found.session.interrupted(extent.instance)
            found.news += found.session.waiting(found.news)
        return found


class Following:
    """A session as it grows: what is new at each look, and the timeline so far.

    `name` is a whole id, of a session, a run or a client's own. What was recorded before the first look is new at it.
    """

    def __init__(self, folder: Path, name: str, *, live: bytes | None = None, segment: int = 1) -> None:
        self._follower = Follower(folder, segment=segment)
        self._names = {name}
        self._session = Session(name, _redactor(), live=live, names=self._names)
        self._requests: dict[bytes, bool] = {}
        self._sources = Sources()
        self._files: dict[bytes, Source] = {}
        self._news: News = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._follower.close()

    @property
    def timeline(self) -> Timeline:
        """All so far."""
        return self._session.timeline(self._news, [problem.message for problem in self._follower.problems])

    def poll(self) -> News:
        """The items that are new, and what turned out about earlier ones."""
        news: News = []
        for header, clock, record in self._follower.read():
            if record.request == ids.ZERO:
                self._hear(header, clock, record)
            elif record.kind == Kind.NATIVE_LINE:
                source = self._files.get(record.request)
                if source is not None and source.native_session in self._names:
                    news += self._session.line(source, header, record)
            elif self._is_mine(record):
                news += self._session.record(header, clock, record)
        self._news += news
        return news

    def close(self) -> News:
        """What was still under way when nobody wanted to wait for more."""
        news = self._session.rest()
        self._news += news
        return news

    def _hear(self, header: Header, clock: Clock, record: Record) -> None:
        if record.kind == Kind.TOOL_EVENT:
            session, run, native = Subject.of(read_object(record) or {})
            if (run or session or native) in self._names or (run is not None and session in self._names):
                self._session.tool_event(header, record, clock.wall(record))
        if record.kind == Kind.HARNESS_EVENT:
            fields = read_object(record) or {}
            if fields.get("event") == sources.OPEN:
                self._sources.take(record)
                self._files = {source.key: source for source in self._sources.all()}
            if self._knows(payloads.text(fields, "session"), payloads.text(fields, "run")):
                self._session.statement(header, record, clock.wall(record))

    def _is_mine(self, record: Record) -> bool:
        """Whether the request belongs to the session, which its start says."""
        known = self._requests.get(record.request)
        if known is None:
            fields = (read_object(record) or {}) if record.kind == Kind.REQUEST_START else {}
            links = sender_of(fields).links
            filing = rows.file_under(fields, links)
            run = payloads.text(fields, "run") if filing.attribution == rows.REGISTERED else None
            known = self._requests[record.request] = self._knows(filing.session, run, links.session)
        return known

    def _knows(self, *names: str | None) -> bool:
        """Whether one of these names the session; then the others do, too."""
        given = {name for name in names if name is not None}
        if self._names.isdisjoint(given):
            return False
        self._names |= given
        return True


def _session(
    trace: Trace, wanted: Wanted, redact: Callable[[str], str], extent: Extent, live: bytes | None
) -> Session:
    scope = wanted.scope
    before = relatives.before(trace, scope.case, extent, wanted.places)
    other = forms.part(scope.sources.values(), is_recorded=bool(scope.requests))
    return Session(scope.name, redact, live=live, names=scope.names, before=before, share=scope.share, forms=other)


def _read_segment(trace: Trace, place: Place, here: Sequence[_Reading], extent: Extent) -> None:
    """What a segment has of some sessions, in order. What cannot be read is a problem of each of them."""
    try:
        segment = trace.open(place)
        if isinstance(segment, Tombstone):
            return
        for each in here:
            each.found.news += each.found.session.interrupted(segment.header.instance)
        owners = _owners(here)
        for clock, record in _records(segment, owners, extent):
            for found in owners[record.request] if record.request != ids.ZERO else _stated(record, owners[ids.ZERO]):
                found.take(segment.header, clock, record)
    except TraceError as error:
        for each in here:
            each.found.problems.append(error)


def _stated(record: Record, known: Iterable[Gathered]) -> list[Gathered]:
    """Those of some sessions that something was stated of, or whose tool did something."""
    if record.kind not in (Kind.HARNESS_EVENT, Kind.TOOL_EVENT):
        return []
    about = Subject.of(read_object(record) or {})
    is_tool = record.kind == Kind.TOOL_EVENT
    return [each for each in known if (each.scope.has_used(about) if is_tool else each.scope.has_stated(about))]


def _owners(here: Iterable[_Reading]) -> dict[bytes, list[Gathered]]:
    """Whose the records of each request and log are; what was stated may be anybody's."""
    owners: dict[bytes, list[Gathered]] = {ids.ZERO: [each.found for each in here]}
    for each in here:
        for key in (*each.found.scope.requests, *each.found.scope.sources):
            owners.setdefault(key, []).append(each.found)
    return owners


def _records(segment: Segment, owners: Container[bytes], extent: Extent) -> Iterator[tuple[Clock, Record]]:
    """The records of some requests and logs, each request at the latest when its end is due.

    A seal is read request by request, so that no more than one is unpacked at a time.
    """
    clock = Clock(segment.header)
    if not segment.is_sealed:
        for record in segment.records():
            clock.take(record)
            if record.request in owners and extent.has(record):
                yield clock, record
        return
    for record in segment.pick([ids.ZERO], bodies=False):
        clock.take(record)
    files: dict[bytes, Iterator[Record]] = {}
    for _, key, is_whole in sorted(_due(segment, owners, extent)):
        if is_whole:
            yield from ((clock, record) for record in segment.pick([key]) if extent.has(record))
            continue
        if key not in files:
            files[key] = iter(segment.pick([key]))
        yield clock, next(files[key])


def _due(segment: Segment, owners: Container[bytes], extent: Extent) -> Iterator[tuple[int, bytes, bool]]:
    """When each request ends, and where each other record stands: sequences, without any body."""
    for key in (ids.ZERO, *segment.requests()):
        if key not in owners:
            continue
        records = [record for record in segment.pick([key], bodies=False) if extent.has(record)]
        if records and key != ids.ZERO and records[0].kind != Kind.NATIVE_LINE:
            yield records[-1].sequence, key, True
        else:
            yield from ((record.sequence, key, False) for record in records)


def _outside(session: Session, source: Source) -> News:
    """A file that was left outside of the trace, as it is now. Raises `ReadError`."""
    redact = _redactor()
    news: News = []
    for line in files.read(Path(source.path), is_document=source.is_document):
        news += session.imported(source, line._replace(text=redact(line.text)))
    return news


def _redactor() -> Callable[[str], str]:
    redactor = load_redactor().for_profile(_PROFILE)
    return lambda text: redactor.redact(text).text
