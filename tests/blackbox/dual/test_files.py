"""The files of a recording are created, and never anything else is touched."""

import datetime as dt
from pathlib import Path

import pytest

from blackbox.dual import files
from blackbox.errors import UsageError, WriteError
from blackbox.write.sink import Durability

WHEN = dt.datetime(2025, 12, 22, 12, 34, 56, tzinfo=dt.UTC)


@pytest.mark.requirement("DUAL-04")
def test_a_pair_has_one_name(tmp_path: Path) -> None:
    pair = files.create_pair(tmp_path, WHEN, "Task", Durability.FSYNC)
    pair.log.close()
    pair.companion.close()
    assert pair.name == "123456-task"
    assert (pair.log.path, pair.companion.path) == (
        tmp_path / "20251222" / "123456-task.rlog",
        tmp_path / "20251222" / "123456-task.jsonl",
    )


@pytest.mark.requirement("DUAL-05")
def test_a_sub_agents_id_is_new(tmp_path: Path) -> None:
    found = [files.create_beside(tmp_path, "n", None, Durability.FLUSH) for _ in range(3)]
    for name, sink in found:
        sink.close()
        assert sink.path == tmp_path / f"n.sub-{name}.jsonl"
        assert len(name) == 6
    assert len({name for name, _ in found}) == 3


def test_folders_of_other_programs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="belongs to another program"):
        files.create_pair(tmp_path / ".git" / "logs", WHEN, "Task", Durability.FLUSH)
    assert not (tmp_path / ".git").exists()


def test_a_file_where_the_folder_should_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "20251222").write_text("")
    with pytest.raises(WriteError):
        files.create_pair(tmp_path, WHEN, "Task", Durability.FLUSH)


def test_lines_of_an_entry_are_one_write(tmp_path: Path) -> None:
    _, sink = files.create_beside(tmp_path, "n", "a", Durability.FLUSH)
    files.write_lines(sink, [{"a": "é"}, {"b": 1}])
    assert sink.path.read_text() == '{"a":"é"}\n{"b":1}\n'
    files.remove(sink)
    assert list(tmp_path.iterdir()) == []
