"""The two times of a session: elapsed by its `# t=` marks, wall-clock by its `ts=` fields, and the pauses in it."""

import bisect
import datetime as dt
import functools
from typing import NamedTuple

from blackbox.document.line import Line
from blackbox.events import comments, lifecycle
from blackbox.session.lines import Lines


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
        return self._elapsed[1][-1] if self._elapsed[1] else None

    def elapsed_at(self, line: Line) -> int | None:
        """Seconds since the session began, by the last mark at or above a line."""
        positions, seconds = self._elapsed
        index = bisect.bisect_right(positions, self._lines.positions[line])
        return seconds[index - 1] if index else None

    def time_at(self, line: Line) -> dt.datetime | None:
        """The wall-clock time of a line: its own `ts=`, or the last one above it."""
        positions, times = self._times
        index = bisect.bisect_right(positions, self._lines.positions[line])
        return times[index - 1] if index else None

    @property
    def started_at(self) -> dt.datetime | None:
        """The earliest `ts=`."""
        return min(self._times[1], default=None)

    @property
    def ended_at(self) -> dt.datetime | None:
        """The latest `ts=`."""
        return max(self._times[1], default=None)

    @property
    def wall_time(self) -> dt.timedelta | None:
        """From the earliest to the latest `ts=`; None with fewer than two of them."""
        times = self._times[1]
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
    def _elapsed(self) -> tuple[list[int], list[int]]:
        positions: list[int] = []
        seconds: list[int] = []
        for line, mark in self._lines.marks(comments.Elapsed):
            if mark.seconds is not None:
                positions.append(self._lines.positions[line])
                seconds.append(mark.seconds)
        return positions, seconds

    @functools.cached_property
    def _times(self) -> tuple[list[int], list[dt.datetime]]:
        positions: list[int] = []
        times: list[dt.datetime] = []
        for line in self._lines.containing("ts="):
            ts = line.meta.ts
            if ts is not None:
                positions.append(self._lines.positions[line])
                times.append(ts)
        return positions, times
