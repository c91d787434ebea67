"""What was taken in of agents' own logs for a session: how much, from when to when, and what it was about."""

import datetime as dt
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from blackbird.exchange import payloads

OPEN, END = "import.open", "import.end"


class Log(msgspec.Struct):
    """One log, as it was last stated. Times are nanoseconds since 1970."""

    source: str
    #: Who wrote it, if that is told; how it is written is known in any case.
    client: str | None = None
    format: str | None = None
    session: str | None = None
    thread: str | None = None
    path: str | None = None
    is_kept: bool = True
    lines: int = 0
    messages: int = 0
    first_at: int | None = None
    last_at: int | None = None
    title: str | None = None
    #: When an import last spoke of it: all that is known of one that was cut off.
    taken_at: int | None = None
    #: The folder that the agent worked in, or the SHA-256 of its path.
    folder: str | None = None

    @property
    def name(self) -> str:
        """The session that it is of; a log that names none is one by itself."""
        return self.session or self.source

    def state(self, fields: dict[str, Any]) -> None:
        """What an import states of it."""
        data = payloads.inner(fields, "data")
        if fields.get("event") == OPEN:
            self.client = payloads.text(data, "client")
            self.format = payloads.text(data, "format")
            self.session = payloads.text(data, "native_session")
            self.thread = payloads.text(data, "native_thread")
            self.path = payloads.text(data, "path")
            self.is_kept = data.get("kept") is not False
        if fields.get("event") == END or not self.is_kept:
            self.lines = payloads.number(data, "lines") or 0
            self.messages = payloads.number(data, "messages") or 0
            self.first_at = instant(payloads.text(data, "first_at"))
            self.last_at = instant(payloads.text(data, "last_at"))
            self.title = payloads.text(data, "title")
            self.folder = payloads.text(data, "folder")


class Logs:
    """All logs that a trace speaks of."""

    def __init__(self, known: Iterable[Log] = ()) -> None:
        self._known = {log.source: log for log in known}

    def all(self) -> list[Log]:
        """All of them, in the order in which they were first taken in."""
        return list(self._known.values())

    def take(self, fields: dict[str, Any], wall: int | None = None) -> bool:
        """Hear a statement and when it was made; whether it is about an import."""
        if fields.get("event") not in (OPEN, END):
            return False
        source = payloads.text(payloads.inner(fields, "data"), "source")
        if source is not None:
            log = self._known.setdefault(source, Log(source))
            log.state(fields)
            log.taken_at = wall if wall is not None else log.taken_at
        return True

    def by_session(self) -> dict[str, list[Log]]:
        """The logs of each session, in the order in which they were first taken in."""
        found: dict[str, list[Log]] = {}
        for log in self._known.values():
            found.setdefault(log.name, []).append(log)
        return found


class Outing(msgspec.Struct):
    """One run of an agent: the folder that it worked in, and when. Times are nanoseconds since 1970."""

    folder: str | None = None
    began: int | None = None
    ended: int | None = None

    def state(self, event: object, data: Mapping[str, Any], wall: int) -> None:
        """What its launcher states of it."""
        if event == "run.start":
            self.folder, self.began = payloads.text(data, "cwd"), wall
        elif event == "run.end":
            self.ended = wall

    def met(self, log: Log) -> bool:
        """Whether the log was written in its folder, and some of it while it ran."""
        if self.folder is None or self.began is None or log.first_at is None or log.last_at is None:
            return False
        hashed = hashlib.sha256(self.folder.encode(errors="surrogateescape")).hexdigest()
        is_there = log.folder in (self.folder, hashed)
        return is_there and self.began <= log.last_at and (self.ended is None or log.first_at <= self.ended)

    def has_all_of(self, log: Log) -> bool:
        """Whether the log begins and ends while it ran."""
        is_begun = self.began is not None and log.first_at is not None and self.began <= log.first_at
        return is_begun and (self.ended is None or (log.last_at or 0) <= self.ended)


def made_by(outings: Iterable[Outing], sessions: Mapping[str, list[Log]]) -> set[str]:
    """Which sessions of a client that says no ids on the wire were had in some runs.

    Those whose logs were written in a run from beginning to end; else the one that it went on with. If it may have
    gone on with several, nobody knows.
    """
    found: set[str] = set()
    for outing in outings:
        near = [name for name, logs in sessions.items() if any(outing.met(log) for log in logs)]
        whole = [name for name in near if all(outing.has_all_of(log) for log in sessions[name])]
        found.update(whole or (near if len(near) == 1 else ()))
    return found


def title_of(logs: list[Log]) -> str | None:
    """What the session was about: the words of its first thread count before those of a sub-agent."""
    titled = sorted((log for log in logs if log.title is not None), key=lambda log: log.thread is not None)
    return titled[0].title if titled else None


def instant(text: str | None) -> int | None:
    """A time with its zone, in nanoseconds since 1970; nothing if it is none."""
    try:
        time = dt.datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return round(time.timestamp() * 1_000_000) * 1000 if time.tzinfo is not None else None
