"""When things happened in a session, and what was in force then: time, pauses, modes, phases, models."""

import bisect
import datetime as dt
import functools
from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from blackbox.document.line import Line
from blackbox.events import calls, comments, lifecycle
from blackbox.session.lines import Lines
from blackbox.syntax.header import Header
from blackbox.syntax.kinds import Kind
from blackbox.syntax.metadata import INHERITED

T = TypeVar("T")

_LEAVING = "exit"


class _Track(Generic[T]):
    """Values along a session, each in force from its position to the next one's."""

    def __init__(self, pairs: Iterable[tuple[int, T]]) -> None:
        self.positions: list[int] = []
        self.values: list[T] = []
        for position, value in pairs:
            self.positions.append(position)
            self.values.append(value)

    def at(self, position: int) -> T | None:
        """The last value at or above a position."""
        index = bisect.bisect_right(self.positions, position)
        return self.values[index - 1] if index else None


class Pause(NamedTuple):
    """A halt: its lines, why, and its length in seconds where times are known. `resumed` is None while it lasts."""

    line: Line
    resumed: Line | None
    reason: str | None
    seconds: float | None


class Clock:
    """When things happened, as far as the log says. Either time may be missing; neither is derived from the other."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    @property
    def elapsed(self) -> int | None:
        """Seconds since the session began, by the last mark."""
        return self._elapsed.values[-1] if self._elapsed.values else None

    def elapsed_at(self, line: Line) -> int | None:
        """Seconds since the session began, by the last mark at or above a line."""
        return self._elapsed.at(self._lines.positions[line])

    def time_at(self, line: Line) -> dt.datetime | None:
        """The wall-clock time of a line: its own `ts=`, or the last one above it."""
        return self._times.at(self._lines.positions[line])

    @property
    def started_at(self) -> dt.datetime | None:
        """The earliest `ts=`, but for lines of an earlier session."""
        return min(self._own, default=None)

    @property
    def ended_at(self) -> dt.datetime | None:
        """The latest `ts=`."""
        return max(self._times.values, default=None)

    @property
    def wall_time(self) -> dt.timedelta | None:
        """From the earliest to the latest `ts=` of the session itself; None with fewer than two of them."""
        times = self._own
        return max(times) - min(times) if len(times) > 1 else None

    @functools.cached_property
    def pauses(self) -> tuple[Pause, ...]:
        """Every `@pause`, each ended by the `@resume` that follows it."""
        pauses = {mark.line: mark.value for mark in self._lines.marks(lifecycle.Pause)}
        resumes = {mark.line for mark in self._lines.marks(lifecycle.Resume)}
        found: list[Pause] = []
        begun: Line | None = None
        for line in sorted((*pauses, *resumes), key=self._lines.positions.__getitem__):
            if line in resumes:
                if begun is not None:
                    found.append(Pause(begun, line, pauses[begun].reason, self._between(begun, line)))
                begun = None
            elif begun is None:
                begun = line
        if begun is not None:
            found.append(Pause(begun, None, pauses[begun].reason, self._since(begun)))
        return tuple(found)

    @property
    def active_seconds(self) -> float | None:
        """The session's length without its pauses: by wall clock, else by marks. None if a part of it is unknown."""
        wall = self.wall_time
        whole = wall.total_seconds() if wall is not None else self.elapsed
        lengths = [pause.seconds for pause in self.pauses]
        known = [length for length in lengths if length is not None]
        if whole is None or len(known) < len(lengths):
            return None
        return max(0.0, whole - sum(known))

    def _between(self, first: Line, last: Line) -> float | None:
        begun, ended = first.meta.ts, last.meta.ts
        if begun is not None and ended is not None:
            return max(0.0, (ended - begun).total_seconds())
        before, after = self.elapsed_at(first), self.elapsed_at(last)
        return float(max(0, after - before)) if before is not None and after is not None else None

    def _since(self, first: Line) -> float | None:
        begun = first.meta.ts
        if begun is not None and self.ended_at is not None:
            return (self.ended_at - begun).total_seconds()
        before = self.elapsed_at(first)
        return float(max(0, (self.elapsed or 0) - before)) if before is not None else None

    @functools.cached_property
    def _elapsed(self) -> _Track[int]:
        marks = self._lines.marks(comments.Elapsed)
        return _Track((self._lines.positions[line], mark.seconds) for line, mark in marks if mark.seconds is not None)

    @functools.cached_property
    def _times(self) -> _Track[dt.datetime]:
        dated = ((line, line.meta.ts) for line in self._lines.containing("ts="))
        return _Track((self._lines.positions[line], ts) for line, ts in dated if ts is not None)

    @functools.cached_property
    def _own(self) -> list[dt.datetime]:
        inherited = {self._lines.positions[line] for line in self._lines.containing(INHERITED) if line.is_inherited}
        dated = zip(self._times.positions, self._times.values, strict=True)
        return [ts for position, ts in dated if position not in inherited] or self._times.values


