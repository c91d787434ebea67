"""Which entries of a log a question is about: by text, type, tool, step, time and outcome, one entry at a time."""

import datetime as dt
import enum
import fnmatch
import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from blackbox.document.line import Line
from blackbox.errors import UsageError
from blackbox.events import comments
from blackbox.syntax.kinds import PREFIXES, SILENT, Kind
from blackbox.syntax.results import OPEN_RESULTS, ResultKind
from blackbox.syntax.values import clock, duration, integer, timestamp

#: A moment: a date and time, or seconds since the session began.
Moment = dt.datetime | float

_FAMILIES: dict[str, tuple[Kind, ...]] = {
    "t": (Kind.TOOL, Kind.TOOL_START, Kind.TOOL_PROGRESS),
    "tool": (Kind.TOOL, Kind.TOOL_START, Kind.TOOL_PROGRESS),
    "@": (Kind.LIFECYCLE, Kind.PHASE),
    "lifecycle": (Kind.LIFECYCLE, Kind.PHASE),
}
_TYPES: dict[str, tuple[Kind, ...]] = {
    **{kind.value: (kind,) for kind in Kind if kind is not Kind.BLANK},
    **{prefix.removesuffix(":"): (kind,) for kind, prefix in PREFIXES.items()},
    **_FAMILIES,
}
_TOOL_KINDS = frozenset(
    {Kind.TOOL, Kind.TOOL_START, Kind.TOOL_PROGRESS, Kind.MCP, Kind.SUBAGENT, Kind.SKILL, Kind.PLAN}
)
_STEPS = re.compile(r"(\d{1,18})?(-)?(\d{1,18})?", re.ASCII)
#: A date, or a time without seconds, is what people type.
_SHORT_TIME = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?)?(Z|[+-]\d\d:?\d\d)?", re.ASCII)
_ELAPSED = re.compile(r" ?#[ \t]*t=")
#: How many calls without an answer are remembered for `--tool`; an answer after so many others stays unknown.
_OPEN_CALLS = 4096


class Side(enum.StrEnum):
    """Which part of an entry the pattern is looked for in."""

    ALL = "all"
    CALL = "call"
    RESULT = "result"


class Steps(NamedTuple):
    """A range of steps, both ends included; an open end is None."""

    first: int | None
    last: int | None

    def __contains__(self, step: object) -> bool:
        if not isinstance(step, int):
            return False
        return (self.first is None or self.first <= step) and (self.last is None or step <= self.last)

    def __str__(self) -> str:
        if self.first == self.last:
            return f"step {self.first}"
        if self.last is None:
            return f"steps from {self.first}"
        return f"steps up to {self.last}" if self.first is None else f"steps {self.first}-{self.last}"


class Query(msgspec.Struct, frozen=True):
    """What to look for. Everything that is set must hold; `invert` turns the pattern around and nothing else."""

    pattern: re.Pattern[str] | None = None
    kinds: frozenset[Kind] = frozenset()
    tools: tuple[str, ...] = ()
    steps: Steps | None = None
    since: Moment | None = None
    until: Moment | None = None
    side: Side = Side.ALL
    failed: bool = False
    invert: bool = False

    @property
    def has_filter(self) -> bool:
        """Whether anything but the pattern narrows the search."""
        return bool(self.kinds or self.tools or self.steps or self.failed) or self.is_timed

    @property
    def is_timed(self) -> bool:
        """Whether it asks for a time."""
        return self.since is not None or self.until is not None

    def __str__(self) -> str:
        """What is searched, in words: for an answer that is empty."""
        kinds = ", ".join(PREFIXES.get(kind, kind.value) for kind in Kind if kind in self.kinds)
        words = [f"{kinds} lines" if kinds else "all lines"]
        if self.tools:
            words.append(f"of the tools {', '.join(self.tools)}")
        if self.steps is not None:
            words.append(f"of {self.steps}")
        if self.since is not None:
            words.append(f"since {_spell(self.since)}")
        if self.until is not None:
            words.append(f"until {_spell(self.until)}")
        if self.failed:
            words.append("that report an error")
        if self.side is not Side.ALL:
            words.append("before the arrow only" if self.side is Side.CALL else "behind the arrow only")
        return " ".join(words)


