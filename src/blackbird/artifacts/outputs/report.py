"""What a tool's output says about its run, with the places in the text that say so."""

from typing import Literal, NamedTuple

import msgspec

Kind = Literal["test", "build", "lint", "format", "run", "vcs", "install"]


class Stretch(NamedTuple):
    """Words of a text as they stand there, colour codes and all, from one character to before another."""

    text: str
    first: int
    last: int


class Named(NamedTuple):
    """What failed, by its name: a test, a file, a target; and the line that says so."""

    name: str
    at: Stretch


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one tool. What the output does not say is None; `ok` is never a guess."""

    tool: str
    kind: Kind
    ok: bool | None
    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    errors: int | None = None
    #: The first of them; `failed` may count more.
    failures: tuple[Named, ...] = ()
    first_error: Stretch | None = None
    #: In one line, without colours: `3 passed, 1 failed`.
    summary: str = ""
    #: From which character to before which one the run was recognised.
    span: tuple[int, int]
