"""What is put into the memory: a session at a time, each in one transaction, and only what is not there yet."""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import apsw
import msgspec

from blackbird.artifacts.model import Artifact, Segment
from blackbird.artifacts.note import Note
from blackbird.store import files, index
from blackbird.store.memory import SCHEMA, TABLES, Memory
from blackbird.store.values import Change, Finding, Mark

_ENCODER = msgspec.json.Encoder(order="deterministic")
_DIGEST_BYTES = 16
_MOST = (1 << 63) - 1
_FINDING = "INSERT INTO finding (rule, source, message, session, segment, sequence) VALUES (?, ?, ?, ?, ?, ?)"
_ARTIFACT = (
    "INSERT INTO artifact (id, session, task, run, type, title, at, place, is_expired, body)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?) ON CONFLICT (id) DO UPDATE SET"
    " session = excluded.session, task = excluded.task, run = excluded.run, type = excluded.type,"
    " title = excluded.title, at = excluded.at, place = excluded.place, is_expired = 0, body = excluded.body"
    " RETURNING number"
)
_TALLY = "INSERT INTO tally SELECT session, type, count(*) FROM artifact WHERE session = ? GROUP BY type"
#: What is indexed together with the artifacts themselves; with more of them, nobody should wait for the index.
_AT_ONCE = 500
_BATCH = 2000


