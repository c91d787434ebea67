"""Which session is meant."""

import pytest

from blackbird.artifacts.note import Note
from blackbird.artifacts.plan import Task
from blackbird.errors import NotFound
from blackbird.harness import knowing
from blackbox.errors import UsageError


def note(name: str, *tasks: str, opened: int | None = None, closed: int | None = None) -> Note:
    plan = tuple(Task(id=task, title=task) for task in tasks)
    return Note(session=name, opened=opened, closed=closed, plan=plan)


KNOWN = {
    "old": note("old", "a", "b", opened=1),
    "new": note("new", "b", "c", opened=2),
    "over": note("over", "d", opened=3, closed=4),
    "run": note("run", "e"),
}


def test_the_current_session_is_that_of_the_process_else_the_newest_that_is_open() -> None:
    assert knowing.current(KNOWN, {"BLACKBIRD_SESSION": "run"}) == "run"
    assert knowing.current(KNOWN, {"BLACKBIRD_SESSION": ""}) == "new"
    assert knowing.current({"run": KNOWN["run"]}, {}) is None


def test_a_task_is_that_of_the_current_session_else_of_the_only_one_that_has_it() -> None:
    assert knowing.with_task(KNOWN, "b", "new") == "new"
    assert knowing.with_task(KNOWN, "a", "new") == "old"
    with pytest.raises(UsageError, match="new, old have a task b"):
        knowing.with_task(KNOWN, "b", "run")
    with pytest.raises(NotFound, match="no task z"):
        knowing.with_task(KNOWN, "z", "new")
