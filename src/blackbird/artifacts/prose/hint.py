"""What a sentence may be: a decision, a constraint or something left open, and where in the text it stands."""

from typing import NamedTuple

import msgspec

from blackbird.artifacts.model import ThreadKind, ThreadState, Type


class Stretch(NamedTuple):
    """Characters of a text, from `first` up to `last`."""

    first: int
    last: int


class Hint(msgspec.Struct, frozen=True, kw_only=True):
    """What a sentence says. Its quote is the text from `first` up to `last`.

    `subject` is a key as `subjects.key` makes it; `subject`, `choice` and `rejected` are there only where the
    sentence names them. `rationale` are characters of the same text. `must`, `is_local` belong to constraints,
    `thread` and `state` to what is left open. `reverts`: it goes back to what held before.
    """

    kind: Type
    first: int
    last: int
    statement: str
    subject: str | None = None
    choice: str | None = None
    rejected: tuple[str, ...] = ()
    rationale: tuple[int, int] | None = None
    must: bool | None = None
    is_local: bool = False
    thread: ThreadKind | None = None
    state: ThreadState | None = None
    reverts: bool = False
