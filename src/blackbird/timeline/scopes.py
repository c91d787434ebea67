"""What belongs to a session: its requests, the logs that were imported for it, and which part of those is its own."""

import bisect
import hashlib
import itertools
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from blackbird.exchange import payloads
from blackbird.imports.sources import Source
from blackbird.sessions import rows, view
from blackbird.sessions.rows import Filing, Row
from blackbird.timeline import relatives
from blackbird.timeline.relatives import Case
from blackbird.timeline.session import WHOLE, Share
from blackbird.trace.errors import TraceError

_DIGEST_BYTES = 16


class Subject(NamedTuple):
    """Whom a record is about that is part of no request."""

    session: str | None
    run: str | None
    #: The client's own id of the session.
    native: str | None

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> "Subject":
        """What its fields say."""
        return cls(*(payloads.text(fields, key) for key in ("session", "run", "native_session")))


class Scope(NamedTuple):
    """What belongs to a session: its requests, the files that were imported for it, and what it is called."""

    name: str
    row: Row
    requests: frozenset[bytes]
    sources: dict[bytes, Source]
    #: Files of other sessions that were written when these begin: a client copies what it goes on from.
    others: dict[bytes, Source]
    #: Whether a client's requests may tell whose the lines of these files are.
    has_traffic: bool
    problems: list[TraceError]
    #: What of those files is this session's, if a client went on with one in several.
    share: Share = WHOLE
    #: The client's ids of it under which tools told something without naming a run.
    told: tuple[str, ...] = ()

    @property
    def case(self) -> Case:
        """What decides which lines of its files are another session's."""
        return Case(self.requests, self.sources, self.others, self.has_traffic)

    @property
    def names(self) -> frozenset[str]:
        """All that it is called."""
        return frozenset(rows.names_of(self.row))

    @property
    def filings(self) -> set[Filing]:
        """Its own filing and those of sub-agents' own sessions."""
        return self.row.filings

    def has_stated(self, about: "Subject") -> bool:
        """Whether what was stated is about it: by the session, if one is named, else by the run."""
        return self._is_called(about.session) if about.session is not None else about.run in self.row.runs

    def has_used(self, about: "Subject") -> bool:
        """Whether a tool was used in it: by the run, if there is one, else by the session or the client's own id."""
        if about.run is not None:
            return about.run in self.row.runs
        return self._is_called(about.session) if about.session is not None else about.native in self.row.natives

    def _is_called(self, session: str) -> bool:
        return any(filing.session == session for filing in self.filings)

    def digest(self) -> bytes:
        """Another one if something else belongs to it than more of its requests, or more lines of its logs.

        That there is traffic now is no difference: what of it counts was recorded before the logs were taken in.
        """
        parts: list[object] = [sorted(map(str, self.filings)), sorted(self.row.runs), *self.share]
        parts += [[source.id, source.native_session, source.is_kept] for source in self.sources.values()]
        parts.append([source.id for source in self.others.values()])
        parts.append(self.told)
        # Whose a line is depends on what the session is called, and on nothing but lines.
        parts.append(sorted(self.names) if self.sources else [])
        return hashlib.blake2b(msgspec.json.encode(parts), digest_size=_DIGEST_BYTES).digest()


class Scopes:
    """Finds what belongs to each of some rows; looks at all of them once."""

    def __init__(self, known: Sequence[Row], taken: Iterable[Source], told: Container[str] = ()) -> None:
        self._known = known
        self._told = told
        self._taken = list(taken)
        self._places = {source.key: at for at, source in enumerate(self._taken)}
        self._senders = {name for row in known for name in row.senders}
        self._by_session: dict[str, list[Source]] = {}
        by_format: dict[str, list[Source]] = {}
        for source in self._taken:
            self._by_session.setdefault(relatives.session_of(source), []).append(source)
            by_format.setdefault(source.format, []).append(source)
        self._shelves = {name: _Shelf(sources) for name, sources in by_format.items()}
        self._by_name: dict[str, list[Row]] = {}
        for row in known:
            for name in dict.fromkeys(rows.names_of(row)):
                self._by_name.setdefault(name, []).append(row)

    def of(self, row: Row, requests: Iterable[bytes], problems: list[TraceError], name: str | None = None) -> Scope:
        """What belongs to a row, which has these requests."""
        names = dict.fromkeys(rows.names_of(row))
        found = [source for name in names for source in self._by_session.get(name, ())]
        mine = {source.key: source for source in sorted(found, key=lambda source: self._places[source.key])}
        others = self._others(mine)
        return Scope(
            name or view.name_of(row),
            row,
            frozenset(requests),
            mine,
            others,
            self._has_traffic(mine, others),
            problems,
            self._share(row, mine),
            tuple(sorted(native for native in row.natives if native in self._told)),
        )

    def keys(self) -> dict[str, Row]:
        """A name for each row that no other has: ids that nobody registered take none from a registered session."""
        found: dict[str, Row] = {}
        for row in sorted(self._known, key=rows.by_trust, reverse=True):
            name = view.name_of(row)
            while name in found:
                name = f"{row.filing.attribution}:{name}"
            found[name] = row
        return found

    def _others(self, mine: Mapping[bytes, Source]) -> dict[bytes, Source]:
        """Files of other sessions that may have what these begin with, in the order of their ids."""
        begun: dict[str, int | None] = {}
        for source in mine.values():
            first = begun.setdefault(source.format, source.first_at)
            begun[source.format] = None if first is None or source.first_at is None else min(first, source.first_at)
        near = (source for name, at in begun.items() for source in self._shelves[name].around(at))
        return {source.key: source for source in sorted(near, key=lambda one: one.id) if source.key not in mine}

    def _has_traffic(self, mine: Mapping[bytes, Source], others: Mapping[bytes, Source]) -> bool:
        """Whether a client sent something that tells of the files: if they are of one session, another's requests."""
        own = {relatives.session_of(source) for source in mine.values()}
        is_alone = len(own) == 1 and not others
        return bool(mine) and bool(self._senders - own if is_alone else self._senders)

    def _share(self, row: Row, mine: dict[bytes, Source]) -> Share:
        """From when to when the files are this session's, if another has one of them: until that began to run."""
        began = row.first_run
        if began is None or not mine:
            return WHOLE
        names = {source.native_session for source in mine.values() if source.native_session is not None}
        others = (other for name in names for other in self._by_name.get(name, ()) if other is not row)
        starts = [other.first_run for other in others if other.first_run is not None]
        return Share(
            since=began if any(start < began for start in starts) else None,
            until=min((start for start in starts if start > began), default=None),
        )


class _Shelf:
    """The logs of one client by the time that they begin, so that those of a moment are found without the others."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._all = list(sources)
        self._undated = [one for one in self._all if one.first_at is None or one.last_at is None]
        dated = ((one.first_at, one.last_at, one) for one in self._all)
        found = [(first // 1000, last, one) for first, last, one in dated if first is not None and last is not None]
        found.sort(key=lambda entry: entry[0])
        self._dated = [one for _, _, one in found]
        self._begun = [first for first, _, _ in found]
        #: The end of whichever ends last up to there.
        self._ended = list(itertools.accumulate((last for _, last, _ in found), max))

    def around(self, at: int | None) -> Iterator[Source]:
        """Those that may tell of what happened then."""
        if at is None:
            yield from self._all
            return
        yield from self._undated
        place = bisect.bisect_right(self._begun, at // 1000)
        while place and self._ended[place - 1] // 1000 >= at // 1000:
            place -= 1
            if relatives.is_around(self._dated[place], at):
                yield self._dated[place]
