"""Packs that were made before: found by all that they depend on, and by nothing else."""

import multiprocessing
import os
import stat
from pathlib import Path

import msgspec
import pytest

from blackbird.artifacts.note import Note
from blackbird.pack import cache
from blackbird.pack.model import Caps, Pack, Wanted
from blackbird.store.memory import Memory
from blackbird.store.writing import Writing
from blackbird.tokens import Exact, Plain
from tests.blackbird.retrieve.artifacts import NOW, artifact, decision, new_memory

WANTED = Wanted(session="s1", task="t1", description="Use cranes")


@pytest.fixture
def memory(tmp_path: Path) -> Writing:
    found = new_memory(tmp_path / "derived")
    found.put("s1", [artifact(decision("Use one crane"))], note=Note(session="s1", ended=NOW))
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "derived" / cache.FOLDER


def never() -> Pack:
    raise AssertionError("it should have been there")


@pytest.mark.requirement("PACK-14")
def test_the_same_is_not_built_twice(memory: Writing, folder: Path) -> None:
    first, was_kept = cache.kept_or_built(folder, memory, WANTED, Plain())
    assert not was_kept
    assert cache.kept_or_built(folder, memory, WANTED, Plain(), never) == (first, True)
    (file,) = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.requirement("PACK-14")
@pytest.mark.parametrize(
    "wanted",
    [
        Wanted(session="s2", task="t1", description="Use cranes"),
        Wanted(session="s1", task="t2", description="Use cranes"),
        Wanted(session="s1", task="t1", description="Use docks"),
        Wanted(session="s1", task="t1", description="Use cranes", folder="/home"),
        Wanted(session="s1", task="t1", description="Use cranes", caps=Caps(total=900)),
        Wanted(session="s1", task="t1", description="Use cranes", caps=Caps(decisions=20)),
    ],
)
def test_what_is_asked_otherwise_is_built(memory: Writing, folder: Path, wanted: Wanted) -> None:
    cache.kept_or_built(folder, memory, WANTED, Plain())
    assert not cache.kept_or_built(folder, memory, wanted, Plain())[1]


@pytest.mark.requirement("PACK-14")
def test_another_counter_state_builder_or_rules_is_another_pack(memory: Writing, folder: Path) -> None:
    cache.kept_or_built(folder, memory, WANTED, Plain())
    assert not cache.kept_or_built(folder, memory, WANTED, Exact())[1]
    assert not cache.kept_or_built(folder, memory, WANTED, Plain(), rules="mine")[1]
    memory.put("s1", [artifact(decision("Use two cranes"))], note=Note(session="s1", ended=NOW))
    pack, was_kept = cache.kept_or_built(folder, memory, WANTED, Plain())
    assert ("Use two cranes" in pack.text, was_kept) == (True, False)
    memory.set_meta(builder="2")
    assert not cache.kept_or_built(folder, memory, WANTED, Plain())[1]


def test_a_file_that_is_damaged_or_anothers_is_made_again(memory: Writing, folder: Path) -> None:
    pack, _ = cache.kept_or_built(folder, memory, WANTED, Plain())
    (file,) = folder.iterdir()
    for data in (b"", b"{", b'{"session": 1}', msgspec.json.encode(msgspec.structs.replace(pack, state="x"))):
        file.write_bytes(data)
        assert cache.kept_or_built(folder, memory, WANTED, Plain()) == (pack, False)
    assert cache.kept_or_built(folder, memory, WANTED, Plain()) == (pack, True)


def test_only_so_many_are_kept_the_last_asked_for(
    memory: Writing, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MOST", 3)
    for at, task in enumerate(("a", "b", "c")):
        cache.kept_or_built(folder, memory, Wanted(session="s1", task=task), Plain())
        for file in folder.iterdir():
            if file.stat().st_mtime > 1000:
                os.utime(file, (at, at))
    cache.kept_or_built(folder, memory, Wanted(session="s1", task="a"), Plain(), never)
    cache.kept_or_built(folder, memory, Wanted(session="s1", task="d"), Plain())
    assert len(list(folder.iterdir())) == 3
    cache.kept_or_built(folder, memory, Wanted(session="s1", task="a"), Plain(), never)
    assert not cache.kept_or_built(folder, memory, Wanted(session="s1", task="b"), Plain())[1]


def test_where_nothing_can_be_kept_it_is_built_each_time(memory: Writing, folder: Path) -> None:
    folder.write_text("a file in the place of the folder")
    pack, was_kept = cache.kept_or_built(folder, memory, WANTED, Plain())
    assert (bool(pack.text), was_kept) == (True, False)


def _hammer(path: Path, folder: Path, count: int) -> None:
    with Memory(path) as memory:
        texts = set()
        for at in range(count):
            wanted = Wanted(session="s1", task=str(at % 5))
            texts.add((wanted.task, cache.kept_or_built(folder, memory, wanted, Plain())[0].text))
        if len(texts) != 5:
            raise SystemExit(1)


def test_several_processes_get_the_same(memory: Writing, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST", 2)
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_hammer, args=(memory.path, folder, 60)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert {file.suffix for file in folder.iterdir()} == {".json"}
