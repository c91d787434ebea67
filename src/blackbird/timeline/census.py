"""Which sessions a trace has, and in which segments each stands: known record by record, and kept in a file."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from blackbird.exchange import payloads
from blackbird.imports.sources import Source, Sources
from blackbird.sessions import imported
from blackbird.sessions.rows import Filing, KeptRows, Rows
from blackbird.timeline.gather import Wanted
from blackbird.timeline.picking import Places, Span
from blackbird.timeline.scopes import Scope, Scopes, Subject
from blackbird.trace import ids
from blackbird.trace.header import Header
from blackbird.trace.records import Kind, Record, is_body, read_object

_ENDS = frozenset({int(Kind.RESPONSE_END), int(Kind.ERROR)})
#: What may be said of a session or a run without being part of a request.
_STATED = frozenset({int(Kind.HARNESS_EVENT), int(Kind.TOOL_EVENT), int(Kind.ENRICHMENT)})
_SCHEMA = 1


class Touched(NamedTuple):
    """What something new is known of: by filings of requests that ended, logs, names of sessions and runs, and the
    clients' own of sessions."""

    filings: set[Filing]
    sources: set[bytes]
    sessions: set[str]
    runs: set[str]
    natives: set[str]

    @classmethod
    def nothing(cls) -> "Touched":
        """Nothing yet."""
        return cls(set(), set(), set(), set(), set())


class _Kept(msgspec.Struct, kw_only=True):
    """All of it as a file has it."""

    schema: int
    rows: KeptRows
    sources: list[Source]
    in_filings: list[tuple[Filing, list[int]]]
    in_sources: dict[bytes, list[int]]
    in_sessions: dict[str, list[int]]
    in_runs: dict[str, list[int]]
    in_natives: dict[str, list[int]]
    orphans: dict[bytes, list[int]]
    spans: dict[int, Span]
    open: dict[bytes, tuple[int, int]]
    instance: bytes
    sequence: int
    segment: int


class Sessions:
    """The sessions at one moment, by a name that no two of them have, and whose each record is."""

    def __init__(self, scopes: Mapping[str, Scope]) -> None:
        self.scopes = scopes
        self._filings: dict[Filing, str] = {}
        self._sources: dict[bytes, list[str]] = {}
        self._others: dict[bytes, list[str]] = {}
        self._sessions: dict[str, list[str]] = {}
        self._runs: dict[str, list[str]] = {}
        self._natives: dict[str, list[str]] = {}
        for name, scope in scopes.items():
            self._filings.update(dict.fromkeys(scope.filings, name))
            for key in scope.sources:
                self._sources.setdefault(key, []).append(name)
            for key in scope.others:
                self._others.setdefault(key, []).append(name)
            for session in {filing.session for filing in scope.filings if filing.session is not None}:
                self._sessions.setdefault(session, []).append(name)
            for run in scope.row.runs:
                self._runs.setdefault(run, []).append(name)
            for native in scope.row.natives:
                self._natives.setdefault(native, []).append(name)

    def of_filing(self, filing: Filing | None) -> str | None:
        """The session that a request belongs to."""
        return self._filings.get(filing) if filing is not None else None

    def of_source(self, key: bytes) -> list[str]:
        """The sessions that have a log."""
        return self._sources.get(key, [])

    def of_statement(self, about: Subject) -> list[str]:
        """The sessions that something is stated of."""
        session, run, _ = about
        return self._sessions.get(session, []) if session is not None else self._runs.get(run or "", [])

    def of_tool(self, about: Subject) -> list[str]:
        """The sessions that a tool was used in."""
        session, run, native = about
        if run is not None:
            return self._runs.get(run, [])
        return self._sessions.get(session, []) if session is not None else self._natives.get(native or "", [])

    def names(self, touched: Touched) -> set[str]:
        """The sessions that something new is known of."""
        found = {self._filings[filing] for filing in touched.filings if filing in self._filings}
        for known in (self._sources, self._others):
            found.update(name for key in touched.sources for name in known.get(key, ()))
        found.update(name for key in touched.sessions for name in self._sessions.get(key, ()))
        found.update(name for key in touched.runs for name in self._runs.get(key, ()))
        found.update(name for key in touched.natives for name in self._natives.get(key, ()))
        return found


