"""`blackbird stats`: how the memory does, and what sessions spent."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from blackbird import derive
from blackbird import home as homes
from blackbird.cli.arguments import Json
from blackbird.config.units import counted, round_duration, round_size
from blackbird.errors import NotFound
from blackbird.exchange.clock import to_rfc3339
from blackbird.home import Home
from blackbird.sessions.choice import NOTHING_YET
from blackbird.stats.collecting import collect, prometheus
from blackbird.stats.figures import Bill, Figures, Took
from blackbird.store.memory import Reader
from blackbox.errors import UsageError
from blackbox.terminal import output

SCHEMA = "stats/1"
#: How many sessions and tasks people are shown, the newest first; programs get all.
_MOST = 10
_Rows = Sequence[tuple[str, ...]]


def command(
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="Only this session: its own, a run's or a client's id."),
    ] = None,
    as_json: Json = False,
    as_prometheus: Annotated[
        bool, typer.Option("--prometheus", help="As Prometheus' text format, e.g. for a textfile collector.")
    ] = False,
) -> None:
    """Show how the memory does: how far behind it is, how fast it answers, and what sessions spent.

    Times and tokens of answers are those of the last some thousands, whichever door they went through. What was spent
    is what providers told in their responses, each counted once, at the prices of the day. Nothing is derived for it.

    Examples:

      blackbird stats

      blackbird stats --session harbour

      blackbird stats --json | jq '.by_model'

      blackbird stats --prometheus > /var/lib/node_exporter/blackbird.prom
    """
    home = homes.find()
    if as_prometheus:
        if session is not None or as_json:
            raise UsageError("--prometheus tells of the whole memory", "leave --session and --json away")
        output.write_text(prometheus(home))
        sys.stdout.flush()
        return
    name = _named(home, session) if session is not None else None
    figures = collect(home, name)
    if as_json:
        output.write_json(describe(figures, name))
    else:
        show(output.stdout(), figures, name)


def _named(home: Home, session: str) -> str:
    with Reader(home.derived) as reader:
        if reader.memory is None:
            raise NotFound("there is no memory yet", NOTHING_YET)
        return derive.session_named(reader.memory, session)


def describe(figures: Figures, session: str | None) -> dict[str, Any]:
    """The figures for programs."""
    told = msgspec.to_builtins(figures, enc_hook=output.to_plain)
    told["since"] = to_rfc3339(figures.since) if figures.since is not None else None
    told["packs"]["hits"] = figures.packs.hits
    for key in ("by_model", "by_session", "by_task"):
        told[key] = [_billed(bill) for bill in told[key]]
    return {"schema": SCHEMA, "session": session, **told}


def _billed(bill: dict[str, Any]) -> dict[str, Any]:
    named = {key: value for key, value in bill.items() if key != "spent" and value is not None}
    spent = bill["spent"]
    return {**named, **spent.pop("usage"), **spent}


def show(console: Console, figures: Figures, session: str | None) -> None:
    """The figures for people; a section that nothing is known for is left out."""
    _show_memory(console, figures, session)
    _show_answers(console, figures)
    _show_packs(console, figures)
    _show_bills(console, "Spent by model", ("model",), figures.by_model)
    if session is None:
        _show_bills(console, "Spent by session", ("session",), figures.by_session)
    _show_bills(console, "Spent by task", ("session", "task"), figures.by_task)


def _show_memory(console: Console, figures: Figures, session: str | None) -> None:
    lag, held = figures.lag, figures.holdings
    whose = f"of {output.printable(session)}" if session is not None else f"of {counted(held.sessions, 'session')}"
    count = sum(held.artifacts.values())
    if lag.records:
        age = round_duration(lag.seconds)
        console.print(
            output.marked("!", f"The memory is {counted(lag.records, 'record')} behind, the oldest {age} old")
        )
    else:
        console.print(output.marked("✓", "The memory has all that is in the trace"))
    console.print(f"  {counted(count, 'artifact')} {whose}; the memory takes {round_size(held.bytes)}")
    if held.findings:
        console.print(f"  {counted(held.findings, 'finding')}: blackbird derive tells what could not be understood")
    _table(console, ("artifacts", "count"), [(kind, f"{number:,}") for kind, number in held.artifacts.items()])


def _show_answers(console: Console, figures: Figures) -> None:
    if not figures.answers:
        console.print("\nNothing was asked of the memory yet.")
        return
    since = to_rfc3339(figures.since) if figures.since is not None else ""
    _heading(console, f"Answers since {since}")
    rows = [
        (
            each.op,
            each.door,
            *_took(each.took),
            f"{each.tokens_p50:,}",
            f"{each.tokens_p95:,}",
            f"{each.beyond:,}" if each.beyond else "-",
        )
        for each in figures.answers
    ]
    head = ("asked", "door", "count", "p50 ms", "p95 ms", "p50 tokens", "p95 tokens", "beyond the contract")
    _table(console, head, rows, words=2)


def _show_packs(console: Console, figures: Figures) -> None:
    packs = figures.packs
    if not packs.built.count + packs.cached.count:
        return
    _heading(console, f"Packs, {packs.hits:.0%} of them from the cache")
    rows = [(how, *_took(taken)) for how, taken in (("built", packs.built), ("cached", packs.cached)) if taken.count]
    _table(console, ("packs", "count", "p50 ms", "p95 ms"), rows)
    sections = [(name, f"{each.packs:,}", f"{each.p50:,}", f"{each.p95:,}") for name, each in packs.sections.items()]
    _table(console, ("section", "packs", "p50 tokens", "p95 tokens"), sections)


def _show_bills(console: Console, title: str, names: tuple[str, ...], bills: Sequence[Bill]) -> None:
    if not bills:
        return
    shown = bills[:_MOST]
    left = f", the newest {_MOST} of {len(bills)}" if len(bills) > _MOST else ""
    _heading(console, title + left)
    head = (*names, "requests", "input", "cache read", "cache write", "output", "cost")
    _table(console, head, [_bill(bill, names) for bill in shown], words=len(names))


def _bill(bill: Bill, names: tuple[str, ...]) -> tuple[str, ...]:
    usage, spent = bill.spent.usage, bill.spent
    counts = (spent.generations, usage.input, usage.cache_read, usage.cache_write, usage.output)
    cost = f"${spent.usd:.4f}" if spent.usd is not None else "unknown"
    cost += "+" if spent.usd is not None and spent.unknown else ""
    return (*(str(getattr(bill, name) or "-") for name in names), *(f"{count:,}" for count in counts), cost)


def _took(taken: Took) -> tuple[str, str, str]:
    return f"{taken.count:,}", f"{taken.p50_ms:.1f}", f"{taken.p95_ms:.1f}"


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(Text(text, "bold"))


def _table(console: Console, head: tuple[str, ...], rows: _Rows, *, words: int = 1) -> None:
    """Columns as wide as what is in them; the first ones are words, the others numbers."""
    if not rows:
        return
    cells = [head, *(tuple(output.printable(cell) for cell in row) for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    for number, row in enumerate(cells):
        aligned = [
            cell.ljust(width) if at < words else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        console.print(Text("  " + "  ".join(aligned).rstrip(), "bright_black" if number == 0 else ""))
