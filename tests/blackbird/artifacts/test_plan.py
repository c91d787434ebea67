"""Plans: what was stated of tasks, and what ran, as an ordered tree."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.artifacts import plan
from blackbird.artifacts.build import Builder
from blackbird.artifacts.model import Status
from blackbird.artifacts.plan import State, Task
from blackbird.canon.model import Evidence, Side
from blackbird.timeline import statements
from blackbird.timeline.timeline import Stated
from tests.blackbird.artifacts.stories import Story


def stated(event: str, task: str | None = None, **data: Any) -> Stated:
    evidence = Evidence(source="event", side=Side.EVENT, start=0, end=2, segment=1, sequence=1)
    return Stated(event=event, at=1, evidence=evidence, task=task, data=data)


def added(task: str, **data: Any) -> Stated:
    return stated(statements.TASK_ADD, task, **{"title": task.upper(), **data})


def shape(tasks: Sequence[Task]) -> list[tuple[str, str | None, int, int, bool]]:
    return [(task.id, task.parent, task.order, task.depth, task.is_leaf) for task in tasks]


def planned(story: Story) -> tuple[Task, ...]:
    timeline = story.timeline()
    return plan.plan(timeline.stated, Builder().artifacts(timeline))


@pytest.mark.requirement("SCOPE-02")
def test_tasks_are_an_ordered_tree() -> None:
    told = [added("a"), added("b"), added("a1", parent="a"), added("a2", parent="a"), added("a11", parent="a1")]
    assert shape(plan.plan(told, [])) == [
        ("a", None, 1, 0, False),
        ("a1", "a", 1, 1, False),
        ("a11", "a1", 1, 2, True),
        ("a2", "a", 2, 1, True),
        ("b", None, 2, 0, True),
    ]


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        ((None, None, None), "abc"),
        ((3, 2, 1), "cba"),
        ((2, 2, 1), "cab"),
        ((None, 0.5, None), "bac"),
        ((None, "first", True), "abc"),
    ],
)
def test_a_number_says_where_a_task_stands_and_without_one_it_stands_where_it_was_stated(
    orders: Sequence[Any], expected: str
) -> None:
    told = [added(name, order=order) for name, order in zip("abc", orders, strict=True)]
    assert "".join(task.id for task in plan.plan(told, [])) == expected


def test_what_was_said_last_of_a_task_counts() -> None:
    told = [added("a"), added("b"), added("a", title="Other words", description=" More. ", parent="b")]
    assert plan.plan(told, []) == (
        Task(id="b", title="B", is_leaf=False),
        Task(id="a", title="Other words", description="More.", parent="b", depth=1),
    )


@pytest.mark.parametrize(
    "parents", [{"a": "a"}, {"a": "b", "b": "a"}, {"a": "c", "b": "a", "c": "b"}, {"a": "nobody"}]
)
def test_parents_that_lead_nowhere_or_back_lose_no_task(parents: dict[str, str]) -> None:
    tasks = plan.plan([added(name, parent=parent) for name, parent in parents.items()], [])
    assert sorted(task.id for task in tasks) == sorted(parents)
    assert tasks[0].parent is None
    assert tasks[0].id == "a"


@given(st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefgh"), st.integers(0, 3))))
def test_any_parents_and_numbers_make_a_tree(told: list[tuple[str, str, int]]) -> None:
    tasks = plan.plan([added(name, parent=parent, order=order) for name, parent, order in told], [])
    seen: dict[str | None, int] = {None: -1}
    assert len(tasks) == len({name for name, _, _ in told})
    for task in tasks:
        assert task.depth == seen[task.parent] + 1
        seen[task.id] = task.depth


def test_a_plan_may_be_deeper_than_python_likes() -> None:
    told = [added("t0"), *(added(f"t{at}", parent=f"t{at - 1}") for at in range(1, 3000))]
    assert plan.plan(told, [])[-1].depth == 2999


def test_a_state_that_was_stated_counts_and_parts_speak_for_the_whole() -> None:
    told = [added("a"), added("a1", parent="a"), added("a2", parent="a"), added("b")]
    told += [stated(statements.TASK_STATE, name, state=state) for name, state in (("a1", "done"), ("a2", "dropped"))]
    told += [stated(statements.TASK_STATE, "b", state="no such state")]
    states = {task.id: task.state for task in plan.plan(told, [])}
    assert states == {"a": State.DONE, "a1": State.DONE, "a2": State.DROPPED, "b": State.OPEN}
    told += [stated(statements.TASK_STATE, "a1", state="open")]
    assert {task.id: task.state for task in plan.plan(told, [])}["a"] is State.OPEN


@pytest.mark.requirement("SCOPE-02", "SCOPE-03")
def test_each_run_of_a_task_has_an_outcome_of_its_own_and_the_last_is_the_tasks() -> None:
    story = Story()
    story.run("run_1", "crane", "Mend it")
    story.shell("pytest -q", "1 failed", 1)
    story.end(1)
    story.run("run_2", "crane")
    story.shell("pytest -q", "1 passed")
    story.end()
    story.run("run_3", "winch")
    story.end()
    crane, winch = planned(story)
    assert [(run.run, run.status) for run in crane.runs] == [("run_1", Status.FAIL), ("run_2", Status.SUCCESS)]
    assert [run.outcome is not None and run.began is not None and run.ended is not None for run in crane.runs] == [
        True,
        True,
    ]
    assert (crane.title, crane.status, crane.state) == ("Mend it", Status.SUCCESS, State.DONE)
    assert (winch.title, winch.status, winch.state) == ("Task winch", Status.UNKNOWN, State.OPEN)


@pytest.mark.parametrize("data", [{}, {"title": 7, "description": [], "parent": {}, "order": "x"}, {"title": "  "}])
def test_what_makes_no_sense_is_a_task_all_the_same(data: dict[str, Any]) -> None:
    assert plan.plan([stated(statements.TASK_ADD, "a", **data)], []) == (Task(id="a", title="a"),)
