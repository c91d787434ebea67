"""What a log contains, counted while it is read."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import msgspec

from blackbox.document.line import Line
from blackbox.session.matching import Match, Role
from blackbox.syntax.kinds import Kind
from blackbox.syntax.quick import Head
from blackbox.syntax.tokens import REDACTED


class Statistics(msgspec.Struct):
    """The figures of one log. `lines` counts physical lines, everything else counts events."""

    lines: int = 0
    content_lines: int = 0
    blank_lines: int = 0
    comment_lines: int = 0
    continuation_lines: int = 0
    unknown_lines: int = 0
    user_messages: int = 0
    agent_messages: int = 0
    thinking: int = 0
    todo_lists: int = 0
    tool_calls: int = 0
    observations: int = 0
    mcp_calls: int = 0
    subagents: int = 0
    skills: int = 0
    plans: int = 0
    mode_changes: int = 0
    lifecycle: int = 0
    phases: int = 0
    recalls: int = 0
    questions: int = 0
    call_ids: int = 0
    first_step: int | None = None
    max_step: int | None = None
    timestamps: int = 0
    blobs: int = 0
    redacted: int = 0
    tools: dict[str, int] = msgspec.field(default_factory=dict)
    line_types: dict[str, int] = msgspec.field(default_factory=dict)


def sum_up(figures: Sequence[Statistics]) -> Statistics:
    """The figures of several logs together."""
    total = Statistics()
    for field in total.__struct_fields__:
        values = [value for each in figures if (value := getattr(each, field)) is not None]
        if field in ("first_step", "max_step"):
            setattr(total, field, (min if field == "first_step" else max)(values, default=None))
        elif field in ("tools", "line_types"):
            counts: Counter[str] = Counter()
            for value in values:
                counts.update(value)
            setattr(total, field, dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))))
        else:
            setattr(total, field, sum(values))
    return total


_CALL_FIELDS = {Kind.MCP: "mcp_calls", Kind.SUBAGENT: "subagents"}
_CALL_FIELDS |= dict.fromkeys((Kind.TOOL, Kind.TOOL_START, Kind.TOOL_PROGRESS), "tool_calls")
_TYPE_FIELDS = {
    Kind.USER: "user_messages",
    Kind.AGENT: "agent_messages",
    Kind.THINKING: "thinking",
    Kind.TODOS: "todo_lists",
    Kind.OBSERVATION: "observations",
    Kind.SKILL: "skills",
    Kind.PLAN: "plans",
    Kind.MODE: "mode_changes",
    Kind.LIFECYCLE: "lifecycle",
    Kind.PHASE: "phases",
    Kind.RECALL: "recalls",
    Kind.BLANK: "blank_lines",
    Kind.COMMENT: "comment_lines",
    Kind.UNKNOWN: "unknown_lines",
}
_NEW = Role.NEW


class Counting:
    """Counts lines as they pass. Types are tallied in one counter and spread over the fields at the end."""

    def __init__(self) -> None:
        self.statistics = Statistics()
        self._types: Counter[Kind] = Counter()
        self._calls: defaultdict[str, int] = defaultdict(int)
        self._tools: defaultdict[str, int] = defaultdict(int)
        self._continuations = 0

    def lines(self, batch: list[Line]) -> None:
        """Tally the types of a batch."""
        self._types.update([line.kind for line in batch])

    def marks(self, line: Line) -> None:
        """Count blob pointers and redaction markers in one entry, continuations included."""
        text = line.source if line.more is None else "\n".join(line.physical_lines)
        if "@blob" in text:
            self.statistics.blobs += text.count("@blob sha256=")
        if "[redacted" in text:
            self.statistics.redacted += len(REDACTED.findall(text))

    def continuations(self, line: Line) -> None:
        """Count the continuation lines of an entry."""
        self._continuations += len(line.more or ())

    def call(self, kind: Kind, head: Head, match: Match) -> None:
        """Count a new call; `match` says whether its id is new too."""
        field = _CALL_FIELDS.get(kind)
        if field is None:
            if kind is Kind.QUESTION:
                self._calls["questions"] += 1
            return
        self._calls[field] += 1
        if field == "tool_calls":
            self._tools[head.name] += 1
        if match.role is _NEW and head.metadata.get("id"):
            self._calls["call_ids"] += 1

    def step(self, step: int) -> None:
        """Take the step of an event into the range."""
        statistics = self.statistics
        if statistics.first_step is None or step < statistics.first_step:
            statistics.first_step = step
        if statistics.max_step is None or step > statistics.max_step:
            statistics.max_step = step

    def finish(self, physical_lines: int) -> Statistics:
        """The figures of everything counted."""
        statistics = self.statistics
        for kind, field in _TYPE_FIELDS.items():
            setattr(statistics, field, self._types[kind])
        for field, count in self._calls.items():
            setattr(statistics, field, count)
        statistics.lines = physical_lines
        statistics.continuation_lines = self._continuations + self._types[Kind.CONTINUATION]
        statistics.content_lines = physical_lines - statistics.blank_lines - statistics.comment_lines
        statistics.tools = dict(sorted(self._tools.items(), key=lambda item: (-item[1], item[0])))
        statistics.line_types = {kind.value: self._types[kind] for kind in Kind if self._types[kind]}
        return statistics