class Period(NamedTuple):
    """A mode or phase from its first line to its last. `line` is the line that set it; None for the header's mode."""

    name: str
    first: Line
    last: Line
    line: Line | None = None
    afk: bool = False


class ModelUse(NamedTuple):
    """A model the log names: in the `header`, by a `switch`, by `init`, or on one `message` line."""

    model: str
    source: str
    line: Line | None = None
    reason: str | None = None


class Course:
    """Which mode, phase and model is in force where."""

    def __init__(self, lines: Lines, headers: Sequence[Header]) -> None:
        self._lines = lines
        mode = next((header.mode for header in headers if header.mode), None)
        self.modes = _modes(lines, mode)
        self.phases = _phases(lines)
        self.models = _models(lines, headers)
        self._modes = _Track((lines.positions[period.first], period) for period in self.modes)
        self._phases = _Track((lines.positions[period.first], period) for period in self.phases)
        self._switches = _Track(
            (-1 if use.line is None else lines.positions[use.line], use.model)
            for use in self.models
            if use.source != "message"
        )

    def mode_at(self, line: Line) -> Period | None:
        """The mode in force at a line, that of the line itself included."""
        return self._at(line, self._modes)

    def phase_at(self, line: Line) -> Period | None:
        """The phase in force at a line; None outside of plan mode's phases."""
        return self._at(line, self._phases)

    def model_at(self, line: Line) -> str | None:
        """The model in force at a line: its own `model=`, else the last switch, else the header's."""
        own = line.meta.model if "model=" in line.source else None
        return own or self._switches.at(self._lines.positions[line])

    def _at(self, line: Line, periods: _Track[Period]) -> Period | None:
        positions = self._lines.positions
        period = periods.at(positions[line])
        return period if period is not None and positions[line] <= positions[period.last] else None


def _modes(lines: Lines, header_mode: str | None) -> tuple[Period, ...]:
    switches = lines.of(Kind.MODE)
    starts = [lines.positions[line] for line in switches] + [len(lines.all)]
    found: list[Period] = []
    if header_mode and starts[0] > 0:
        found.append(Period(header_mode, lines.all[0], lines.all[starts[0] - 1]))
    for line, end in zip(switches, starts[1:], strict=True):
        event = line.event
        afk = isinstance(event, calls.Mode) and event.afk
        found.append(Period(line.name, line, lines.all[end - 1], line, afk))
    return tuple(found)


def _phases(lines: Lines) -> tuple[Period, ...]:
    """A phase lasts until the next one or until the mode changes; leaving plan mode is a phase of one line."""
    positions = lines.positions
    marks = lines.marks(lifecycle.Phase)
    stops = sorted([positions[mark.line] for mark in marks] + [positions[line] for line in lines.of(Kind.MODE)])
    stops.append(len(lines.all))
    found: list[Period] = []
    for line, phase in marks:
        end = stops[bisect.bisect_right(stops, positions[line])]
        last = line if phase.name == _LEAVING else lines.all[end - 1]
        found.append(Period(phase.name, line, last, line))
    return tuple(found)


def _models(lines: Lines, headers: Sequence[Header]) -> tuple[ModelUse, ...]:
    model = next((header.model for header in headers if header.model), None)
    found = [ModelUse(model, "header")] if model else []
    switches = {mark.line: mark.value for mark in lines.marks(comments.ModelSwitch)}
    for line in lines.containing("model"):
        if line in switches:
            found.append(ModelUse(switches[line].model, "switch", line, switches[line].reason))
        elif name := (line.meta.model if "model=" in line.source else None):
            is_init = line.kind is Kind.LIFECYCLE and line.name == "init"
            found.append(ModelUse(name, "init" if is_init else "message", line))
    return tuple(found)
