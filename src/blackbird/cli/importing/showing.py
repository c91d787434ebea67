"""What an import found and what it did, for people and for programs."""

from collections.abc import Sequence
from typing import Any

import msgspec
from rich.console import Console

from blackbird.config.units import counted, round_size
from blackbird.exchange.clock import to_rfc3339
from blackbird.imports.finding import Candidate, State
from blackbird.imports.taking import Outcome
from blackbox.terminal import output

SCHEMA = "import/1"
_COLUMNS = ("client", "files", "sessions", "size", "from", "to", "taken", "to take")
_SHOWN = 5
_LEFT = ("client", "from", "to")


class Sum(msgspec.Struct, kw_only=True):
    """The logs of one client; sizes are in bytes, times nanoseconds since 1970."""

    client: str
    files: int = 0
    sessions: set[str] = set()
    bytes: int = 0
    first_at: int | None = None
    last_at: int | None = None
    taken: int = 0
    states: dict[str, int] = {}
    rest: int = 0

    def add(self, candidate: Candidate) -> None:
        """Count a log."""
        self.files += 1
        self.sessions = self.sessions | {candidate.session}
        self.bytes += candidate.file.size
        self.rest += candidate.rest
        self.taken += candidate.state is State.TAKEN
        self.states = {**self.states, candidate.state.value: self.states.get(candidate.state.value, 0) + 1}
        first, last = candidate.facts.first_at, candidate.file.mtime_ns
        self.last_at = max(self.last_at or 0, last)
        if first is not None:
            self.first_at = first if self.first_at is None else min(first, self.first_at)


def sums(candidates: Sequence[Candidate]) -> list[Sum]:
    """The logs by client."""
    found: dict[str, Sum] = {}
    for candidate in candidates:
        found.setdefault(candidate.client, Sum(client=candidate.client)).add(candidate)
    return list(found.values())


def show_found(console: Console, found: Sequence[Sum]) -> None:
    """A table of what there is."""
    table = [_COLUMNS, *(_cells(each) for each in found)]
    widths = [max(len(line[at]) for line in table) for at in range(len(_COLUMNS))]
    for line in table:
        cells = [
            cell.ljust(width) if name in _LEFT else cell.rjust(width)
            for name, cell, width in zip(_COLUMNS, line, widths, strict=True)
        ]
        console.print(output.printable("  ".join(cells).rstrip()), style="bright_black" if line is _COLUMNS else "")


def describe(found: Sequence[Sum], facts: dict[str, Any], done: Outcome | None) -> dict[str, Any]:
    """The same as an object, with what was done if something was."""
    clients = [
        {
            "client": each.client,
            "files": each.files,
            "sessions": len(each.sessions),
            "bytes": each.bytes,
            "first": _time(each.first_at),
            "last": _time(each.last_at),
            **{state.value: each.states.get(state.value, 0) for state in State},
            "rest_bytes": each.rest,
        }
        for each in found
    ]
    return {"schema": SCHEMA, **facts, "clients": clients, "imported": _outcome(done)}


def show_done(console: Console, done: Outcome) -> None:
    """What was done."""
    if not done.files:
        console.print("Nothing is new")
        return
    files = f"{done.files} log{'s' if done.files != 1 else ''}"
    if not done.is_kept:
        where = "where they are" if done.files != 1 else "where it is"
        console.print(output.marked("✓", f"Noted {files} {where}; nothing was copied"))
        return
    told = f"Took in {files}: {counted(done.lines, 'line')}, {round_size(done.bytes)}"
    console.print(output.marked("✓", told))
    if done.redactions:
        kinds = ", ".join(f"{kind} × {count}" for kind, count in done.redactions.most_common())
        console.print(f"  masked    {output.printable(kinds)}")
    if done.damaged:
        console.print(output.marked("!", f"{done.damaged} lines had bytes that are no UTF-8; those were replaced"))
    if done.broken:
        lines = "1 line is" if len(done.broken) == 1 else f"{len(done.broken)} lines are"
        console.print(output.marked("!", f"{lines} no JSON; kept, but what was said there is missing"))
        for place in done.broken[:_SHOWN]:
            console.print(f"  {output.printable(place)}", style="bright_black")
        if len(done.broken) > _SHOWN:
            console.print(f"  and {len(done.broken) - _SHOWN} more", style="bright_black")


def _outcome(done: Outcome | None) -> dict[str, Any] | None:
    if done is None:
        return None
    return {
        "files": done.files,
        "lines": done.lines,
        "bytes": done.bytes,
        "damaged_lines": done.damaged,
        "broken_lines": done.broken,
        "redactions": dict(sorted(done.redactions.items())),
    }


def _cells(each: Sum) -> tuple[str, ...]:
    return (
        each.client,
        str(each.files),
        str(len(each.sessions)),
        round_size(each.bytes),
        _day(each.first_at),
        _day(each.last_at),
        str(each.taken),
        round_size(each.rest) if each.rest else "-",
    )


def _day(wall: int | None) -> str:
    return (_time(wall) or "?")[:10]


def _time(wall: int | None) -> str | None:
    return to_rfc3339(wall) if wall is not None else None
