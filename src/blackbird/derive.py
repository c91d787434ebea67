"""The write path: from the trace to the memory, as far as the trace is on the disk, and each time only what is new.

    trace ─▶ census: which sessions, where ─▶ timeline ─▶ artifacts ─▶ store

`catch_up` takes what is new since the last time, `rebuild` everything into a new file, `Following` what comes as it
comes. All three give the same memory for the same trace.
"""

import contextlib
import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Self

from blackbird.artifacts import sessions as building
from blackbird.artifacts.model import Artifact
from blackbird.artifacts.sessions import Built, Live
from blackbird.artifacts.version import builder_version
from blackbird.errors import MemoryDamaged
from blackbird.home import Home
from blackbird.sessions.choice import choose
from blackbird.sessions.follow import Follower, Sighting
from blackbird.store import files
from blackbird.store.differing import differences
from blackbird.store.memory import SCHEMA, Memory
from blackbird.store.values import Change, Finding, Mark
from blackbird.store.writing import Writing
from blackbird.timeline import evidence
from blackbird.timeline.census import Census, Sessions
from blackbird.timeline.session import Fault
from blackbird.trace import ids
from blackbird.trace.folder import Trace
from blackbird.trace.segment import Segment, State
from blackbird.trace.synced import Synced

#: How often a follower writes down what a later start goes on from.
_SURVEY_SECONDS = 60.0
#: Records that are taken at once while a trace is followed; each holds at most a piece of a body.
_MOST_AT_ONCE = 4096

Tell = Callable[[int, int], None]


class Report(NamedTuple):
    """What became of the memory. `is_rebuilt`: it was made anew as a whole."""

    sessions: int
    changes: list[Change]
    findings: list[Finding]
    is_rebuilt: bool = False

    def and_then(self, later: "Report") -> "Report":
        """Both, one after the other."""
        return Report(
            self.sessions + later.sessions,
            self.changes + later.changes,
            self.findings + later.findings,
            self.is_rebuilt or later.is_rebuilt,
        )


def catch_up(home: Home, tell: Tell | None = None) -> Report:
    """Take in what is new; a memory that is missing, damaged or another builder's is made anew.

    Raises `MemoryBusy` if another process is at it.
    """
    with files.locked(home.derived):
        return _catch_up(home, tell)


def rebuild(home: Home, tell: Tell | None = None, *, keep: bool = True) -> Report:
    """Make everything anew; without `keep`, only to tell what would change."""
    with files.locked(home.derived):
        return _rebuild(home, tell, keep=keep)


def session_named(memory: Memory, name: str | None) -> str:
    """What the memory calls the session that an id means: its own, a run's or a client's, or the newest.

    Raises `NotFound` if there is none, and `UsageError` if several are meant.
    """
    if name is not None and memory.has_session(name):
        return name
    census = Census.read(memory.meta("survey")) or Census()
    scopes = census.sessions().scopes
    newest = sorted(scopes.values(), key=lambda scope: scope.row.last or 0, reverse=True)
    row = choose([scope.row for scope in newest], name)
    return next(known for known, scope in scopes.items() if scope.row is row)