class Search:
    """A query on its way through one log: feed it every entry in order.

    A line without `ts=` has the time of the last one above it. The time since the session began is that of the last
    `# t=` mark, and goes on from there with `ts=`; in a log without marks it is counted from the first `ts=`.
    """

    def __init__(self, query: Query) -> None:
        self.query = query
        #: Entries seen, and those that carried a step or a time.
        self.entries = 0
        self.stepped = 0
        self.timed = 0
        self._now: dt.datetime | None = None
        # The last `# t=` mark, and the first `ts=` behind it.
        self._mark: float | None = None
        self._marked: dt.datetime | None = None
        self._waiting: dict[str, None] = {}

    def matches(self, line: Line) -> bool:
        """Whether the entry is one that the query asks for."""
        query = self.query
        if line.kind is Kind.BLANK:
            return False
        self.entries += 1
        if query.is_timed:
            self._read_time(line)
        is_of_tool = not query.tools or self._is_of_tool(line)
        if query.kinds and line.kind not in query.kinds:
            return False
        if not is_of_tool or (query.steps is not None and not self._is_in_steps(line)):
            return False
        if query.is_timed and not self._is_in_time():
            return False
        if query.failed and not reports_error(line):
            return False
        return self._has_text(line)

    def _has_text(self, line: Line) -> bool:
        query = self.query
        text = searched_text(line, query.side)
        if text is None:
            return False
        return query.pattern is None or (query.pattern.search(text) is None) is query.invert

    def _is_of_tool(self, line: Line) -> bool:
        if line.kind is Kind.OBSERVATION:
            # An answer is of the tool that its call is of.
            name = line.id
            if name is None or name not in self._waiting:
                return False
            if line.result_kind is not None and line.result_kind not in OPEN_RESULTS:
                del self._waiting[name]
            return True
        if line.kind not in _TOOL_KINDS or not _fits(line.brief_head.name, self.query.tools):
            return False
        name = line.id
        if name is not None:
            self._waiting[name] = None
            if len(self._waiting) > _OPEN_CALLS:
                del self._waiting[next(iter(self._waiting))]
        return True

    def _is_in_steps(self, line: Line) -> bool:
        step = step_of(line)
        self.stepped += step is not None
        return self.query.steps is not None and step in self.query.steps

    def _read_time(self, line: Line) -> None:
        if line.kind is Kind.COMMENT:
            event = line.event if _ELAPSED.match(line.source) else None
            if isinstance(event, comments.Elapsed) and event.seconds is not None:
                self._mark, self._marked = float(event.seconds), None
        elif "ts=" in line.source and (ts := timestamp(line.brief_head.metadata.get("ts"))) is not None:
            self._now = ts
            self._marked = self._marked or ts
        self.timed += self._now is not None or self._mark is not None

    def _is_in_time(self) -> bool:
        return self._is_after(self.query.since) and self._is_before(self.query.until)

    def _is_after(self, moment: Moment | None) -> bool:
        if moment is None:
            return True
        if isinstance(moment, dt.datetime):
            return self._now is not None and self._now >= moment
        elapsed = self._elapsed
        return elapsed is not None and elapsed >= moment

    def _is_before(self, moment: Moment | None) -> bool:
        if moment is None:
            return True
        if isinstance(moment, dt.datetime):
            return self._now is not None and self._now <= moment
        elapsed = self._elapsed
        return elapsed is not None and elapsed <= moment

    @property
    def _elapsed(self) -> float | None:
        if self._now is None or self._marked is None:
            return self._mark
        return (self._mark or 0.0) + (self._now - self._marked).total_seconds()


def step_of(line: Line) -> int | None:
    """The step a line names: its own, or that of the metrics or anchor in a comment."""
    if line.kind is not Kind.COMMENT:
        return integer(line.brief_head.metadata.get("step")) if "step=" in line.source else None
    event = line.event if "step=" in line.source else None
    return event.step if isinstance(event, comments.Metrics | comments.Anchor) else None


