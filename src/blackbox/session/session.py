"""A session above its lines: calls with their outcomes, sub-agents, questions, steps, time, money, files, errors."""

import datetime as dt
import functools
from collections.abc import Iterable, Mapping, Sequence

from blackbox.document.document import Document
from blackbox.document.line import Line
from blackbox.session.calls import Call, Status
from blackbox.session.effects import (
    Failure,
    Plan,
    Recalled,
    TouchedFile,
    failures_of,
    files_of,
    plan_files_of,
    plans_of,
    recalls_of,
    unclear_of,
)
from blackbox.session.ledger import Ledger
from blackbox.session.lines import Lines, Marks
from blackbox.session.questions import Question
from blackbox.session.subagents import Missing, SpanNode, Subagent, span_tree, subagents_of, threads_of
from blackbox.session.timeline import Clock, Course, ModelUse, Pause, Period
from blackbox.session.usage import (
    Budget,
    Cost,
    Measured,
    Source,
    Spent,
    Step,
    Tokens,
    best_cost,
    best_tokens,
    budget_of,
    cost_totals,
    count_messages,
    measure,
    steps_of,
    token_totals,
)
from blackbox.syntax.header import Header
from blackbox.syntax.kinds import Kind

_MESSAGES = (Kind.USER, Kind.AGENT, Kind.THINKING)
_CALLS = (Kind.TOOL, Kind.MCP, Kind.SUBAGENT)


