"""`blackbird trace clean`, `pin`, `unpin` and `seal`: what is kept of the trace, and in which form."""

import sys
from typing import Annotated, Any

import typer
from rich.console import Console

from blackbird import home as homes
from blackbird.cli.arguments import Json, one_of
from blackbird.config import units
from blackbird.config.load import load
from blackbird.recorder import process
from blackbox.errors import UsageError
from blackbox.terminal import output

_Session = Annotated[str | None, typer.Option("--session", help="All runs of this session.")]
_Run = Annotated[str | None, typer.Option("--run", help="This run alone.")]


def clean(
    days: Annotated[
        int | None, typer.Option("--days", min=1, help="Remove what is older (default: trace.retention_days).")
    ] = None,
    max_size: Annotated[
        str | None,
        typer.Option("--max-size", metavar="SIZE", help='Keep this much, as in "2 GiB" (default: trace.max_size).'),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Remove it, without asking.")] = False,
    as_json: Json = False,
) -> None:
    """Remove old segments of the trace: shows what would go, and asks.

    What a pin holds stays. Nothing goes without --yes or a yes at the prompt.

    Examples:

      blackbird trace clean --days 30

      blackbird trace clean --max-size "2 GiB" --yes
    """
    op = {"op": "clean", "days": days, "max_bytes": _bytes(max_size)}
    plan = _do({**op, "dry_run": True})
    console = output.stdout()
    if not as_json:
        _show_plan(console, plan)
    if plan["removed"] and (yes or (not as_json and _agreed(console))):
        plan = _do({**op, "dry_run": False})
        if not as_json:
            freed = units.round_size(sum(each["bytes"] for each in plan["removed"]))
            console.print(output.marked("✓", f"Removed {_segments(len(plan['removed']))}, {freed}"))
    if as_json:
        output.write_json({"schema": "trace-clean/1", **plan})


def pin(session: _Session = None, run: _Run = None, as_json: Json = False) -> None:
    """Keep a session or a run, whatever its age.

    Examples:

      blackbird trace pin --session harbour

      blackbird trace pin --run run_01JD4Q0000000000000000000A
    """
    _tell_pin("pin", one_of(session, run), as_json=as_json)


def unpin(session: _Session = None, run: _Run = None, as_json: Json = False) -> None:
    """Let a session or a run go with the rest again.

    Example:

      blackbird trace unpin --session harbour
    """
    _tell_pin("unpin", one_of(session, run), as_json=as_json)


def seal(as_json: Json = False) -> None:
    """Close the segment that is being written, and compress all that are closed.

    Example:

      blackbird trace seal
    """
    done = _do({"op": "seal"})
    if as_json:
        output.write_json({"schema": "trace-seal/1", **done})
        return
    console = output.stdout()
    for each in done["sealed"]:
        raw, small = units.round_size(each["raw"]), units.round_size(each["sealed"])
        console.print(output.marked("✓", f"Segment {each['segment']}: {raw} became {small}"))
    if not done["sealed"]:
        console.print("No segment is left to seal")


def _do(op: dict[str, Any]) -> dict[str, Any]:
    home = homes.find()
    return process.maintain(home, load(home), op)


def _bytes(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return units.parse_size(text)
    except ValueError as error:
        raise UsageError(f"--max-size: `{output.printable(text)}` {error}", 'write it as in "2 GiB"') from None


def _show_plan(console: Console, plan: dict[str, Any]) -> None:
    for each in plan["removed"]:
        _show_segment(console, each, f"{each['requests']} requests  {each['reason']}")
    for each in plan["kept_by_pin"]:
        _show_segment(console, each, f"stays: {', '.join(each['pins'])}")
    if not plan["removed"]:
        console.print("Nothing is to be removed")
        return
    total = units.round_size(sum(each["bytes"] for each in plan["removed"]))
    console.print(output.marked("!", f"{_segments(len(plan['removed']))}, {total}, would go for good"))


def _show_segment(console: Console, segment: dict[str, Any], text: str) -> None:
    size = units.round_size(segment["bytes"])
    console.print(output.printable(f"  segment {segment['segment']}  {size}  {text}"))


def _agreed(console: Console) -> bool:
    if not _is_terminal():
        console.print("  Dry run - add --yes to remove them")
        return False
    return typer.confirm("Remove them?", default=False)


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _segments(count: int) -> str:
    return f"{count} segment{'s' if count != 1 else ''}"


def _tell_pin(op: str, what: dict[str, str], *, as_json: bool) -> None:
    _do({"op": op, **what})
    if as_json:
        output.write_json({"schema": f"trace-{op}/1", **what})
        return
    kind, name = next(iter(what.items()))
    told = f"The {kind} {name} is kept" if op == "pin" else f"The {kind} {name} is no longer kept"
    output.stdout().print(output.marked("✓", told))