class Following:
    """The memory of a home, kept up with the trace as it grows. For one process at a time."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            stack.enter_context(files.locked(self._home.derived))
            caught_up = _catch_up(self._home)
            memory = stack.enter_context(_writing(self._home))
            self._deriving = _Deriving(self._home, memory)
            #: What was new before anything is followed, what came meanwhile included.
            self.caught_up = caught_up.and_then(self._deriving.catch_up())
            self._follower = stack.enter_context(self._deriving.follower(bodies=True))
            self._live = Live(self._deriving.trace, self._deriving.census)
            self._live.warm()
            self._sessions = self._live.sessions
            self._news: Iterator[Sighting] = iter(())
            self._held: list[Sighting] = []
            self._surveyed = time.monotonic()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._stack:
            if kind is None or not issubclass(kind, MemoryDamaged):
                self._deriving.move(with_survey=True)

    def poll(self) -> Report:
        """Take in what is new and on the disk. Raises `MemoryDamaged` if somebody took the memory away."""
        deriving = self._deriving
        if files.current(self._home.derived) != deriving.path:
            raise MemoryDamaged(f"{deriving.path}: the memory was taken away", "start again: it is made anew")
        report = Report(0, [], [])
        self._news = itertools.chain(self._news, self._follower.read())
        while batch := self._batch(deriving.trace.synced()):
            names = self._live.take(batch)
            gone: list[Change] = []
            if self._sessions is not self._live.sessions:
                self._sessions = self._live.sessions
                names |= deriving.changed(self._sessions)
                gone = deriving.drop_others(self._sessions)
            report = report.and_then(deriving.write(self._live.built(sorted(names)))).and_then(Report(0, gone, []))
            is_time = time.monotonic() - self._surveyed > _SURVEY_SECONDS
            deriving.move(with_survey=is_time)
            self._surveyed = time.monotonic() if is_time else self._surveyed
        return report.and_then(Report(0, [], deriving.note(self._follower)))

    def _batch(self, synced: Synced | None) -> list[Sighting]:
        """Some of the new records. One that is written and not yet on the disk waits."""
        found = [*self._held, *itertools.islice(self._news, _MOST_AT_ONCE - len(self._held))]
        ready = list(itertools.takewhile(lambda each: _is_on_disk(each, synced), found))
        self._held = found[len(ready) :]
        return ready


class _Deriving:
    """One memory and the trace that it is made from."""

    def __init__(self, home: Home, memory: Writing) -> None:
        self.trace = Trace(home.trace)
        self.path = memory.path
        self._memory = memory
        kept = Census.read(memory.meta("survey"))
        self._from = memory.survey_mark() if kept is not None else None
        self.census = kept or Census()
        self._kept = {name: kept.scope for name, kept in memory.sessions().items()}
        self._mark = memory.mark()

    def catch_up(self, tell: Tell | None = None) -> Report:
        """All that is new, without holding any of it longer than a session takes."""
        synced = self.trace.synced()
        with self.follower(bodies=False) as follower:
            for sighting in itertools.takewhile(lambda each: _is_on_disk(each, synced), follower.read()):
                self.census.take(sighting.header, sighting.wall, sighting.record)
            found = self.note(follower)
        sessions = self.census.sessions()
        names = self.changed(sessions) | sessions.names(self.census.touched())
        self.census.torn.clear()
        built = building.build(self.trace, self.census, sessions, sorted(names))
        report = self.write(_counted(built, len(names), tell))
        gone = self.drop_others(sessions)
        self.move(with_survey=self._from is None or self._from.sequence != self.census.sequence)
        if self._memory.meta("trace") is None:
            self._memory.set_meta(trace=_identity(self.trace))
        return report.and_then(Report(0, gone, found))

    def follower(self, *, bodies: bool) -> Follower:
        """From behind the last record that the census knows."""
        mark = self._from
        since = Synced(mark.segment, mark.sequence, mark.offset) if mark is not None else None
        return Follower.since(self.trace.folder, since, bodies=bodies)

    def changed(self, sessions: Sessions) -> set[str]:
        """The sessions that other things belong to than those that the memory was made of."""
        return {name for name, scope in sessions.scopes.items() if self._kept.get(name) != scope.digest()}

    def write(self, sessions: Iterable[Built]) -> Report:
        """Put sessions into the memory, each in one transaction."""
        count = 0
        changes: list[Change] = []
        findings: list[Finding] = []
        removed = _removed(self.trace)
        for built in sessions:
            count += 1
            found = [_finding(built.name, fault) for fault in built.faults]
            gone = self._gone(built.name, removed) if removed or built.has_lost else set()
            changes += self._memory.put(
                built.name, built.artifacts, found, scope=built.scope, note=built.note, gone=gone
            )
            findings += found
            self._kept[built.name] = built.scope
        self._memory.index()
        return Report(count, changes, findings)

    def drop_others(self, sessions: Sessions) -> list[Change]:
        """Sessions that turned out to be part of others, or whose records are gone."""
        changes: list[Change] = []
        for name in [name for name in self._kept if name not in sessions.scopes]:
            changes += self._memory.drop(name, gone=self._gone(name, _removed(self.trace)))
            del self._kept[name]
        return changes

    def move(self, *, with_survey: bool) -> None:
        """Note how far the memory is."""
        census, synced = self.census, self.trace.synced()
        if synced is not None and synced.sequence == census.sequence:
            mark = Mark(synced.segment, synced.sequence, synced.offset)
        else:
            mark = Mark(census.segment, census.sequence)
        if with_survey or mark != self._mark:
            self._memory.move(mark, census.spell() if with_survey else None)
        self._mark = mark
        self._from = mark

    def note(self, follower: Follower) -> list[Finding]:
        """Segments that could not be read, each noted once."""
        problems, follower.problems = follower.problems, []
        found = [
            Finding(rule="segment", source=Path(problem.file).name or "trace", message=problem.message)
            for problem in problems
        ]
        if found:
            self._memory.note(found)
        return found

    def _gone(self, session: str, removed: frozenset[int]) -> set[str]:
        """The artifacts of a session whose evidence is gone."""
        stored = self._memory.find(session=session)
        return {each.artifact.id for each in stored if _is_gone(each.artifact, removed)}


def _catch_up(home: Home, tell: Tell | None = None) -> Report:
    try:
        with _opened(home) as memory:
            if memory is not None:
                return _Deriving(home, memory).catch_up(tell)
    except MemoryDamaged:
        # The trace has everything that was in it.
        return _rebuild(home, tell)
    return _rebuild(home, tell)


def _rebuild(home: Home, tell: Tell | None = None, *, keep: bool = True) -> Report:
    trace = Trace(home.trace)
    with Writing.new(home.derived, builder_version(), _identity(trace)) as memory:
        report = _Deriving(home, memory).catch_up(tell)
        with _old(home, trace) as old:
            if old is not None:
                removed = _removed(trace)
                memory.keep(each.artifact for each in old.all() if _is_gone(each.artifact, removed))
                memory.index()
            changes = list(differences(old, memory))
        memory.settle()
    if keep:
        files.put_in_place(home.derived, memory.path)
    else:
        files.remove(memory.path)
    return Report(report.sessions, changes, report.findings, is_rebuilt=keep)


@contextlib.contextmanager
def _opened(home: Home) -> Iterator[Writing | None]:
    """The memory of a home, if it can be gone on with."""
    path, trace = files.current(home.derived), Trace(home.trace)
    if path is None:
        yield None
        return
    files.sweep(home.derived)
    with Writing(path) as memory:
        yield memory if memory.fits(builder_version()) and _is_of(memory, trace) else None


@contextlib.contextmanager
def _writing(home: Home) -> Iterator[Writing]:
    path = files.current(home.derived)
    assert path is not None  # noqa: S101 - it was just caught up with
    with Writing(path) as memory:
        yield memory


@contextlib.contextmanager
def _old(home: Home, trace: Trace) -> Iterator[Memory | None]:
    """The memory as it was, as far as it can be read and is of this trace."""
    path = files.current(home.derived)
    try:
        memory = Memory(path) if path is not None else None
        is_ours = memory is not None and memory.meta("schema") == SCHEMA and _is_same_trace(memory, trace)
    except MemoryDamaged:
        memory, is_ours = None, False
    try:
        yield memory if is_ours else None
    finally:
        if memory is not None:
            memory.close()


def _is_of(memory: Memory, trace: Trace) -> bool:
    """Whether a memory was made of this trace, and not of more of it than there is, as after a power cut."""
    mark, places = memory.mark(), trace.places()
    if mark is None or not places:
        return True
    synced = trace.synced()
    is_ahead = places[-1].number < mark.segment or (synced is not None and synced.sequence < mark.sequence)
    return _is_same_trace(memory, trace) and not is_ahead


def _is_same_trace(memory: Memory, trace: Trace) -> bool:
    identity, known = _identity(trace), memory.meta("trace")
    return identity is None or known is None or identity == known


def _identity(trace: Trace) -> str | None:
    for segment in trace.segments():
        if isinstance(segment, Segment):
            return ids.to_text(segment.header.trace)
    return None


def _removed(trace: Trace) -> frozenset[int]:
    """The segments that retention removed."""
    return frozenset(place.number for place in trace.places() if place.state is State.GONE)


def _is_gone(artifact: Artifact, removed: frozenset[int]) -> bool:
    """Whether nothing is left of what an artifact came from."""
    return all(evidence.is_gone(each.evidence, removed) for each in artifact.provenance)


def _is_on_disk(sighting: Sighting, synced: Synced | None) -> bool:
    return synced is None or sighting.record.sequence <= synced.sequence


def _finding(session: str, fault: Fault) -> Finding:
    kinds = {ids.REQUEST_PREFIX: "exchange", "src_": "line"}
    rule = next((rule for prefix, rule in kinds.items() if fault.source.startswith(prefix)), "session")
    return Finding(
        rule=rule,
        source=fault.source,
        message=fault.message,
        session=session,
        segment=fault.segment,
        sequence=fault.sequence,
    )


def _counted(built: Iterable[Built], total: int, tell: Tell | None) -> Iterator[Built]:
    for number, each in enumerate(built, 1):
        yield each
        if tell is not None:
            tell(number, total)
