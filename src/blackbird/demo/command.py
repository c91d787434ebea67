"""`blackbird demo`: record a scripted agent, and show what there is to see."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from blackbird.demo.tour import Seen, Tellers, fresh_home, run
from blackbird.exchange.exchange import Exchange
from blackbird.exchange.view import milliseconds
from blackbird.home import Home
from blackbird.provider.pace import parse_duration
from blackbox.errors import UsageError
from blackbox.terminal import output
from blackbox.terminal.codes import EXIT_INTEGRITY


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
    console.print(f"\nWhat was recorded is in {seen.home.path}. Look at it:\n")
    console.print(f"  export BLACKBIRD_HOME={shlex.quote(str(seen.home.path))}")
    last = seen.requests[-1].request_id if seen.requests else "ID"
    for line, what in (
        ("blackbird requests", "every request, one line each"),
        (f"blackbird show {last}", "one of them, whole"),
        ("blackbird trace verify", "check every byte of the trace"),
        ("blackbird up", "record an agent of your own"),
    ):
        console.print(f"  {line:<48} {what}")
