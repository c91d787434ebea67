"""Where tokens and money went: by step, tool, model and agent, and in total against the budget.

Only what the log says: there is no price table, and what is not stated is unknown, never zero.

A charge is what one message of the agent used: a `# metrics`, or the `tokens_in=` … of an imported message where a
log has no metrics. Its step is its message's. It belongs to the tools that the message called: the calls on the lines
that state it, else the calls with its step, else those of the same agent up to its next message. A charge is split
evenly over its calls: tokens as whole numbers, money to `SHARE_PLACES` places at least. What does not divide goes in
smallest units to the first of them, so the shares add up to it. A charge whose message called nothing stands under
`(no tool)`.
"""

import bisect
import decimal
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from blackbox.document.line import Line
from blackbox.events.comments import Metrics
from blackbox.report.places import Member, Place, family_of
from blackbox.session.calls import Call
from blackbox.session.session import Session
from blackbox.session.usage import Cost, Source, Tokens
from blackbox.syntax.kinds import Kind

NO_TOOL = "(no tool)"
UNKNOWN = "unknown"
#: How many decimal places a share of money may have, where the whole has fewer.
SHARE_PLACES = 12
#: Above this many digits before the point nobody asks for so small a share.
_MOST_DIGITS = 30
_EXACT = decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])
#: The ways in which a total is the log's own statement, and not a sum or a mark along the way.
_STATED = (Source.END, Source.CLOSING)


class Usage(msgspec.Struct, frozen=True):
    """Tokens and cost; None is unknown."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    cost: decimal.Decimal | None = None

    @property
    def tokens(self) -> int | None:
        """Input and output; cached tokens are told apart, since logs differ on what they are part of."""
        return None if self.input is None and self.output is None else (self.input or 0) + (self.output or 0)

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            _plus(self.input, other.input),
            _plus(self.output, other.output),
            _plus(self.cached, other.cached),
            _plus_money(self.cost, other.cost),
        )


class Charge(NamedTuple):
    """What one message used: its step, line, model, agent, and the calls it made."""

    usage: Usage
    step: int | None
    line: Line
    model: str
    agent: str
    calls: tuple[Call, ...]


class Row(msgspec.Struct, frozen=True):
    """One line of a table: what it is about, what that used, and how many messages or calls it is made of."""

    name: str
    usage: Usage
    count: int
    #: The first line that it rests on.
    place: Place | None = None


class Contradiction(msgspec.Struct, frozen=True):
    """Two statements of the log about one total that cannot both be true."""

    what: str
    first: Source
    second: Source
    first_value: decimal.Decimal
    second_value: decimal.Decimal


class Budget(msgspec.Struct, frozen=True):
    """The session's money: what it had, what is gone and what is left. None is unknown."""

    total: decimal.Decimal | None
    spent: decimal.Decimal | None
    remaining: decimal.Decimal | None
    percent: decimal.Decimal | None
    is_over: bool


class Spending(msgspec.Struct, frozen=True):
    """All tables of a session. `attributed` is what the charges add up to; the total may be more."""

    session: str | None
    #: Where the charges come from: `metrics`, `messages`, or None if the log has neither.
    source: Source | None
    steps: tuple[Row, ...]
    tools: tuple[Row, ...]
    models: tuple[Row, ...]
    agents: tuple[Row, ...]
    #: Sub-agents with a log of their own, by that log; the session's total may or may not hold them.
    subagents: tuple[Row, ...]
    attributed: Usage
    tokens: Tokens | None
    cost: Cost | None
    token_totals: dict[Source, Tokens]
    cost_totals: dict[Source, Cost]
    budget: Budget
    contradictions: tuple[Contradiction, ...]


def spending(session: Session, others: Iterable[Member] = ()) -> Spending:
    """Where the tokens and the money of a session went; `others` are sub-agents that no line of it leads to."""
    member, *subagents = family_of(session, others)
    source, charges = _charges(session)
    return Spending(
        session=session.id,
        source=source,
        steps=_table(member, charges, lambda charge: _step_name(member, charge)),
        tools=_tools(member, charges),
        models=_table(member, charges, lambda charge: charge.model),
        agents=_table(member, charges, lambda charge: charge.agent),
        subagents=_dearest(_subagent(one) for one in subagents),
        attributed=_total(charge.usage for charge in charges),
        tokens=session.tokens,
        cost=session.cost,
        token_totals=session.token_totals,
        cost_totals=session.cost_totals,
        budget=_budget(session),
        contradictions=_contradictions(session),
    )


