"""`blackbird artifacts`: what sessions left behind, and the words of the trace that each comes from."""

import contextlib
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from blackbird import derive
from blackbird import home as homes
from blackbird.artifacts.model import Provenance, Type
from blackbird.artifacts.proof import Proof, prove
from blackbird.cli.memory import deriving
from blackbird.errors import MemoryBusy, MemoryDamaged, NotFound
from blackbird.exchange.clock import to_rfc3339
from blackbird.home import Home
from blackbird.sessions.choice import NOTHING_YET
from blackbird.store.memory import Memory, Reader, Stored
from blackbird.trace.folder import Trace
from blackbox.errors import UsageError
from blackbox.terminal import output

SCHEMA = "artifact/1"
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
    home = homes.find()
    with contextlib.suppress(MemoryBusy):
        deriving.show_findings(derive.catch_up(home, deriving.progress()))
    try:
        _answer(home, name, kind, task, every=every, as_json=as_json)
    except MemoryDamaged:
        derive.rebuild(home, deriving.progress())
        _answer(home, name, kind, task, every=every, as_json=as_json)


def _answer(home: Home, name: str | None, kind: Type | None, task: str | None, *, every: bool, as_json: bool) -> None:
    with Reader(home.derived) as reader:
        memory = reader.memory
        if memory is None:
            raise NotFound("there is no memory yet", NOTHING_YET)
        if name is not None and name.startswith(PREFIX):
            _show_one(home, _chosen(memory, name), as_json=as_json)
            return
        if every and name is not None:
            raise UsageError("--all is for all sessions", "leave the session away")
        is_wide = every or (name is None and task is not None)
        session = None if is_wide else derive.session_named(memory, name)
        found = memory.find(session=session, task=task, kind=kind)
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
        line.append(output.printable(artifact.title), "bright_black" if stored.is_expired else "")
        if stored.is_expired:
            line.append(" (evidence gone)", "bright_black")
        if console.is_terminal:
            line.truncate(console.width, overflow="ellipsis")
        console.print(line)


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
    elif isinstance(value, list | tuple):
        console.print(label)
        for each in value:
            if isinstance(each, dict):
                _show_value(console, each, depth + 1)
            else:
                console.print(Text("  " * (depth + 1) + "- ").append(output.printable(str(each))))
    else:
        first, *more = str(value).split("\n")
        console.print(label.append(output.printable(first), ""))
        for line in more:
            console.print(Text("  " * (depth + 1)).append(output.printable(line)))


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
