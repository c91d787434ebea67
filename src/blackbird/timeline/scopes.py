"""What belongs to a session: its requests, the logs that were imported for it, and which part of those is its own."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from blackbird.imports.sources import Source
from blackbird.sessions import rows, view
from blackbird.sessions.rows import Filing, Row
from blackbird.timeline.session import WHOLE, Share
from blackbird.trace.errors import TraceError

_DIGEST_BYTES = 16


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

    @property
    def filings(self) -> set[Filing]:
        """Its own filing and those of sub-agents' own sessions."""
        return self.row.filings

    def has_stated(self, session: object, run: object) -> bool:
        """Whether what was stated of this session or run is about it."""
        return session in {filing.session for filing in self.filings} if session is not None else run in self.row.runs

    def digest(self) -> bytes:
        """Another one if something else belongs to it than more of its requests, or more lines of its logs."""
        parts: list[object] = [sorted(map(str, self.filings)), sorted(self.row.runs), *self.share]
        parts += [[source.id, source.native_session, source.is_kept] for source in self.sources.values()]
        parts.append([source.id for source in self.relatives.values()])
        return hashlib.blake2b(msgspec.json.encode(parts), digest_size=_DIGEST_BYTES).digest()


class Scopes:
    """Finds what belongs to each of some rows; looks at all of them once."""

    def __init__(self, known: Sequence[Row], taken: Iterable[Source]) -> None:
        self._known = known
        self._taken = list(taken)
        self._places = {source.key: at for at, source in enumerate(self._taken)}
        self._by_session: dict[str, list[Source]] = {}
        self._by_start: dict[tuple[str, int], list[Source]] = {}
        for source in self._taken:
            self._by_session.setdefault(source.native_session or source.id, []).append(source)
            if source.first_at is not None and source.is_kept:
                self._by_start.setdefault((source.format, source.first_at), []).append(source)
        self._by_name: dict[str, list[Row]] = {}
        for row in known:
            for name in dict.fromkeys(rows.names_of(row)):
                self._by_name.setdefault(name, []).append(row)

    def of(self, row: Row, requests: Iterable[bytes], problems: list[TraceError], name: str | None = None) -> Scope:
        """What belongs to a row, which has these requests."""
        names = dict.fromkeys(rows.names_of(row))
        found = [source for name in names for source in self._by_session.get(name, ())]
        mine = {source.key: source for source in sorted(found, key=lambda source: self._places[source.key])}
        relatives = self._relatives(mine)
        share = self._share(row, mine)
        return Scope(name or view.name_of(row), row, frozenset(requests), mine, relatives, problems, share)

    def keys(self) -> dict[str, Row]:
        """A name for each row that no other has: ids that nobody registered take none from a registered session."""
        found: dict[str, Row] = {}
        for row in sorted(self._known, key=rows.by_trust, reverse=True):
            name = view.name_of(row)
            while name in found:
                name = f"{row.filing.attribution}:{name}"
            found[name] = row
        return found

    def _relatives(self, mine: dict[bytes, Source]) -> dict[bytes, Source]:
        # What was taken in later goes on from this one, and not the other way round.
        first = min((self._places[key] for key in mine), default=0)
        starts = {(each.format, each.first_at) for each in mine.values() if each.first_at is not None}
        found = [source for start in starts for source in self._by_start.get(start, ())]
        earlier = [source for source in found if self._places[source.key] < first]
        return {source.key: source for source in sorted(earlier, key=lambda source: self._places[source.key])}

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
