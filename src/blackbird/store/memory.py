"""What is asked of the memory: artifacts by their id, session, task, type or run; findings; how far it is."""

import contextlib
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import apsw
import msgspec

from blackbird.artifacts.model import Artifact, Type
from blackbird.artifacts.note import Note
from blackbird.store import files, index
from blackbird.store.index import Tokenizer
from blackbird.store.values import Finding, Kept, Mark
from blackbox.errors import ReadError

#: Another number, or another builder, and the file is made anew; nothing in it is worth being converted.
SCHEMA = 3
TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE session (name TEXT PRIMARY KEY, digest BLOB NOT NULL, scope BLOB NOT NULL, note BLOB) WITHOUT ROWID;
CREATE TABLE artifact (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL, task TEXT, run TEXT,
    type TEXT NOT NULL, title TEXT NOT NULL, at INTEGER, place INTEGER,
    is_expired INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE INDEX artifact_session ON artifact (session, type);
CREATE INDEX artifact_task ON artifact (task) WHERE task IS NOT NULL;
CREATE INDEX artifact_run ON artifact (run) WHERE run IS NOT NULL;
CREATE INDEX artifact_type ON artifact (type);
CREATE INDEX artifact_time ON artifact (session, at);
CREATE INDEX artifact_place ON artifact (session, place, run) WHERE place IS NOT NULL;
CREATE TABLE tally (session TEXT, type TEXT, count INTEGER NOT NULL, PRIMARY KEY (session, type)) WITHOUT ROWID;
CREATE TABLE finding (
    session TEXT, source TEXT NOT NULL, rule TEXT NOT NULL, message TEXT NOT NULL, segment INTEGER, sequence INTEGER
);
CREATE INDEX finding_session ON finding (session);
{index.TABLES}
"""
_ARTIFACT = msgspec.json.Decoder(Artifact)
_NOTE = msgspec.json.Decoder(Note)


class Stored(msgspec.Struct, frozen=True):
    """An artifact as the memory has it; `is_expired`: what it came from is no longer in the trace."""

    artifact: Artifact
    is_expired: bool = False


class Memory:
    """The memory in one file. Each question sees it as it is between two transactions of the writer."""

    def __init__(self, path: Path, *, writable: bool = False) -> None:
        self.path = path
        self._database: apsw.Connection = files.connect(path, writable=writable)
        self._noted: tuple[tuple[int, int], dict[str, Note]] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def fits(self, builder: str) -> bool:
        """Whether it was made by this program and this builder."""
        return bool(self.meta("schema") == SCHEMA) and self.builder == builder

    @property
    def builder(self) -> str | None:
        """The version of what made its artifacts."""
        found = self.meta("builder")
        return str(found) if found is not None else None

    def get(self, identifier: str) -> Stored | None:
        """One artifact."""
        return next(iter(self._stored("id = ?", [identifier])), None)

    def starting(self, prefix: str) -> list[Stored]:
        """The artifacts whose id starts so."""
        return self._stored("id >= ? AND id < ?", [prefix, prefix + "\U0010ffff"])

    def find(
        self,
        *,
        session: str | None = None,
        task: str | None = None,
        kind: Type | None = None,
        run: str | None = None,
    ) -> list[Stored]:
        """Those of a session, a task, a type, a run; by time."""
        asked = {"session": session, "task": task, "type": kind, "run": run}
        given = {name: str(value) for name, value in asked.items() if value is not None}
        return self._stored(" AND ".join(f"{name} = ?" for name in given) or "1", list(given.values()))

    def newest(self, session: str, bounds: Mapping[Type, int]) -> list[Stored]:
        """The last ones of each type in a session, at most so many; the newest of the first type first."""
        each = "SELECT number FROM artifact WHERE session = ? AND type = ? ORDER BY at DESC, id LIMIT ?"
        chosen = " UNION ALL ".join([f"SELECT number FROM ({each})"] * len(bounds))  # noqa: S608 (no values)
        query = f"SELECT body, is_expired FROM artifact WHERE number IN ({chosen})"  # noqa: S608 (no values)
        values = [value for kind, most in bounds.items() for value in (session, str(kind), most)]
        found = [Stored(_ARTIFACT.decode(body), bool(expired)) for body, expired in self._rows(query, values)]
        order = {kind: place for place, kind in enumerate(bounds)}
        return sorted(found, key=lambda stored: _newest_first(order, stored.artifact))

    def findings(self, session: str | None = None) -> list[Finding]:
        """What could not be understood: of a session, or all."""
        where, values = ("WHERE session = ?", [session]) if session is not None else ("", [])
        columns = Finding.__struct_fields__
        query = f"SELECT {', '.join(columns)} FROM finding {where} ORDER BY segment, sequence, source, message"  # noqa: S608 (names of ours)
        return [Finding(**dict(zip(columns, row, strict=True))) for row in self._rows(query, values)]

    def sessions(self) -> dict[str, Kept]:
        """The sessions that were written."""
        found = self._rows("SELECT name, digest, scope FROM session ORDER BY name")
        return {name: Kept(digest, scope) for name, digest, scope in found}

    def digests(self, sessions: Iterable[str]) -> dict[str, bytes]:
        """The digests of these sessions, as far as they were written."""
        query = "SELECT name, digest FROM session WHERE name IN (SELECT value FROM json_each(?))"
        return dict(self._rows(query, [msgspec.json.encode(list(sessions)).decode()]))

    def has_session(self, name: str) -> bool:
        """Whether a session was written under this very name."""
        return any(self._rows("SELECT 1 FROM session WHERE name = ?", [name]))

    def sessions_with(self, task: str) -> list[str]:
        """The sessions that know a task by this name, the one that last had to do with it first."""
        query = "SELECT session FROM artifact WHERE task = ? GROUP BY session ORDER BY max(at) DESC, session"
        return [row[0] for row in self._rows(query, [task])]

    def notes(self) -> dict[str, Note]:
        """What is kept of each session beside its artifacts; read again only if something was written since."""
        with files.told(self.path):
            version = (int(self._database.pragma("data_version")), self._database.total_changes())
        if self._noted is None or self._noted[0] != version:
            found = self._rows("SELECT name, note FROM session WHERE note IS NOT NULL ORDER BY name")
            self._noted = (version, {name: _NOTE.decode(note) for name, note in found})
        return dict(self._noted[1])

    def counts(self) -> dict[str, int]:
        """How many artifacts there are of each type."""
        return dict(self._rows("SELECT type, sum(count) FROM tally GROUP BY type ORDER BY type"))

    def tally(self, *, sessions: Collection[str] = (), kinds: Collection[Type] = ()) -> int:
        """How many artifacts there are of these sessions, and of these types; without any, of all."""
        given = {"session": list(sessions), "type": [*map(str, kinds)]}
        where = [f"{name} IN ({', '.join('?' * len(values))})" for name, values in given.items() if values]
        query = f"SELECT coalesce(sum(count), 0) FROM tally WHERE {' AND '.join(where) or '1'}"  # noqa: S608 (names of ours)
        return int(next(iter(self._rows(query, [value for values in given.values() for value in values])))[0])

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Several questions that see the memory as it is at the first; also among others that do."""
        if self._database.in_transaction:
            yield
            return
        with files.told(self.path):
            self._database.execute("BEGIN")
            try:
                yield
            finally:
                self._database.execute("COMMIT")

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Takes texts apart as the index does."""
        return Tokenizer(self._database)

    def matching(self, expression: str, most: int) -> list[int]:
        """The numbers of artifacts that the index finds, the last written first."""
        with files.told(self.path):
            return index.numbers(self._database, expression, most)

    def waiting(self, most: int) -> dict[int, Stored]:
        """Artifacts that are not indexed yet, the last written first."""
        found = self._rows("SELECT number FROM waiting ORDER BY number DESC LIMIT ?", [most])
        return self.numbered(row[0] for row in found)

    def numbered(self, numbers: Iterable[int]) -> dict[int, Stored]:
        """Artifacts by their numbers."""
        query = "SELECT number, body, is_expired FROM artifact WHERE number IN (SELECT value FROM json_each(?))"
        found = self._rows(query, [_spelled(numbers)])
        return {number: Stored(_ARTIFACT.decode(body), bool(expired)) for number, body, expired in found}

    def made_at(self, moments: Iterable[tuple[str, int]], kinds: Collection[Type], most: int) -> dict[int, Stored]:
        """Artifacts of some types that are of these very moments of sessions, by their numbers; at most so many."""
        query = (
            "SELECT number FROM json_each(?) AS moment JOIN artifact"
            " ON session = moment.value ->> 0 AND at = moment.value ->> 1"
            " WHERE artifact.type IN (SELECT value FROM json_each(?)) ORDER BY number DESC LIMIT ?"
        )
        given = [msgspec.json.encode(each).decode() for each in (sorted(moments), [*map(str, kinds)])]
        return self.numbered(row[0] for row in self._rows(query, [*given, most]))

    def beside(self, session: str, at: int, reach: int) -> list[Stored]:
        """What a session has from right before a time and right after it, by time."""
        before = "session = ? AND at <= ? ORDER BY at DESC, id LIMIT ?"
        after = "session = ? AND at > ? ORDER BY at, id LIMIT ?"
        numbers = [
            row[0]
            for where in (before, after)
            for row in self._rows(f"SELECT number FROM artifact WHERE {where}", [session, at, reach + 1])  # noqa: S608 (words of ours)
        ]
        found = self.numbered(numbers)
        return [found[number] for number in sorted(found, key=lambda each: (found[each].artifact.at or 0, each))]

    def stretches(self, numbers: Iterable[int], reach: int) -> Iterator[dict[int, int]]:
        """The pieces of transcripts around these, so far to both sides: of one run each, by place, which number."""
        places = (
            "SELECT session, place FROM artifact"
            " WHERE number IN (SELECT value FROM json_each(?)) AND place IS NOT NULL ORDER BY session, place"
        )
        around = "SELECT run, place, number FROM artifact WHERE session = ? AND place BETWEEN ? AND ? ORDER BY place"
        for session, first, last in _joined(self._rows(places, [_spelled(numbers)]), reach):
            runs: dict[str | None, dict[int, int]] = {}
            for run, place, number in self._rows(around, [session, first, last]):
                runs.setdefault(run, {})[place] = number
            yield from runs.values()

    def mark(self) -> Mark | None:
        """How far it is."""
        return self._mark("mark")

    def survey_mark(self) -> Mark | None:
        """How far what a later look goes on from is; never further than the memory."""
        return self._mark("survey_mark")

    def all(self) -> list[Stored]:
        """Everything."""
        return self._stored("1", [])

    def dump(self) -> Iterator[bytes]:
        """All artifacts, one JSON object each, sorted by their ids: the same bytes for the same content."""
        return (row[0] for row in self._rows("SELECT body FROM artifact ORDER BY id"))

    def meta(self, key: str) -> Any:
        """A fact of the file as a whole."""
        found = list(self._rows("SELECT value FROM meta WHERE key = ?", [key]))
        return found[0][0] if found else None

    def _mark(self, key: str) -> Mark | None:
        found = self.meta(key)
        return msgspec.json.decode(found, type=Mark) if found is not None else None

    def _stored(self, where: str, values: list[Any]) -> list[Stored]:
        query = f"SELECT body, is_expired FROM artifact WHERE {where} ORDER BY at, id"  # noqa: S608 (names of ours)
        return [Stored(_ARTIFACT.decode(body), bool(expired)) for body, expired in self._rows(query, values)]

    def _rows(self, query: str, values: list[Any] | None = None) -> Iterator[Any]:
        with files.told(self.path):
            yield from self._database.execute(query, values or [])


#: So many pieces between two stretches are read rather than asked about again.
_GAP = 8


def _joined(places: Iterable[tuple[str, int]], reach: int) -> Iterator[tuple[str, int, int]]:
    """From where to where all that stands around these places is to be read; stretches that nearly touch are one."""
    session, first, last = "", 0, -1
    for at, place in places:
        if at == session and place - reach <= last + _GAP:
            last = place + reach
            continue
        if last >= first:
            yield session, first, last
        session, first, last = at, place - reach, place + reach
    if last >= first:
        yield session, first, last


def _spelled(numbers: Iterable[int]) -> str:
    return msgspec.json.encode(list(numbers)).decode()


def _newest_first(order: Mapping[Type, int], artifact: Artifact) -> tuple[int, float, str]:
    at = artifact.at if artifact.at is not None else -math.inf
    return order[artifact.type], -at, artifact.id


class Reader:
    """The memory of a folder, whichever file it is by now."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._memory: Memory | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; who asks again opens it again."""
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    @property
    def memory(self) -> Memory | None:
        """The memory as it is now; nothing if nothing was ever derived."""
        for _ in range(8):
            path = files.current(self._folder)
            if self._memory is not None and self._memory.path != path:
                self._memory.close()
                self._memory = None
            if path is None or self._memory is not None:
                return self._memory
            try:
                self._memory = Memory(path)
            except ReadError:
                # Another took its place between the look and the opening.
                continue
        return None
