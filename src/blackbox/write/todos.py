"""The spelling of todo lists: `[in_progress] Fix login [pending] Add tests`."""

import re
from collections.abc import Iterable

from blackbox.errors import UsageError
from blackbox.events.messages import Todo, Todos, parse_todos
from blackbox.write import spelling

_STATUS = re.compile(r"[a-z][a-z_-]*")
#: States that are read as such wherever they stand; any other has to begin a line.
_KNOWN = ("pending", "in_progress", "completed", "cancelled", "blocked")
_KNOWN_LIKE = re.compile(rf"\[(?=(?:{'|'.join(_KNOWN)})\])")
_STATUS_LIKE = re.compile(r"(\n[ \t]*)\[(?=[a-z][a-z_-]*\])")


def todos_of(items: Iterable[Todo]) -> Todos:
    """The event that a list of todos is read back as."""
    return parse_todos(_spell(tuple(items)), escaped=True)


def spell_todos(todos: Todos) -> str:
    """A todo list as escaped text: as it stands where that reads the same, else from its items."""
    source = "\n".join(spelling.block(todos.text))
    return source if parse_todos(source, escaped=True) == todos else _spell(todos.items)


def _spell(items: tuple[Todo, ...]) -> str:
    source = ""
    for item in items:
        between = "" if not source else " " if item.status in _KNOWN else "\n"
        source += between + _item(item)
    return source or spelling.EMPTY


def _item(item: Todo) -> str:
    if not _STATUS.fullmatch(item.status):
        raise UsageError(
            f"status {item.status[:80]!r} is no todo state", f"use a lower-case word, such as {', '.join(_KNOWN)}"
        )
    if not item.text:
        return f"[{item.status}]"
    first, *rest = spelling.block(item.text)
    text = "\n".join([spelling.keep_start(first), *rest])
    return f"[{item.status}] " + _STATUS_LIKE.sub(r"\1\\[", _KNOWN_LIKE.sub(r"\\[", text))