def reports_error(line: Line) -> bool:
    """Whether a line says that something failed: `[err: …]`, or `level=error`."""
    if line.kind in SILENT or "err" not in line.source:
        return False
    return line.result_kind is ResultKind.ERR or ("level=" in line.source and line.meta.level == "error")


def searched_text(line: Line, side: Side = Side.ALL) -> str | None:
    """The text of an entry as it stands, or only what is before or behind its arrow; None if that is not there."""
    if side is Side.ALL:
        return "\n".join(line.physical_lines)
    start = line.head.result_start
    if side is Side.CALL:
        return line.source if start < 0 else line.source[:start]
    return None if start < 0 else "\n".join((line.source[start:], *(line.more or ())))


def parse_types(words: Iterable[str]) -> frozenset[Kind]:
    """`t,c`, `user`, `@`: prefixes or names of line types."""
    found: set[Kind] = set()
    for word in (part.strip() for given in words for part in given.split(",")):
        kinds = _TYPES.get(word.removesuffix(":").lower())
        if kinds is None:
            raise UsageError(f"--type {word!r} is no line type", f"known are {', '.join(_TYPES)}")
        found.update(kinds)
    return frozenset(found)


def parse_steps(text: str | None) -> Steps | None:
    """`12`, `1-50`, `100-`, `-20`."""
    if text is None:
        return None
    match = _STEPS.fullmatch(text)
    first, dash, last = match.groups() if match is not None else (None, None, None)
    if first is None and last is None:
        raise UsageError(f"--step {text!r} is no step or range of steps", "write 12, 1-50, 100- or -20")
    if dash is None:
        return Steps(int(first or 0), int(first or 0))
    steps = Steps(int(first) if first else None, int(last) if last else None)
    if steps.first is not None and steps.last is not None and steps.first > steps.last:
        raise UsageError(f"--step {text!r} ends before it begins", "write the smaller number first")
    return steps


def parse_moment(option: str, text: str | None, *, is_end: bool = False) -> Moment | None:
    """An ISO time (`2025-11-06T05:00:00Z`, `2025-11-06`), or time since the start: `05:00:00`, `2h`, `90m`.

    As an end, a day lasts until midnight and a minute until its last second.
    """
    if text is None:
        return None
    elapsed = clock(text)
    found: Moment | None = float(elapsed) if elapsed is not None else duration(text)
    if found is None:
        match = _SHORT_TIME.fullmatch(text)
        if match is not None:
            day, minute, second, zone = match.groups()
            rest = "23:59:59.999999" if is_end and minute is None else f"{minute or '00:00'}"
            if minute is not None or not is_end:
                rest += second or (":59.999999" if is_end else ":00")
            found = timestamp(f"{day}T{rest}{zone or 'Z'}")
    if found is None:
        raise UsageError(
            f"{option} {text!r} is no time",
            "write a date and time (2025-11-06T05:00:00Z) or the time since the start (05:00:00, 2h, 90m)",
        )
    return found


def compile_pattern(text: str | None, *, fixed: bool = False, ignore_case: bool = False) -> re.Pattern[str] | None:
    """The pattern to look for; `^` and `$` hold at every physical line."""
    if text is None:
        return None
    flags = re.MULTILINE | (re.IGNORECASE if ignore_case else re.NOFLAG)
    try:
        return re.compile(re.escape(text) if fixed else text, flags)
    except re.error as error:
        raise UsageError(f"the pattern {text!r} is no regular expression: {error}", "-F takes it as it is") from error


def _fits(name: str, globs: Iterable[str]) -> bool:
    """Whether a tool's name fits one of the globs; `Read` and `read` are one tool to who looks for it."""
    name = name.lower()
    return any(fnmatch.fnmatchcase(name, glob.lower()) for glob in globs)


def _spell(moment: Moment) -> str:
    if isinstance(moment, dt.datetime):
        return moment.isoformat().replace("+00:00", "Z")
    hours, rest = divmod(int(moment), 3600)
    return f"{hours:02}:{rest // 60:02}:{rest % 60:02} after the start"
