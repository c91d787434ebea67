"""Checks on money and tokens: the budget, the metrics of the steps, and the totals at the end."""

import decimal
import re
from collections.abc import Callable

from blackbox.check.findings import Finding
from blackbox.check.rules import rule_named
from blackbox.document.line import Line
from blackbox.events.comments import Budget, Metrics, Totals
from blackbox.events.lifecycle import Checkpoint, End, Lifecycle, Start
from blackbox.events.messages import Message
from blackbox.syntax.header import Header
from blackbox.syntax.kinds import Kind
from blackbox.syntax.values import money

_SUSPECT = re.compile(
    r'(?<![^ \t])(?:(?:prompt|completion|cached)(?:_tokens)?=(?!"?\d{1,18}"?(?![^ \t\r]))'
    r'|cost(?:_usd)?=(?!"?-?\$?\d{1,15}(?:,\d{3})*(?:\.\d{1,15})?"?(?![^ \t\r])))',
    re.ASCII,
)
_DATA_COMMENT = re.compile(r"#[ \t]*(?:metrics\b|budget:|tokens|tools=|redactions=)")
#: Metrics as most writers log them; any other order, name or form is left to the full parser.
_PLAIN_METRICS = re.compile(
    r"# metrics step=(\d{1,18}) prompt_tokens=(\d{1,18}) completion_tokens=(\d{1,18})(?: cached_tokens=\d{1,18})?"
    r"(?: cost_usd=(\d{1,12}(?:\.\d{1,12})?))?\Z",
    re.ASCII,
)
#: Steps are rounded one by one, so a sum may pass the total by this much without contradicting it.
_CENT = decimal.Decimal("0.01")


class TotalChecks:
    """Sums up what the steps say and compares it with what the end says."""

    def __init__(self, add: Callable[[Finding], None]) -> None:
        self._add = add
        self._budget: decimal.Decimal | None = None
        self._overrun = False
        self._cost = decimal.Decimal(0)
        self._tokens = 0
        self._inline_step: int | None = None
        self._end: tuple[int, End] | None = None
        self._closing: tuple[int, Totals] | None = None
        #: Told of the step that metrics belong to.
        self.on_metrics: Callable[[int, int], None] = lambda _step, _line: None

    def begin(self, header: Header | None) -> None:
        """The header is known."""
        self._budget = money(header.budget) if header else None

    def handlers(self) -> dict[Kind, Callable[[Line], None]]:
        """What to call for which kind of line."""
        return {Kind.COMMENT: self._comment, Kind.AGENT: self._agent, Kind.LIFECYCLE: self._lifecycle}

    def _comment(self, line: Line) -> None:
        source = line.source
        match = _PLAIN_METRICS.match(source)
        if match is not None:
            self._plain_metrics(match, line)
            return
        if not _DATA_COMMENT.match(source):
            return
        event = line.event
        if isinstance(event, Metrics):
            if event.step is not None:
                self.on_metrics(event.step, line.number)
            if event.step is None or event.step != self._inline_step:
                self._metrics(line, event)
        elif isinstance(event, Budget):
            if event.remaining is not None and event.remaining < 0:
                self._spent(line, (event.total or decimal.Decimal(0)) - event.remaining)
        elif isinstance(event, Totals):
            self._closing = (line.number, event)
            self._spent(line, event.cost)

    def _agent(self, line: Line) -> None:
        if "# metrics" not in line.source:
            return
        event = line.event
        if isinstance(event, Message) and event.metrics is not None:
            self._inline_step = line.step
            self._metrics(line, event.metrics)

    def _plain_metrics(self, match: re.Match[str], line: Line) -> None:
        """Count metrics in the usual order and form, read by one pattern."""
        step, prompt, completion, cost = match.groups()
        self.on_metrics(int(step), line.number)
        if int(step) != self._inline_step:
            self._tokens += int(prompt) + int(completion)
            if cost is not None:
                self._cost += decimal.Decimal(cost)
                self._spent(line, self._cost)

    def _metrics(self, line: Line, metrics: Metrics) -> None:
        bad = _SUSPECT.search(line.source, max(line.parts.metrics_start, 0))
        if bad is not None:
            word = line.source[bad.start() :].split(" ", 1)[0]
            self._add(rule_named("bad-metrics").finding(line.number, f"`{word}` is not a number", bad.start() + 1))
        self._tokens += (metrics.prompt_tokens or 0) + (metrics.completion_tokens or 0)
        if metrics.cost_usd is not None:
            self._cost += metrics.cost_usd
            self._spent(line, self._cost)

    def _lifecycle(self, line: Line) -> None:
        if line.name not in ("start", "checkpoint", "end"):
            return
        event = line.event
        if not isinstance(event, Lifecycle):
            return
        primitive = event.primitive
        if isinstance(primitive, Start):
            self._budget = primitive.budget if primitive.budget is not None else self._budget
        elif isinstance(primitive, Checkpoint):
            self._spent(line, primitive.cost)
        elif isinstance(primitive, End):
            self._end = (line.number, primitive)
            self._spent(line, primitive.cost)

    def _spent(self, line: Line, cost: decimal.Decimal | None) -> None:
        if self._budget is None or cost is None or self._overrun or cost <= self._budget:
            return
        self._overrun = True
        message = f"${cost} spent of a budget of ${self._budget}"
        self._add(rule_named("budget-overrun").finding(line.number, message))

    def finish(self) -> None:
        """Compare the totals with each other and with the sums."""
        end_line, end = self._end or (0, End())
        closing_line, closing = self._closing or (0, Totals())
        rule = rule_named("totals-contradict")
        if end.cost is not None and closing.cost is not None and end.cost != closing.cost:
            message = f"the closing line says ${closing.cost}, `@end` says ${end.cost}"
            self._add(rule.finding(closing_line, message))
        if end.tokens is not None and closing.tokens is not None and end.tokens != closing.tokens:
            message = f"the closing line says {closing.tokens} tokens, `@end` says {end.tokens}"
            self._add(rule.finding(closing_line, message))
        cost = end.cost if end.cost is not None else closing.cost
        tokens = end.tokens if end.tokens is not None else closing.tokens
        line = end_line if end.cost is not None or end.tokens is not None else closing_line
        if cost is not None and self._cost > cost + _CENT:
            self._add(rule.finding(line, f"the steps sum to ${self._cost}, the total says ${cost}"))
        if tokens is not None and self._tokens > tokens:
            self._add(rule.finding(line, f"the steps sum to {self._tokens} tokens, the total says {tokens}"))
