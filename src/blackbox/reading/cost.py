"""`blackbox cost`: tokens and cost by step, tool, model and agent, and against the budget."""

import decimal
import enum
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from blackbox.reading.sessions import each_session
from blackbox.report.places import Member
from blackbox.report.spending import UNKNOWN, Contradiction, Row, Spending, Usage, spending
from blackbox.session.session import Session
from blackbox.session.usage import Source
from blackbox.terminal import inputs, output

SCHEMA = "blackbox.cost/1"
_SHOWN_PLACES = 6
_SHOWN_DIGITS = 3
_SOURCES = {
    Source.END: "@end",
    Source.CLOSING: "the closing # line",
    Source.HEADER: "the header",
    Source.METRICS: "the sum of # metrics",
    Source.MESSAGES: "the sum of the messages",
    Source.CHECKPOINT: "the last @checkpoint",
    Source.BUDGET: "the last # budget",
}


class By(enum.StrEnum):
    """What to group by."""

    STEP = "step"
    TOOL = "tool"
    MODEL = "model"
    AGENT = "agent"


def command(
    logs: Annotated[
        list[str] | None, typer.Argument(help="Logs, folders or patterns; `-` is standard input.")
    ] = None,
    by: Annotated[By | None, typer.Option("--by", help="Only this table (default: all four).")] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many rows of a table are shown.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a log (schema blackbox.cost/1).")] = False,
) -> None:
    """Show where tokens and money went: by step, tool, model and agent, dearest first, and against the budget.

    Only what the log says: there is no price table here, and what is not stated is "unknown".

    A `# metrics` (or the tokens of an imported message) belongs to the agent's message it is about. For tools it is
    split evenly over the calls that message made: those with its step, else those up to the next message. The shares
    add up exactly; a message without calls counts under "(no tool)".

    Sub-agents' own logs are listed too; those of an .rlog that have only a companion (NAME.sub-ID.jsonl) by that.

    Without arguments, all logs below this folder. --json has all rows of all tables, and every digit.

    Examples:

      blackbox cost session.bbox

      blackbox cost session.bbox --by tool --top 5

      blackbox cost logs/ --json | jq '{file, spent: .budget.spent}'
    """
    names = inputs.find_logs(logs or [])
    console = output.stdout()
    is_first = True

    def show(name: str, session: Session, subagents: Sequence[Member]) -> None:
        nonlocal is_first
        found = spending(session, subagents)
        if as_json:
            fields = {field: getattr(found, field) for field in found.__struct_fields__}
            output.write_json({"schema": SCHEMA, "file": name, **fields})
            return
        if not is_first:
            console.print()
        is_first = False
        show_spending(console, name, found, by, top)

    each_session(names, show, as_json=as_json)


def show_spending(console: Console, name: str, found: Spending, by: By | None, top: int) -> None:
    """The totals, and a table for each way to group them; `by` chooses one."""
    console.print(f"Cost of {output.printable(inputs.shown(name))}")
    _totals(console, found)
    tables = {By.STEP: found.steps, By.TOOL: found.tools, By.MODEL: found.models, By.AGENT: found.agents}
    for table, rows in tables.items():
        if rows and by in (None, table):
            _table(console, f"By {table.value}", rows, top, of="calls" if table is By.TOOL else "messages")
    if found.subagents and by in (None, By.AGENT):
        title = "Sub-agents' own logs (the log does not say whether its total holds them)"
        _table(console, title, found.subagents, top, of="calls")


def _totals(console: Console, found: Spending) -> None:
    cost, tokens, budget = found.cost, found.tokens, found.budget
    rows = [
        ("Cost", f"{_money(cost.amount)} (from {_SOURCES[cost.source]})" if cost is not None else UNKNOWN),
        ("Tokens", f"{tokens.total:,} (from {_SOURCES[tokens.source]})" if tokens is not None else UNKNOWN),
    ]
    if budget.total is not None:
        percent = f", {budget.percent} % spent" if budget.percent is not None else ""
        left = f", {_money(budget.remaining)} left" if budget.remaining is not None and not budget.is_over else ""
        rows.append(("Budget", f"{_money(budget.total)}{percent}{left}"))
    else:
        rows.append(("Budget", "none stated"))
    rows.append(("In messages", _covered(found)))
    for label, value in rows:
        console.print(f"  {label + ':':13} {value}")
    if budget.is_over and budget.remaining is not None:
        console.print(Text("  ").append_text(output.marked("✗", f"over budget by {_money(-budget.remaining)}")))
    for contradiction in found.contradictions:
        console.print(Text("  ").append_text(output.marked("!", _contradiction(contradiction))))


def _covered(found: Spending) -> str:
    """How much of the total the tables below stand for."""
    if found.source is None:
        return "nothing: the log has neither # metrics nor tokens on its messages"
    used = found.attributed
    told = f"{_money(used.cost)}, {_number(used.tokens)} tokens (from {_SOURCES[found.source]})"
    if used.cost is not None and found.cost is not None and found.cost.amount > used.cost:
        told += f"; {_money(found.cost.amount - used.cost)} of the total belongs to none"
    return told


def _contradiction(one: Contradiction) -> str:
    shown = _money if one.what == "cost" else lambda value: f"{value:,}"
    return (
        f"{one.what}: {_SOURCES[one.first]} says {shown(one.first_value)}, "
        f"{_SOURCES[one.second]} {shown(one.second_value)}"
    )


def _table(console: Console, title: str, rows: Sequence[Row], top: int, *, of: str) -> None:
    console.print()
    console.print(title, style="bold")
    head = ("", "cost", "input", "output", "cached", of, "line")
    cells = [head, *(_cells(row) for row in rows[:top])]
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    for index, line in enumerate(cells):
        first, *rest = line
        shown = "  ".join(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        console.print(f"  {first.ljust(widths[0])}  {shown}".rstrip(), style="bright_black" if index == 0 else "")
    if len(rows) > top:
        console.print(f"  … and {len(rows) - top} more: --top {len(rows)}", style="bright_black")


def _cells(row: Row) -> tuple[str, ...]:
    usage: Usage = row.usage
    numbers = (_number(usage.input), _number(usage.output), _number(usage.cached))
    place = str(row.place) if row.place is not None else ""
    return (output.printable(row.name), _money(_legible(usage.cost)), *numbers, str(row.count), place)


def _legible(amount: decimal.Decimal | None) -> decimal.Decimal | None:
    """An amount to six places, or to three digits if it is smaller: a share may have many more."""
    if amount is None or not amount:
        return amount
    places = max(_SHOWN_PLACES, _SHOWN_DIGITS - 1 - amount.adjusted())
    exponent = amount.as_tuple().exponent
    if not isinstance(exponent, int) or exponent >= -places:
        return amount
    context = decimal.Context(prec=len(amount.as_tuple().digits) + 1)
    return amount.quantize(decimal.Decimal(1).scaleb(-places), context=context).normalize(context)


def _money(amount: decimal.Decimal | None) -> str:
    if amount is None:
        return UNKNOWN
    sign = "-" if amount < 0 else ""
    whole, _, cents = f"{abs(amount):,f}".partition(".")
    return f"{sign}${whole}.{cents.ljust(2, '0')}"


def _number(value: int | None) -> str:
    return UNKNOWN if value is None else f"{value:,}"
