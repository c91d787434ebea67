"""Tokens and cost: what each step and message used, the session's totals with the source of each, the budget."""

import decimal
import enum
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec

from blackbox.document.line import Line
from blackbox.events import Event, comments, lifecycle
from blackbox.events.comments import Metrics
from blackbox.events.messages import Message
from blackbox.session.lines import Lines, Mark
from blackbox.syntax.header import Header
from blackbox.syntax.kinds import Kind
from blackbox.syntax.values import integer, money

T = TypeVar("T")

#: Sums and differences of money lose no digit, whatever a log says it cost.
_EXACT = decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])


class Source(enum.StrEnum):
    """Where a total comes from."""

    END = "end"
    CLOSING = "closing"
    HEADER = "header"
    METRICS = "metrics"
    MESSAGES = "messages"
    CHECKPOINT = "checkpoint"
    BUDGET = "budget"


#: The log's own last word, best first. Without one, sums and marks are each a lower bound: the largest counts. (So
#: is the header: real ones were seen to hold the last stretch of a resumed session alone.)
_STATED = (Source.END, Source.CLOSING)


class Tokens(msgspec.Struct, frozen=True):
    """A token total. `total` is input and output; `cached` is told apart, since logs differ on what it is part of."""

    source: Source
    total: int
    input: int | None = None
    output: int | None = None
    cached: int | None = None


class Cost(msgspec.Struct, frozen=True):
    """A cost total in US dollars, exact."""

    source: Source
    amount: decimal.Decimal


class Measured(NamedTuple):
    """Metrics, the line that carries them, and the agent line and step they are about.

    A repeat has the very numbers that are already known of its step (inline and standalone, say): it counts for
    nothing.
    """

    line: Line
    owner: Line | None
    step: int | None
    metrics: Metrics
    is_repeat: bool = False


class Spent(NamedTuple):
    """The tokens of one message of an imported log, counted once however many of its lines repeat them."""

    lines: tuple[Line, ...]
    tokens_in: int
    tokens_out: int
    tokens_cached: int


def measure(lines: Lines) -> list[Measured]:
    """All metrics, inline and standalone. One without a step belongs to the agent line above it."""
    found: list[Measured] = []
    known: set[tuple[int, tuple[object, ...]] | None] = set()
    agent: Line | None = None
    metrics_lines = {mark.line: mark.value for mark in lines.marks(Metrics)}
    for line in lines.of(Kind.AGENT, Kind.COMMENT):
        metrics = metrics_lines.get(line)
        if line.kind is Kind.AGENT:
            agent = line
            event = line.event if "# metrics" in line.source else None
            metrics = event.metrics if isinstance(event, Message) else None
        if metrics is None:
            continue
        step = metrics.step if metrics.step is not None else agent.step if agent is not None else None
        owner = agent if agent is not None and step == agent.step else None
        key = (step, _numbers(metrics)) if step is not None and any(_numbers(metrics)) else None
        found.append(Measured(line, owner, step, metrics, key in known))
        if key is not None:
            known.add(key)
    return found


def combine(measured: Iterable[Measured]) -> Metrics:
    """The metrics of several lines as one: numbers added, everything else from the last that has it."""
    every = [one.metrics for one in measured if not one.is_repeat]
    costs = [one.cost_usd for one in every if one.cost_usd is not None]
    blobs = {
        name: next((getattr(one, name) for one in reversed(every) if getattr(one, name) is not None), None)
        for name in comments.METRIC_BLOBS
    }
    return Metrics(
        step=next((one.step for one in every if one.step is not None), None),
        prompt_tokens=_sum(one.prompt_tokens for one in every),
        completion_tokens=_sum(one.completion_tokens for one in every),
        cached_tokens=_sum(one.cached_tokens for one in every),
        cost_usd=_add(costs) if costs else None,
        **blobs,
        extra={key: value for one in every for key, value in one.extra.items()},
        other={key: value for one in every for key, value in one.other.items()},
    )


