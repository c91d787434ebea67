"""One artifact with all that it says, and where each word of it comes from."""

from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

from blackbird.artifacts.model import Provenance, Signal
from blackbird.artifacts.proof import Proof
from blackbird.exchange.clock import to_rfc3339
from blackbird.recall import Whole
from blackbox.terminal import output

#: What is kept in nanoseconds since 1970.
_TIMES = frozenset({"holds_from", "holds_until", "last_said", "opened_at", "closed_at", "last_at"})
#: What is said of a quote that was looked up.
PROOFS = {
    Proof.FOUND: ("✓", "stands there word for word"),
    Proof.MASKED: ("✓", "stands there; a secret in it was masked"),
    Proof.OTHER: ("✗", "does not stand there"),
    Proof.GONE: ("!", "is no longer in the trace"),
}


def show(console: Console, whole: Whole) -> None:
    """An artifact for people."""
    artifact = whole.artifact
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
    for provenance, proof in zip(artifact.provenance, whole.proofs, strict=False):
        _show_provenance(console, provenance, proof)


def show_size(console: Console, whole: Whole) -> None:
    """How long an answer is, and what of the artifact is not in it."""
    console.print()
    for cut in whole.cut:
        left = f"{cut.part}: {cut.kept} of {cut.of} {cut.unit}"
        console.print(output.marked("!", f"{left}; blackbird artifacts {whole.artifact.id} has the rest"))
    console.print(Text(f"{whole.tokens} tokens", "bright_black"))


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
    mark, words = PROOFS[proof] if provenance.quote or proof is not Proof.FOUND else ("✓", "is there")
    console.print(output.marked(mark, f"{place}: {words}"))
    for line in provenance.quote.split("\n") if provenance.quote else ():
        console.print(Text("    │ ", "bright_black").append(output.printable(line)))
