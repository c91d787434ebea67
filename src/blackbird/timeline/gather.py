"""Reads what a trace has of one session, in order, and makes its timeline: once, or as it grows."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Self

from blackbird.canon import natives
from blackbird.canon.model import Evidence, Side
from blackbird.exchange import payloads
from blackbird.exchange.clock import Clock
from blackbird.imports import files, kept, sources
from blackbird.imports.sources import Source, Sources
from blackbird.sessions import rows, survey, view
from blackbird.sessions.choice import choose
from blackbird.sessions.follow import Follower
from blackbird.sessions.links import sender_of
from blackbird.sessions.rows import Row
from blackbird.timeline.session import WHOLE, News, Session, Share
from blackbird.timeline.timeline import Timeline
from blackbird.trace import ids
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.header import Header
from blackbird.trace.records import Kind, Record, read_object
from blackbird.trace.segment import Segment
from blackbox.errors import BlackboxError, ReadError
from blackbox.redaction.config import load_redactor

#: The rules for traffic, as the recorder has them.
_PROFILE = "wire"


class Scope(NamedTuple):
    """What belongs to a session: its requests, the files that were imported for it, and what it is called."""

    name: str
    row: Row
    requests: frozenset[bytes]
    sources: dict[bytes, Source]
    #: Files of other sessions, taken in earlier, that some of these go on from: a client copies what it goes on from.
    relatives: dict[bytes, Source]
    problems: list[TraceError]
    #: What of those files is this session's, if a client went on with one in several.
    share: Share = WHOLE


def scopes(trace: Trace) -> list[Scope]:
    """All sessions of a trace, newest first."""
    found, taken = survey.survey(trace), sources.find(trace).current()
    known = found.rows.rows()
    return [_scope(found, known, row, taken) for row in known]


def scope(trace: Trace, name: str | None) -> Scope:
    """The session that an id names: its own, a run's or a client's, whole or by its start; else the newest."""
    found = survey.survey(trace)
    known = found.rows.rows()
    return _scope(found, known, choose(known, name), sources.find(trace).current())


def load(trace: Trace, name: str | None = None, *, live: bytes | None = None) -> Timeline:
    """The timeline of a session."""
    return read(trace, scope(trace, name), live=live)


def read(trace: Trace, wanted: Scope, *, live: bytes | None = None) -> Timeline:
    """The timeline of what a scope has."""
    told = _told(trace, wanted.relatives)
    session = Session(wanted.name, _redactor(), live=live, told=told, share=wanted.share)
    news: News = []
    problems: list[BlackboxError] = list(wanted.problems)
    for segment in trace.segments():
        if isinstance(segment, TraceError):
            continue
        try:
            for step in _steps(segment, wanted):
                news += _take(session, wanted, step)
        except TraceError as error:
            problems.append(error)
    for source in wanted.sources.values():
        if not source.is_kept:
            try:
                news += _outside(session, source)
            except ReadError as error:
                problems.append(error)
    news += session.rest()
    gone = next((problem for problem in problems if isinstance(problem, ReadError)), None)
    if not news and gone is not None:
        # A session of which nothing is left must not look like one in which nothing happened.
        raise ReadError(f"{gone.message}; the log was not kept in the trace", "bring the file back to where it was")
    return session.timeline(news, dict.fromkeys(problem.message for problem in problems))


class Following:
    """A session as it grows: what is new at each look, and the timeline so far.

    `name` is a whole id, of a session, a run or a client's own. What was recorded before the first look is new at it.
    """

    def __init__(self, folder: Path, name: str, *, live: bytes | None = None, segment: int = 1) -> None:
        self._follower = Follower(folder, segment=segment)
        self._session = Session(name, _redactor(), live=live)
        self._names = {name}
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
            fields = read_object(record) or {}
            run, native = payloads.text(fields, "run"), payloads.text(fields, "native_session")
            whose = payloads.text(fields, "session")
            if (run or whose or native) in self._names or (run is not None and whose in self._names):
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


class _Step(NamedTuple):
    """A record in its place; of a request in a seal, its last with all that came before."""

    header: Header
    clock: Clock
    records: list[Record]


def _scope(found: survey.Survey, known: list[Row], row: Row, taken: Iterable[Source]) -> Scope:
    names = frozenset(rows.names_of(row))
    taken = list(taken)
    mine = {source.key: source for source in taken if (source.native_session or source.id) in names}
    begun = {(source.format, source.first_at) for source in mine.values() if source.first_at is not None}
    relatives: dict[bytes, Source] = {}
    for source in taken:
        if source.key in mine:
            # What was taken in later goes on from this one, and not the other way round.
            break
        if source.is_kept and (source.format, source.first_at) in begun:
            relatives[source.key] = source
    requests = frozenset(found.rows.requests(row))
    return Scope(view.name_of(row), row, requests, mine, relatives, found.problems, _share(row, known, mine))


def _share(row: Row, known: Iterable[Row], mine: dict[bytes, Source]) -> Share:
    """From when to when the files are this session's, if another has one of them, too: until that began to run."""
    began, names = row.first_run, {source.native_session for source in mine.values()}
    if began is None or not names:
        return WHOLE
    others = [other.first_run for other in known if other is not row and not names.isdisjoint(rows.names_of(other))]
    starts = [start for start in others if start is not None]
    return Share(
        since=began if any(start < began for start in starts) else None,
        until=min((start for start in starts if start > began), default=None),
    )