class Step:
    """One step: its lines in order, metrics comments included, and what it used."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.lines: list[Line] = []
        self.measured: list[Measured] = []

    def __repr__(self) -> str:
        return f"Step({self.number}, lines={[line.number for line in self.lines]})"

    @property
    def events(self) -> list[Event]:
        """What the lines say."""
        return [line.event for line in self.lines]

    @property
    def metrics(self) -> Metrics | None:
        """What the step used: all metrics that belong to it, as one."""
        return combine(self.measured) if self.measured else None


def steps_of(lines: Lines, measured: Iterable[Measured]) -> dict[int, Step]:
    """The steps by number, in order of number."""
    measured = list(measured)
    standalone = {one.line: one.step for one in measured if one.line.kind is Kind.COMMENT}
    found: dict[int, Step] = {}
    for line in lines.all:
        number = standalone.get(line, line.step)
        if number is not None:
            found.setdefault(number, Step(number)).lines.append(line)
    for one in measured:
        if one.step is not None:
            found.setdefault(one.step, Step(one.step)).measured.append(one)
    return dict(sorted(found.items()))


def count_messages(lines: Lines) -> list[Spent]:
    """The `tokens_in= tokens_out= tokens_cached=` of an imported log, once for each message.

    Importers repeat them on every line a message became, with `tokens_out` growing as it streamed. Lines in a row
    with equal input and cached tokens are one message, unless their message ids say otherwise.
    """
    groups: list[tuple[tuple[str, int, int], str | None, list[Line], int]] = []
    for line in lines.containing("tokens_"):
        meta = line.meta
        if line.kind is Kind.LIFECYCLE or (meta.tokens_in is None and meta.tokens_out is None):
            continue
        key = (meta.tid, meta.tokens_in or 0, meta.tokens_cached or 0)
        message = line.id if line.kind in (Kind.AGENT, Kind.USER, Kind.THINKING) else None
        out = meta.tokens_out or 0
        if groups and groups[-1][0] == key and None in (message, groups[-1][1]):
            _, known, members, most = groups[-1]
            members.append(line)
            groups[-1] = (key, message or known, members, max(out, most))
        else:
            groups.append((key, message, [line], out))
    return [Spent(tuple(members), key[1], out, key[2]) for key, _, members, out in groups]


def token_totals(
    lines: Lines, headers: Iterable[Header], measured: Iterable[Measured], spent: Iterable[Spent]
) -> dict[Source, Tokens]:
    """Every statement the log makes about its tokens as a whole."""
    found: dict[Source, Tokens] = {}

    def state(source: Source, total: int | None, given: int | None, got: int | None, cached: int | None) -> None:
        if total is None and (given is not None or got is not None):
            total = (given or 0) + (got or 0)
        if total is not None:
            found[source] = Tokens(source, total, given, got, cached)

    for end in lines.marks(lifecycle.End):
        state(Source.END, end.value.tokens, end.value.tokens_in, end.value.tokens_out, None)
    for closing in lines.marks(comments.Totals):
        state(Source.CLOSING, closing.value.tokens, closing.value.tokens_in, closing.value.tokens_out, None)
    for header in headers:
        given, got, cached = (integer(header.text(f"tokens_{key}")) for key in ("total_in", "total_out", "cached"))
        if given or got:  # an importer that knows nothing yet writes zeros
            state(Source.HEADER, None, given, got, cached)
    sums = combine(measured)
    state(Source.METRICS, None, sums.prompt_tokens, sums.completion_tokens, sums.cached_tokens)
    messages = list(spent)
    if messages:
        cached = sum(one.tokens_cached for one in messages)
        given, got = sum(one.tokens_in for one in messages), sum(one.tokens_out for one in messages)
        state(Source.MESSAGES, None, given, got, cached)
    for checkpoint in lines.marks(lifecycle.Checkpoint):
        state(Source.CHECKPOINT, checkpoint.value.tokens, None, None, None)
    for budget in lines.marks(comments.Budget):
        state(Source.BUDGET, budget.value.tokens, None, None, None)
    return found


def cost_totals(lines: Lines, measured: Iterable[Measured]) -> dict[Source, Cost]:
    """Every statement the log makes about its cost as a whole."""
    found: dict[Source, Cost] = {}

    def state(source: Source, amount: decimal.Decimal | None) -> None:
        if amount is not None:
            found[source] = Cost(source, amount)

    for end in lines.marks(lifecycle.End):
        state(Source.END, end.value.cost)
    for closing in lines.marks(comments.Totals):
        other = closing.value.other
        state(Source.CLOSING, closing.value.cost if closing.value.cost is not None else money(other.get("cost_usd")))
    state(Source.METRICS, combine(measured).cost_usd)
    for checkpoint in lines.marks(lifecycle.Checkpoint):
        state(Source.CHECKPOINT, checkpoint.value.cost)
    for budget in lines.marks(comments.Budget):
        total, left = budget.value.total, budget.value.remaining
        state(Source.BUDGET, _EXACT.subtract(total, left) if total is not None and left is not None else None)
    return found


def best_tokens(totals: dict[Source, Tokens]) -> Tokens | None:
    """The token total to go by."""
    return _best(totals, lambda one: one.total)


def best_cost(totals: dict[Source, Cost]) -> Cost | None:
    """The cost to go by."""
    return _best(totals, lambda one: one.amount)


def _best(totals: Mapping[Source, T], size: Callable[[T], Any]) -> T | None:
    stated = next((totals[source] for source in _STATED if source in totals), None)
    return stated or max(totals.values(), key=size, default=None)


class Budget(msgspec.Struct, frozen=True):
    """A session's money. `total` is the last one stated: by the header, `@start`, then the `# budget:` marks."""

    total: decimal.Decimal | None
    #: The `# budget:` lines, in order.
    marks: tuple[Mark[comments.Budget], ...]
    #: What was spent, and how that is known; the same as the session's cost.
    spent: Cost | None

    @property
    def remaining(self) -> decimal.Decimal | None:
        """What is left of the total; below zero after an overrun. Without a cost, what the last mark says."""
        if self.total is not None and self.spent is not None:
            return _EXACT.subtract(self.total, self.spent.amount)
        return next((mark.value.remaining for mark in reversed(self.marks) if mark.value.remaining is not None), None)

    @property
    def overrun(self) -> decimal.Decimal:
        """By how much the total was exceeded; zero if it was not, or if that is not known."""
        left = self.remaining
        return _EXACT.minus(left) if left is not None and left < 0 else decimal.Decimal(0)


def budget_of(lines: Lines, headers: Iterable[Header], spent: Cost | None) -> Budget:
    """The budget of a session."""
    marks = lines.marks(comments.Budget)
    stated = [money(header.budget) for header in headers]
    stated += [mark.value.budget for mark in lines.marks(lifecycle.Start)]
    stated += [mark.value.total for mark in marks]
    total = next((amount for amount in reversed(stated) if amount is not None), None)
    return Budget(total, marks, spent)


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _numbers(metrics: Metrics) -> tuple[object, ...]:
    return metrics.prompt_tokens, metrics.completion_tokens, metrics.cached_tokens, metrics.cost_usd


def _add(amounts: Iterable[decimal.Decimal]) -> decimal.Decimal:
    """An exact sum of money."""
    total = decimal.Decimal(0)
    for amount in amounts:
        total = _EXACT.add(total, amount)
    return total
