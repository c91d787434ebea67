"""A call as a whole: its start, progress, attempts and outcome, whichever lines they stand on."""

import datetime as dt
import enum
import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from blackbox.document.line import Line
from blackbox.events.calls import Arguments, Observation
from blackbox.syntax.escape import unescape
from blackbox.syntax.kinds import Kind
from blackbox.syntax.results import NOT_RECORDED, OPEN_RESULTS, Result, ResultKind


class Status(enum.StrEnum):
    """How a call came out, as far as the log says."""

    OPEN = "open"
    OK = "ok"
    ERR = "err"
    SKIP = "skip"
    #: Answered in free text, which may mean anything.
    ANSWERED = "answered"
    #: The log has no result for it and announces none.
    NONE = "none"


_STATUS = {
    ResultKind.OK: Status.OK,
    ResultKind.COUNT: Status.OK,
    ResultKind.LINES: Status.OK,
    ResultKind.BLOB: Status.OK,
    ResultKind.ERR: Status.ERR,
    ResultKind.SKIP: Status.SKIP,
}
_BASE = {Kind.TOOL_START: Kind.TOOL, Kind.TOOL_PROGRESS: Kind.TOOL}
#: Lines that tell about a call and do not make one.
_REPORTS = frozenset({Kind.OBSERVATION, Kind.TOOL_PROGRESS})


def base_kind(kind: Kind) -> Kind:
    """The kind of call a line makes: `t!:` and `t~:` belong to tools."""
    return _BASE.get(kind, kind)


class Observed(NamedTuple):
    """What one line says about the outcome of its call: a piece of output, a result, or both."""

    line: Line
    partial: str | None
    result: Result | None


class Attempt:
    """One try of a call. `number` is the logged one (`attempt=2`, `[retry 2/3]`) or follows the try before it."""

    number: int
    limit: int | None

    def __init__(self, lines: Sequence[Line], previous: "Attempt | None") -> None:
        self.lines = tuple(lines)
        following = previous.number + 1 if previous is not None else 1
        #: Which try this is, and of how many where the log says so.
        self.number, self.limit = _logged_attempt(lines) or (following, None)

    def __repr__(self) -> str:
        return f"Attempt({self.number}, {self.status.value})"

    @functools.cached_property
    def result_line(self) -> Line | None:
        """The last line with an outcome; None while there is only `[running]` and the like."""
        return next((line for line in reversed(self.lines) if _has_outcome(line)), None)

    @property
    def result(self) -> Result | None:
        """The outcome."""
        return self.result_line.result if self.result_line is not None else None

    @property
    def status(self) -> Status:
        """How this try came out."""
        if self.result_line is None:
            return Status.OPEN
        kind = self.result_line.result_kind
        return _STATUS.get(kind, Status.ANSWERED) if kind is not None else Status.ANSWERED

    @property
    def latency_ms(self) -> int | None:
        """How long this try took, where a line says so."""
        stated = (line.meta.latency_ms for line in reversed(self.lines) if "latency_ms=" in line.source)
        return next((value for value in stated if value is not None), None)