class Writing(Memory):
    """The memory for its one writer."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, writable=True)

    @classmethod
    def new(cls, folder: Path, builder: str, trace: str | None) -> "Writing":
        """An empty one in a file of its own; it is not the folder's memory before it is put in place."""
        memory = cls(files.create(folder))
        with files.told(memory.path), memory._database as database:
            database.execute(TABLES)
        memory.set_meta(schema=SCHEMA, builder=builder, trace=trace)
        return memory

    def set_meta(self, **facts: object) -> None:
        """Note facts of the file as a whole, all or none of them."""
        with files.told(self.path), self._database as database:
            for key, value in facts.items():
                database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def move(self, mark: Mark, survey: bytes | None = None) -> None:
        """Everything up to here is in it. `survey` is what a later look goes on from."""
        facts: dict[str, object] = {"mark": msgspec.json.encode(mark)}
        if survey is not None:
            facts |= {"survey": survey, "survey_mark": facts["mark"]}
        self.set_meta(**facts)

    def put(
        self,
        session: str,
        artifacts: Iterable[Artifact],
        findings: Iterable[Finding] = (),
        *,
        scope: bytes = b"",
        note: Note | None = None,
        gone: Collection[str] = (),
    ) -> list[Change]:
        """The artifacts of a session in place of those before; what became of them.

        `gone` are artifacts that the trace no longer has the evidence of: they stay, marked.
        """
        bodies = {artifact.id: (artifact, _ENCODER.encode(artifact)) for artifact in artifacts}
        found = list(findings)
        noted = _ENCODER.encode(note) if note is not None else None
        digest = _digest(bodies.values(), found, noted)
        with files.told(self.path), self._database as database:
            kept = next(iter(database.execute("SELECT digest, scope FROM session WHERE name = ?", (session,))), None)
            if kept == (digest, scope):
                return []
            changes = list(self._replace(session, bodies, set(gone)))
            database.execute("DELETE FROM finding WHERE session = ?", (session,))
            database.executemany(_FINDING, (_values(finding) for finding in found))
            database.execute("INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?)", (session, digest, scope, noted))
        return changes

    def drop(self, session: str, *, gone: Collection[str] = ()) -> list[Change]:
        """A session that is none any more, since it turned out to be part of another."""
        with files.told(self.path), self._database as database:
            changes = list(self._replace(session, {}, set(gone)))
            database.execute("DELETE FROM finding WHERE session = ?", (session,))
            database.execute("DELETE FROM session WHERE name = ?", (session,))
        return changes

    def keep(self, stored: Iterable[Artifact]) -> list[Change]:
        """Take artifacts over whose evidence is gone, unless they are there."""
        with files.told(self.path), self._database as database:
            missing = [artifact for artifact in stored if self.get(artifact.id) is None]
            self._insert([(artifact, _ENCODER.encode(artifact)) for artifact in missing])
            for artifact in missing:
                database.execute("UPDATE artifact SET is_expired = 1 WHERE id = ?", (artifact.id,))
            for session in sorted({artifact.session for artifact in missing}):
                self._count(session)
        return [_change("expired", artifact) for artifact in missing]

    def note(self, findings: Iterable[Finding]) -> None:
        """Findings of no session, such as a segment that cannot be read; none is noted twice."""
        with files.told(self.path), self._database as database:
            for finding in findings:
                database.execute("DELETE FROM finding WHERE session IS NULL AND source = ?", (finding.source,))
                database.execute(_FINDING, _values(finding))

    def index(self) -> int:
        """Index what waits for it, some at a time; how many it were."""
        total = 0
        while True:
            with files.told(self.path), self._database as database:
                taken = index.take_waiting(database, _BATCH)
            total += taken
            if taken < _BATCH:
                return total

    def problems(self) -> list[str]:
        """What SQLite and its index of words find wrong with the file; all of it is read for that."""
        try:
            found = [str(row[0]) for row in self._database.execute("PRAGMA integrity_check")]
            index.check(self._database)
        except apsw.CorruptError as error:
            return [str(error)]
        return [problem for problem in found if problem != "ok"]

    def settle(self) -> None:
        """Bring everything into the one file, before it is put in place of another."""
        with files.told(self.path):
            self._database.pragma("wal_checkpoint(truncate)")

    def _replace(self, session: str, bodies: dict[str, tuple[Artifact, bytes]], gone: set[str]) -> Iterator[Change]:
        before: dict[str, tuple[bytes, str, str, int]] = {
            row[0]: row[1:]
            for row in self._database.execute(
                "SELECT id, body, type, title, is_expired FROM artifact WHERE session = ?", (session,)
            )
        }
        removed = []
        for identifier, (_, kind, title, expired) in before.items():
            if identifier in bodies:
                continue
            if identifier in gone:
                self._database.execute("UPDATE artifact SET is_expired = 1 WHERE id = ?", (identifier,))
                if not expired:
                    yield Change(id=identifier, what="expired", type=kind, session=session, title=title)
            else:
                removed.append(identifier)
                yield Change(id=identifier, what="removed", type=kind, session=session, title=title)
        self._delete(removed)
        written = []
        for identifier, (artifact, body) in bodies.items():
            known = before.get(identifier)
            if known is None or known[0] != body or known[3]:
                written.append((artifact, body))
                yield _change("added" if known is None else "changed", artifact)
        self._insert(written)
        self._count(session)

    def _insert(self, written: list[tuple[Artifact, bytes]]) -> None:
        numbers = [next(iter(self._database.execute(_ARTIFACT, _row(*each))))[0] for each in written]
        if len(numbers) <= _AT_ONCE:
            index.add(self._database, ((number, each[0]) for number, each in zip(numbers, written, strict=True)))
        else:
            index.defer(self._database, numbers)

    def _delete(self, identifiers: list[str]) -> None:
        for identifier in identifiers:
            found = self._database.execute("DELETE FROM artifact WHERE id = ? RETURNING number", (identifier,))
            index.remove(self._database, [number for (number,) in found])

    def _count(self, session: str) -> None:
        self._database.execute("DELETE FROM tally WHERE session = ?", (session,))
        self._database.execute(_TALLY, (session,))


def _row(artifact: Artifact, body: bytes) -> tuple[object, ...]:
    at = max(-_MOST, min(_MOST, artifact.at)) if artifact.at is not None else None
    return (
        artifact.id,
        artifact.session,
        artifact.task,
        artifact.run,
        str(artifact.type),
        artifact.title,
        at,
        artifact.content.position if isinstance(artifact.content, Segment) else None,
        body,
    )


def _values(finding: Finding) -> tuple[object, ...]:
    return (finding.rule, finding.source, finding.message, finding.session, finding.segment, finding.sequence)


def _change(what: str, artifact: Artifact) -> Change:
    return Change(id=artifact.id, what=what, type=artifact.type, session=artifact.session, title=artifact.title)


def _digest(bodies: Iterable[tuple[Artifact, bytes]], findings: Iterable[Finding], note: bytes | None) -> bytes:
    digest = hashlib.blake2b(note or b"", digest_size=_DIGEST_BYTES)
    for body in sorted(body for _, body in bodies):
        digest.update(body + b"\n")
    for line in sorted(_ENCODER.encode(finding) for finding in findings):
        digest.update(line + b"\n")
    return digest.digest()
