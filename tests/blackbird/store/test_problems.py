"""A file that looks at itself."""

from pathlib import Path

import apsw

from blackbird.store import files
from blackbird.store.writing import Writing
from tests.blackbird.store.test_memory import made


def written(folder: Path) -> Path:
    with files.locked(folder), Writing.new(folder, "1", None) as memory:
        for number in range(40):
            memory.put(f"s{number}", [made(f"word{number} and some more", session=f"s{number}")])
        memory.settle()
    return memory.path


def problems(path: Path) -> list[str]:
    with Writing(path) as memory:
        return memory.problems()


def test_a_memory_that_is_well_has_none(tmp_path: Path) -> None:
    assert problems(written(tmp_path / "derived")) == []


def test_an_index_that_lost_a_part_is_found_out(tmp_path: Path) -> None:
    path = written(tmp_path / "derived")
    with apsw.Connection(str(path)) as database:
        database.execute("DELETE FROM words_data WHERE id = (SELECT max(id) FROM words_data)")
    assert problems(path) != []


def test_a_page_that_was_overwritten_is_found_out(tmp_path: Path) -> None:
    path = written(tmp_path / "derived")
    with apsw.Connection(str(path)) as database:
        pages = next(iter(database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'artifact_session'")))[0]
        size = database.pragma("page_size")
    with path.open("r+b") as file:
        file.seek((pages - 1) * size)
        file.write(b"\xff" * size)
    assert problems(path) != []
