"""What a session has done so far, counted as it is written: the figures of the closing metrics line."""

import decimal
import re
from collections import Counter
from collections.abc import Mapping

from blackbox.events.build import Event
from blackbox.events.calls import McpCall, Plan, Recall, Skill, Subagent, ToolCall
from blackbox.events.comments import Metrics, Totals
from blackbox.events.messages import Message
from blackbox.syntax.escape import unescape
from blackbox.syntax.metadata import INHERITED, RECALL_MCP
from blackbox.syntax.results import ResultKind
from blackbox.syntax.values import integer
from blackbox.vault.guard import count_markers

_NUMBERED = re.compile(r"(call_|sub_|q_|p|x)([0-9]{1,9})")


class Figures:
    """The sums of a session, which the logs of its sub-agents add to as well."""

    def __init__(self) -> None:
        self.tools = self.skills = self.mcp = self.subagents = self.plans = 0
        #: The markers in the lines, by kind.
        self.redactions: Counter[str] = Counter()
        self.tokens: int | None = None
        self.cost: decimal.Decimal | None = None

    def add_metrics(self, metrics: Metrics) -> None:
        """Sum what one step used."""
        self.add_tokens(metrics.prompt_tokens, metrics.completion_tokens)
        if metrics.cost_usd is not None:
            self.cost = (self.cost or decimal.Decimal(0)) + metrics.cost_usd

    def add_tokens(self, *numbers: int | None) -> None:
        """Sum tokens as far as they are known."""
        known = [number for number in numbers if number is not None]
        if known:
            self.tokens = (self.tokens or 0) + sum(known)


class Tally:
    """Counts each call, sub-agent and plan of one file once, however many lines it takes, and keeps ids apart.

    What it counts goes into `figures`: its own, or those of a session with several files.
    """

    def __init__(self, figures: Figures | None = None) -> None:
        self.figures = Figures() if figures is None else figures
        self._open: set[str] = set()
        self._plans: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._tid = 1

    def next_id(self, prefix: str) -> str:
        """An id that no line has used: `call_1`, `call_2` …"""
        number = self._numbers[prefix] = self._numbers.get(prefix, 0) + 1
        return f"{prefix}{number}"

    def next_tid(self) -> str:
        """The number of the next agent; the main one is 1."""
        self._tid += 1
        return str(self._tid)

    def count(self, event: Event, meta: Mapping[str, str], written: str) -> None:
        """Take one entry into account."""
        self._note_ids(meta)
        figures = self.figures
        if "[redacted" in written:
            figures.redactions += count_markers(unescape(written))
        # What an earlier session did is shown, and counts there.
        is_own = meta.get(INHERITED) != "true"
        match event:
            case ToolCall():
                figures.tools += self._is_new(event, meta) and is_own
            case Subagent():
                figures.subagents += self._is_new(event, meta) and is_own
            case McpCall():
                figures.mcp += is_own
            case Recall():
                figures.mcp += RECALL_MCP in meta and is_own
            case Skill():
                figures.skills += is_own
            case Plan(action):
                figures.plans += self._is_new_plan(action, meta) and is_own
            case Message(_, _, metrics):
                if metrics is not None:
                    figures.add_metrics(metrics)
                else:
                    figures.add_tokens(integer(meta.get("tokens_in")), integer(meta.get("tokens_out")))
            case Metrics():
                figures.add_metrics(event)
            case _:
                pass

    def totals(
        self,
        *,
        duration: str,
        tokens: int | None = None,
        cost: decimal.Decimal | None = None,
        redactions: int | None = None,
    ) -> Totals:
        """The closing metrics line; given figures go before the sums."""
        figures = self.figures
        return Totals(
            tokens=figures.tokens if tokens is None else tokens,
            tools=figures.tools,
            skills=figures.skills,
            mcp=figures.mcp,
            subagents=figures.subagents,
            plans=figures.plans,
            duration=duration,
            cost=figures.cost if cost is None else cost,
            redactions=figures.redactions.total() if redactions is None else redactions,
        )

    def _is_new(self, event: ToolCall | Subagent, meta: Mapping[str, str]) -> bool:
        """Whether the line begins a run: not its progress, its next attempt, or its end."""
        if isinstance(event, ToolCall) and event.stage == "progress":
            return False
        key = meta.get("id") or meta.get("span")
        is_open = event.result is not None and (event.result.is_open or event.result.kind is ResultKind.RETRY)
        is_open = is_open or (isinstance(event, ToolCall) and event.stage == "start")
        is_new = key is None or key not in self._open
        if key is not None:
            (self._open.add if is_open else self._open.discard)(key)
        return is_new and "attempt" not in meta

    def _is_new_plan(self, action: str, meta: Mapping[str, str]) -> bool:
        """Whether the line is the first of a plan; a file without an id belongs to one that was counted."""
        key = meta.get("id") or ("" if action == "file" else f"\0{len(self._plans)}")
        is_new = bool(key) and key not in self._plans
        self._plans.add(key)
        return is_new

    def _note_ids(self, meta: Mapping[str, str]) -> None:
        """Ids given by the caller, or read from a reopened log, are not handed out again."""
        for key in ("id", "span"):
            match = _NUMBERED.fullmatch(meta.get(key, ""))
            if match is not None:
                self._numbers[match[1]] = max(self._numbers.get(match[1], 0), int(match[2]))
        tid = integer(meta.get("tid"))
        if tid is not None and tid < 10**9:
            self._tid = max(self._tid, tid)
