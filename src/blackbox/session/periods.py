"""Stretches of a session under one mode, phase or model."""

import bisect
from collections.abc import Sequence
from typing import NamedTuple

from blackbox.document.line import Line
from blackbox.events import calls, comments, lifecycle
from blackbox.session.lines import Lines
from blackbox.syntax.header import Header
from blackbox.syntax.kinds import Kind

_LEAVING = "exit"


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
        self._mode_starts = [lines.positions[period.first] for period in self.modes]
        self._phase_starts = [lines.positions[period.first] for period in self.phases]
        self._switches = [use for use in self.models if use.source != "message"]
        self._switch_starts = [-1 if use.line is None else lines.positions[use.line] for use in self._switches]

    def mode_at(self, line: Line) -> Period | None:
        """The mode in force at a line, that of the line itself included."""
        return self._at(line, self._mode_starts, self.modes)

    def phase_at(self, line: Line) -> Period | None:
        """The phase in force at a line; None outside of plan mode's phases."""
        return self._at(line, self._phase_starts, self.phases)

    def model_at(self, line: Line) -> str | None:
        """The model in force at a line: its own `model=`, else the last switch, else the header's."""
        own = line.meta.model if "model=" in line.source else None
        index = bisect.bisect_right(self._switch_starts, self._lines.positions[line])
        return own or (self._switches[index - 1].model if index else None)

    def _at(self, line: Line, starts: list[int], periods: tuple[Period, ...]) -> Period | None:
        positions = self._lines.positions
        index = bisect.bisect_right(starts, positions[line])
        if not index or positions[line] > positions[periods[index - 1].last]:
            return None
        return periods[index - 1]


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
