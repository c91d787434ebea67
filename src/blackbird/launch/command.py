"""`blackbird run`: start an agent so that every model call is recorded, and nothing else changes."""

import os
import re
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from blackbird import home as homes
from blackbird.agents.table import Mode
from blackbird.launch import flight, telling
from blackbird.launch.child import NotStarted, end_like
from blackbird.launch.flight import Order
from blackbox.errors import BlackboxError, UsageError
from blackbox.terminal.output import printable

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_UPSTREAM = re.compile(r"([a-z0-9][a-z0-9-]{0,63})=(https?://\S+)")
EXIT_OWN = 125


class RunCommand(TyperCommand):
    """`run` itself: what cannot be read of its own options has an exit code of its own, too."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """The arguments, read."""
        try:
            return super().make_context(*args, **kwargs)
        except typer.TyperException as error:
            told = UsageError(error.format_message(), "blackbird run --help shows how it is used")
            telling.say_error(told, as_json=False)
            raise typer.Exit(EXIT_OWN) from error


#: Options end where the command begins: what follows is the child's, unread.
OPTIONS = {
    "cls": RunCommand,
    "context_settings": {"allow_interspersed_args": False, "ignore_unknown_options": False},
}


def run(  # noqa: PLR0913, PLR0917 - one argument an option
    command: Annotated[list[str], typer.Argument(metavar="[--] COMMAND...", help="The agent and its arguments.")],
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="The session it belongs to.")] = None,
    task: Annotated[str | None, typer.Option("--task", metavar="ID", help="The task it belongs to.")] = None,
    describe: Annotated[str | None, typer.Option("--describe", metavar="TEXT", help="A note on this run.")] = None,
    goal: Annotated[str | None, typer.Option("--goal", metavar="TEXT", help="What the session is for.")] = None,
    upstream: Annotated[
        list[str] | None,
        typer.Option("--upstream", metavar="NAME=URL", help="Send calls to NAME there; can be repeated."),
    ] = None,
    forward: Annotated[bool, typer.Option("--forward", help="Through a proxy, whatever the table says.")] = False,
    reverse: Annotated[bool, typer.Option("--reverse", help="By base URL, whatever the table says.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be set, and start nothing.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing at start and end.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="The last lines, or the dry run, as one JSON object.")
    ] = False,
) -> None:
    """Run an agent; every model call it makes is recorded, and nothing else changes.

    The recorder is started if none runs. The agent gets the terminal, the signals and the environment as they are,
    and what sends its calls through the recorder besides. Ids that are not given are made up.

    Exit codes: the agent's own; 125 blackbird could not, 126 the agent cannot be executed, 127 it was not found.

    Examples:

      blackbird run -- claude

      blackbird run --session harbour --goal "mend the crane" -- codex exec "run the tests"

      blackbird run --dry-run -- gemini
    """
    try:
        order = Order(
            command=command,
            session=_check_id("--session", session if session is not None else os.environ.get("BLACKBIRD_SESSION")),
            task=_check_id("--task", task),
            describe=describe,
            goal=goal,
            upstreams=_upstreams(upstream or []),
            mode=_mode(forward=forward, reverse=reverse),
            quiet=quiet,
            as_json=as_json,
        )
        home = homes.find()
        if dry_run:
            telling.show_plan(*flight.rehearse(home, order, os.environ), as_json=as_json)
            return
        ended = flight.fly(home, order, os.environ)
    except BlackboxError as error:
        telling.say_error(error, as_json=as_json)
        raise typer.Exit(error.exit_code if isinstance(error, NotStarted) else EXIT_OWN) from error
    end_like(ended)


def _mode(*, forward: bool, reverse: bool) -> Mode | None:
    if forward and reverse:
        raise UsageError("--forward and --reverse exclude each other", "choose one, or none of them")
    return "forward" if forward else "reverse" if reverse else None


def _check_id(option: str, text: str | None) -> str | None:
    """An id that a user gave, if one was: it becomes part of a path, where `.` and `..` mean something else."""
    if text is None or (_ID.fullmatch(text) and text not in (".", "..")):
        return text
    raise UsageError(
        f"{option}: `{printable(text)}` is no id",
        "use 1 to 64 letters, digits and . _ - (and not dots alone)",
    )


def _upstreams(words: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        match = _UPSTREAM.fullmatch(word)
        if match is None:
            raise UsageError(
                f"--upstream: `{printable(word)}` is not NAME=URL",
                "write it as in --upstream anthropic=https://gateway.example/claude",
            )
        found[match[1]] = match[2].rstrip("/")
    return found
