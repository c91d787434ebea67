"""`blackbird derive`: brings the memory up to the trace, or makes it anew."""

import contextlib
import sys
import time
from collections import Counter
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from blackbird import derive
from blackbird import home as homes
from blackbird.cli.memory import telling
from blackbird.config.load import load
from blackbird.config.units import counted
from blackbird.derive import Following, Report
from blackbird.errors import MemoryDamaged
from blackbird.home import Home
from blackbird.store.values import Change
from blackbox.errors import UsageError
from blackbox.terminal import output

SCHEMA = "derive/1"
_POLL_SECONDS = 0.1
_MARKS = {
    "added": ("+", "green"),
    "removed": ("-", "red"),
    "changed": ("~", "yellow"),
    "expired": ("x", "bright_black"),
}
#: How much is shown of what changed in each kind of way; --json has all.
_MOST = 40


def command(
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Make everything anew from the trace.")] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="With --rebuild: only show what it would change, artifact by artifact.")
    ] = False,
    follow: Annotated[bool, typer.Option("--follow", help="Go on as the trace grows, until Ctrl-C.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object (schema derive/1); with --follow, one each time.")
    ] = False,
) -> None:
    """Derive the memory from the trace: what each session decided, was told, did and left open.

    Takes in what was recorded since the last time. The memory can be deleted at any time: everything in it comes from
    the trace, and is made again from that to the same content. A memory that another version made is made anew by
    itself, as if --rebuild was given. What cannot be understood is a finding, and the rest goes on.

    Examples:

      blackbird derive

      blackbird derive --rebuild --diff

      blackbird derive --follow --json | jq -r '.changes[].title'
    """
    if diff and not rebuild:
        raise UsageError("--diff goes with --rebuild", "blackbird derive --rebuild --diff")
    if follow and rebuild:
        raise UsageError("--follow and --rebuild are two things", "blackbird derive --rebuild, then --follow")
    home = homes.find()
    telling.show_mode(load(home)["memory.mode"])
    if follow:
        _follow(home, as_json=as_json)
        return
    report = (
        derive.rebuild(home, telling.progress(), keep=not diff)
        if rebuild
        else derive.catch_up(home, telling.progress())
    )
    show(report, is_tried=diff, as_json=as_json)


def show(report: Report, *, is_tried: bool, as_json: bool) -> None:
    """What a round came to."""
    if as_json:
        output.write_json(describe(report))
        return
    console = output.stdout()
    if is_tried:
        _show_changes(console, report.changes)
    counts = Counter(change.what for change in report.changes)
    told = ", ".join(f"{counts[what]} {what}" for what in _MARKS if counts[what]) or "nothing changed"
    many = counted(report.sessions, "session")
    if is_tried:
        console.print(f"A rebuild would read {many}: {told}. Nothing was written.")
    elif report.is_rebuilt:
        console.print(f"Made anew from {many}: {told}.")
    elif report.sessions:
        console.print(f"Read {many} again: {told}.")
    else:
        console.print("Nothing new.")
    telling.show_findings(report)


def describe(report: Report) -> dict[str, Any]:
    """The same for programs."""
    counts = Counter(change.what for change in report.changes)
    return {
        "schema": SCHEMA,
        "sessions": report.sessions,
        "rebuilt": report.is_rebuilt,
        **{what: counts[what] for what in _MARKS},
        "changes": msgspec.to_builtins(report.changes),
        "findings": msgspec.to_builtins(report.findings),
    }


def _show_changes(console: Console, changes: list[Change]) -> None:
    for what, (mark, style) in _MARKS.items():
        mine = [change for change in changes if change.what == what]
        for change in mine[:_MOST]:
            line = Text(f"{mark} {change.id}  {change.type:<11} ", style)
            console.print(line.append(output.printable(change.title), ""))
        if len(mine) > _MOST:
            console.print(f"  … {len(mine) - _MOST} more that are {what}", style="bright_black")


def _follow(home: Home, *, as_json: bool) -> None:
    """Follow until Ctrl-C; a memory that is damaged or taken away meanwhile is made anew."""
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            with contextlib.suppress(MemoryDamaged), Following(home) as following:
                show(following.caught_up, is_tried=False, as_json=as_json)
                sys.stdout.flush()
                while True:
                    _tell(following.poll(), as_json=as_json)
                    time.sleep(_POLL_SECONDS)


def _tell(report: Report, *, as_json: bool) -> None:
    if as_json and (report.changes or report.findings):
        output.write_json(describe(report))
    elif not as_json:
        _show_changes(output.stdout(), report.changes)
        telling.show_findings(report)
    sys.stdout.flush()
