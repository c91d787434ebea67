"""What an artifact has to do with others."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from blackbird.artifacts.model import Artifact, Change
from blackbird.retrieve.neighbours import related
from blackbird.store.memory import Stored
from blackbird.store.writing import Writing
from blackbird.tokens import Plain
from tests.blackbird.retrieve.artifacts import (
    DAY,
    NOW,
    artifact,
    constraint,
    decision,
    new_memory,
    outcome,
    said,
    talk,
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Writing]:
    with new_memory(tmp_path / "derived") as found:
        yield found


def ties(memory: Writing, of: Artifact, k: int = 20) -> list[tuple[str, str, str]]:
    return [(each.relation, each.via, each.card.title) for each in related(memory, Stored(of), k, Plain())]


@pytest.mark.requirement("SEARCH-09")
def test_what_replaced_it_and_what_it_replaced(memory: Writing) -> None:
    old, new = artifact(decision("Use pip"), at=None), artifact(decision("Use uv"), at=None)
    old = msgspec.structs.replace(old, content=decision("Use pip", superseded_by=new.id))
    new = msgspec.structs.replace(new, content=decision("Use uv", supersedes=old.id))
    wide = artifact(constraint("Never push"), at=None)
    local = artifact(constraint("Push here", overrides=(wide.id, "art_none")), at=None)
    memory.put("s1", [old, new, wide, local])
    assert ties(memory, old) == [("superseded_by", "", "Use uv")]
    assert ties(memory, new) == [("supersedes", "", "Use pip")]
    assert ties(memory, local) == [("supersedes", "", "Never push")]


@pytest.mark.requirement("SEARCH-09")
def test_decisions_of_changes_both_ways(memory: Writing) -> None:
    ruling = artifact(decision("Keep it small"), at=None)
    done = artifact(outcome("Cut", files=(Change(path="src/a.py", decision=ruling.id),)), at=None)
    memory.put("s1", [ruling, done])
    assert ties(memory, done) == [("decision", "src/a.py", "Keep it small")]
    assert ties(memory, ruling) == [("decision", "src/a.py", "Cut")]


@pytest.mark.requirement("SEARCH-09")
def test_files_and_symbols_of_this_session_before_those_of_others(memory: Writing) -> None:
    change = Change(path="src/userName.py", symbols=("load_all",))
    own = artifact(outcome("Now", files=(change,)))
    before = artifact(outcome("Before", files=(change,)), at=NOW - DAY)
    elsewhere = artifact(outcome("Elsewhere", files=(change,)), session="s2")
    spoken = artifact(said("see it", 50, paths=("src/userName.py",)), at=None)
    other = artifact(outcome("Other", files=(Change(path="lib/src/userName.py", symbols=("load",)),)), at=None)
    renamed = artifact(outcome("Renamed", files=(Change(path="src/b.py", symbols=("load_all",)),)), at=None)
    memory.put("s1", [own, before, spoken, other, renamed])
    memory.put("s2", [elsewhere])
    assert ties(memory, own, k=4) == [
        ("file", "src/userName.py", "Before"),
        ("file", "src/userName.py", "see it"),
        ("file", "src/userName.py", "Elsewhere"),
        ("symbol", "load_all", "Renamed"),
    ]


@pytest.mark.requirement("SEARCH-09")
def test_the_task_and_what_was_said_around(memory: Writing) -> None:
    ruling = artifact(decision("Keep it"), task="t1", at=NOW + 1_500_000_000)
    done = artifact(outcome("Kept"), task="t1", at=None)
    memory.put("s1", [ruling, done, *talk("zero", "one", "two", "three", "four")])
    assert ties(memory, ruling) == [
        ("task", "t1", "Kept"),
        ("time", "", "zero"),
        ("time", "", "one"),
        ("time", "", "two"),
        ("time", "", "three"),
        ("time", "", "four"),
    ]
    assert ties(memory, ruling, k=1) == [("task", "t1", "Kept")]


def test_one_without_anything_has_no_neighbours(memory: Writing) -> None:
    alone = artifact(decision("alone"), at=None)
    memory.put("s1", [alone])
    assert ties(memory, alone) == []
