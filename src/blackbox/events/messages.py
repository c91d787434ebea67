"""Messages: what the user and the agent said, thought and still have to do."""

import re

import msgspec

from blackbox.events.comments import Metrics
from blackbox.syntax.escape import unescape


class Message(msgspec.Struct, frozen=True):
    """A `u:` or `a:` line. `metrics` is set where an agent line carries them inline."""

    role: str
    text: str
    metrics: Metrics | None = None


class Thinking(msgspec.Struct, frozen=True):
    """A `th:` line."""

    text: str


class Todo(msgspec.Struct, frozen=True):
    """One entry of a todo list."""

    status: str
    text: str


class Todos(msgspec.Struct, frozen=True):
    """A `td:` line: the whole list as it stands."""

    items: tuple[Todo, ...]
    text: str


#: A word we do not know is a state only where a line begins: elsewhere `[x]` may be what a todo is about.
_STATE = r"(?:\A|(?<=\n))[ \t]*\[([a-z][a-z_-]*)\][ \t]*|\[(pending|in_progress|completed|cancelled|blocked)\][ \t]*"
_STATUS = re.compile(_STATE)
_ESCAPED_STATUS = re.compile(rf"\\.|{_STATE}", re.DOTALL)


def parse_todos(text: str, *, escaped: bool = False) -> Todos:
    """`[in_progress] Fix login [pending] Add tests`; `text` is not unescaped yet."""
    pattern = _ESCAPED_STATUS if escaped else _STATUS
    marks = [mark for mark in pattern.finditer(text) if mark[1] or mark[2]]
    plain = unescape if escaped else str
    ends = [*(mark.start() for mark in marks[1:]), len(text)][: len(marks)]
    items = tuple(
        Todo(mark[1] or mark[2], plain(text[mark.end() : end].strip(" \t\n")))
        for mark, end in zip(marks, ends, strict=True)
    )
    return Todos(items, plain(text))
