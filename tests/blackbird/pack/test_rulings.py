"""Decisions and constraints: only those that hold for the task, each once."""

import msgspec
import pytest

from blackbird.artifacts.model import Reach, Signal, Speaker
from blackbird.pack.rulings import constraints, decisions
from tests.blackbird.pack.given import MINUTE, left_out, material, told
from tests.blackbird.retrieve.artifacts import NOW, artifact, constraint, decision


@pytest.mark.requirement("PACK-03")
def test_what_was_superseded_is_absent() -> None:
    old = artifact(decision("Use one crane", superseded_by="art_new", holds_until=NOW))
    new = artifact(decision("Use two cranes", supersedes=old.id))
    over = artifact(decision("Use none", holds_until=NOW))
    found = decisions(material([old, new, over]))
    assert told(found) == ["Use two cranes"]
    assert left_out(found) == {"Use one crane": "superseded by art_new", "Use none": "no longer holds"}


def test_a_decision_is_told_with_its_reason_and_why_it_is_there() -> None:
    found = decisions(material([artifact(decision("Use one crane", rationale="two collide", times=4))]))
    (candidate,) = found.candidates
    assert candidate.forms == ("Use one crane (two collide)",)
    assert candidate.why == "it holds; the user said it; said 4 times"


@pytest.mark.requirement("PACK-08")
def test_the_same_in_two_sessions_is_told_once() -> None:
    own = artifact(decision("Use one crane"))
    other = artifact(decision("Please use one crane"), session="s2", at=NOW + MINUTE)
    found = decisions(material([own], [[other]]))
    assert [(one.forms[0], one.ids, one.session) for one in found.candidates] == [
        ("Use one crane", (own.id, other.id), None)
    ]
    assert left_out(found) == {"Please use one crane": f"the same as {own.id}"}


def test_what_a_later_session_settled_otherwise_is_absent() -> None:
    first = artifact(decision("Use gin for the api", subject="api", choice="gin"), session="s2", at=NOW)
    later = artifact(decision("Use echo for the api", subject="api", choice="echo"), session="s3", at=NOW + MINUTE)
    found = decisions(material([], [[later], [first]]))
    assert told(found) == ["Use echo for the api"]
    assert left_out(found) == {"Use gin for the api": f"{later.id} settles the same later"}
    own = artifact(decision("Use chi for the api", subject="api", choice="chi"), at=NOW - MINUTE)
    assert told(decisions(material([own], [[later], [first]]))) == ["Use chi for the api"]


def test_an_agent_in_passing_does_not_undo_what_a_user_said_in_another_session() -> None:
    users = artifact(decision("Use gin for the api", subject="api", choice="gin"), session="s2", at=NOW)
    agents = msgspec.structs.replace(
        decision("Use echo for the api", subject="api", choice="echo"), by=Speaker.AGENT, signal=Signal.PROSE
    )
    found = decisions(material([artifact(agents)], [[users]]))
    assert told(found) == ["Use echo for the api", "Use gin for the api"]


def test_both_are_kept_where_they_do_not_contradict_each_other() -> None:
    forbidden = [
        artifact(
            msgspec.structs.replace(constraint(f"Never use {name}", subject="api", choice=name), must=False),
            session=session,
        )
        for name, session in (("gin", "s2"), ("echo", "s3"))
    ]
    assert len(told(constraints(material([], [[one] for one in forbidden])))) == 2
    demanded = artifact(constraint("Use gin", subject="api", choice="gin"))
    found = constraints(material([demanded], [[one] for one in forbidden]))
    assert sorted(told(found)) == ["Never use echo", "Use gin"]


def test_constraints_of_other_tasks_are_absent() -> None:
    def local(task: str, **more: object) -> object:
        found = msgspec.structs.replace(constraint(f"Only touch the {task}", **more), reach=Reach.TASK)
        return artifact(found, task=task)

    wide = artifact(constraint("Touch what you like"))
    given = [wide, local("crane", overrides=(wide.id,)), local("dock")]
    found = constraints(material(given, task="crane"))  # type: ignore[arg-type]
    assert told(found) == ["Only touch the crane (this task only)"]
    assert left_out(found) == {
        "Only touch the dock": "for the task dock alone",
        "Touch what you like": "one of this task goes before it",
    }
    assert told(constraints(material(given, task="ship"))) == ["Touch what you like"]  # type: ignore[arg-type]


@pytest.mark.requirement("PACK-09")
def test_what_has_to_do_with_the_task_goes_first() -> None:
    given = [
        artifact(decision("Paint the fence"), at=NOW + 3 * MINUTE),
        artifact(decision("Retry uploads three times"), at=NOW),
        artifact(decision("parse_header returns None"), at=NOW + MINUTE),
        artifact(decision("Write src/pack/budget.py anew"), at=NOW + 2 * MINUTE),
    ]
    assert told(decisions(material(given)))[0] == "Paint the fence"
    found = decisions(material(given, description="Make uploading retry"))
    assert told(found)[0] == "Retry uploads three times"
    assert found.candidates[0].why == "it holds; the user said it; words: retry, upload"
    found = decisions(material(given, description="Fix parse_header"))
    assert (told(found)[0], found.candidates[0].why.split("; ")[-1]) == (
        "parse_header returns None",
        "names parse_header",
    )
    found = decisions(material(given, description="budget.py is wrong"))
    assert (told(found)[0], found.candidates[0].why.split("; ")[-1]) == (
        "Write src/pack/budget.py anew",
        "names budget.py",
    )


def test_what_was_chosen_outright_goes_before_what_was_said_in_passing() -> None:
    prose = msgspec.structs.replace(decision("Use paint"), by=Speaker.AGENT, signal=Signal.PROSE)
    chosen = msgspec.structs.replace(decision("Use varnish"), signal=Signal.STRUCTURED)
    assert told(decisions(material([artifact(prose), artifact(chosen)]))) == ["Use varnish", "Use paint"]


def test_a_reason_that_the_statement_has_is_not_told_twice() -> None:
    said = decision("Use one crane, because two collide.", rationale="because two collide")
    assert [one.forms[0] for one in decisions(material([artifact(said)])).candidates] == [
        "Use one crane, because two collide."
    ]


def test_what_a_later_session_turned_down_by_name_is_absent() -> None:
    old = artifact(decision("Use floats for sums", subject="sum", choice="floats"), session="s2", at=NOW)
    back = decision("Go back to cents instead of floats", choice="cents", alternatives=("floats",))
    new = artifact(back, session="s3", at=NOW + MINUTE)
    found = decisions(material((), [[new], [old]]))
    assert told(found) == ["Go back to cents instead of floats"]
    assert left_out(found) == {"Use floats for sums": f"{new.id} settles the same later"}