class Session(Marks):
    """The view of a whole session. Nothing is read from disk, nothing raises, and each answer is worked out once.

    The parts of a rotated session are one session: give them in order. Line numbers start anew in each part, so the
    methods that ask about a place take the `Line` itself; `part_of` tells which part it is from.
    """

    def __init__(
        self,
        document: Document | Iterable[Document],
        *,
        missing_parts: Sequence[Missing] = (),
        followed: "Mapping[Line, Session | Missing] | None" = None,
    ) -> None:
        self.documents: tuple[Document, ...] = (document,) if isinstance(document, Document) else tuple(document)
        #: The headers of all parts.
        self.headers: tuple[Header, ...] = tuple(part.header for part in self.documents if part.header is not None)
        super().__init__(Lines(self.documents), self.headers)
        #: The parts that `@rotate` names and that could not be read; `load_session` fills this.
        self.missing_parts: tuple[Missing, ...] = tuple(missing_parts)
        self._followed = followed if followed is not None else {}

    @classmethod
    def of_parts(cls, documents: Iterable[Document]) -> "Session":
        """One session from the parts of a rotated log, in order."""
        return cls(tuple(documents))

    def __repr__(self) -> str:
        return f"Session(id={self.id!r}, parts={len(self.documents)}, entries={len(self.lines)})"

    @property
    def header(self) -> Header | None:
        """The header of the first part that has one."""
        return self.headers[0] if self.headers else None

    @property
    def id(self) -> str | None:
        """The session's id: the header's, else that of `@start`."""
        return next((header.id for header in self.headers if header.id), self.start.id if self.start else None)

    @property
    def lines(self) -> list[Line]:
        """The entries of all parts, in order."""
        return self._lines.all

    @functools.cached_property
    def messages(self) -> dict[str, Line]:
        """The messages that have an id, by it; of equal ids the first."""
        found: dict[str, Line] = {}
        for line in self.lines:
            if line.kind in _MESSAGES and line.id:
                found.setdefault(line.id, line)
        return found

    def message_thread(self, line: Line) -> tuple[Line, ...]:
        """The messages that lead to this one by `parent=`, the first of the thread first, this one last."""
        thread = [line]
        while (parent := self.messages.get(thread[-1].meta.parent or "")) is not None and parent not in thread:
            thread.append(parent)
        return tuple(reversed(thread))

    def part_of(self, line: Line) -> int:
        """Which part a line stands in, counted from 0."""
        return self._lines.part_of(line)

    # Calls

    @functools.cached_property
    def calls(self) -> tuple[Call, ...]:
        """Tool, MCP and sub-agent calls in the order they began, joined with their progress and outcome."""
        return tuple(call for call in self._ledger.calls if call.kind in _CALLS)

    @property
    def open_calls(self) -> tuple[Call, ...]:
        """The calls whose outcome the log announces and does not have."""
        return tuple(call for call in self.calls if call.status is Status.OPEN)

    @property
    def orphans(self) -> tuple[Line, ...]:
        """Observations and progress of calls the log does not have."""
        return tuple(self._ledger.orphans)

    @property
    def skills(self) -> tuple[Call, ...]:
        """The `s:` lines."""
        return tuple(call for call in self._ledger.calls if call.kind is Kind.SKILL)

    @functools.cached_property
    def plans(self) -> tuple[Plan, ...]:
        """Plans with their history."""
        return plans_of(self._ledger.calls)

    @property
    def plan_files(self) -> tuple[str, ...]:
        """The plan files of plan mode."""
        return plan_files_of(self._ledger.calls)

    @functools.cached_property
    def recalls(self) -> tuple[Recalled, ...]:
        """What was looked up in memory, and what came back."""
        return recalls_of(self._ledger.calls)

    @functools.cached_property
    def files(self) -> dict[str, TouchedFile]:
        """The files touched, by path as written, with how and by which calls."""
        return files_of(self._ledger.calls)

    @functools.cached_property
    def unclear_calls(self) -> tuple[Call, ...]:
        """The calls, commands aside, that may have changed files which the log does not tell."""
        return unclear_of(self._ledger.calls)

    @functools.cached_property
    def errors(self) -> tuple[Failure, ...]:
        """The calls that failed in the end, and other lines of `level=error`."""
        return failures_of(self._lines, self._ledger.calls)

    @functools.cached_property
    def _ledger(self) -> Ledger:
        return Ledger(self.lines)

    # Sub-agents and threads

    @functools.cached_property
    def subagents(self) -> tuple[Subagent, ...]:
        """The sub-agents in the order they began, each with its own calls."""
        return subagents_of(self.calls, self._followed)

    def subagent(self, name: str) -> Subagent | None:
        """The sub-agent with this id, span or thread; of several the last."""
        every = self.subagents[::-1]
        by_name = next((one for one in every if name in (one.id, one.span)), None)
        return by_name or next((one for one in every if one.tid == name), None)

    @property
    def missing_subagents(self) -> tuple[Missing, ...]:
        """The local sub-agent logs that could not be read; `load_session` looks for them."""
        return tuple(one.missing for one in self.subagents if one.missing is not None)

    @functools.cached_property
    def spans(self) -> tuple[SpanNode, ...]:
        """The calls as a tree, nested by `parent=`."""
        return span_tree(self.calls)

    @functools.cached_property
    def threads(self) -> dict[str, list[Line]]:
        """The events of each agent by `tid`; the main agent's is `1`."""
        return threads_of(self._lines)

    # Questions

    @functools.cached_property
    def questions(self) -> tuple[Question, ...]:
        """The questions with their answers."""
        for question in self._ledger.questions:
            mode = self.mode_at(question.line)
            question.afk = mode is not None and mode.afk
        return tuple(self._ledger.questions)

    @property
    def pending(self) -> tuple[Question, ...]:
        """The questions nobody has answered."""
        return tuple(question for question in self.questions if question.is_pending)

    @property
    def unconfirmed(self) -> tuple[Question, ...]:
        """The questions the agent answered alone (`[auto: …]`) and no human has answered since.

        Only a later `q:` line with the same id that selects or answers in free text confirms one.
        """
        return tuple(question for question in self.questions if question.is_unconfirmed)

    # Steps, tokens, money

    @functools.cached_property
    def steps(self) -> dict[int, Step]:
        """The steps by number, with their lines and metrics."""
        return steps_of(self._lines, self.measured)

    @functools.cached_property
    def measured(self) -> tuple[Measured, ...]:
        """Every `# metrics`, inline or standalone, with the step and agent line it belongs to."""
        return tuple(measure(self._lines))

    @functools.cached_property
    def messages_spent(self) -> tuple[Spent, ...]:
        """The tokens of each message of an imported log (`tokens_in=` …)."""
        return tuple(count_messages(self._lines))

    @functools.cached_property
    def token_totals(self) -> dict[Source, Tokens]:
        """Every total of tokens the log states or sums up to, by source."""
        return token_totals(self._lines, self.headers, self.measured, self.messages_spent)

    @property
    def tokens(self) -> Tokens | None:
        """The token total to go by: that of `@end`, else of the closing line, else the largest sum or mark."""
        return best_tokens(self.token_totals)

    @functools.cached_property
    def cost_totals(self) -> dict[Source, Cost]:
        """Every total of cost the log states or sums up to, by source."""
        return cost_totals(self._lines, self.measured)

    @property
    def cost(self) -> Cost | None:
        """The cost to go by, chosen like `tokens`."""
        return best_cost(self.cost_totals)

    @functools.cached_property
    def budget(self) -> Budget:
        """The budget: total, its course, what was spent, what is left."""
        return budget_of(self._lines, self.headers, self.cost)

    # Time

    @functools.cached_property
    def clock(self) -> Clock:
        """Elapsed and wall-clock time in full."""
        return Clock(self._lines)

    @property
    def elapsed(self) -> int | None:
        """Seconds since the session began, by the last `# t=` mark."""
        return self.clock.elapsed

    def elapsed_at(self, line: Line) -> int | None:
        """Seconds since the session began, by the last `# t=` mark at or above a line."""
        return self.clock.elapsed_at(line)

    def time_at(self, line: Line) -> dt.datetime | None:
        """The wall-clock time of a line: its own `ts=`, or the last one above it."""
        return self.clock.time_at(line)

    @property
    def started_at(self) -> dt.datetime | None:
        """The earliest `ts=`."""
        return self.clock.started_at

    @property
    def ended_at(self) -> dt.datetime | None:
        """The latest `ts=`, whether or not the session was closed."""
        return self.clock.ended_at

    @property
    def wall_time(self) -> dt.timedelta | None:
        """From the earliest to the latest `ts=`, pauses included."""
        return self.clock.wall_time

    @property
    def active_seconds(self) -> float | None:
        """The session's length without its pauses."""
        return self.clock.active_seconds

    @property
    def pauses(self) -> tuple[Pause, ...]:
        """The pauses with their reason and length."""
        return self.clock.pauses

    # Modes, phases, models

    @property
    def modes(self) -> tuple[Period, ...]:
        """The modes in order, the header's first."""
        return self._course.modes

    @property
    def phases(self) -> tuple[Period, ...]:
        """The phases of plan mode in order."""
        return self._course.phases

    @property
    def models(self) -> tuple[ModelUse, ...]:
        """The models the log names, each time it does: header, `# model:`, `@init`, `model=`."""
        return self._course.models

    def mode_at(self, line: Line) -> Period | None:
        """The mode in force at a line."""
        return self._course.mode_at(line)

    def phase_at(self, line: Line) -> Period | None:
        """The phase in force at a line."""
        return self._course.phase_at(line)

    def model_at(self, line: Line) -> str | None:
        """The model in force at a line."""
        return self._course.model_at(line)

    @functools.cached_property
    def _course(self) -> Course:
        return Course(self._lines, self.headers)