class _Stated(NamedTuple):
    """What one message used, before it is known what it called."""

    usage: Usage
    step: int | None
    #: The lines that state it; the first is the message's.
    lines: tuple[Line, ...]
    #: The model, where the metrics name it.
    model: str | None = None


def _charges(session: Session) -> tuple[Source | None, list[Charge]]:
    measured = [one for one in session.measured if not one.is_repeat and _usage(one.metrics) != Usage()]
    if measured:
        stated = [
            _Stated(_usage(one.metrics), one.step, (one.owner or one.line,), one.metrics.extra.get("model"))
            for one in measured
        ]
        return Source.METRICS, _with_calls(session, stated)
    spent = session.messages_spent
    stated = [
        _Stated(Usage(one.tokens_in, one.tokens_out, one.tokens_cached), _first_step(one.lines), one.lines)
        for one in spent
    ]
    return Source.MESSAGES if spent else None, _with_calls(session, stated)


def _with_calls(session: Session, stated: Sequence[_Stated]) -> list[Charge]:
    by_step: dict[int, list[Call]] = {}
    for call in session.calls:
        if call.step is not None:
            by_step.setdefault(call.step, []).append(call)
    by_line = {call.line: call for call in session.calls}
    turns = _Turns(session, [one.lines[0] for one in stated])
    found: list[Charge] = []
    for usage, step, lines, named in stated:
        line = lines[0]
        calls = [by_line[own] for own in lines if own in by_line]
        calls = calls or (by_step.get(step, []) if step is not None else []) or turns.calls_after(line)
        model = named or session.model_at(line) or UNKNOWN
        found.append(Charge(usage, step, line, model, _agent(line), tuple(calls)))
    return found


class _Turns:
    """The calls of each agent between two of its messages; whatever is charged begins a message too."""

    def __init__(self, session: Session, charged: Iterable[Line]) -> None:
        self._positions = {line: position for position, line in enumerate(session.lines)}
        self._calls: dict[str, list[tuple[int, Call]]] = {}
        messages: dict[str, set[int]] = {}
        for line in (*(line for line in session.lines if line.kind is Kind.AGENT), *charged):
            messages.setdefault(_agent(line), set()).add(self._positions[line])
        self._messages = {agent: sorted(positions) for agent, positions in messages.items()}
        for call in session.calls:
            self._calls.setdefault(call.tid, []).append((self._positions[call.line], call))

    def calls_after(self, line: Line) -> list[Call]:
        """The calls of the line's agent from this line to its next message."""
        start = self._positions[line]
        messages = self._messages[_agent(line)]
        index = bisect.bisect_right(messages, start)
        end = messages[index] if index < len(messages) else len(self._positions)
        calls = self._calls.get(_agent(line), [])
        first = bisect.bisect_left(calls, start, key=lambda pair: pair[0])
        last = bisect.bisect_left(calls, end, key=lambda pair: pair[0])
        return [call for _, call in calls[first:last]]


def _table(member: Member, charges: Iterable[Charge], name: Callable[[Charge], str]) -> tuple[Row, ...]:
    found: dict[str, Row] = {}
    for charge in charges:
        key = name(charge)
        row = found.get(key) or Row(key, Usage(), 0, member.place(charge.line))
        found[key] = Row(key, row.usage + charge.usage, row.count + 1, row.place)
    return _dearest(found.values())


def _tools(member: Member, charges: Iterable[Charge]) -> tuple[Row, ...]:
    found: dict[str, Row] = {}
    counted: set[Call] = set()
    for charge in charges:
        shares = split(charge.usage, len(charge.calls) or 1)
        owners: Sequence[Call | None] = charge.calls or (None,)
        for call, share in zip(owners, shares, strict=True):
            name = NO_TOOL if call is None else call.name or call.kind.value
            row = found.get(name) or Row(name, Usage(), 0, member.place(charge.line if call is None else call.line))
            # A call that two charges share is one call; without one, it is the message that counts.
            is_new = call is None or call not in counted
            found[name] = Row(name, row.usage + share, row.count + is_new, row.place)
            if call is not None:
                counted.add(call)
    return _dearest(found.values())


