"""`blackbird artifacts`: what sessions left behind, and the words of the trace that each comes from."""

from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from blackbird import derive
from blackbird import home as homes
from blackbird.artifacts.model import Constraint, Decision, OpenThread, Outcome, Provenance, Signal, Type
from blackbird.artifacts.proof import Proof, prove
from blackbird.cli.memory.answering import answer
from blackbird.errors import NotFound
from blackbird.exchange.clock import to_rfc3339
from blackbird.home import Home
from blackbird.store.memory import Memory, Stored
from blackbird.trace.folder import Trace
from blackbox.errors import UsageError
from blackbox.terminal import output

SCHEMA = "artifact/1"
#: What is kept in nanoseconds since 1970.
_TIMES = frozenset({"holds_from", "holds_until", "last_said", "opened_at", "closed_at", "last_at"})
PREFIX = "art_"
_PROOFS = {
    Proof.FOUND: ("✓", "stands there word for word"),
    Proof.MASKED: ("✓", "stands there; a secret in it was masked"),
    Proof.OTHER: ("✗", "does not stand there"),
    Proof.GONE: ("!", "is no longer in the trace"),
}


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
    home = homes.find()
    if name is not None and name.startswith(PREFIX):
        _show_one(home, answer(home, lambda memory: _chosen(memory, name)), as_json=as_json)
        return
    is_wide = every or (name is None and task is not None)

    def listed(memory: Memory) -> tuple[str | None, list[Stored]]:
        session = None if is_wide else derive.session_named(memory, name)
        return session, memory.find(session=session, task=task, kind=kind)

    session, found = answer(home, listed)
    if as_json:
        for stored in found:
            output.write_json(describe(stored))
        return
    _show_table(output.stdout(), session, found)


def describe(stored: Stored) -> dict[str, Any]:
    """An artifact for programs."""
    artifact = stored.artifact
    at = to_rfc3339(artifact.at) if artifact.at is not None else None
    return {"schema": SCHEMA, "time": at, "expired": stored.is_expired, **msgspec.to_builtins(artifact)}


def _chosen(memory: Memory, name: str) -> Stored:
    found = memory.starting(name)
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{name} stands for {len(found)} artifacts", "give more of its characters")
    raise NotFound(f"there is no artifact {output.printable(name)}", "blackbird artifacts --all lists them")


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


def _show_one(home: Home, stored: Stored, *, as_json: bool) -> None:
    trace = Trace(home.trace)
    artifact = stored.artifact
    proofs = [(each, prove(trace, each)) for each in artifact.provenance]
    if as_json:
        told = describe(stored)
        for fields, (_, proof) in zip(told["provenance"], proofs, strict=True):
            fields["proof"] = proof.value
        output.write_json(told)
        return
    console = output.stdout()
    console.print(Text(output.printable(artifact.title), "bold"))
    at = to_rfc3339(artifact.at) if artifact.at is not None else None
    about = {"artifact": artifact.id, "type": artifact.type, "session": artifact.session, "task": artifact.task}
    about |= {"run": artifact.run, "time": at, "builder": artifact.builder}
    for label, value in about.items():
        if value is not None:
            console.print(Text(f"  {label:<9} ", "bright_black").append(output.printable(str(value)), ""))
    console.print()
    _show_value(console, msgspec.to_builtins(artifact.content), 1)
    console.print()
    for provenance, proof in proofs:
        _show_provenance(console, provenance, proof)


def _show_value(console: Console, fields: dict[str, Any], depth: int) -> None:
    for key, value in fields.items():
        if value in (None, "", [], {}, ()) or (key == "type" and depth == 1):
            continue
        _show_field(console, key, value, depth)


def _show_field(console: Console, key: str, value: Any, depth: int) -> None:
    label = Text("  " * depth).append(f"{key}: ", "bright_black")
    if isinstance(value, dict):
        console.print(label)
        _show_value(console, value, depth + 1)
    elif key == "recorded":
        console.print(label.append(f"segment {value[0]}, record {value[1]}", ""))
    elif isinstance(value, list | tuple):
        console.print(label)
        for each in value:
            if isinstance(each, dict):
                _show_entry(console, each, depth + 1)
            else:
                console.print(Text("  " * (depth + 1) + "- ").append(output.printable(str(each))))
    else:
        if key in _TIMES:
            value = to_rfc3339(value)
        elif key == "signal":
            value = Signal(value).name.lower()
        first, *more = str(value).split("\n")
        console.print(label.append(output.printable(first), ""))
        for line in more:
            console.print(Text("  " * (depth + 1)).append(output.printable(line)))


def _show_entry(console: Console, fields: dict[str, Any], depth: int) -> None:
    """One of a list, in a line: what tells most of it first."""
    told = {key: value for key, value in fields.items() if value not in (None, "", [], {}, ())}
    first = next(iter(told.values()), "")
    more = ", ".join(f"{key} {_words(value)}" for key, value in list(told.items())[1:])
    line = Text("  " * depth + "- ").append(output.printable(str(first)))
    console.print(line.append(output.printable(f"  {more}"), "bright_black") if more else line)


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _show_provenance(console: Console, provenance: Provenance, proof: Proof) -> None:
    found = provenance.evidence
    place = f"{found.source} {found.side}, bytes {found.start}–{found.end}"
    if found.segment is not None:
        place += f", segment {found.segment}, record {found.sequence}"
    if found.file is not None:
        place += f", from {output.printable(found.file)} at {found.offset}"
    mark, words = _PROOFS[proof] if provenance.quote or proof is not Proof.FOUND else ("✓", "is there")
    console.print(output.marked(mark, f"{place}: {words}"))
    for line in provenance.quote.split("\n") if provenance.quote else ():
        console.print(Text("    │ ", "bright_black").append(output.printable(line)))
