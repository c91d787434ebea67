"""What the commands' arguments have in common: ids of the user's own words, and the option `--json`."""

import re
from typing import Annotated

import typer

from blackbox.errors import UsageError
from blackbox.terminal import output

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

Json = Annotated[bool, typer.Option("--json", help="One JSON object (its schema names the command).")]


def check_id(option: str, text: str | None) -> str | None:
    """An id that a user gave, if one was: it becomes part of a path, where `.` and `..` mean something else."""
    if text is None or (_ID.fullmatch(text) and text not in (".", "..")):
        return text
    raise UsageError(
        f"{option}: `{output.printable(text)}` is no id", "use 1 to 64 letters, digits and . _ - (and not dots alone)"
    )


def one_of(session: str | None, run: str | None) -> dict[str, str]:
    """A session or a run, exactly one of both."""
    given = {"session": check_id("--session", session), "run": check_id("--run", run)}
    chosen = {key: value for key, value in given.items() if value is not None}
    if len(chosen) != 1:
        raise UsageError("name a session or a run", "add --session ID or --run ID, and not both")
    return chosen
