"""A clock that moves one second a look, and the log it belongs to."""

import datetime as dt
import io
from collections.abc import Callable
from typing import Unpack

from blackbox.redaction.redactor import Redactor
from blackbox.write import Writer
from blackbox.write.header import HeaderFields

#: One for all: its patterns are compiled once.
REDACTOR = Redactor()
START = dt.datetime(2025, 12, 18, 3, 21, 8, tzinfo=dt.UTC)


def ticking() -> Callable[[], dt.datetime]:
    """03:21:08, 03:21:09, …"""
    seen = 0

    def clock() -> dt.datetime:
        nonlocal seen
        seen += 1
        return START + dt.timedelta(seconds=seen - 1)

    return clock


class Memory(io.BytesIO):
    """A stream whose body can be read as text, header left out."""

    @property
    def body(self) -> str:
        return self.getvalue().decode().split("---\n\n", 1)[1]


def bare_log(**header: Unpack[HeaderFields]) -> tuple[Memory, Writer]:
    """A log without steps, times and `@start`: what is logged, and nothing else."""
    given: HeaderFields = {"id": "s", "repo_sha": "abc1234"}
    given.update(header)
    stream = Memory()
    log = Writer(stream, clock=ticking(), steps=False, timestamps=False, start=False, redactor=REDACTOR, **given)
    return stream, log
