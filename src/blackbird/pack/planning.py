"""What a session's plan and its checkpoint tell: the task ahead, what it is part of, what is open beside it."""

from blackbird.artifacts import plan
from blackbird.artifacts.model import Artifact, Status, Summary
from blackbird.artifacts.plan import State, Task
from blackbird.pack.marking import quoted
from blackbird.pack.material import Candidate, Material

_LENGTHS = (100, 60, 40)
_CHECKPOINT = (600, 300, 150, 80)
_TITLE = 60
#: So many titles of what is open are told at most.
_BESIDE = 6


def summary_of(material: Material) -> Artifact | None:
    """The newest summary of the session, which leads to what was stated of it."""
    found = [one for one in material.own if isinstance(one.content, Summary)]
    return max(found, key=lambda one: (one.at or 0, one.id), default=None)


def task_ahead(material: Material) -> Candidate | None:
    """The task ahead by its plan: its own words, unless others were given for it, and what it is part of."""
    tasks = material.note.plan if material.note is not None else ()
    ahead = plan.find(tasks, material.wanted.task or "")
    if ahead is None:
        return None
    words = " ".join(word for word in (ahead.title, ahead.description) if word)
    is_told = material.wanted.description not in (None, words) or words == ahead.id
    above = plan.find(tasks, ahead.parent or "")
    part = f"part of {quoted(above.title, _TITLE)}" if above is not None else ""
    if is_told:
        return _line(material, (f"this task: {part}",), "the plan says so") if part else None
    behind = f" ({part})" if part else ""
    forms = [f"this task: {quoted(words, longest)}{behind}" for longest in _LENGTHS]
    return _line(material, forms, "the plan says so")


def beside(material: Material) -> Candidate | None:
    """What the plan has open beside the task ahead, or, without one, anywhere: what comes next first."""
    tasks = material.note.plan if material.note is not None else ()
    ahead = plan.find(tasks, material.wanted.task or "")
    if ahead is None:
        found = [task for task in tasks if task.is_leaf and _is_left(task)]
        lead = "open in the plan"
    else:
        parts = plan.below(tasks, ahead.parent)
        place = parts.index(ahead)
        found = [task for task in (*parts[place + 1 :], *parts[:place]) if _is_left(task)]
        lead = "open beside this task"
    titles = [quoted(task.title, _TITLE) for task in found[:_BESIDE]]
    if not titles:
        return None
    forms = []
    for most in range(len(titles), 0, -1):
        more = f" and {len(found) - most} more" if len(found) > most else ""
        forms.append(f"{lead}: {' · '.join(titles[:most])}{more}")
    return _line(material, forms, "the plan has it open")


def checkpoint(material: Material) -> Candidate | None:
    """The session so far in its harness's own words."""
    found = summary_of(material)
    words = found.content.checkpoint if found is not None and isinstance(found.content, Summary) else None
    if not words:
        return None
    return _line(material, [f"so far: {quoted(words, longest)}" for longest in _CHECKPOINT], "the harness said it")


def is_open_again(material: Material, session: str, name: str | None) -> bool:
    """Whether a task has to be done though a run of it went well."""
    tasks = material.note.plan if material.note is not None and material.note.session == session else ()
    found = plan.find(tasks, name) if name is not None else None
    return found is not None and found.is_leaf and found.state is State.OPEN and found.status is Status.SUCCESS


def _is_left(task: Task) -> bool:
    """Whether a plan has something open; what ran without being planned and failed is told of elsewhere."""
    is_planned = not task.runs or task.status is Status.SUCCESS or task.parent is not None
    return task.state is State.OPEN and is_planned


def _line(material: Material, forms: "list[str] | tuple[str, ...]", why: str) -> Candidate:
    found = summary_of(material)
    return Candidate((found.id,) if found is not None else (), tuple(dict.fromkeys(forms)), why)