def _take(session: Session, wanted: Scope, step: _Step) -> News:
    news: News = []
    for record in step.records:
        if record.request == ids.ZERO:
            if record.kind == Kind.HARNESS_EVENT and _is_stated(read_object(record) or {}, wanted.row):
                session.statement(step.header, record, step.clock.wall(record))
            elif record.kind == Kind.TOOL_EVENT and _is_done(read_object(record) or {}, wanted.row):
                session.tool_event(step.header, record, step.clock.wall(record))
        elif record.kind == Kind.NATIVE_LINE:
            news += session.line(wanted.sources[record.request], step.header, record)
        else:
            news += session.record(step.header, step.clock, record)
    return news


def _steps(segment: Segment, wanted: Scope) -> Iterator[_Step]:
    """What a segment has of a session, in order.

    A seal is read request by request, each when its end is due, so that no more than one is unpacked at a time.
    """
    clock = Clock(segment.header)
    if not segment.is_sealed:
        for record in segment.records():
            clock.take(record)
            if record.request in wanted.requests or record.request in wanted.sources or record.request == ids.ZERO:
                yield _Step(segment.header, clock, [record])
        return
    for record in segment.pick([ids.ZERO], bodies=False):
        clock.take(record)
    files: dict[bytes, Iterator[Record]] = {}
    for _, key in sorted(_due(segment, wanted)):
        if key not in wanted.sources and key != ids.ZERO:
            yield _Step(segment.header, clock, segment.pick([key]))
            continue
        if key not in files:
            files[key] = iter(segment.pick([key]))
        yield _Step(segment.header, clock, [next(files[key])])


def _due(segment: Segment, wanted: Scope) -> Iterator[tuple[int, bytes]]:
    """When each request ends, and where each other record stands: sequences, without any body."""
    for key in (ids.ZERO, *segment.requests()):
        if key in wanted.requests:
            yield segment.pick([key], bodies=False)[-1].sequence, key
        elif key in wanted.sources or key == ids.ZERO:
            yield from ((record.sequence, key) for record in segment.pick([key], bodies=False))


def _is_stated(fields: dict[str, object], row: Row | None) -> bool:
    if row is None:
        return False
    session, run = fields.get("session"), fields.get("run")
    return session in {filing.session for filing in row.filings} if session is not None else run in row.runs


def _is_done(fields: dict[str, object], row: Row) -> bool:
    """Whether a tool was used in this session: by the run, if there is one, else by the client's own id."""
    run = fields.get("run")
    if run is not None:
        return run in row.runs
    session, native = fields.get("session"), fields.get("native_session")
    return session in {filing.session for filing in row.filings} if session is not None else native in row.natives


def _outside(session: Session, source: Source) -> News:
    """A file that was left outside of the trace, as it is now. Raises `ReadError`."""
    redact = _redactor()
    news: News = []
    for line in files.read(Path(source.path), is_document=source.is_document):
        news += session.imported(source, line._replace(text=redact(line.text)))
    return news


def _told(trace: Trace, relatives: dict[bytes, Source]) -> frozenset[str]:
    """The client's ids of all lines that other sessions have told already."""
    told: set[str] = set()
    for segment in trace.segments() if relatives else ():
        if isinstance(segment, TraceError):
            continue
        here = relatives.keys() & set(segment.requests())
        for key in here:
            source = relatives[key]
            reader = natives.READERS[source.format](source.id, source.path)
            nowhere = Evidence(source=source.id, side=Side.LINE, start=0, end=0)
            for line in kept.lines(segment.pick([key])):
                told.update(entry.key for entry in reader.line(line.text, nowhere) if entry.key is not None)
    return frozenset(told)


def _redactor() -> Callable[[str], str]:
    redactor = load_redactor().for_profile(_PROFILE)
    return lambda text: redactor.redact(text).text
