"""The same said again is one artifact; what contradicts it supersedes it; what has no key is kept beside it."""

from typing import Any

from blackbird.artifacts.claims import Claim
from blackbird.artifacts.consolidate import consolidate
from blackbird.artifacts.model import (
    Artifact,
    Constraint,
    Decision,
    OpenThread,
    Provenance,
    Reach,
    Signal,
    Speaker,
    ThreadState,
    Type,
)
from blackbird.canon.model import Evidence, Side

BUILDER = "artifacts/test"


def claim(statement: str, order: int, **more: Any) -> Claim:
    evidence = Evidence(source="req_x", side=Side.REQUEST, start=order, end=order + 1, segment=1, sequence=order)
    given = {
        "type": Type.DECISION,
        "statement": statement,
        "normal": statement.lower(),
        "by": Speaker.USER,
        "signal": Signal.IMPERATIVE,
        "provenance": (Provenance(item=f"i{order}", evidence=evidence),),
        "order": order,
        "at": order * 100,
    }
    return Claim(**{**given, **more})


def use(choice: str, order: int, **more: Any) -> Claim:
    return claim(
        f"Use {choice} for storage", order, **{"subject": "storage", "choice": choice, "chosen": choice, **more}
    )


def built(*claims: Claim) -> list[Artifact]:
    return consolidate("harbour", claims, BUILDER)


def chain(artifacts: list[Artifact]) -> list[tuple[str, bool]]:
    """What was chosen, in order, and whether it still holds."""
    contents = [one.content for one in artifacts]
    return [(one.choice or "", one.is_active) for one in contents if isinstance(one, Decision | Constraint)]


def test_the_same_decision_again_is_one_with_updated_times() -> None:
    (one,) = built(use("sqlite", 1), use("sqlite", 5), use("sqlite", 9))
    content = one.content
    assert isinstance(content, Decision)
    assert (content.times, content.holds_from, content.last_said, one.at) == (3, 100, 900, 900)
    assert [place.item for place in one.provenance] == ["i1", "i5", "i9"]


def test_a_conflicting_decision_supersedes_with_two_clocks() -> None:
    old, new = built(use("sqlite", 1), use("postgres", 4))
    assert chain([old, new]) == [("sqlite", False), ("postgres", True)]
    assert isinstance(old.content, Decision)
    assert isinstance(new.content, Decision)
    assert (old.content.superseded_by, new.content.supersedes) == (new.id, old.id)
    assert (old.content.holds_from, old.content.holds_until, old.content.recorded) == (100, 400, (1, 1))
    assert (new.content.holds_from, new.content.holds_until, new.content.recorded) == (400, None, (1, 4))


def test_flips_and_a_way_back_leave_one_active() -> None:
    artifacts = built(use("a", 1), use("b", 2), use("a", 3), use("b", 4), use("a", 5))
    assert chain(artifacts) == [("a", False), ("b", False), ("a", False), ("b", False), ("a", True)]
    assert len({one.id for one in artifacts}) == 5


def test_ids_stay_when_an_earlier_history_is_unchanged() -> None:
    before = [one.id for one in built(use("a", 1), use("b", 2))]
    after = [one.id for one in built(use("a", 1), use("b", 2), use("a", 3))]
    assert after[:2] == before


def test_instead_of_supersedes_what_was_rejected() -> None:
    artifacts = built(
        use("sqlite", 1),
        claim("Take postgres instead of SQLite", 2, choice="postgres", chosen="postgres", rejected=("SQLite",)),
    )
    assert chain(artifacts) == [("sqlite", False), ("postgres", True)]


def test_going_back_is_about_what_it_was_left_for() -> None:
    artifacts = built(use("a", 1), use("b", 2), claim("Go back to a", 3, choice="a", chosen="a", is_revert=True))
    assert chain(artifacts) == [("a", False), ("b", False), ("a", True)]


def test_without_a_key_both_are_kept() -> None:
    artifacts = built(claim("Rename the docs", 1), claim("Move the docs", 2))
    assert [(one.title, one.content.is_active) for one in artifacts if isinstance(one.content, Decision)] == [
        ("Rename the docs", True),
        ("Move the docs", True),
    ]


def test_a_subject_without_a_choice_merges_nothing() -> None:
    artifacts = built(
        claim("Tests must run in CI", 1, subject="tests"), claim("Tests must be quick", 2, subject="tests")
    )
    assert len(artifacts) == 2


def test_an_agents_word_does_not_undo_its_users() -> None:
    artifacts = built(use("sqlite", 1), use("postgres", 2, by=Speaker.AGENT, signal=Signal.PROSE))
    assert chain(artifacts) == [("sqlite", True), ("postgres", False)]
    assert isinstance(artifacts[1].content, Decision)
    assert artifacts[1].content.superseded_by == artifacts[0].id


