"""opencode's database is read from a copy, row by row, and what was read is not read again."""

import json
import os
import stat
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from blackbird.imports import opencode
from blackbird.imports.opencode import Row, rows
from blackbox.errors import ReadError

TABLES = """
CREATE TABLE session (id text PRIMARY KEY, parent_id text, slug text NOT NULL, directory text NOT NULL,
    title text NOT NULL, version text NOT NULL, share_url text, time_created integer NOT NULL,
    time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE credential (id text PRIMARY KEY, value text NOT NULL);
"""
LATER = 100_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "opencode.db"


@pytest.fixture
def database(path: Path) -> Iterator[apsw.Connection]:
    """Two sessions; left open, so that its rows stand in the log beside the file."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute(TABLES)
    connection.execute("INSERT INTO credential VALUES ('c', 'secret')")
    for key, created in (("ses_b", 1), ("ses_a", 2)):
        session = (key, None, "slug", "/job", "T", "1", "https://share/x", created, 50)
        connection.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", session)
    say(connection, "msg_2", 20, 60, {"role": "assistant"}, {"prt_3": "B", "prt_2": "A"})
    say(connection, "msg_1", 10, 70, {"role": "user"}, {"prt_1": "Fix ä."})
    yield connection
    connection.close()


def say(
    connection: apsw.Connection, key: str, created: int, updated: int, data: dict[str, Any], parts: dict[str, str]
) -> None:
    message = (key, "ses_b", created, updated, json.dumps(data))
    connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", message)
    for part, text in parts.items():
        row = (part, key, "ses_b", created, updated, json.dumps({"type": "text", "text": text}, ensure_ascii=False))
        connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)


def names(found: list[Row]) -> list[str]:
    return [row.id for row in found]


@pytest.mark.usefixtures("database")
def test_rows_come_in_the_order_of_the_conversation(path: Path) -> None:
    found = list(rows(path))
    assert names(found) == ["ses_b", "msg_1", "prt_1", "msg_2", "prt_2", "prt_3", "ses_a"]
    assert [row.session for row in found] == ["ses_b"] * 6 + ["ses_a"]
    assert [row.mark for row in found] == [50, 70, 70, 60, 60, 60, 50]
    assert list(rows(path)) == found


@pytest.mark.usefixtures("database")
def test_a_row_is_one_line_with_its_data_inside_as_it_was_written(path: Path) -> None:
    found = {row.id: row.text for row in rows(path)}
    assert found["prt_1"] == (
        '{"table":"part","id":"prt_1","message_id":"msg_1","session_id":"ses_b","time_created":10,"time_updated":70,'
        '"data":{"type": "text", "text": "Fix ä."}}'
    )
    assert json.loads(found["ses_b"]) == {
        "table": "session",
        "id": "ses_b",
        "slug": "slug",
        "directory": "/job",
        "title": "T",
        "version": "1",
        "time_created": 1,
        "time_updated": 50,
    }


@pytest.mark.parametrize(
    ("data", "expected"),
    [('{\n "a": 1\n}', {"a": 1}), ("{broken", "{broken"), ("[" * 5000, "[" * 5000)],
)
def test_data_never_breaks_the_line(path: Path, database: apsw.Connection, data: str, expected: object) -> None:
    database.execute("UPDATE message SET data = ? WHERE id = 'msg_1'", (data,))
    (text,) = [row.text for row in rows(path) if row.id == "msg_1"]
    assert "\n" not in text
    assert json.loads(text)["data"] == expected


def test_only_what_is_later_is_read_again(path: Path, database: apsw.Connection) -> None:
    last = max(row.mark for row in rows(path))
    assert list(rows(path, last)) == []
    say(database, "msg_3", LATER, LATER, {"role": "user"}, {"prt_9": "More."})
    database.execute("UPDATE part SET time_updated = ? WHERE id = 'prt_2'", (LATER,))
    found = list(rows(path, LATER - 1))
    assert names(found) == ["prt_2", "msg_3", "prt_9"]
    assert list(rows(path, LATER)) == []


def test_rows_that_were_written_late_are_not_missed(path: Path, database: apsw.Connection) -> None:
    say(database, "msg_3", LATER, LATER, {"role": "user"}, {})
    say(database, "msg_4", LATER + 1, LATER + 20_000, {"role": "user"}, {})
    say(database, "msg_5", LATER + 2, LATER + 12_000, {"role": "user"}, {})
    assert names(list(rows(path, LATER + 15_000))) == ["msg_4", "msg_5"]


@pytest.mark.usefixtures("database")
def test_the_original_is_only_read_and_no_copy_is_left(
    path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    before = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in path.parent.glob("opencode.db*")}
    reading = rows(path)
    next(reading)
    (folder,) = scratch.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    kept = {
        file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir() if not file.name.endswith("-shm")
    }
    assert kept == {"0.db": 0o600, "0.db-wal": 0o600}
    assert isinstance(reading, Generator)
    reading.close()
    assert list(scratch.iterdir()) == []
    after = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in path.parent.glob("opencode.db*")}
    assert after == before


@pytest.mark.usefixtures("database")
def test_secrets_of_other_tables_stay_where_they_are(path: Path) -> None:
    assert not [row for row in rows(path) if "secret" in row.text or "share" in row.text]


def test_a_file_that_is_missing_or_no_database_is_refused(path: Path) -> None:
    with pytest.raises(ReadError, match="no such file"):
        list(rows(path))
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(ReadError, match=r"opencode\.db"):
        list(rows(path))
    path.unlink()
    apsw.Connection(str(path)).execute("CREATE TABLE other (id)")
    with pytest.raises(ReadError, match="no table 'session'"):
        list(rows(path))


@pytest.mark.usefixtures("database")
def test_a_database_that_never_rests_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = opencode._copy

    def copy_and_write(source: Path, target: Path) -> None:
        copy(source, target)
        os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))

    monkeypatch.setattr(opencode, "_copy", copy_and_write)
    with pytest.raises(ReadError, match="written all the time"):
        list(rows(path))
