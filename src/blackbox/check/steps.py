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

_WHOLE_NUMBERS = re.compile(r"latency_ms|tokens_\w+")


class StepChecks:
    """Keeps the last step, the last time of each thread, and which steps occurred as ranges."""

    def __init__(self, add: Callable[[Finding], None], counting: Counting) -> None:
        self._add = add
        self._counting = counting
        self._last_step: int | None = None
        self._last_step_text = self._last_time_text = ""
        self._last_times: dict[str, tuple[str, dt.datetime]] = {}
        #: The steps that occurred, as ranges: their first and last steps, both ascending.
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        self._unseen: dict[int, int] = {}
        #: Told of every valid timestamp; the flight checks measure hours with it.
        self.on_time: Callable[[Line, dt.datetime], None] = lambda _line, _time: None

    def line(self, line: Line, metadata: dict[str, str]) -> None:
        """Check the step and the time of one line. Many lines share those of the line before."""
        text = metadata.get("step")
        if text is not None and text != self._last_step_text:
            self._last_step_text = text
            self._step(line, text)
        text = metadata.get("ts")
        if text is not None:
            if text == self._last_time_text and "tid" not in metadata:
                self._counting.statistics.timestamps += 1
            else:
                self._time(line, text, metadata.get("tid", "1"))

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
        last = self._last_times.get(thread)
        if last is not None and time < last[1]:
            message = f"{text} comes after {last[0]}"
            self._add(rule_named("time-goes-back").finding(line.number, message))
        self._last_times[thread] = (text, time)
        if thread == "1":
            self._last_time_text = text
        self.on_time(line, time)

    def values(self, line: Line) -> None:
        """Check the types of a line's metadata values."""
        if "=" not in line.source:
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
