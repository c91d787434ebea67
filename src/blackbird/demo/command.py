"""`blackbird demo`: record a scripted agent, and show what there is to see."""

import shlex
import shutil
import sysconfig
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from blackbird.demo.tour import Seen, Tellers, fresh_home, run
from blackbird.exchange.exchange import Exchange
from blackbird.exchange.view import milliseconds
from blackbird.home import VARIABLE, Home
from blackbird.provider.pace import parse_duration
from blackbox.errors import UsageError
from blackbox.terminal import output
from blackbox.terminal.codes import EXIT_INTEGRITY

_COMMAND = "blackbird"


def demo(
    home: Annotated[
        Path | None, typer.Option("--home", metavar="FOLDER", help="Record into this home instead of a new one.")
    ] = None,
    pace: Annotated[
        str, typer.Option("--pace", metavar="TIME", help="Time between the words of the model, such as 20ms.")
    ] = "2ms",
) -> None:
    """Record a scripted agent that repairs a small program, offline, and show what was recorded.

    Examples:

      blackbird demo

      blackbird demo --pace 50ms
    """
    try:
        gap = parse_duration(pace)
    except ValueError as error:
        raise UsageError(f"--pace: {error}", "write a time such as 20ms") from error
    place = fresh_home() if home is None else Home(home.absolute(), home.absolute() / "config.toml")
    console = output.stdout()
    seen = run(place, _tellers(console), gap)
    _show(console, seen)
    if not seen.is_good:
        raise typer.Exit(EXIT_INTEGRITY)


def _tellers(console: Console) -> Tellers:
    return Tellers(
        step=lambda text: console.print(output.marked("✓", text)),
        agent=lambda text: console.print(f"  agent     {output.printable(text)}", style="bright_black"),
        recorded=lambda exchange: console.print(f"  recorded  {output.printable(request_line(exchange))}"),
    )


def request_line(exchange: Exchange) -> str:
    """One request in one line."""
    sizes = f"{exchange.request_body.size:>6} B up {exchange.response_body.size:>6} B down"
    first, total = (milliseconds(time) for time in (exchange.timings.first_byte_us, exchange.timings.total_us))
    status = "-" if exchange.status is None else str(exchange.status)
    return f"{exchange.request_id} {exchange.method} {exchange.path} → {status} {sizes}  {first} / {total}"


def _show(console: Console, seen: Seen) -> None:
    about = seen.report.statistics
    counted = f"{about.records} records of {about.requests} requests"
    if seen.report.is_intact:
        console.print(output.marked("✓", f"The trace is whole: {counted}"))
    else:
        console.print(output.marked("✗", f"The trace is not what was recorded: {counted}"))
    if seen.leaks:
        names = ", ".join(str(path) for path in seen.leaks)
        console.print(output.marked("✗", f"A planted secret is on the disk: {names}"))
    else:
        console.print(output.marked("✓", "The two secrets that were planted passed, and are nowhere on the disk"))
    _show_next(console, seen)


def _show_next(console: Console, seen: Seen) -> None:
    """What to type. The demo's home is named for each command, so that nothing else ever lands in it."""
    console.print(f"\nWhat was recorded is in {seen.home.path}. Look at it:\n")
    if shutil.which(_COMMAND) is None:
        activate = Path(sysconfig.get_path("scripts")) / "activate"
        _show_line(console, f". {shlex.quote(str(activate))}", "once, since blackbird is not on your PATH")
    last = seen.requests[-1].request_id if seen.requests else "ID"
    for words, what in (
        ("show", "the session as a replay: what was said, called and answered"),
        ("export", "the session as a flight log, a file in this folder"),
        ("tail", "agents as they work; Ctrl-C ends it"),
        ("requests", "every request, one line each"),
        (f"show {last}", "one of them, whole"),
        ("trace verify", "check every byte of the trace"),
    ):
        _show_line(console, f"{VARIABLE}={shlex.quote(str(seen.home.path))} {_COMMAND} {words}", what)
    console.print("\nRecord an agent of your own:\n")
    _show_line(console, f"{_COMMAND} run -- claude", "or codex, gemini, opencode, a script")


def _show_line(console: Console, line: str, what: str) -> None:
    console.print(f"  {what}", style="bright_black")
    console.print(f"    {line}", soft_wrap=True)
