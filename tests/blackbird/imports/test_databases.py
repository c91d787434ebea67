"""A database is taken in session by session, a row when it is new or was changed."""

import json
from pathlib import Path

import apsw

from blackbird.imports import databases, files
from blackbird.imports.finding import State
from tests.blackbird.imports.twin import Bench, bench

BEGIN = 1_767_323_045_000
TABLES = """
CREATE TABLE session (id text PRIMARY KEY, parent_id text, slug text, directory text, title text, version text,
    time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer,
    time_updated integer, data text);
"""


def database(folder: Path) -> tuple[Path, apsw.Connection]:
    path = folder / "opencode.db"
    made = apsw.Connection(str(path))
    made.execute(TABLES)
    for number, (name, parent) in enumerate([("ses_1", None), ("ses_2", "ses_1"), ("ses_3", "ses_2")]):
        at = BEGIN + number
        made.execute(
            "INSERT INTO session VALUES (?,?,'slug','/home/dev/job',?,'1',?,?)",
            (name, parent, f"title {name}", at, at),
        )
        made.execute("INSERT INTO message VALUES (?,?,?,?,'{}')", (f"msg_{name}", name, at, at))
    return path, made


def take(made: Bench, path: Path) -> list[str]:
    before = len(made.twin.lines())
    for candidate in made.find(path):
        if candidate.state is not State.TAKEN:
            databases.take(made.taker, candidate)
    return [json.loads(line["text"])["id"] for line in made.twin.lines()[before:]]


def test_each_session_is_a_source_and_a_sub_agent_belongs_to_the_first(tmp_path: Path) -> None:
    made = bench(tmp_path)
    path, _ = database(tmp_path)
    before = path.read_bytes()
    assert take(made, path) == ["ses_1", "msg_ses_1", "ses_2", "msg_ses_2", "ses_3", "msg_ses_3"]
    opened = made.twin.events("import.open")
    assert [(each["native_session"], each["native_thread"]) for each in opened] == [
        ("ses_1", None),
        ("ses_1", "ses_2"),
        ("ses_1", "ses_3"),
    ]
    assert [each["path"] for each in opened] == [f"{path}#ses_{number}" for number in (1, 2, 3)]
    assert [(each["lines"], each["title"]) for each in made.twin.events("import.end")] == [
        (2, "title ses_1"),
        (2, "title ses_2"),
        (2, "title ses_3"),
    ]
    assert path.read_bytes() == before


def test_a_second_time_only_what_is_new_is_sent_behind_what_was(tmp_path: Path) -> None:
    made = bench(tmp_path)
    path, connection = database(tmp_path)
    take(made, path)
    assert take(made, path) == []
    at = BEGIN + 9000
    connection.execute("INSERT INTO part VALUES ('prt_1','msg_ses_2','ses_2',?,?,'{\"type\":\"text\"}')", (at, at))
    assert take(made, path) == ["prt_1"]
    ended = made.twin.events("import.end")[-1]
    assert (ended["lines"], ended["source"]) == (3, made.twin.events("import.open")[-1]["source"])
    of_two = [
        line for line in made.twin.lines() if '"ses_2"' in line["text"] and '"parent_id":"ses_2"' not in line["text"]
    ]
    assert [line["offset"] for line in of_two] == sorted({line["offset"] for line in of_two})


def test_a_session_that_stays_outside_is_read_from_its_database(tmp_path: Path) -> None:
    path, _ = database(tmp_path)
    found = list(files.read(Path(f"{path}#ses_2")))
    assert [json.loads(line.text)["id"] for line in found] == ["ses_2", "msg_ses_2"]
    assert found[1].offset == found[0].length + 1
