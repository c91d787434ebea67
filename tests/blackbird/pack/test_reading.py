"""What a pack may draw upon: its session, and the last ones of the same project, never more than so many."""

from pathlib import Path

import pytest

from blackbird.artifacts import note
from blackbird.artifacts.model import Artifact, Outcome, Status, Summary, Type
from blackbird.artifacts.note import Note
from blackbird.artifacts.plan import Task
from blackbird.pack import reading
from blackbird.pack.building import build
from blackbird.pack.model import Wanted
from blackbird.store.writing import Writing
from blackbird.tokens import Plain
from tests.blackbird.pack.given import MINUTE
from tests.blackbird.retrieve.artifacts import NOW, artifact, decision, new_memory, outcome


@pytest.fixture
def memory(tmp_path: Path) -> Writing:
    return new_memory(tmp_path / "derived")


def put(
    memory: Writing, session: str, *artifacts: Artifact, folder: str | None = "/home/dev/crane", at: int = 0
) -> None:
    memory.put(session, artifacts, note=Note(session=session, folder=folder, ended=NOW + at * MINUTE))


def titles(found: tuple[Artifact, ...]) -> list[str]:
    return [one.title for one in found]


@pytest.mark.requirement("PACK-08")
def test_other_sessions_of_the_project_are_looked_at_the_newest_first(memory: Writing) -> None:
    put(memory, "s1", artifact(decision("own")))
    put(memory, "s2", artifact(decision("old"), session="s2"), at=1)
    put(memory, "s3", artifact(decision("new"), session="s3"), at=2, folder="/home/dev/crane/docs")
    put(memory, "s4", artifact(decision("strange"), session="s4"), at=3, folder="/home/dev/ship")
    put(memory, "s5", artifact(decision("nowhere"), session="s5"), at=4, folder=None)
    found = reading.material(memory, Wanted(session="s1"))
    assert (titles(found.own), [titles(one) for one in found.others]) == (["own"], [["new"], ["old"]])
    assert found.folders == {"s1": "/home/dev/crane", "s2": "/home/dev/crane", "s3": "/home/dev/crane/docs"}
    unknown = reading.material(memory, Wanted(session="s9", folder="/home/dev/ship"))
    assert (unknown.own, [titles(one) for one in unknown.others]) == ((), [["strange"]])
    assert reading.material(memory, Wanted()).others == ()


def test_who_asks_in_a_repository_is_not_told_of_what_is_above_it(memory: Writing) -> None:
    put(memory, "s1", artifact(decision("above"), session="s1"), folder="/home/dev/src")
    put(memory, "s2", artifact(decision("within"), session="s2"), folder="/home/dev/src/app/cli")
    asked = Wanted(folder="/home/dev/src/app", root="/home/dev/src/app")
    assert reading.neighbours(memory.notes(), asked) == ["s2"]


def test_of_each_session_only_the_last_are_read(memory: Writing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(note, "SESSIONS", 3)
    monkeypatch.setattr(reading, "SESSIONS", 3)
    monkeypatch.setattr(reading, "NEAR", 2)
    monkeypatch.setitem(reading._OTHERS, Type.DECISION, 2)
    put(memory, "s1")
    for number in range(2, 6):
        session = f"s{number}"
        many = [artifact(decision(f"{session} {at}"), session=session, at=NOW + at) for at in range(5)]
        did = [artifact(outcome(f"{session} did {at}"), session=session, at=NOW - at) for at in range(3)]
        put(memory, session, *many, *did, at=number)
    found = reading.material(memory, Wanted(session="s1"))
    assert [titles(one)[-2:] for one in found.others] == [
        ["s5 4", "s5 3"],
        ["s4 4", "s4 3"],
        ["s3 did 0", "s3 did 1"],
    ]
    assert len(found.others[2]) == 2


def test_the_state_is_that_of_the_sessions_it_may_draw_upon(memory: Writing) -> None:
    put(memory, "s1", artifact(decision("own")))
    put(memory, "s2", artifact(decision("old"), session="s2"))
    wanted = Wanted(session="s1")
    before = reading.state(memory, wanted)
    assert reading.material(memory, wanted).state == before
    put(memory, "s4", artifact(decision("strange"), session="s4"), folder="/home/dev/ship")
    assert reading.state(memory, wanted) == before
    put(memory, "s2", artifact(decision("changed"), session="s2"))
    changed = reading.state(memory, wanted)
    put(memory, "s3", artifact(decision("new"), session="s3"), at=5)
    assert len({before, changed, reading.state(memory, wanted), reading.state(memory, Wanted(session="s2"))}) == 4


@pytest.mark.requirement("PACK-11")
def test_a_memory_that_is_made_anew_gives_the_same_bytes(memory: Writing, tmp_path: Path) -> None:
    sessions = {
        f"s{number}": [artifact(decision(f"{number}: use {at} cranes"), session=f"s{number}") for at in range(20)]
        for number in range(1, 6)
    }
    again = new_memory(tmp_path / "again")
    for name, artifacts in sessions.items():
        put(memory, name, *artifacts, at=len(name))
    for name, artifacts in reversed(sessions.items()):
        put(again, name, *reversed(artifacts), at=len(name))
    wanted = Wanted(session="s1", task="t", description="Use 7 cranes")
    pack = build(memory, wanted, Plain())
    assert pack == build(again, wanted, Plain())
    assert pack.text.count("\n- ") > 10


def test_what_the_plan_says_of_a_task_is_used(memory: Writing) -> None:
    plan = (
        Task(id="crane", title="Add a crane", description="At dock two."),
        Task(id="dock", title="Widen the dock"),
    )
    memory.put("s1", [], note=Note(session="s1", ended=NOW, plan=plan))
    memory.put("s2", [artifact(outcome("x"), session="s2", task="ship")], note=Note(session="s2", ended=NOW))

    def completed(**asked: str) -> tuple[str | None, str | None]:
        found = reading.completed(memory, Wanted(**asked))  # type: ignore[arg-type]
        return found.session, found.description

    assert completed(task="crane") == ("s1", "Add a crane At dock two.")
    assert completed(task="dock", session="s1") == ("s1", "Widen the dock")
    assert completed(task="dock", description="Mine") == ("s1", "Mine")
    assert completed(task="ship") == ("s2", None)
    assert completed(task="nobody's") == (None, None)
    assert completed(session="s1") == ("s1", None)


def test_work_goes_on_where_it_is_asked_for_unless_that_is_another_project(memory: Writing) -> None:
    put(memory, "s1", artifact(decision("own")))

    def folder(**asked: str) -> str | None:
        return reading.material(memory, Wanted(**asked)).folder  # type: ignore[arg-type]

    assert folder(session="s1", folder="/home/dev/crane/docs") == "/home/dev/crane/docs"
    assert folder(session="s1", folder="/home/dev/ship") == "/home/dev/crane"
    assert folder(session="s1") == "/home/dev/crane"
    assert folder(session="s9", folder="/home/dev/ship") == "/home/dev/ship"
    assert folder() is None


def test_what_has_only_begun_tells_nothing(memory: Writing) -> None:
    put(memory, "s1", artifact(Outcome(status=Status.UNKNOWN, description="the task ahead")), artifact(Summary()))
    assert reading.material(memory, Wanted(session="s1")).own == ()
    assert build(memory, Wanted(session="s1"), Plain()).text == ""
    put(memory, "s1", artifact(Outcome(status=Status.UNKNOWN, bullets=("Changed calc.py",))))
    assert len(reading.material(memory, Wanted(session="s1")).own) == 1
