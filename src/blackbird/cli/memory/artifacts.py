"""`blackbird artifacts`: what sessions left behind, and the words of the trace that each comes from."""

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from blackbird import derive
from blackbird.artifacts.model import Constraint, Decision, OpenThread, Outcome, Type
from blackbird.cli.memory import showing
from blackbird.cli.memory.answering import recalled
from blackbird.recall import view
from blackbird.store.memory import Memory, Stored
from blackbox.errors import UsageError
from blackbox.terminal import output

PREFIX = "art_"


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="SESSION|ID", help="A session, run or client's own id; or an artifact's. Else the newest session."
        ),
    ] = None,
    kind: Annotated[Type | None, typer.Option("--type", help="Only these.")] = None,
    task: Annotated[str | None, typer.Option("--task", metavar="TASK", help="Only those of this task.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Those of all sessions.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object an artifact (schema artifact/1).")] = False,
) -> None:
    """List what a session left behind, or show one artifact with its evidence.

    Takes in what is new first, unless `blackbird derive` is at it. Of one artifact, all is shown: what it says, and
    for each quote the request, segment, record and bytes that it comes from. The words are read back from the trace
    and compared. What retention has removed is marked.

    Examples:

      blackbird artifacts

      blackbird artifacts harbour --type decision

      blackbird artifacts art_4ucdv2hlmbo2tyhx

      blackbird artifacts --all --json | jq -r 'select(.type == "open_thread") | .title'
    """
    if every and name is not None:
        raise UsageError("--all is for all sessions", "leave the session away")
    if name is not None and name.startswith(PREFIX):
        _show_one(name, as_json=as_json)
        return
    is_wide = every or (name is None and task is not None)

    def listed(memory: Memory) -> tuple[str | None, list[Stored]]:
        session = None if is_wide else derive.session_named(memory, name)
        return session, memory.find(session=session, task=task, kind=kind)

    with recalled() as recall:
        session, found = recall.ask(listed)
    if as_json:
        for stored in found:
            output.write_json(view.describe_stored(stored))
        return
    _show_table(output.stdout(), session, found)


def _show_one(name: str, *, as_json: bool) -> None:
    with recalled() as recall:
        whole = recall.get(name, proved=True, most=None)
    if as_json:
        output.write_json(view.describe_whole(whole))
    else:
        showing.show(output.stdout(), whole)


def _show_table(console: Console, session: str | None, found: list[Stored]) -> None:
    if not found:
        of = f" of {output.printable(session)}" if session is not None else ""
        console.print(f"There are no such artifacts{of}. `blackbird artifacts --all` lists all.")
        return
    width = max(len(stored.artifact.type) for stored in found)
    for stored in found:
        artifact = stored.artifact
        line = Text(artifact.id, "bright_black").append(f"  {artifact.type:<{width}}  ", "cyan")
        note = _note(stored)
        line.append(output.printable(artifact.title), "bright_black" if note else "")
        if note:
            line.append(f" ({note})", "bright_black")
        if console.is_terminal:
            line.truncate(console.width, overflow="ellipsis")
        console.print(line)


def _note(stored: Stored) -> str:
    """Why an artifact is no longer of interest, or how what it is about ended."""
    match stored.artifact.content:
        case Outcome() as outcome:
            note = str(outcome.status)
        case Decision() | Constraint() as ruling if not ruling.is_active:
            note = "superseded"
        case OpenThread() as thread if not thread.state.is_open:
            note = str(thread.state)
        case _:
            note = ""
    return ", ".join([*([note] if note else []), *(["evidence gone"] if stored.is_expired else [])])
