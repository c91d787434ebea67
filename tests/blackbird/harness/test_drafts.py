"""Plans that were written down, and what they change."""

import json
from typing import Any

import pytest

from blackbird.artifacts.plan import State, Task
from blackbird.harness import drafts
from blackbird.harness.drafts import Draft, Step
from blackbox.errors import UsageError


def told(found: list[Step]) -> list[tuple[str, str, str | None, int]]:
    return [(step.what, step.id, step.parent, step.order) for step in found]


def read(value: Any) -> list[Step]:
    return drafts.steps(drafts.from_json(json.dumps(value).encode()).tasks, [])


def applied(found: list[Step]) -> list[Task]:
    """The plan that has these steps behind it."""
    return [
        Task(
            id=step.id,
            title=step.title,
            description=step.description,
            parent=step.parent,
            order=step.order,
            depth=step.depth,
            state=step.state or State.OPEN,
        )
        for step in found
    ]


NESTED = {
    "tasks": [
        {"id": "crane", "title": "Mend the crane", "tasks": ["Order parts", {"title": "Assemble", "state": "done"}]},
        {"title": "Winch", "description": "It squeaks.", "tasks": ["Order parts"]},
    ]
}


def test_a_plan_in_json() -> None:
    found = read(NESTED)
    assert told(found) == [
        ("added", "crane", None, 1),
        ("added", "order-parts", "crane", 1),
        ("added", "assemble", "crane", 2),
        ("added", "winch", None, 2),
        ("added", "winch-order-parts", "winch", 1),
    ]
    assert [(step.description, step.state) for step in found[2:4]] == [(None, State.DONE), ("It squeaks.", None)]


def test_a_bare_list_is_a_plan() -> None:
    assert told(read(["One", "Two"])) == [("added", "one", None, 1), ("added", "two", None, 2)]


@pytest.mark.parametrize(
    "text", ["", "{", '{"tasks": 7}', '[{"id": "a"}]', '[{"title": 7}]', '[{"title": "a", "state": "lost"}]', "[[]]"]
)
def test_what_is_no_plan_is_refused_with_the_shape_of_one(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        drafts.from_json(text.encode())
    assert '"tasks"' in str(refused.value.remedy)


@pytest.mark.parametrize(
    "plan",
    [
        [{"id": "a", "title": "A"}, {"id": "a", "title": "B"}],
        [{"id": "a b", "title": "A"}],
        [{"title": " "}],
    ],
)
def test_a_plan_that_contradicts_itself_is_refused(plan: Any) -> None:
    with pytest.raises(UsageError):
        read(plan)


def test_a_title_gives_way_to_an_id_that_is_given() -> None:
    assert [step.id for step in read(["A", {"id": "a", "title": "B"}])] == ["a-2", "a"]


def test_the_same_plan_again_changes_nothing() -> None:
    written = drafts.from_json(json.dumps(NESTED).encode()).tasks
    before = [Task(id="quay", title="Quay")]
    first = drafts.steps(written, before)
    assert [step.order for step in first if step.parent is None] == [2, 3]
    again = drafts.steps(written, [*before, *applied(first)])
    assert {step.what for step in again} == {"same"}


def test_what_is_other_is_changed_and_an_open_box_reopens_nothing() -> None:
    plan = [
        Task(id="a", title="A", state=State.DONE),
        Task(id="b", title="B", order=2),
        Task(id="c", title="C", order=3),
    ]
    found = drafts.steps(["A", Draft(title="Other words", id="b"), Draft(title="C", state=State.DONE)], plan)
    assert [(step.what, step.id, step.state) for step in found] == [
        ("same", "a", None),
        ("changed", "b", None),
        ("changed", "c", State.DONE),
    ]


def test_a_plan_is_no_part_of_itself() -> None:
    plan = [Task(id="a", title="A"), Task(id="b", title="B", parent="a", depth=1)]
    with pytest.raises(UsageError, match="part of itself"):
        drafts.steps(["A"], plan, parent="b")
    assert told(drafts.steps(["C"], plan, parent="b")) == [("added", "c", "b", 1)]


def test_a_plan_may_be_deep() -> None:
    deep = Draft(title="leaf")
    for _ in range(3000):
        deep = Draft(title="step", tasks=[deep])
    assert len(drafts.steps([deep], [])) == 3001
