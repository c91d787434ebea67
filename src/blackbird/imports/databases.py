"""Databases of agents: each session is a source of its own, and its rows are the lines.

A row that was changed is taken in again as it is then; `recent` in the ledger names those that may come once more.
"""

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from blackbird.imports import files, opencode
from blackbird.imports.facts import Facts
from blackbird.imports.files import Piece
from blackbird.imports.finding import Candidate, State, facts_of
from blackbird.imports.ledger import Taken
from blackbird.imports.opencode import Row
from blackbird.imports.places import File
from blackbird.imports.recognise import load
from blackbird.imports.sources import Source, source_id
from blackbird.imports.taking import Outcome, Passage, Taker, begin

#: Rows of the last so many milliseconds may be read a second time.
_SLACK = 20_000


class _Seen:
    """The rows that were handed on, as far as it matters."""

    def __init__(self, known: Taken | None) -> None:
        self.mark = known.mark if known is not None else 0
        self._recent = dict.fromkeys(known.recent if known is not None else ())

    def is_new(self, row: Row) -> bool:
        """Whether a row was not there before as it is now."""
        name = f"{row.mark} {row.table} {row.id}"
        if name in self._recent:
            return False
        self._recent[name] = None
        self.mark = max(self.mark, row.mark)
        return True

    def recent(self) -> list[str]:
        """The names of the newest rows."""
        return [name for name in self._recent if int(name.partition(" ")[0]) >= self.mark - _SLACK]


def take(taker: Taker, candidate: Candidate) -> Outcome:
    """Take in what is new of a database, a session at a time. Raises what `Taker.take` raises."""
    known = candidate.known
    seen = _Seen(known)
    total = Outcome(is_kept=taker.keep)
    is_whole = True
    found = opencode.rows(candidate.file.path, known.mark if known is not None and known.mark else None)
    for session, rows in itertools.groupby(found, key=lambda row: row.session):
        if taker.stop():
            is_whole = False
            break
        total.add(_take_session(taker, candidate, session, (row for row in rows if seen.is_new(row))))
    if is_whole:
        file, about, path = candidate.file, candidate.format, str(candidate.file.path)
        identity = source_id(about.name, path, 1)
        taker.know(
            Taken(
                source=Source(id=identity, format=about.name, client=about.client, path=path, is_kept=taker.keep),
                size=file.size,
                mtime_ns=file.mtime_ns,
                inode=file.inode,
                mark=seen.mark,
                recent=seen.recent(),
            )
        )
    return total


def _take_session(taker: Taker, database: Candidate, session: str, rows: Iterable[Row]) -> Outcome:
    path = Path(f"{database.file.path}#{session}")
    known = taker.known(database.format.name, path)
    rows = iter(rows if known is None or known.is_cut or database.known is not None else _later(rows, known))
    first = next(rows, None)
    if first is None:
        return Outcome()
    facts = facts_of(known) if known is not None else _whose(taker, database, session, first)
    about = database.file
    candidate = Candidate(
        File(path, about.size, about.mtime_ns, about.inode),
        database.format,
        facts,
        State.GROWN if known is not None else State.NEW,
        known,
    )
    taken = begin(candidate, keep=taker.keep)
    if not taker.keep:
        return taker.point_at(candidate, taken)
    # A session is taken in as a whole: where its rows stand says nothing of when they were written.
    passage = Passage(taker, candidate, taken, facts=msgspec.structs.replace(facts), stop=lambda: False)
    return passage.run(_pieces(itertools.chain([first], rows), taken.source.reached))


def _later(rows: Iterable[Row], known: Taken) -> Iterator[Row]:
    """Without its ledger, the time of a session's newest row tells what is new."""
    newest = (known.source.last_at or 0) // 1_000_000
    return (row for row in rows if row.mark > newest)


def _pieces(rows: Iterable[Row], offset: int) -> Iterator[Piece]:
    for row in rows:
        for piece in files.cut(row.text, offset):
            yield piece
            offset = piece.end


def _whose(taker: Taker, database: Candidate, session: str, first: Row) -> Facts:
    """A sub-agent's session belongs to the one that began it."""
    parent = load(first.text).get("parent_id") if first.table == "session" else None
    if not isinstance(parent, str):
        return Facts(session=session)
    above = taker.known(database.format.name, Path(f"{database.file.path}#{parent}"))
    return Facts(session=above.source.native_session if above is not None else parent, thread=session)
