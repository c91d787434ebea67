"""A flight log of a session that goes on: entries as soon as they are certain, and the end when there is one."""

from collections.abc import Callable, Sequence
from typing import Protocol

from blackbird.canon.model import Amend, Item
from blackbird.flightlog import files
from blackbird.flightlog.entries.line import Line
from blackbird.flightlog.events import Composer, first_model
from blackbird.flightlog.files import FlightLog, SessionClock
from blackbird.flightlog.fitting import without_secret_names
from blackbird.timeline.timeline import Timeline
from blackbox.formats.flight import Entry
from blackbox.formats.shorten import shorten
from blackbox.redaction.redactor import Redactor
from blackbox.vault.guard import Guard
from blackbox.write import render_event, scalars


class Source(Protocol):
    """A session as it grows."""

    @property
    def timeline(self) -> Timeline:
        """All so far."""

    def poll(self) -> list[Item | Amend]:
        """What is new."""

    def close(self) -> list[Item | Amend]:
        """What was still under way when nobody wanted to wait for more."""


class LiveEntries:
    """The entries of a session that goes on. A call that has no result yet is written as begun."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._composer: Composer | None = None

    def look(self) -> list[Line]:
        """What is new since the last look."""
        news = self._source.poll()
        return self._lines(news) if news else []

    def end(self) -> list[Line]:
        """The last entries: what was under way, and an end for what is still open."""
        lines = self._lines(self._source.close())
        return [*lines, *(self._composer.close() if self._composer is not None else [])]

    def _lines(self, news: Sequence[Item | Amend]) -> list[Line]:
        timeline = self._source.timeline
        if self._composer is None:
            self._composer = Composer(timeline.threads, timeline.about.mcp, model=first_model(timeline.items))
        self._composer.know(timeline.threads)
        return [*self._composer.feed(news), *self._composer.settle()]


class LiveLog:
    """Writes the log of a session as it goes. It is opened with the first entry, since its header names the model."""

    def __init__(self, source: Source, create: Callable[[Timeline, SessionClock], FlightLog]) -> None:
        self._source = source
        self._create = create
        self._entries = LiveEntries(source)
        self._clock: SessionClock | None = None
        self.log: FlightLog | None = None

    def look(self) -> int:
        """Write what is new; how many entries that were."""
        lines = self._entries.look()
        if lines:
            self._open().write(lines)
        return len(lines)

    @property
    def is_over(self) -> bool:
        """Whether all runs of the session have ended. One without a run has no end that anybody could know."""
        about = self._source.timeline.about
        return bool(about.runs) and not about.is_active

    def end(self) -> FlightLog:
        """Write the rest and the end."""
        lines = self._entries.end()
        log = self._open()
        log.write(lines)
        if self._clock is not None:
            files.finish(log, self._source.timeline, self._clock)
        return log

    def _open(self) -> FlightLog:
        if self.log is None:
            timeline = self._source.timeline
            self._clock = SessionClock(timeline)
            self.log = self._create(timeline, self._clock)
            files.begin(self.log, timeline)
        return self.log


class Speller:
    """Entries as the lines of a log, without secrets; for people, cut short as an .rlog is."""

    def __init__(self, redactor: Redactor, *, full: bool) -> None:
        self._guard = Guard(redactor)
        self._full = full

    def text(self, line: Line) -> str:
        """The lines of one entry, without the last line feed."""
        named = without_secret_names(line.event, self._guard.clean)
        event, meta = self._guard.admit(named, scalars.meta_of(line.meta) if line.meta else {})
        shown = event if self._full else shorten(Entry(event, meta))
        return self._guard.look_again(render_event(shown, meta))
