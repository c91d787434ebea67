"""The place of a task in its session's plan, and the session so far by its harness."""

import msgspec
import pytest

from blackbird.artifacts.model import Artifact, Status, Summary
from blackbird.artifacts.note import Note
from blackbird.artifacts.plan import Attempt, State, Task
from blackbird.pack.building import compose
from blackbird.pack.remains import goal, open_threads
from blackbird.pack.tasks import implemented
from blackbird.tokens import Plain
from tests.blackbird.pack.given import material, told
from tests.blackbird.retrieve.artifacts import artifact, outcome, thread

PLAN = (
    Task(id="harbour", title="Mend the harbour", is_leaf=False),
    Task(id="crane", title="Mend the crane", parent="harbour", order=1, depth=1, state=State.DONE),
    Task(id="winch", title="Oil the winch", description="With seal oil", parent="harbour", order=2, depth=1),
    Task(id="lamp", title="Light the lamp", parent="harbour", order=3, depth=1),
    Task(id="dock", title="Sweep the dock", parent="harbour", order=4, depth=1, state=State.DROPPED),
    Task(id="ship", title="Paint the ship", order=2),
)


def summary(checkpoint: str | None = None) -> Artifact:
    return artifact(Summary(goal="Open in May", checkpoint=checkpoint), key="summary", title="Open in May")


def note(plan: tuple[Task, ...] = PLAN) -> Note:
    return Note(session="s1", goal="Open in May", plan=plan)


def test_a_task_without_other_words_is_told_by_its_plan() -> None:
    known = summary()
    found = goal(material([known], note=note(), task="winch"))
    assert told(found) == ["Open in May", "this task: Oil the winch With seal oil (part of Mend the harbour)"]
    assert found.candidates[1].ids == (known.id,)
    # As `completed` fills it in.
    again = goal(material([known], note=note(), task="winch", description="Oil the winch With seal oil"))
    assert told(again) == told(found)


def test_what_was_described_otherwise_is_told_by_what_it_is_part_of() -> None:
    found = goal(material([summary()], note=note(), task="winch", description="Use the good oil"))
    assert told(found) == ["Open in May", "this task: part of Mend the harbour"]
    assert told(goal(material([summary()], note=note(), task="ship", description="Paint it red"))) == ["Open in May"]
    assert told(goal(material([summary()], note=note(), task="unknown"))) == ["Open in May"]


def test_what_is_open_beside_it_is_told_before_other_threads() -> None:
    found = open_threads(material([summary(), artifact(thread("Write it down"))], note=note(), task="winch"))
    assert told(found) == ["open beside this task: Light the lamp", "Write it down"]
    assert told(open_threads(material([summary()], note=note(), task="lamp"))) == [
        "open beside this task: Oil the winch"
    ]
    assert told(open_threads(material([summary()], note=note()))) == [
        "open in the plan: Oil the winch · Light the lamp · Paint the ship"
    ]


def test_of_much_that_is_open_some_is_named_and_the_rest_counted() -> None:
    many = tuple(Task(id=f"t{at}", title=f"Job {at}", order=at) for at in range(9))
    (candidate,) = open_threads(material([summary()], note=note(many), task="t7")).candidates
    assert candidate.forms[0] == "open beside this task: Job 8 · Job 0 · Job 1 · Job 2 · Job 3 · Job 4 and 2 more"
    assert candidate.forms[-1] == "open beside this task: Job 8 and 7 more"


def test_what_ran_without_a_plan_is_not_told_as_planned() -> None:
    failed = (Task(id="x", title="X", status=Status.FAIL, runs=(Attempt(run="r1", status=Status.FAIL),)),)
    assert told(open_threads(material([summary()], note=note(failed)))) == []


def test_the_checkpoint_is_the_first_of_what_was_done() -> None:
    known = summary("The crane is mended;\nthe winch is next.")
    found = implemented(material([known, artifact(outcome(description="Mend it"), task="crane")], note=note()))
    assert told(found)[0] == "so far: The crane is mended; the winch is next."
    assert (len(found.candidates), found.candidates[0].ids) == (2, (known.id,))


@pytest.mark.parametrize(
    ("state", "line"),
    [(State.OPEN, "crane: open, last run success: Mend it"), (State.DONE, "crane: success: Mend it")],
)
def test_a_task_that_was_reopened_is_not_told_as_a_success(state: State, line: str) -> None:
    runs = (Attempt(run="r1", status=Status.SUCCESS),)
    plan = (Task(id="crane", title="Mend it", state=state, status=Status.SUCCESS, runs=runs),)
    did = artifact(msgspec.structs.replace(outcome(description="Mend it"), status=Status.SUCCESS), task="crane")
    assert told(implemented(material([did], note=note(plan)))) == [line]


def test_a_pack_tells_the_plan_within_its_limits() -> None:
    known = summary("Much was done. " * 200)
    pack = compose(material([known], note=note(), task="winch"), Plain())
    assert {section.name: len(section.lines) for section in pack.sections} == {
        "goal": 2,
        "implemented": 1,
        "open_threads": 1,
    }
    assert all(section.tokens <= section.cap for section in pack.sections)
