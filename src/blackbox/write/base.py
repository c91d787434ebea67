"""What the logging methods share: how an event gets its ids, its step, its time and its place in the file."""

import datetime as dt
from collections.abc import Mapping
from typing import Unpack

from blackbox.errors import ClosedError
from blackbox.events.build import Event
from blackbox.events.calls import Arguments
from blackbox.syntax.results import Result
from blackbox.write import results, scalars
from blackbox.write.recording import Course, Recording
from blackbox.write.scalars import Argument, MetaFields

#: Free text may be given as it is.
Outcome = Result | str | None


class Base:
    """One agent's view of an open session. Thread-safe: entries are whole and in order."""

    def __init__(
        self, recording: Recording, context: Mapping[str, str] | None = None, *, course: Course | None = None
    ) -> None:
        self._recording = recording
        self._context = dict(context or {})
        self._course = course or Course()
        #: What an agent's own lines say of it; empty for the main agent.
        self._scope: dict[str, str] = {}
        self._is_closed = False

    def now(self) -> dt.datetime:
        """The time by the session's clock."""
        return self._recording.clock()

    def append(self, event: Event, **meta: Unpack[MetaFields]) -> None:
        """Log any event there is, ready-made."""
        self._append(event, meta)

    def _append(self, event: Event, meta: MetaFields | None, **fixed: str) -> dict[str, str]:
        self._check_open()
        given = scalars.meta_of(meta) if meta else {}
        return self._recording.append(event, self._context | given | fixed, self._course)

    def _comment(self, event: Event) -> None:
        self._check_open()
        self._recording.append(event, {}, self._course)

    def _check_open(self) -> None:
        if self._is_closed:
            raise ClosedError("this log is closed", "log before `close()`, or start a new one")

    def _next_id(self, prefix: str, meta: MetaFields | None) -> str:
        if meta is not None and "id" in meta:
            return meta["id"]
        with self._recording.lock:
            return self._recording.tally.next_id(prefix)


def arguments_of(
    positional: tuple[Argument, ...],
    keyword: Mapping[str, Argument | None],
    more: Mapping[str, Argument] | None = None,
) -> Arguments:
    """A call's arguments; keyword values that are None are left out, those in `more` are not."""
    pairs = {key: scalars.argument(value) for key, value in keyword.items() if value is not None}
    pairs |= {key: scalars.argument(value) for key, value in (more or {}).items()}
    return Arguments(tuple(scalars.argument(value) for value in positional), pairs)


def result_of(given: Outcome) -> Result | None:
    """A result as it was built, or free text."""
    return results.text(given) if isinstance(given, str) else given
