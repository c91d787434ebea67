"""The plan of a session: its tasks as an ordered tree, made of what was stated of them and of what ran."""

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from blackbird.artifacts import shortening
from blackbird.artifacts.model import Artifact, Outcome, Status
from blackbird.timeline import statements
from blackbird.timeline.timeline import Stated

_TITLE = 200
_DESCRIPTION = 2000


class State(enum.StrEnum):
    """Whether something is left to do of a task."""

    OPEN = "open"
    DONE = "done"
    DROPPED = "dropped"


class Attempt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run of a task and how it ended; one without a run is what was stated of the task itself.

    `outcome` is the artifact that says why. Times are nanoseconds since 1970.
    """

    run: str | None = None
    status: Status = Status.UNKNOWN
    outcome: str | None = None
    description: str | None = None
    began: int | None = None
    ended: int | None = None


class Task(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task of a plan. Those of a plan stand as in a tree that is read from its top, each behind its parent.

    `order` counts from 1 below the parent. Leaves are what runs; a task may have several runs.
    """

    id: str
    title: str
    description: str | None = None
    parent: str | None = None
    order: int = 1
    #: How many tasks stand above it.
    depth: int = 0
    is_leaf: bool = True
    #: As it was stated; else done if its last run was a success, or if all its parts are done or dropped.
    state: State = State.OPEN
    #: That of its last run; nothing if there was none.
    status: Status | None = None
    runs: tuple[Attempt, ...] = ()


class Planned(msgspec.Struct, kw_only=True):
    """A task as it was stated last."""

    id: str
    title: str | None = None
    description: str | None = None
    parent: str | None = None
    order: float | None = None
    state: State | None = None


def planned(stated: Iterable[Stated]) -> dict[str, Planned]:
    """The tasks that were stated, by their ids, in the order in which they were."""
    found: dict[str, Planned] = {}
    for each in stated:
        if each.task is None or each.event not in (statements.TASK_ADD, statements.TASK_STATE):
            continue
        task = found.setdefault(each.task, Planned(id=each.task))
        if each.event == statements.TASK_STATE:
            state = each.data.get("state")
            task.state = State(state) if state in set(State) else task.state
        else:
            task.title = title_of(each.data.get("title"))
            task.description = description_of(each.data.get("description"))
            task.parent = title_of(each.data.get("parent"))
            order = each.data.get("order")
            task.order = float(order) if isinstance(order, int | float) and not isinstance(order, bool) else None
    return found


def plan(stated: Sequence[Stated], outcomes: Iterable[Artifact]) -> tuple[Task, ...]:
    """All tasks of a session: those that were stated, and those that only ran."""
    tasks = planned(stated)
    attempts = _attempts(stated, outcomes)
    for name in attempts:
        tasks.setdefault(name, Planned(id=name))
    parts = _parts(tasks)
    places = list(_walk(parts))
    states = _states(places, parts, attempts)
    return tuple(_task(place, states, parts, attempts) for place in places)


def find(tasks: Iterable[Task], name: str) -> Task | None:
    """The task of this id."""
    return next((task for task in tasks if task.id == name), None)


def below(tasks: Iterable[Task], name: str | None) -> list[Task]:
    """The parts of a task in their order, or the tasks at the top."""
    return [task for task in tasks if task.parent == name]


def title_of(told: object) -> str | None:
    """A title as a plan has it: one line, and no book."""
    return shortening.one_line(told, _TITLE) or None if isinstance(told, str) else None


def description_of(told: object) -> str | None:
    """A description as a plan has it."""
    return told.strip()[:_DESCRIPTION] or None if isinstance(told, str) else None


class _Place(NamedTuple):
    """Where a task stands in the tree."""

    task: Planned
    order: int
    depth: int = 0
    parent: str | None = None


_Parts = Mapping[str | None, Sequence[Planned]]
_Attempts = Mapping[str, Sequence[Attempt]]


def _attempts(stated: Iterable[Stated], outcomes: Iterable[Artifact]) -> dict[str, list[Attempt]]:
    """The runs of each task, in the order in which they were stated."""
    times: dict[str, dict[str, int]] = {}
    for each in stated:
        if each.run is not None and each.event in ("run.start", "run.end"):
            times.setdefault(each.run, {})[each.event] = each.at
    found: dict[str, list[Attempt]] = {}
    for artifact in outcomes:
        if not isinstance(artifact.content, Outcome) or artifact.task is None:
            continue
        known = times.get(artifact.run or "", {})
        attempt = Attempt(
            run=artifact.run,
            status=artifact.content.status,
            outcome=artifact.id,
            description=artifact.title,
            began=known.get("run.start"),
            ended=known.get("run.end"),
        )
        found.setdefault(artifact.task, []).append(attempt)
    return found


def _parents(tasks: Mapping[str, Planned]) -> dict[str, str | None]:
    """The task above each: nothing if it is not known, or if the ids lead back to the task itself."""
    found: dict[str, str | None] = {}
    for name, task in tasks.items():
        step = task.parent if task.parent in tasks else None
        found[name] = step
        passed: set[str] = set()
        while step is not None and step != name and step not in passed:
            passed.add(step)
            above = found[step] if step in found else tasks[step].parent
            step = above if above in tasks else None
        if step == name:
            found[name] = None
    return found


def _parts(tasks: Mapping[str, Planned]) -> _Parts:
    """The parts of each task, in order. One without a number of its own stands where it was stated."""
    found: dict[str | None, list[Planned]] = {}
    parents = _parents(tasks)
    for task in tasks.values():
        found.setdefault(parents[task.id], []).append(task)
    for parts in found.values():
        stated = {task.id: float(place) for place, task in enumerate(parts, start=1)}
        parts.sort(key=lambda task: stated[task.id] if task.order is None else task.order)
    return found


def _walk(parts: _Parts) -> Iterator[_Place]:
    """The tree from its top. Without recursion: whoever states a plan says how deep it is."""
    stack = [_Place(task, order) for order, task in enumerate(parts.get(None, ()), start=1)][::-1]
    while stack:
        place = stack.pop()
        yield place
        name = place.task.id
        under = [_Place(task, at, place.depth + 1, name) for at, task in enumerate(parts.get(name, ()), start=1)]
        stack += under[::-1]


def _states(places: Sequence[_Place], parts: _Parts, attempts: _Attempts) -> dict[str, State]:
    """How far each task is: as it was stated, else by its parts, else by its last run."""
    found: dict[str, State] = {}
    for task in (place.task for place in reversed(places)):
        under = [found[part.id] for part in parts.get(task.id, ())]
        runs = attempts.get(task.id, ())
        is_done = State.OPEN not in under if under else bool(runs) and runs[-1].status is Status.SUCCESS
        found[task.id] = task.state or (State.DONE if is_done else State.OPEN)
    return found


def _task(place: _Place, states: Mapping[str, State], parts: _Parts, attempts: _Attempts) -> Task:
    task, runs = place.task, tuple(attempts.get(place.task.id, ()))
    return Task(
        id=task.id,
        title=task.title or next((run.description for run in runs if run.description), None) or task.id,
        description=task.description,
        parent=place.parent,
        order=place.order,
        depth=place.depth,
        is_leaf=task.id not in parts,
        state=states[task.id],
        status=runs[-1].status if runs else None,
        runs=runs,
    )
