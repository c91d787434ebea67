"""What the commands' arguments have in common: a session or a run, and the option `--json`."""

from typing import Annotated

import typer

from blackbird.launch.ids import check_id
from blackbox.errors import UsageError

Json = Annotated[bool, typer.Option("--json", help="One JSON object (its schema names the command).")]


def one_of(session: str | None, run: str | None) -> dict[str, str]:
    """A session or a run, exactly one of both."""
    given = {"session": check_id("--session", session), "run": check_id("--run", run)}
    chosen = {key: value for key, value in given.items() if value is not None}
    if len(chosen) != 1:
        raise UsageError("name a session or a run", "add --session ID or --run ID, and not both")
    return chosen
