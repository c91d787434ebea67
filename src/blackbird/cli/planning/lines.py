"""Tasks as lines for people, and as objects for programs."""

from collections.abc import Iterator, Sequence
from typing import Any

from blackbird.artifacts.model import Status
from blackbird.artifacts.plan import Attempt, State, Task
from blackbird.exchange.clock import to_rfc3339
from blackbird.harness.drafts import Step

SCHEMA = "task/1"
STEP_SCHEMA = "task-import/1"
_BOXES = {State.OPEN: "[ ]", State.DONE: "[x]", State.DROPPED: "[-]"}
_SIGNS = {"added": "+", "changed": "~", "same": "="}


def describe(session: str, task: Task) -> dict[str, Any]:
    """A task for programs."""
    return {
        "schema": SCHEMA,
        "session": session,
        "id": task.id,
        "title": task.title,
        "description": task.description,
        "parent": task.parent,
        "order": task.order,
        "depth": task.depth,
        "leaf": task.is_leaf,
        "state": task.state,
        "status": task.status,
        "runs": [_describe_run(run) for run in task.runs],
    }


def describe_step(session: str, step: Step, state: State | None) -> dict[str, Any]:
    """What becomes of a task of a written plan, and the state that it is in then, for programs."""
    return {
        "schema": STEP_SCHEMA,
        "session": session,
        "what": step.what,
        "id": step.id,
        "title": step.title,
        "description": step.description,
        "parent": step.parent,
        "order": step.order,
        "state": state,
    }


def tree(tasks: Sequence[Task]) -> Iterator[str]:
    """A line a task, parts below what they are parts of."""
    width = max((2 * task.depth + len(task.id) for task in tasks), default=0)
    for task in tasks:
        name = "  " * task.depth + f"{_BOXES[task.state]} {task.id}"
        line = f"{name:<{width + 4}}  {task.title}"
        yield f"{line}  ({_how(task)})" if task.runs else line


def steps(found: Sequence[Step]) -> Iterator[str]:
    """A line a task of a written plan."""
    width = max((2 * step.depth + len(step.id) for step in found), default=0)
    for step in found:
        name = "  " * step.depth + step.id
        state = f"  ({step.state})" if step.state is not None else ""
        yield f"{_SIGNS[step.what]} {name:<{width}}  {step.title}{state}"


def detail(session: str, task: Task, parts: Sequence[Task]) -> Iterator[str]:
    """All of one task."""
    yield f"{task.id}  {task.title}"
    status = f", {task.status}" if task.status is not None else ""
    pairs = [("session", session), ("state", f"{task.state}{status}"), ("below", task.parent)]
    yield from (f"  {name:<9} {text}" for name, text in pairs if text)
    yield from (f"  {line}" for line in (task.description or "").splitlines())
    for run in task.runs:
        yield ""
        began, ended = _second(run.began), _second(run.ended)
        times = f"  {began} to {ended or 'now'}" if began else ""
        yield f"{run.run or 'without a run'}  {run.status}{times}"
        yield from (
            f"  {name:<9} {text}" for name, text in (("about", run.description), ("why", run.outcome)) if text
        )
    if parts:
        yield ""
        yield from tree(parts)


def _how(task: Task) -> str:
    """How its runs ended; with its state, if that was said and is not what the last of them would make of it."""
    ended = ", ".join(run.status for run in task.runs)
    is_said = (task.state is State.DONE) is not (task.status is Status.SUCCESS) and task.state is not State.DROPPED
    return f"{task.state}; runs: {ended}" if is_said else ended


def _describe_run(run: Attempt) -> dict[str, Any]:
    return {
        "run": run.run,
        "status": run.status,
        "outcome": run.outcome,
        "description": run.description,
        "began": to_rfc3339(run.began) if run.began is not None else None,
        "ended": to_rfc3339(run.ended) if run.ended is not None else None,
    }


def _second(wall: int | None) -> str | None:
    text = to_rfc3339(wall) if wall is not None else None
    return text[:19].replace("T", " ") if text is not None else None