class Census:
    """Takes all records of a trace in their order; bodies are not needed, and not looked at."""

    def __init__(self) -> None:
        self._rows = Rows()
        self._sources = Sources()
        self._requests: dict[Filing, list[bytes]] = {}
        self._in_filings: dict[Filing, set[int]] = {}
        self._in_sources: dict[bytes, set[int]] = {}
        self._in_sessions: dict[str, set[int]] = {}
        self._in_runs: dict[str, set[int]] = {}
        self._in_natives: dict[str, set[int]] = {}
        #: Pieces of requests of which nothing else was heard yet: the segments that they stand in.
        self._orphans: dict[bytes, set[int]] = {}
        #: From when to when the requests were under way that a segment has something of.
        self._spans: dict[int, Span] = {}
        #: The segment in which each request began that is not over, and when.
        self._open: dict[bytes, tuple[int, int]] = {}
        self.instance = b""
        #: The last record that was taken.
        self.sequence = 0
        self.segment = 0
        self._touched = Touched.nothing()
        #: Sessions of which pieces were passed over, since nobody knew whose they were: as names of filings.
        self.torn: set[Filing] = set()

    @property
    def shape(self) -> int:
        """Another number whenever other things may belong to a session."""
        return self._rows.shape

    def take(self, header: Header, wall: int, record: Record) -> None:
        """Know a record."""
        if header.instance != self.instance:
            self._interrupt(header.instance)
        self.sequence, self.segment = record.sequence, header.number
        if record.request == ids.ZERO:
            self._hear(header.number, wall, record)
        elif record.kind == Kind.NATIVE_LINE:
            self._in_sources.setdefault(record.request, set()).add(header.number)
            self._touched.sources.add(record.request)
        else:
            self._request(header.number, wall, record)

    def touched(self) -> Touched:
        """What something new is known of since this was asked last."""
        found, self._touched = self._touched, Touched.nothing()
        return found

    def filing_of(self, request: bytes) -> Filing | None:
        """Where a request belongs by its own word."""
        return self._rows.filing_of(request)

    def sessions(self) -> Sessions:
        """The sessions so far, without their requests."""
        finder = Scopes(self._rows.rows(), self._sources.current(), self._in_natives)
        return Sessions({name: finder.of(row, (), [], name) for name, row in finder.keys().items()})

    def wanted(self, scope: Scope) -> Wanted:
        """A session with the requests that it has by now, and the segments that have something of it."""
        filings = scope.filings
        names = {filing.session for filing in filings if filing.session is not None}
        found: set[int] = set().union(
            *(self._in_filings.get(filing, ()) for filing in filings),
            *(self._in_sources.get(key, ()) for key in scope.sources),
            *(self._in_sessions.get(name, ()) for name in names),
            *(self._in_runs.get(run, ()) for run in scope.row.runs),
            *(self._in_natives.get(native, ()) for native in scope.row.natives),
        )
        requests = frozenset(request for filing in filings for request in self._requests.get(filing, ()))
        return Wanted(scope._replace(requests=requests), frozenset(found), Places(self._in_sources, self._spans))

    def spell(self) -> bytes:
        """All of it as bytes."""
        kept = _Kept(
            schema=_SCHEMA,
            rows=self._rows.kept(),
            sources=self._sources.all(),
            in_filings=[(filing, sorted(numbers)) for filing, numbers in self._in_filings.items()],
            in_sources=_sorted(self._in_sources),
            in_sessions=_sorted(self._in_sessions),
            in_runs=_sorted(self._in_runs),
            in_natives=_sorted(self._in_natives),
            orphans=_sorted(self._orphans),
            spans=self._spans,
            open=self._open,
            instance=self.instance,
            sequence=self.sequence,
            segment=self.segment,
        )
        return msgspec.msgpack.encode(kept)

    @classmethod
    def read(cls, data: bytes | None) -> "Census | None":
        """What `spell` wrote; nothing if another version did, or nobody."""
        try:
            kept = msgspec.msgpack.decode(data or b"", type=_Kept)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        if kept.schema != _SCHEMA:
            return None
        census = cls()
        census._rows = Rows.from_kept(kept.rows)
        census._requests = census._rows.by_filing()
        for source in kept.sources:
            census._sources.know(source)
        census._in_filings = {filing: set(numbers) for filing, numbers in kept.in_filings}
        census._in_sources, census._in_sessions = _sets(kept.in_sources), _sets(kept.in_sessions)
        census._in_runs, census._in_natives = _sets(kept.in_runs), _sets(kept.in_natives)
        census._orphans = _sets(kept.orphans)
        census._spans, census._open = kept.spans, kept.open
        census.instance, census.sequence, census.segment = kept.instance, kept.sequence, kept.segment
        return census

    def _interrupt(self, instance: bytes) -> None:
        """Another recorder: what the one before has not ended, it never will."""
        filings = (self._rows.filing_of(request) for request in self._open)
        self._touched.filings.update(filing for filing in filings if filing is not None)
        self._open.clear()
        self.instance = instance

    def _hear(self, segment: int, wall: int, record: Record) -> None:
        if record.kind not in _STATED:
            return
        self._rows.take(record, wall)
        self._sources.take(record)
        fields = read_object(record) or {}
        session, run, native = Subject.of(fields)
        if fields.get("event") in (imported.OPEN, imported.END):
            key = ids.parse(payloads.text(payloads.inner(fields, "data"), "source") or "")
            self._touched.sources.update([key] if key is not None else [])
        is_by_client = record.kind == Kind.TOOL_EVENT and session is None and run is None
        for name, places, touched in (
            (session, self._in_sessions, self._touched.sessions),
            (run, self._in_runs, self._touched.runs),
            (native if is_by_client else None, self._in_natives, self._touched.natives),
        ):
            if name is not None:
                places.setdefault(name, set()).add(segment)
                touched.add(name)

    def _request(self, segment: int, wall: int, record: Record) -> None:
        if not is_body(record.kind):
            is_new = not self._rows.has(record.request)
            self._rows.take(record, wall)
            if is_new:
                self._open[record.request] = (segment, wall)
                filing = self._rows.filing_of(record.request)
                if filing is not None:
                    self._requests.setdefault(filing, []).append(record.request)
        self._pass(segment, wall, record.request)
        filing = self._rows.filing_of(record.request)
        if filing is None:
            self._orphans.setdefault(record.request, set()).add(segment)
            return
        numbers = self._in_filings.setdefault(filing, set())
        numbers.add(segment)
        if record.request in self._orphans:
            numbers |= self._orphans.pop(record.request)
            self.torn.add(filing)
        if record.kind in _ENDS:
            self._open.pop(record.request, None)
            self._touched.filings.add(filing)

    def _pass(self, segment: int, wall: int, request: bytes) -> None:
        """A request is under way: where it began, until now; here, since then."""
        first, began = self._open.get(request, (segment, wall))
        for number in {first, segment}:
            known = self._spans.get(number, (began, wall))
            self._spans[number] = (min(known[0], began), max(known[1], wall))


def _sorted(places: Mapping[Any, Iterable[int]]) -> dict[Any, list[int]]:
    return {key: sorted(numbers) for key, numbers in places.items()}


def _sets(places: Mapping[Any, Iterable[int]]) -> dict[Any, set[int]]:
    return {key: set(numbers) for key, numbers in places.items()}
