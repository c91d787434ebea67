"""Checks on steps, timestamps and the types of metadata values."""

import bisect
import datetime as dt
import re
from collections.abc import Callable

from blackbox.check.findings import Finding
from blackbox.check.rules import rule_named
from blackbox.check.statistics import Counting
from blackbox.document.line import Line
from blackbox.syntax.metadata import LEVELS
from blackbox.syntax.values import attempt, integer, timestamp

#: Signs that a value may not have its type; only then is a line taken apart. Each starts with a literal, which is
#: what makes a search over a whole block cheap.
_DOUBTFUL_VALUES = (
    r"latency_ms=(?!\d{1,18}(?:[ \t\r\n]|→|\Z))",
    r"tokens_[^ \t\r\n=]+=(?!\d{1,18}(?:[ \t\r\n]|→|\Z))",
    r"attempt=(?!\d{1,9}(?:/\d{1,9})?(?:[ \t\r\n]|→|\Z))",
    r"level=(?!(?:debug|info|warn|error)(?:[ \t\r\n]|→|\Z))",
)
DOUBTFUL_BYTES = tuple(re.compile(pattern.encode()) for pattern in _DOUBTFUL_VALUES)
_DOUBTFUL = re.compile("|".join(_DOUBTFUL_VALUES), re.ASCII)
#: The seconds of a timestamp in UTC: what may differ within a minute that is known to be valid.
_IN_MINUTE = re.compile(r"[0-5]\d(?:\.\d{1,9})?Z", re.ASCII)
_WHOLE_NUMBERS = re.compile(r"latency_ms|tokens_\w+")


def _is_later_in_minute(time: str, last: str) -> bool:
    """Whether a timestamp is of the same form and minute as a valid one in UTC, and not before it."""
    return (
        time > last
        and time[:17] == last[:17]
        and len(time) == len(last)
        and last[-1:] == "Z"
        and _IN_MINUTE.fullmatch(time, 17) is not None
    )


class StepChecks:
    """Keeps the last step, the last time of each thread, and which steps occurred as ranges."""

    def __init__(self, add: Callable[[Finding], None], counting: Counting) -> None:
        self._add = add
        self._counting = counting
        self._last_step: int | None = None
        self._last_step_text = self._last_time_text = ""
        #: The last timestamps of the threads beside the main one.
        self._last_times: dict[str, str] = {}
        #: The steps that occurred, as ranges: their first and last steps, both ascending.
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        self._unseen: dict[int, int] = {}
        #: Told of every valid timestamp; the flight checks measure hours with it.
        self.on_time: Callable[[Line, dt.datetime], None] = lambda _line, _time: None

    def line(self, line: Line, metadata: dict[str, str]) -> None:
        """Check the step and the time of one line."""
        self.place(line, metadata.get("step"), metadata.get("ts"), metadata.get("tid", "1"))

    def place(self, line: Line, step: str | None, time: str | None, thread: str) -> None:
        """The same for values at hand. Many lines share those of the line before, or are of the same minute."""
        if step is not None and step != self._last_step_text:
            self._last_step_text = step
            self._step(line, step)
        if time is None:
            return
        if thread == "1" and (time == self._last_time_text or _is_later_in_minute(time, self._last_time_text)):
            self._counting.statistics.timestamps += 1
            self._last_time_text = time
        else:
            self._time(line, time, thread)

    def metrics_step(self, step: int, number: int) -> None:
        """Metrics that name a step: it has to occur somewhere."""
        if not self._occurred(step):
            self._unseen.setdefault(step, number)

    def _step(self, line: Line, text: str) -> None:
        step = integer(text)
        if step is None:
            self._add(rule_named("bad-step").finding(line.number, f"`step={text}` is not a whole number"))
            return
        self._counting.step(step)
        last = self._last_step
        if last is not None and step < last:
            self._add(rule_named("step-decreases").finding(line.number, f"step {step} comes after step {last}"))
        elif last is not None and step > last + 1:
            self._add(rule_named("step-gap").finding(line.number, f"step {step} comes after step {last}"))
        self._last_step = step
        self._remember(step)

    def _occurred(self, step: int) -> bool:
        at = bisect.bisect_right(self._firsts, step) - 1
        return at >= 0 and step <= self._lasts[at]

    def _remember(self, step: int) -> None:
        """Take a step into the ranges, which grow in number with the gaps alone."""
        firsts, lasts = self._firsts, self._lasts
        at = bisect.bisect_right(firsts, step)
        if at and step <= lasts[at - 1]:
            return
        follows = at > 0 and step == lasts[at - 1] + 1
        precedes = at < len(firsts) and step == firsts[at] - 1
        if follows and precedes:
            del firsts[at], lasts[at - 1]
        elif follows:
            lasts[at - 1] = step
        elif precedes:
            firsts[at] = step
        else:
            firsts.insert(at, step)
            lasts.insert(at, step)

    def _time(self, line: Line, text: str, thread: str) -> None:
        time = timestamp(text)
        if time is None:
            self._add(rule_named("bad-timestamp").finding(line.number, f"`ts={text}` is not an ISO 8601 instant"))
            return
        self._counting.statistics.timestamps += 1
        last_text = self._last_time_text if thread == "1" else self._last_times.get(thread, "")
        last = timestamp(last_text)
        if last is not None and time < last:
            if line.is_inherited:
                return
            self._add(rule_named("time-goes-back").finding(line.number, f"{text} comes after {last_text}"))
        if thread == "1":
            self._last_time_text = text
        else:
            self._last_times[thread] = text
        self.on_time(line, time)

    def values(self, line: Line) -> None:
        """Check the types of a line's metadata values."""
        if not _DOUBTFUL.search(line.source):
            return
        for key, value in line.head.metadata.items():
            if _WHOLE_NUMBERS.fullmatch(key):
                wanted = None if integer(value) is not None else "a whole number"
            elif key == "attempt":
                wanted = None if attempt(value) is not None else "N or N/M"
            elif key == "level":
                wanted = None if value in LEVELS else "debug, info, warn or error"
            else:
                continue
            if wanted is not None:
                self._add(rule_named("bad-metadata").finding(line.number, f"`{key}={value}` is not {wanted}"))

    def finish(self) -> None:
        """Metrics whose step never came."""
        for step, number in self._unseen.items():
            if not self._occurred(step):
                message = f"no line has the step {step} these metrics are for"
                self._add(rule_named("metrics-without-step").finding(number, message))
