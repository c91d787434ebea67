"""The database of opencode, read from a copy: its sessions, messages and parts as JSON objects, one a row."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec

from blackbox import disk
from blackbox.errors import ReadError

#: A row may be written a while after the time that it bears: so much is read again. In milliseconds.
_SLACK = 10_000
_BLOCK = 1 << 20
#: How often a copy is tried anew while opencode writes.
_TRIES = 5
_REMEDY = "make it readable for you, or leave it out"
#: What is read of each table, if it is there. Accounts, credentials and shares are none of our business.
_COLUMNS = {
    "session": (
        *("id", "parent_id", "slug", "directory", "title", "version", "agent", "model"),
        *("time_created", "time_updated"),
    ),
    "message": ("id", "session_id", "time_created", "time_updated", "data"),
    "part": ("id", "message_id", "session_id", "time_created", "time_updated", "data"),
}


class Row(NamedTuple):
    """A row: `text` is a JSON object of its table's name and its columns; `mark` when it was last written."""

    table: str
    id: str
    session: str
    text: str
    mark: int


def rows(path: Path, since: int | None = None) -> Iterator[Row]:
    """The rows of a database: each session, its messages in order, and behind each message its parts.

    With the highest mark of those that were read before, only later ones, and the last few of the old ones once more;
    none at all if there is nothing later. The database itself is never opened. Raises `ReadError`.
    """
    with tempfile.TemporaryDirectory(prefix="blackbird-") as folder:
        copy = _copied(path, Path(folder))
        try:
            with contextlib.closing(apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)) as database:
                yield from _Tables(database, path).rows(since)
        except apsw.Error as error:
            raise ReadError(f"{path}: {error}", "check that it is a database of opencode") from error


class _Tables:
    """The tables of a copy, and which of the columns they have."""

    def __init__(self, database: apsw.Connection, path: Path) -> None:
        self._database = database
        self._columns = {table: self._known(table) for table in _COLUMNS}
        missing = [table for table, columns in self._columns.items() if "id" not in columns]
        if missing:
            raise ReadError(f"{path}: it has no table {missing[0]!r}", "check that it is a database of opencode")

    def rows(self, since: int | None) -> Iterator[Row]:
        if since is not None and not self._is_later(since):
            return
        first = 0 if since is None else since - _SLACK
        for (session,) in self._database.execute("SELECT id FROM session ORDER BY time_created, id"):
            yield from self._read("session", "id = ?", session, first)
            messages = "SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id"
            for (message,) in self._database.execute(messages, (session,)):
                yield from self._read("message", "id = ?", message, first)
                yield from self._read("part", "message_id = ? ORDER BY id", message, first)

    def _known(self, table: str) -> tuple[str, ...]:
        there = {row[1] for row in self._database.execute(f"PRAGMA table_info({table})")}
        return tuple(column for column in _COLUMNS[table] if column in there)

    def _is_later(self, since: int) -> bool:
        later = (f"SELECT 1 FROM {table} WHERE time_updated > ? LIMIT 1" for table in _COLUMNS)  # noqa: S608 (names of ours)
        return any(list(self._database.execute(query, (since,))) for query in later)

    def _read(self, table: str, where: str, key: str, first: int) -> Iterator[Row]:
        columns = self._columns[table]
        query = f"SELECT {', '.join(columns)} FROM {table} WHERE time_updated >= ? AND {where}"  # noqa: S608 (names of ours)
        for values in self._database.execute(query, (first, key)):
            row = dict(zip(columns, values, strict=True))
            session = row["id"] if table == "session" else row["session_id"]
            yield Row(table, str(row["id"]), str(session), _text(table, row), int(row["time_updated"]))


def _text(table: str, row: dict[str, Any]) -> str:
    """The row on one line; what it keeps as JSON stands in it as that."""
    plain = {key: value for key, value in row.items() if value is not None and key != "data"}
    if isinstance(row.get("data"), str):
        plain["data"] = _inner(row["data"])
    return msgspec.json.encode({"table": table} | plain).decode()


def _inner(data: str) -> msgspec.Raw | str:
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return data
    return msgspec.Raw(msgspec.json.encode(value) if "\n" in data else data.encode())


def _copied(path: Path, folder: Path) -> Path:
    """A copy of the database and of what SQLite has not moved into it yet, both of the same moment.

    The index of the latter is left out: it is made anew from it, and would be wrong beside any other.
    """
    log = path.with_name(f"{path.name}-wal")
    for tries in range(_TRIES):
        before = (_state(path), _state(log))
        copy = folder / f"{tries}.db"
        _copy(path, copy)
        if before[1] is not None:
            with contextlib.suppress(FileNotFoundError):
                _copy(log, folder / f"{tries}.db-wal")
        if (_state(path), _state(log)) == before:
            return copy
    raise ReadError(f"{path}: it is being written all the time", "try again when opencode rests")


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _copy(source: Path, target: Path) -> None:
    try:
        with source.open("rb") as original, disk.create_file(target) as copy:
            while block := original.read(_BLOCK):
                copy.write(block)
    except FileNotFoundError:
        if os.fspath(source).endswith("-wal"):
            raise
        raise ReadError(f"{source}: no such file", "check the path") from None
    except OSError as error:
        raise ReadError(f"{source}: {error.strerror or error}", _REMEDY) from error
