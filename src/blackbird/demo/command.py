"""`blackbird demo`: record a scripted agent, and show what there is to see."""

import shlex
import shutil
import sysconfig
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from blackbird.demo.chapters import QUESTION, SESSION
from blackbird.demo.tour import Seen, Tellers, fresh_home, run
from blackbird.exchange.exchange import Exchange
from blackbird.exchange.view import milliseconds
from blackbird.home import VARIABLE, Home
from blackbird.pack.model import Pack
from blackbird.provider.pace import parse_duration
from blackbox.errors import UsageError
from blackbox.terminal import output
from blackbox.terminal.codes import EXIT_INTEGRITY

_COMMAND = "blackbird"
#: How many cards are shown.
_CARDS = 3


def demo(
    home: Annotated[
        Path | None, typer.Option("--home", metavar="FOLDER", help="Record into this home instead of a new one.")
    ] = None,
    pace: Annotated[
        str, typer.Option("--pace", metavar="TIME", help="Time between the words of the model, such as 20ms.")
    ] = "2ms",
) -> None:
    """Record a scripted agent over three tasks, offline, and show what each learned from those before it.

    The second task takes back a decision of the first; the third looks up the rest by the memory's own tools. At
    the end the memory is searched, and what is found is followed down to the bytes that it comes from.

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
        pack=lambda pack: _show_pack(console, pack),
        agent=lambda text: console.print(f"  agent     {output.printable(text)}", style="bright_black"),
        recorded=lambda exchange: console.print(f"  recorded  {output.printable(request_line(exchange))}"),
    )


def _show_pack(console: Console, pack: Pack) -> None:
    if not pack.sections:
        console.print("  pack      there is nothing to tell it yet", style="cyan")
        return
    console.print(f"  pack      {pack.tokens} of {pack.budget} tokens, put before the agent:", style="cyan")
    for line in pack.text.splitlines():
        console.print(f"  │ {output.printable(line)}", style="cyan", soft_wrap=True)


def request_line(exchange: Exchange) -> str:
    """One request in one line."""
    sizes = f"{exchange.request_body.size:>6} B up {exchange.response_body.size:>6} B down"
    first, total = (milliseconds(time) for time in (exchange.timings.first_byte_us, exchange.timings.total_us))
    status = "-" if exchange.status is None else str(exchange.status)
    return f"{exchange.request_id} {exchange.method} {exchange.path} → {status} {sizes}  {first} / {total}"


def _show(console: Console, seen: Seen) -> None:
    _show_found(console, seen)
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


def _show_found(console: Console, seen: Seen) -> None:
    """What a search finds, and where the best of it stands in the trace."""
    console.print(output.marked("✓", f"The memory is searched for “{QUESTION}”"))
    for card in seen.found.cards[:_CARDS]:
        state = f" ({card.state})" if card.state else ""
        console.print(f"  found     {card.id}  {card.type}  {output.printable(card.title)}{state}")
    for piece in seen.evidence[:1]:
        place = piece.evidence
        mark = "✓" if piece.is_sound else "✗"
        segments = ", ".join(f"segment {each.segment}, record {each.sequence}" for each in piece.records[:1])
        where = f"{place.source} {place.side}, bytes {place.start}–{place.end}, {segments}"
        console.print(output.marked(mark, f"The first of these comes from {where}"))
        console.print(f"  │ {output.printable(piece.quote)}", style="bright_black")


def _show_next(console: Console, seen: Seen) -> None:
    """What to type. The demo's home is named for each command, so that nothing else ever lands in it."""
    console.print(f"\nWhat was recorded is in {seen.home.path}. Look at it:\n")
    if shutil.which(_COMMAND) is None:
        activate = Path(sysconfig.get_path("scripts")) / "activate"
        _show_line(console, f". {shlex.quote(str(activate))}", "once, since blackbird is not on your PATH")
    best = seen.found.cards[0].id if seen.found.cards else "ID"
    for words, what in (
        ("show", "the session as a replay: what was said, called and answered"),
        (f"task list {SESSION}", "its tasks, their runs and how each ended"),
        (f"mem search decimal --session {SESSION}", "search what was learned"),
        (f"evidence {best}", "the very bytes behind a line of a pack, or a card"),
        (f"pack --session {SESSION} --explain", "what the next task would be told, and why"),
        ("export", "the session as a flight log, a file in this folder"),
        ("trace verify", "check every byte of the trace"),
    ):
        _show_line(console, f"{VARIABLE}={shlex.quote(str(seen.home.path))} {_COMMAND} {words}", what)
    console.print("\nRecord an agent of your own; each task begins with what those before it learned:\n")
    _show_line(console, f"{_COMMAND} run -- claude", "or codex, gemini, opencode, a script")


def _show_line(console: Console, line: str, what: str) -> None:
    console.print(f"  {what}", style="bright_black")
    console.print(f"    {line}", soft_wrap=True)
