"""A plan that somebody wrote down: JSON or Markdown in, drafts of tasks out, and what they change of a plan."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from blackbird.artifacts import plan as plans
from blackbird.artifacts.plan import State, Task
from blackbird.harness import naming
from blackbox.errors import UsageError

_SHAPE = """write {"tasks": [{"id": "crane", "title": "Mend the crane", "tasks": [...]}]}"""


class Draft(msgspec.Struct, kw_only=True, forbid_unknown_fields=False):
    """A task as it is written down; a bare text is its title."""

    title: str
    id: str | None = None
    description: str | None = None
    state: State | None = None
    tasks: "list[Draft | str]" = []


class Written(msgspec.Struct, kw_only=True):
    """A plan as it is written down. `goal` is what it says that all of it is for."""

    tasks: list[Draft | str]
    goal: str | None = None


class Step(NamedTuple):
    """What becomes of a task: `added`, `changed` or left as it is (`same`); `state` is stated if there is one."""

    what: str
    id: str
    title: str
    description: str | None
    parent: str | None
    order: int
    depth: int
    state: State | None = None


def from_json(data: bytes) -> Written:
    """A plan in JSON: an object with `tasks`, or a list of them. Raises `UsageError`."""
    try:
        found = msgspec.json.decode(data, type=Written | list[Draft | str])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"this is no plan in JSON: {error}", _SHAPE) from error
    return found if isinstance(found, Written) else Written(tasks=found)


def steps(written: Sequence[Draft | str], plan: Sequence[Task], parent: str | None = None) -> list[Step]:
    """What a written plan changes, in its own order; what it does not name stays as it is.

    Ids that are not given are made of the titles, so that the same plan always means the same tasks. Raises
    `UsageError` if two of its tasks have one id, or if a task would be a part of itself.
    """
    found: list[Step] = []
    taken: dict[str, str] = {}
    for name in _reserved(written):
        if name in taken:
            raise UsageError(f"two tasks of this plan have the id {name}", "give one of them another")
        taken[name] = name
    stack = [(draft, order, parent, 0) for order, draft in enumerate(written, start=1)][::-1]
    while stack:
        given, order, above, depth = stack.pop()
        draft = Draft(title=given) if isinstance(given, str) else given
        title = naming.line(draft.title)
        name = draft.id if draft.id is not None else _named(title, above, taken)
        taken[name] = title
        found.append(Step("added", name, title, _words(draft), above, order, depth, draft.state))
        parts = [(part, at, name, depth + 1) for at, part in enumerate(draft.tasks, start=1)]
        stack += parts[::-1]
    _check_circle(found, plan, parent)
    return [_compared(step, plan) for step in _behind_others(found, plan)]


def _reserved(written: Iterable[Draft | str]) -> Iterator[str]:
    """The ids that are given."""
    waiting = list(written)
    while waiting:
        draft = waiting.pop()
        if isinstance(draft, Draft):
            waiting += draft.tasks
            if draft.id is not None:
                yield naming.checked("id", draft.id)


def _named(title: str, parent: str | None, taken: Mapping[str, str]) -> str:
    """Of two tasks of the same title, the second is called after its parent, too."""
    name = naming.slug(title)
    return name if name not in taken else naming.free(f"{parent} {title}" if parent else title, taken)


def _behind_others(found: Sequence[Step], plan: Sequence[Task]) -> Iterator[Step]:
    """The steps with their places among what stands beside them: behind what is not named and stood before them."""
    named = {step.id for step in found}
    before: dict[str | None, int] = {}
    for parent in {step.parent for step in found}:
        beside = [task.id in named for task in plans.below(plan, parent)]
        before[parent] = beside.index(True) if True in beside else len(beside)
    return (step._replace(order=step.order + before[step.parent]) for step in found)


def _compared(step: Step, plan: Sequence[Task]) -> Step:
    """What becomes of a task that may be known. An open box says nothing: the task may have run since."""
    known = plans.find(plan, step.id)
    state = step.state if step.state is not (known.state if known is not None else State.OPEN) else None
    if known is None:
        return step._replace(state=state)
    now = (plans.title_of(step.title), plans.description_of(step.description), step.parent, step.order)
    is_same = now == (known.title, known.description, known.parent, known.order)
    return step._replace(what="same" if is_same and state is None else "changed", state=state)


def _check_circle(found: Sequence[Step], plan: Sequence[Task], parent: str | None) -> None:
    """Refuse a plan that is put below one of its own tasks."""
    named = {step.id for step in found}
    above = parent
    while above is not None:
        if above in named:
            raise UsageError(f"{above} would be a part of itself", "put the plan below another task")
        task = plans.find(plan, above)
        above = task.parent if task is not None else None


def _words(draft: Draft) -> str | None:
    return (draft.description or "").strip() or None