class Call:
    """A tool, MCP, sub-agent, skill, plan or recall line with everything that belongs to it.

    What several lines may state is taken from the first that does. `is_waiting` says whether the log announces an
    outcome that has not come.
    """

    def __init__(self, line: Line, *, is_waiting: bool = False) -> None:
        self.kind = base_kind(line.kind)
        self.lines: list[Line] = [line]
        self.is_waiting = is_waiting
        self._retries: list[int] = []

    def __repr__(self) -> str:
        return f"Call({self.kind.value}, {self.name!r}, id={self.id!r}, line={self.line.number}, {self.status.value})"

    def add(self, line: Line, *, is_waiting: bool, is_retry: bool = False) -> None:
        """Join a later line; only the joining pass over a log does this."""
        if is_retry:
            self._retries.append(len(self.lines))
        self.lines.append(line)
        self.is_waiting = is_waiting

    @property
    def line(self) -> Line:
        """The line the call starts on."""
        return self.lines[0]

    @property
    def name(self) -> str:
        """The tool, `server.method`, sub-agent type, skill or plan action; empty for recalls."""
        return self.line.name

    @functools.cached_property
    def id(self) -> str | None:
        """The call id."""
        return next((line.id for line in self.lines if line.id), None)

    @functools.cached_property
    def span(self) -> str | None:
        """The operation id."""
        return self._meta("span")

    @functools.cached_property
    def tid(self) -> str:
        """The thread (agent) that made the call; `1` is the main agent."""
        return self._meta("tid") or "1"

    @functools.cached_property
    def parent(self) -> str | None:
        """The enclosing span, or the message that asked for the call: text either way."""
        return self._meta("parent")

    @property
    def step(self) -> int | None:
        """The step the call was made in."""
        return next((line.step for line in self.lines if line.step is not None), None)

    @property
    def ts(self) -> dt.datetime | None:
        """When the call began."""
        return next((ts for ts in _timestamps(self.lines) if ts is not None), None)

    @property
    def ended_at(self) -> dt.datetime | None:
        """When its last line was logged; None while the call is open."""
        if self.status is Status.OPEN:
            return None
        return next((ts for ts in _timestamps(reversed(self.lines)) if ts is not None), None)

    @functools.cached_property
    def arguments(self) -> Arguments:
        """The arguments: those of the first line that has any."""
        own = [line for line in self.lines if line.kind not in _REPORTS] or self.lines
        every = [getattr(line.event, "arguments", Arguments()) for line in own]
        return next((a for a in every if a.positional or a.keyword), every[0])

    @property
    def task(self) -> str | None:
        """What a sub-agent was asked to do."""
        return self.arguments.words or None if self.kind is Kind.SUBAGENT else None

    @functools.cached_property
    def observations(self) -> tuple[Observed, ...]:
        """Everything said about the outcome, in order; a result on the call's own line is the first of them."""
        found = (_observe(line) for line in self.lines)
        return tuple(one for one in found if one is not None)

    @property
    def progress(self) -> tuple[str, ...]:
        """The output that came in pieces: `t~:` lines and `partial=`."""
        return tuple(one.partial for one in self.observations if one.partial is not None)

    @functools.cached_property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every try with its lines and outcome; one for a call that was not retried."""
        bounds = [0, *self._retries, len(self.lines)]
        attempts: list[Attempt] = []
        for start, end in itertools.pairwise(bounds):
            attempts.append(Attempt(self.lines[start:end], attempts[-1] if attempts else None))
        return tuple(attempts)

    @property
    def result(self) -> Result | None:
        """The outcome of the last try; None while the call is open."""
        return self.attempts[-1].result

    @property
    def result_line(self) -> Line | None:
        """The line `result` stands on."""
        return self.attempts[-1].result_line

    @property
    def status(self) -> Status:
        """How the call came out."""
        if self.result_line is not None:
            return self.attempts[-1].status
        return Status.OPEN if self.is_waiting else Status.NONE

    @property
    def latency_ms(self) -> int | None:
        """How long the last try took, where a line says so."""
        return self.attempts[-1].latency_ms

    @property
    def is_unknown(self) -> bool:
        """Whether nobody knows how it came out: no result came, or the log says that none was recorded."""
        result = self.result if self.status is Status.SKIP else None
        return self.status is Status.OPEN or (result is not None and result.detail == NOT_RECORDED)

    @property
    def is_interrupted(self) -> bool:
        """Whether a line of the call carries the flag `interrupted`."""
        return any("interrupted" in line.source and line.meta.interrupted for line in self.lines)

    def _meta(self, key: str) -> str | None:
        pattern = f"{key}="
        stated = (line.head.metadata.get(key) for line in self.lines if pattern in line.source)
        return next((value for value in stated if value), None)


def _has_outcome(line: Line) -> bool:
    if line.kind is Kind.TOOL_PROGRESS:
        return False
    kind = line.result_kind
    # A block below a call without an arrow is its output all the same.
    return kind not in OPEN_RESULTS if kind is not None else line.result is not None if line.more else False


def progress_text(line: Line) -> str:
    """The output on a `t~:` line: a quoted string without its quotes, anything else as it stands."""
    parts = line.parts
    tokens = parts.arguments
    if len(tokens) == 1 and tokens[0].key is None and parts.source[tokens[0].start] == '"':
        first = tokens[0].text
    elif tokens:
        first = " ".join(parts.source[token.start : token.end] for token in tokens)
        whole = parts.source[tokens[0].start : tokens[-1].end]
        # Without metadata in between the spacing is the tool's own.
        first = whole if len(tokens) == len(_within(line, tokens[0].start, tokens[-1].end)) else first
        first = unescape(first) if line.escaped else first
    else:
        first = ""
    rest = line.result.text if line.result is not None else ""
    return "\n".join(text for text in (first, rest) if text)


def _within(line: Line, start: int, end: int) -> list[int]:
    return [token.start for token in line.parts.tokens if start <= token.start < end]


def _observe(line: Line) -> Observed | None:
    if line.kind is Kind.TOOL_PROGRESS:
        return Observed(line, progress_text(line), None)
    event = line.event
    partial = event.partial if isinstance(event, Observation) else None
    result = line.result
    return None if partial is None and result is None else Observed(line, partial, result)


def _logged_attempt(lines: Sequence[Line]) -> tuple[int, int | None] | None:
    for line in lines:
        attempt = line.meta.attempt if "attempt=" in line.source else None
        if attempt is not None:
            return attempt
        result = line.result if "[retry" in line.source or "[ retry" in line.source else None
        if result is not None and result.kind is ResultKind.RETRY and result.attempt is not None:
            return result.attempt, result.attempts
    return None


def _timestamps(lines: Iterable[Line]) -> Iterable[dt.datetime | None]:
    return (line.meta.ts for line in lines if "ts=" in line.source)
