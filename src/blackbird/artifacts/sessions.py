"""Sessions and what they leave behind: built whole from a trace, or kept in memory while they grow."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from blackbird.artifacts.build import Builder
from blackbird.artifacts.model import Artifact
from blackbird.artifacts.note import Note, note
from blackbird.sessions.follow import Sighting
from blackbird.timeline import gather
from blackbird.timeline.census import Census, Sessions
from blackbird.timeline.gather import Gathered, Wanted
from blackbird.timeline.picking import Extent
from blackbird.timeline.scopes import Subject
from blackbird.timeline.session import FAULTS, Fault, describe
from blackbird.trace import ids
from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind, read_object
from blackbox.errors import ReadError

#: How much is read of the trace in one go: requests and lines, which stand for what the sessions take in memory.
_MOST_AT_ONCE = 20_000
#: How many sessions stay in memory, and for how long after the last that happened in them.
_MOST_GROWING = 64
_PATIENCE_SECONDS = 600.0
_SECOND = 1_000_000_000


class Built(NamedTuple):
    """What a session leaves behind, and what of it could not be understood."""

    name: str
    artifacts: list[Artifact]
    faults: list[Fault]
    scope: bytes
    #: What is kept of it besides, if it could be understood at all.
    note: Note | None = None
    #: A log of it was left outside of the trace, and is not there any more.
    has_lost: bool = False


def extent_of(census: Census) -> Extent:
    """All that a census knows of."""
    return Extent(census.sequence, census.instance)


def build(trace: Trace, census: Census, sessions: Sessions, names: Iterable[str]) -> Iterator[Built]:
    """Some sessions, from the trace."""
    for _, growing in _from_trace(trace, census, sessions, names):
        yield growing.built()


class _Growing:
    """A session as far as it went, and the builder that remembers what it made of it."""

    def __init__(self, gathered: Gathered) -> None:
        self.gathered = gathered
        self.scope = gathered.scope.digest()
        self.last = time.monotonic()
        self._builder = Builder()

    def built(self) -> Built:
        gathered = self.gathered
        name = gathered.scope.name
        found: list[Artifact] = []
        about: Note | None = None
        faults: list[Fault] = []
        try:
            timeline = gathered.timeline()
            found = self._builder.artifacts(timeline)
            about = note(timeline, found)
        except FAULTS as error:
            # Nothing is told rather than half of it; what was memoised may be what is wrong.
            self._builder = Builder()
            faults.append(Fault(name, describe(error)))
        faults = [*gathered.session.faults, *faults]
        faults += [Fault(name, problem.message) for problem in gathered.problems]
        has_lost = any(type(problem) is ReadError for problem in gathered.problems)
        return Built(name, found, faults, self.scope, about, has_lost)


class Live:
    """The sessions that grow. Each record is taken once; a session that else changes is read from the trace anew."""

    def __init__(self, trace: Trace, census: Census, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._trace = trace
        self._census = census
        self._clock = clock
        self._growing: dict[str, _Growing] = {}
        self._instance = census.instance
        self._shape = census.shape
        self.sessions = census.sessions()

    def warm(self) -> None:
        """Read the sessions that may go on, before anybody waits for what is new in them."""
        seen = {name: scope.row.last or 0 for name, scope in self.sessions.scopes.items()}
        since = max(seen.values(), default=0) - round(_PATIENCE_SECONDS * _SECOND)
        recent = sorted((name for name, last in seen.items() if last >= since), key=lambda name: seen[name])
        for name, growing in _from_trace(self._trace, self._census, self.sessions, recent[-_MOST_GROWING:]):
            if growing.gathered.can_grow:
                growing.built()
                self._growing[name] = growing

    def take(self, news: Iterable[Sighting]) -> set[str]:
        """Hear of records that the census does not know yet; the sessions that something new is known of."""
        batch = list(news)
        for sighting in batch:
            self._census.take(sighting.header, sighting.wall, sighting.record)
        if self._census.shape != self._shape:
            self._shape = self._census.shape
            self.sessions = self._census.sessions()
            self._let_go_of_changed()
        for filing in self._census.torn:
            self._growing.pop(self.sessions.of_filing(filing) or "", None)
        self._census.torn.clear()
        for sighting in batch:
            self._feed(sighting)
        return self.sessions.names(self._census.touched())

    def built(self, names: Iterable[str]) -> Iterator[Built]:
        """What these sessions leave behind as of now."""
        missing: list[str] = []
        for name in names:
            growing = self._growing.get(name)
            if growing is None:
                missing.append(name)
            else:
                growing.last = self._clock()
                yield growing.built()
        for name, growing in _from_trace(self._trace, self._census, self.sessions, missing):
            if growing.gathered.can_grow:
                self._growing[name] = growing
            yield growing.built()
        self._let_go_of_quiet()

    def __len__(self) -> int:
        return len(self._growing)

    def _feed(self, sighting: Sighting) -> None:
        header, clock, record = sighting
        if header.instance != self._instance:
            self._instance = header.instance
            for growing in self._growing.values():
                growing.gathered.news += growing.gathered.session.interrupted(header.instance)
        for name in self._owners(sighting):
            growing_one = self._growing.get(name)
            if growing_one is not None:
                growing_one.gathered.take(header, clock, record)

    def _owners(self, sighting: Sighting) -> list[str]:
        record = sighting.record
        if record.request == ids.ZERO:
            about = Subject.of(read_object(record) or {})
            is_statement, is_tool = record.kind == Kind.HARNESS_EVENT, record.kind == Kind.TOOL_EVENT
            return (
                self.sessions.of_statement(about) if is_statement else self.sessions.of_tool(about) if is_tool else []
            )
        if record.kind == Kind.NATIVE_LINE:
            return self.sessions.of_source(record.request)
        owner = self.sessions.of_filing(self._census.filing_of(record.request))
        return [owner] if owner is not None else []

    def _let_go_of_changed(self) -> None:
        for name, growing in list(self._growing.items()):
            scope = self.sessions.scopes.get(name)
            if scope is None or scope.digest() != growing.scope:
                del self._growing[name]

    def _let_go_of_quiet(self) -> None:
        by_age = sorted(self._growing.items(), key=lambda entry: entry[1].last)
        oldest = self._clock() - _PATIENCE_SECONDS
        for at, (name, growing) in enumerate(by_age):
            if growing.last < oldest or len(by_age) - at > _MOST_GROWING:
                del self._growing[name]


def _from_trace(
    trace: Trace, census: Census, sessions: Sessions, names: Iterable[str]
) -> Iterator[tuple[str, _Growing]]:
    for group in _groups(census.wanted(sessions.scopes[name]) for name in names):
        for gathered in gather.gather(trace, group, extent=extent_of(census)):
            yield gathered.scope.name, _Growing(gathered)


def _groups(wanted: Iterable[Wanted]) -> Iterator[list[Wanted]]:
    """Sessions that are read in one go: some small ones, or one large one."""
    group: list[Wanted] = []
    weight = 0
    for each in wanted:
        own = len(each.scope.requests) + sum(source.lines for source in each.scope.sources.values())
        if group and weight + own > _MOST_AT_ONCE:
            yield group
            group, weight = [], 0
        group.append(each)
        weight += own
    if group:
        yield group