def test_order_of_the_claims_does_not_matter() -> None:
    claims = [use("a", 1), use("b", 2), claim("Rename the docs", 3), use("a", 4)]
    assert built(*reversed(claims)) == built(*claims)


def constraint(choice: str, order: int, **more: Any) -> Claim:
    return use(choice, order, **{"type": Type.CONSTRAINT, "subject": "indentation", **more})


def test_the_same_demanded_and_forbidden_is_a_contradiction() -> None:
    artifacts = built(constraint("tabs", 1), constraint("tabs", 2, must=False))
    assert [
        (one.content.must, one.content.is_active) for one in artifacts if isinstance(one.content, Constraint)
    ] == [
        (True, False),
        (False, True),
    ]


def test_two_things_can_be_forbidden_at_once() -> None:
    artifacts = built(constraint("tabs", 1, must=False), constraint("eight blanks", 2, must=False))
    assert chain(artifacts) == [("tabs", True), ("eight blanks", True)]


def test_one_of_a_task_goes_before_one_of_the_session_and_leaves_it() -> None:
    wide, local = built(constraint("tabs", 1), constraint("blanks", 2, reach=Reach.TASK, task="t2"))
    assert isinstance(local.content, Constraint)
    assert chain([wide, local]) == [("tabs", True), ("blanks", True)]
    assert local.content.overrides == (wide.id,)


def test_tasks_do_not_contradict_each_other() -> None:
    artifacts = built(*(constraint(task, at, reach=Reach.TASK, task=task) for at, task in enumerate(("t1", "t2"))))
    assert chain(artifacts) == [("t1", True), ("t2", True)]


def thread(state: ThreadState, order: int, **more: Any) -> Claim:
    return claim("Write the docs", order, type=Type.THREAD, state=state, **more)


def test_a_thread_closes_and_says_by_what() -> None:
    (one,) = built(thread(ThreadState.OPEN, 1), thread(ThreadState.DONE, 3, closed_by="its state: completed"))
    content = one.content
    assert isinstance(content, OpenThread)
    assert (content.state, content.opened_at, content.closed_at, content.closed_by) == (
        ThreadState.DONE,
        100,
        300,
        "its state: completed",
    )


def test_a_thread_can_be_taken_up_again() -> None:
    (one,) = built(thread(ThreadState.DONE, 1), thread(ThreadState.IN_PROGRESS, 2))
    assert isinstance(one.content, OpenThread)
    assert (one.content.state, one.content.closed_at) == (ThreadState.IN_PROGRESS, None)


def test_of_very_many_places_the_first_and_the_last_are_kept() -> None:
    (one,) = built(*(use("a", at) for at in range(20)))
    assert [place.item for place in one.provenance] == [f"i{at}" for at in (0, 1, 2, 3, 16, 17, 18, 19)]


def test_a_prohibition_of_the_very_choice_ends_the_decision() -> None:
    decision, ban = built(
        use("floats", 1), use("floats", 2, type=Type.CONSTRAINT, subject=None, must=False, normal="do not use floats")
    )
    assert chain([decision, ban]) == [("floats", False), ("floats", True)]
    assert isinstance(decision.content, Decision)
    assert (decision.content.superseded_by, decision.content.holds_until) == (ban.id, 200)


def test_a_prohibition_for_something_else_or_for_one_task_ends_nothing() -> None:
    elsewhere = use("floats", 2, type=Type.CONSTRAINT, subject="keys", must=False)
    once = use("floats", 3, type=Type.CONSTRAINT, subject=None, must=False, reach=Reach.TASK, task="t1")
    assert chain(built(use("floats", 1), elsewhere, once))[0] == ("floats", True)


def test_an_agents_prohibition_does_not_end_its_users_decision() -> None:
    ban = use("floats", 2, type=Type.CONSTRAINT, subject=None, must=False, by=Speaker.AGENT, signal=Signal.PROSE)
    assert chain(built(use("floats", 1), ban)) == [("floats", True), ("floats", True)]


def test_what_is_decided_again_is_forbidden_no_longer() -> None:
    ban = use("floats", 2, type=Type.CONSTRAINT, subject=None, must=False)
    again = use("floats", 3, subject=None, is_revert=True)
    assert chain(built(use("floats", 1), ban, again)) == [("floats", False), ("floats", True), ("floats", False)]


def test_what_is_turned_down_by_name_ends_though_neither_says_what_for() -> None:
    tabs = claim("Use tabs", 1, choice="tabs", chosen="tab")
    blanks = claim("Use blanks instead of tabs", 2, choice="blanks", chosen="blanks", rejected=("tabs",))
    assert chain(built(tabs, blanks)) == [("tabs", False), ("blanks", True)]
