"""Logs that are followed: those that are known are looked at twice a second, others are looked for less often."""

import contextlib
import time
from collections.abc import Iterator

import msgspec

from blackbird.cli.importing import round as rounds
from blackbird.cli.importing.round import Found, Interrupt, Wish
from blackbird.config.resolve import Config
from blackbird.home import Home
from blackbird.imports import places
from blackbird.imports.finding import Candidate
from blackbird.imports.ledger import Ledger
from blackbird.imports.taking import Outcome
from blackbird.recorder import control
from blackbird.recorder.feed import Feed
from blackbox.errors import ReadError

_LOOK_SECONDS = 0.5
#: New logs are searched for in whole folders, which takes longer.
_SEARCH_SECONDS = 3.0
#: Without a recorder, a process of its own has the trace: for as long as lines come, so that they share a segment,
#: and no longer, so that a recorder can start.
_IDLE_SECONDS = 5.0


def rounds_of(
    home: Home, config: Config, ledger: Ledger, wish: Wish, found: Found, interrupt: Interrupt
) -> Iterator[tuple[Found, Outcome]]:
    """What is taken in, time after time, until it is interrupted."""
    known, searched = found, time.monotonic()
    line = _Line(home, config)
    with contextlib.closing(line):
        while _pause(interrupt):
            line.rest()
            if time.monotonic() - searched >= _SEARCH_SECONDS:
                news = known = rounds.find(wish, ledger)
                searched = time.monotonic()
            elif changed := [candidate for candidate in known.candidates if _has_changed(candidate)]:
                news = _look_again(wish, ledger, changed)
                known = _with(known, news)
            else:
                continue
            done = rounds.take(home, config, ledger, news, wish, interrupt, feed=line.open())
            if done.files:
                line.touch()
                yield news, done


class _Line:
    """The way into the trace, opened when it is used and closed when nothing came for a while."""

    def __init__(self, home: Home, config: Config) -> None:
        self._home = home
        self._config = config
        self._feed: Feed | None = None
        self._used = 0.0

    def open(self) -> Feed:
        """The feed; nothing is started before something is sent."""
        if self._feed is None:
            self._feed = Feed(self._home, self._config)
        return self._feed

    def touch(self) -> None:
        """Something was sent. To a recorder that runs, another connection is as good."""
        self._used = time.monotonic()
        if control.status(self._home) is not None:
            self.close()

    def rest(self) -> None:
        """Close it, if nothing came for a while."""
        if time.monotonic() - self._used >= _IDLE_SECONDS:
            self.close()

    def close(self) -> None:
        """Give the trace back."""
        feed, self._feed = self._feed, None
        if feed is not None:
            feed.__exit__(None, None, None)


def _has_changed(candidate: Candidate) -> bool:
    """Whether the file system says something new of a log; one that is gone waits for the next search."""
    with contextlib.suppress(OSError):
        file = places.look(candidate.file.path)
        return file is not None and (file.size, file.mtime_ns) != (candidate.file.size, candidate.file.mtime_ns)
    return False


def _look_again(wish: Wish, ledger: Ledger, changed: list[Candidate]) -> Found:
    paths = tuple(candidate.file.path for candidate in changed)
    try:
        return rounds.find(msgspec.structs.replace(wish, clients=(), paths=paths), ledger)
    except ReadError:
        # One of them was removed just now; the next search tells what is left.
        return Found([], [], [], {}, {})


def _with(known: Found, news: Found) -> Found:
    """The same with what is known of some of them now."""
    newer = {candidate.file.path: candidate for candidate in news.candidates}
    candidates = [newer.pop(candidate.file.path, candidate) for candidate in known.candidates]
    return Found([*candidates, *newer.values()], known.unreadable, known.unknown, known.barren, known.absent)


def _pause(interrupt: Interrupt) -> bool:
    """Wait for the next look; whether there is one."""
    end = time.monotonic() + _LOOK_SECONDS
    while not interrupt.is_set and time.monotonic() < end:
        time.sleep(0.1)
    return not interrupt.is_set
