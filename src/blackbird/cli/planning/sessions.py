"""`blackbird session new` and `goal`: a session opened before anything runs, and what it is for."""

import os
from typing import Annotated

import typer

from blackbird import home as homes
from blackbird.cli.memory.answering import recalled
from blackbird.errors import NotFound
from blackbird.harness import Harness, knowing
from blackbird.launch.ids import check_id
from blackbox.errors import UsageError
from blackbox.terminal import output

_NEW_SCHEMA = "session-opened/1"
_GOAL_SCHEMA = "session-goal/1"


def new(
    identifier: Annotated[
        str | None, typer.Argument(metavar="ID", help="A name of your own; else one is made up.")
    ] = None,
    goal: Annotated[str | None, typer.Option("--goal", metavar="TEXT", help="What the session is for.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object (schema session-opened/1).")] = False,
) -> None:
    """Open a session before anything runs in it, and print its id.

    From then on it is the current session: the one that `blackbird task` means if BLACKBIRD_SESSION names no other.
    Whether a recorder runs does not matter, and none is started: what is said is a record of the trace either way.

    Examples:

      blackbird session new harbour --goal "the crane lifts again"

      export BLACKBIRD_SESSION=$(blackbird session new)
    """
    home = homes.find()
    with recalled() as recall:
        if check_id("ID", identifier) in knowing.notes(recall, home):
            raise UsageError(
                f"there is a session {identifier} already",
                f"blackbird session goal {identifier} TEXT says what it is for",
            )
        session = Harness.open(identifier, goal, home, recall=recall).session
    if as_json:
        output.write_json({"schema": _NEW_SCHEMA, "session": session, "goal": goal})
        return
    output.stdout().print(session)
    steps = [
        ('blackbird task add "TITLE"', "a task of it"),
        (f"blackbird run --session {session} -- AGENT", "an agent"),
    ]
    width = max(len(command) for command, _ in steps)
    for command, what in steps:
        output.stderr().print(f"  {command:<{width}}  {what}", style="bright_black")


def goal(
    identifier: Annotated[str | None, typer.Argument(metavar="ID", help="A session; else the current one.")] = None,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="What it is for from now on.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object (schema session-goal/1).")] = False,
) -> None:
    """Say what a session is for, or show what was said.

    The goal stands at the top of each context pack of the session. The last one counts; those before stay in the
    trace.

    Examples:

      blackbird session goal harbour "the crane lifts again"

      blackbird session goal
    """
    home = homes.find()
    with recalled() as recall:
        known = knowing.notes(recall, home)
        name = identifier if identifier is not None else knowing.current(known, os.environ)
        if name is None or name not in known:
            raise NotFound(
                f"there is no session {output.printable(name)}" if name else "no session is open",
                "blackbird session new ID opens one; blackbird sessions lists all",
            )
        if text is not None:
            Harness(home, name, recall=recall).set_goal(text)
    said = text.strip() if text is not None else known[name].goal
    if as_json:
        output.write_json({"schema": _GOAL_SCHEMA, "session": name, "goal": said})
    elif said is not None:
        output.stdout().print(output.printable(said))
    else:
        output.stderr().print(f"Nobody said what it is for. `blackbird session goal {name} TEXT` does.")
