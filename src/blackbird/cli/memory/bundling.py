"""`blackbird bundle`: the evidence of one task, within a bound, for whoever wants to describe it better."""

from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from blackbird import derive
from blackbird.artifacts.bundle import Bundle, bundle
from blackbird.artifacts.model import Change, Command, Type
from blackbird.cli.memory.answering import recalled
from blackbird.errors import NotFound
from blackbird.store.memory import Memory
from blackbox.terminal import output

SCHEMA = "bundle/1"


def command(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task, a run, or a session without tasks.")],
    session: Annotated[
        str | None, typer.Option("--session", metavar="SESSION", help="The session, if several have such a task.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object (schema bundle/1).")] = False,
) -> None:
    """Show the evidence of one task: what was asked, said, run, changed and went wrong, within a bound.

    It is all that a program may see that wants to describe the task better: nothing else is to be looked at, and the
    same state always gives the same bundle. Of a task with several runs it is that of the last.

    Examples:

      blackbird bundle crane

      blackbird bundle run_01M7JH0ABX1368YYCEV8KT3CPT --json
    """
    with recalled() as recall:
        found = recall.ask(lambda memory: _bundle(memory, task, session))
    if as_json:
        output.write_json({"schema": SCHEMA, **msgspec.to_builtins(found)})
    else:
        _show(output.stdout(), found)


def _bundle(memory: Memory, task: str, session: str | None) -> Bundle:
    within = derive.session_named(memory, session) if session is not None else None
    outcomes = memory.find(kind=Type.OUTCOME, session=within, task=task)
    outcomes = outcomes or memory.find(kind=Type.OUTCOME, session=within, run=task)
    if not outcomes and within is None:
        outcomes = memory.find(kind=Type.OUTCOME, session=derive.session_named(memory, task))
    if not outcomes:
        remedy = "blackbird artifacts --all --type outcome --json names the task and the run of each"
        raise NotFound(f"there is no task {output.printable(task)}", remedy)
    outcome = outcomes[-1].artifact
    said = memory.find(session=outcome.session, kind=Type.SEGMENT)
    return bundle(outcome, [stored.artifact for stored in said])


def _show(console: Console, found: Bundle) -> None:
    about = {"session": found.session, "task": found.task, "run": found.run, "status": found.status}
    about |= {"because": found.decided_by}
    console.print(Text(output.printable(found.description or found.task or found.session), "bold"))
    for label, value in about.items():
        if value is not None:
            console.print(Text(f"  {label:<9} ", "bright_black").append(output.printable(value), ""))
    _list(console, "files", [_file(change) for change in found.files])
    _list(console, "commands", [_command(one) for one in found.commands])
    _list(console, "errors", list(found.errors))
    _list(console, "said", list(found.turns))
    for part, count in found.left_out.items():
        console.print(Text(f"  {count} more {part} left out", "bright_black"))


def _list(console: Console, title: str, entries: list[str]) -> None:
    if entries:
        console.print()
        console.print(Text(title, "cyan"))
    for entry in entries:
        first, *more = entry.split("\n")
        console.print(Text("  - ").append(output.printable(first)))
        for line in more:
            console.print(Text("    ").append(output.printable(line)))


def _file(change: Change) -> str:
    counts = f" +{change.added} -{change.removed}" if change.added is not None else ""
    return f"{change.path} {change.action}{counts}"


def _command(command: Command) -> str:
    end = command.said or (f"exit {command.exit_code}" if command.exit_code is not None else "")
    return f"{command.line}{f': {end}' if end else ''}{f' ({command.times} times)' if command.times > 1 else ''}"
