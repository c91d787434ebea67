"""Checks on the course of a session: start and end, checkpoints, pauses, plan mode."""

import datetime as dt
from collections.abc import Callable

from blackbox.check.findings import Finding
from blackbox.check.rules import rule_named
from blackbox.document.line import Line
from blackbox.events import tools
from blackbox.events.calls import Plan, ToolCall
from blackbox.events.comments import Elapsed
from blackbox.events.tools import MODIFYING
from blackbox.session.matching import Match, Role
from blackbox.syntax.header import Header
from blackbox.syntax.kinds import Kind

LONG_SESSION = 50
CHECKPOINT_SECONDS = 4 * 3600
MAX_EXPLORERS = 3
#: Commands that some logs have as tools, and that change files.
_MOVERS = frozenset({"rm", "mv"})


class FlightChecks:
    """The state of the flight: started, paused, ended, in which mode, how long since the last checkpoint."""

    def __init__(self, add: Callable[[Finding], None]) -> None:
        self._add = add
        self.ended_at = 0
        self._went_on_after_end = False
        self._started = False
        self._start_line = 0
        self._paused_at = 0
        self.mode = ""
        self._plan_files: set[str] = set()
        self.explorers: set[str] = set()
        #: Elapsed and wall-clock seconds at the last start or checkpoint; None until the axis is used.
        self._elapsed: int | None = None
        self._elapsed_base: int | None = None
        self._wall: dt.datetime | None = None
        self._wall_base: dt.datetime | None = None

    def begin(self, header: Header | None) -> None:
        """The header is known."""
        self.mode = (header.mode or "") if header else ""

    def handlers(self) -> dict[Kind, Callable[[Line], None]]:
        """What to call for which kind of line."""
        return {
            Kind.LIFECYCLE: self._lifecycle,
            Kind.PHASE: self._phase,
            Kind.MODE: self._mode_change,
            Kind.COMMENT: self._comment,
            Kind.PLAN: self._plan,
        }

    def after_end(self, line: Line) -> None:
        """An event that follows `@end`."""
        message = f"the session ended at line {self.ended_at}"
        self._add(rule_named("after-end").finding(line.number, message))
        self.ended_at = 0
        self._went_on_after_end = True

    def matched(self, line: Line, match: Match) -> None:
        """A call line whose call is known: count explorers."""
        if line.kind is Kind.SUBAGENT and line.head.name.lower() == "explore" and match.is_open:
            self.explorers.add(match.key)
            if len(self.explorers) > MAX_EXPLORERS and match.role is Role.NEW:
                message = f"{len(self.explorers)} explore sub-agents run at once"
                self._add(rule_named("many-explorers").finding(line.number, message))
        elif self.explorers and not match.is_open:
            self.explorers.discard(match.key)

    def wall_clock(self, line: Line, time: dt.datetime) -> None:
        """A line with a timestamp."""
        self._wall = time
        if self._wall_base is None:
            self._wall_base = time
        elif self._elapsed is None and (time - self._wall_base).total_seconds() > CHECKPOINT_SECONDS:
            self._late(line, (time - self._wall_base).total_seconds())
            self._wall_base = time

    def _comment(self, line: Line) -> None:
        if not line.source.startswith(("# t=", "#t=")):
            return
        event = line.event
        if not isinstance(event, Elapsed) or event.seconds is None:
            self._add(rule_named("bad-metadata").finding(line.number, "elapsed time is written `# t=HH:MM:SS`"))
            return
        if self._elapsed is not None and event.seconds < self._elapsed:
            self._add(rule_named("time-goes-back").finding(line.number, f"elapsed time {event.text} goes back"))
        self._elapsed = event.seconds
        if self._elapsed_base is None:
            self._elapsed_base = event.seconds
        elif event.seconds - self._elapsed_base > CHECKPOINT_SECONDS:
            self._late(line, event.seconds - self._elapsed_base)
            self._elapsed_base = event.seconds

    def _late(self, line: Line, seconds: float) -> None:
        message = f"{seconds / 3600:.1f} hours since the last checkpoint"
        self._add(rule_named("checkpoint-late").finding(line.number, message))

    def _lifecycle(self, line: Line) -> None:
        name = line.name
        if name in ("start", "checkpoint"):
            self._elapsed_base = self._elapsed
            self._wall_base = self._wall
        if name == "start" and not self._started:
            self._started, self._start_line = True, line.number
        elif name in ("end", "rotate"):
            self.ended_at = line.number
        elif name == "pause":
            self._paused_at = line.number
        elif name == "resume":
            if not self._paused_at:
                self._add(rule_named("pause-unmatched").finding(line.number, "`@resume` without a `@pause`"))
            self._paused_at = 0

    def _phase(self, line: Line) -> None:
        if self.mode != "plan":
            message = f"`@phase` in mode {self.mode}" if self.mode else "`@phase` before any `m:plan`"
            self._add(rule_named("phase-outside-plan").finding(line.number, message))

    def _mode_change(self, line: Line) -> None:
        self.mode = line.name

    def _plan(self, line: Line) -> None:
        event = line.event
        if isinstance(event, Plan) and event.path:
            self._plan_files.add(event.path)

    def tool(self, line: Line) -> None:
        """A tool call in plan mode."""
        if line.name.lower() not in _MOVERS and tools.access_of(line.name) not in MODIFYING:
            return
        event = line.event
        if not isinstance(event, ToolCall):
            return
        arguments = event.arguments
        first = arguments.positional[0] if arguments.positional else ()
        path = ", ".join(tools.paths_in(arguments.keyword) or tools.paths_of(first))
        if path not in self._plan_files and (path or arguments.keyword):
            message = f"`{line.name}` of {path or 'a file'} in plan mode"
            self._add(rule_named("write-in-plan-mode").finding(line.number, message))

    def finish(self, lines: int) -> None:
        """What is missing at the end of the log."""
        if lines > LONG_SESSION and not self._started:
            self._add(rule_named("start-missing").finding(1, f"{lines} lines and no `@start`"))
        if self._started and not self._ended:
            self._add(rule_named("end-missing").finding(self._start_line, "the session has no `@end`"))
        if self._paused_at:
            self._add(rule_named("pause-unmatched").finding(self._paused_at, "`@pause` without a `@resume`"))

    @property
    def _ended(self) -> bool:
        return self.ended_at > 0 or self._went_on_after_end
