"""The goal, what is known of the project, what is open, and where to read on."""

import msgspec
import pytest

from blackbird.artifacts.model import Fact, Summary, ThreadKind, ThreadState
from blackbird.artifacts.note import Note
from blackbird.pack.model import Caps
from blackbird.pack.remains import facts, goal, open_threads, pointers
from tests.blackbird.pack.given import MINUTE, left_out, material, told
from tests.blackbird.retrieve.artifacts import NOW, artifact, decision, thread


@pytest.mark.requirement("PACK-01")
def test_the_goal_that_was_stated_goes_before_what_was_asked_first() -> None:
    summary = artifact(Summary(goal="Say hello"), key="summary", title="Hello")
    asked = goal(material([summary]))
    assert [(one.forms, one.ids, one.why) for one in asked.candidates] == [
        (("Say hello",), (summary.id,), "it is what was asked first")
    ]
    stated = goal(material([summary], note=Note(session="s1", goal="Load ships")))
    assert [(one.forms, one.ids, one.why) for one in stated.candidates] == [
        (("Load ships",), (summary.id,), "it was stated")
    ]
    assert goal(material()).candidates == ()


@pytest.mark.requirement("PACK-02")
def test_facts_are_told_by_their_kind_the_most_often_met_first() -> None:
    def fact(name: str, value: str, times: int = 1, session: str = "s1") -> object:
        return artifact(Fact(name=name, value=value, times=times), key=f"{name} {value}", session=session)

    own = [
        fact("language", "Go"),
        fact("language", "Python", 5),
        fact("layout", "src/"),
        fact("test_command", "make"),
    ]
    others = [[fact("language", "Go", session="s2")]]
    found = facts(material(own, others))  # type: ignore[arg-type]
    assert told(found) == ["languages: Go, Python", "folders: src/"]
    assert [one.why for one in found.candidates] == ["met in 2 sessions", "met in 1 session"]
    without_files = facts(material(own, others, caps=Caps(files=0)))  # type: ignore[arg-type]
    assert told(without_files)[0] == "test: make"
    many = [fact("layout", f"src/{at}/", 9 - at) for at in range(7)]
    assert left_out(facts(material(many))) == {  # type: ignore[arg-type]
        "folders: src/5/": "met less often",
        "folders: src/6/": "met less often",
    }


@pytest.mark.requirement("PACK-05")
def test_what_is_open_is_told_blockers_first_and_once() -> None:
    own = [
        artifact(thread("Write the tide tables"), at=NOW + MINUTE),
        artifact(thread("Paint it", ThreadState.DONE)),
        artifact(msgspec.structs.replace(thread("No crane is free"), kind=ThreadKind.BLOCKER)),
        artifact(msgspec.structs.replace(thread("Which dock?"), kind=ThreadKind.QUESTION)),
    ]
    other = artifact(thread("Please write the tide tables"), session="s2")
    found = open_threads(material(own, [[other]]))
    assert told(found) == ["blocker: No crane is free", "Write the tide tables", "question: Which dock?"]
    assert left_out(found) == {"Paint it": "done", "Please write the tide tables": f"the same as {own[0].id}"}


@pytest.mark.requirement("PACK-06")
def test_pointers_lead_to_what_has_no_room_and_to_other_sessions() -> None:
    fits, dropped = artifact(decision("Use one crane")), artifact(decision("Use two docks"))
    summary = artifact(Summary(goal="x"), key="summary", title="The first session", session="s2")
    found = pointers(material([fits, dropped], [[summary]]), {fits.id}, [dropped.id])
    assert [(one.forms, one.ids, one.session, one.why) for one in found.candidates] == [
        (("decision: Use two docks",), (dropped.id,), None, "no room in its section"),
        (("summary: The first session",), (summary.id,), "s2", "a session as a whole"),
    ]