def split(usage: Usage, parts: int) -> list[Usage]:
    """A usage as equal shares that add up to it; the first ones take what does not divide."""
    inputs, outputs, cached = (_split_number(number, parts) for number in (usage.input, usage.output, usage.cached))
    costs: Sequence[decimal.Decimal | None] = [None] * parts
    if usage.cost is not None:
        costs = _split_money(usage.cost, parts)
    return [Usage(*share) for share in zip(inputs, outputs, cached, costs, strict=True)]


def _split_number(number: int | None, parts: int) -> Sequence[int | None]:
    if number is None:
        return [None] * parts
    share, rest = divmod(number, parts)
    return [share + (index < rest) for index in range(parts)]


def _split_money(amount: decimal.Decimal, parts: int) -> list[decimal.Decimal]:
    """Equal shares in units far below a cent, written without zeros that the amount does not have either."""
    exponent = amount.as_tuple().exponent
    given = exponent if isinstance(exponent, int) else 0
    places = min(given, -SHARE_PLACES) if amount.adjusted() < _MOST_DIGITS else given
    units = int(amount.scaleb(-places, _EXACT))
    shares = [decimal.Decimal(share or 0).scaleb(places, _EXACT) for share in _split_number(units, parts)]
    while places < given and all(share.as_tuple().digits[-1] == 0 for share in shares):
        places += 1
        shares = [share.quantize(decimal.Decimal(1).scaleb(places), context=_EXACT) for share in shares]
    return shares


def _subagent(member: Member) -> Row:
    tokens, cost = member.session.tokens, member.session.cost
    usage = Usage(cost=cost.amount if cost is not None else None)
    if tokens is not None:
        usage = Usage(tokens.input, tokens.output, tokens.cached, usage.cost)
        if tokens.input is None and tokens.output is None:
            usage = Usage(tokens.total, None, tokens.cached, usage.cost)
    return Row(member.agent or UNKNOWN, usage, len(member.session.calls))


def _budget(session: Session) -> Budget:
    budget = session.budget
    spent = budget.spent.amount if budget.spent is not None else None
    percent = None
    if spent is not None and budget.total:
        percent = (spent * 100 / budget.total).quantize(decimal.Decimal("0.1"))
    return Budget(budget.total, spent, budget.remaining, percent, budget.overrun > 0)


def _contradictions(session: Session) -> tuple[Contradiction, ...]:
    """Statements that cannot both hold: two last words that differ, or a sum above the last word.

    A sum below it is none: a log need not have metrics for every message.
    """
    found: list[Contradiction] = []
    costs = {source: cost.amount for source, cost in session.cost_totals.items()}
    tokens = {source: decimal.Decimal(one.total) for source, one in session.token_totals.items()}
    for what, totals in (("cost", costs), ("tokens", tokens)):
        stated = [source for source in _STATED if source in totals]
        if len(stated) > 1 and totals[stated[0]] != totals[stated[1]]:
            found.append(Contradiction(what, stated[0], stated[1], totals[stated[0]], totals[stated[1]]))
        if stated:
            word = stated[0]
            found += [
                Contradiction(what, word, source, totals[word], amount)
                for source, amount in totals.items()
                if source not in _STATED and source is not Source.HEADER and amount > totals[word]
            ]
    return tuple(found)


def _dearest(rows: Iterable[Row]) -> tuple[Row, ...]:
    """By cost, then by tokens; what is not known comes last."""

    def size(row: Row) -> tuple[decimal.Decimal, int]:
        cost, tokens = row.usage.cost, row.usage.tokens
        return (cost if cost is not None else decimal.Decimal(-1), tokens if tokens is not None else -1)

    return tuple(sorted(rows, key=size, reverse=True))


def _step_name(member: Member, charge: Charge) -> str:
    return f"step {charge.step}" if charge.step is not None else f"line {member.place(charge.line)}"


def _first_step(lines: Iterable[Line]) -> int | None:
    return next((line.step for line in lines if line.step is not None), None)


def _agent(line: Line) -> str:
    return line.meta.tid if "tid=" in line.source else "1"


def _usage(metrics: Metrics) -> Usage:
    return Usage(metrics.prompt_tokens, metrics.completion_tokens, metrics.cached_tokens, metrics.cost_usd)


def _total(usages: Iterable[Usage]) -> Usage:
    total = Usage()
    for usage in usages:
        total += usage
    return total


def _plus(first: int | None, second: int | None) -> int | None:
    return first if second is None else second if first is None else first + second


def _plus_money(first: decimal.Decimal | None, second: decimal.Decimal | None) -> decimal.Decimal | None:
    return first if second is None else second if first is None else _EXACT.add(first, second)
