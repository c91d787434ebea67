"""The list of what is to be done, as a todo tool was given it."""

from typing import NamedTuple

from blackbird.canon.model import ToolCall
from blackbird.deeds import roles
from blackbird.deeds.roles import Use

STATES = frozenset({"pending", "in_progress", "completed", "cancelled", "blocked"})
_STATE_NAMES = {"done": "completed", "complete": "completed", "canceled": "cancelled", "doing": "in_progress"}


class Task(NamedTuple):
    """One entry: its state, one of `STATES`, and its words."""

    state: str
    text: str


def tasks_of(call: ToolCall) -> list[Task] | None:
    """The entries of the list; None if the call has another form."""
    keys = roles.keys_of(Use.TODO)
    given = roles.first(call.arguments or {}, keys.lists)
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        return None
    tasks = []
    for item in given:
        text = roles.first_text(item, keys.texts)
        tasks.append(Task(state_of(roles.first(item, keys.states)), (text or "").strip(" \t\n")))
    return tasks


def state_of(given: object) -> str:
    """One of `STATES`; what says something else, or nothing, is pending."""
    state = str(given or "pending").lower().replace("-", "_").replace(" ", "_")
    state = _STATE_NAMES.get(state, state)
    return state if state in STATES else "pending"
