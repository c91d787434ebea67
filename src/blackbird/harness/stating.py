"""States what a user or a harness says of a session: each of it a record of the trace, redacted like all others.

Over the control socket of the recorder that runs. If none does, by the recorder program, which opens the trace for
this alone and leaves nothing running: whoever notes a task has asked for no recorder, and what is waited for is kept.
"""

import time
from types import TracebackType
from typing import Any, Self

from blackbird.config.resolve import Config
from blackbird.errors import RecorderFailed
from blackbird.home import Home
from blackbird.recorder.feed import Feed
from blackbird.trace.folder import Trace

#: How long a statement waits for the disk before it is left to the next who looks.
_SYNC_SECONDS = 2.0
#: How long one waits for another process that has the trace open for the same reason.
_PATIENCE_SECONDS = 5.0
_PAUSE_SECONDS = 0.1


class Statements:
    """Says things of one session, one after the other; at the end of each `with` block they are on the disk."""

    def __init__(self, home: Home, config: Config, session: str) -> None:
        self._home = home
        self._config = config
        self._session = session
        self._feed = Feed(home, config)
        self._last = 0

    def __enter__(self) -> Self:
        self._feed, self._last = Feed(self._home, self._config), 0
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._feed.__exit__(kind, error, trace)
        self.settle()

    def state(self, event: str, *, task: str | None = None, run: str | None = None, **data: Any) -> int:
        """The sequence of the record. What is None in `data` is not said.

        Raises `RecorderRefused` if it is refused, and `RecorderFailed` if it can be written nowhere.
        """
        given = {key: value for key, value in data.items() if value is not None}
        told = self._send(
            {"op": "event", "event": event, "session": self._session, "task": task, "run": run, "data": given}
        )
        self._last = int(told["sequence"])
        return self._last

    def settle(self) -> None:
        """Wait until all that was said is on the disk, where those who read the trace see it."""
        if self._last:
            Trace(self._home.trace).wait_for(self._last, _SYNC_SECONDS)

    def _send(self, op: dict[str, Any]) -> dict[str, Any]:
        """Ask; a trace that another process has open for a moment is waited for."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                return self._feed.send(op)
            except RecorderFailed:
                if self._last or time.monotonic() >= end:
                    raise
                self._feed.__exit__(None, None, None)
                self._feed = Feed(self._home, self._config)
                time.sleep(_PAUSE_SECONDS)
