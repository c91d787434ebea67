"""Tells of requests as they are recorded, by following the trace that is being written."""

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from blackbird.exchange import catalog
from blackbird.exchange.exchange import Exchange
from blackbird.sessions.follow import Follower
from blackbird.sessions.live import Ended, Live
from blackbird.trace.folder import Trace

_POLL_SECONDS = 0.02
_PATIENCE_SECONDS = 10.0


class Watch:
    """Looks at a trace for the time of a `with` block, and tells of each request of a run once it is over."""

    def __init__(self, folder: Path, run: str, tell: Callable[[Exchange], None]) -> None:
        self._follower = Follower.now(folder, bodies=False)
        self._live = Live(lambda request: catalog.load(Trace(folder), request, bodies=False))
        self._run = run
        self._tell = tell
        self._told = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look_on, name="watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._follower.close()

    def wait_for(self, count: int) -> bool:
        """Whether so many requests were told of before long."""
        pause = threading.Event()
        for _ in range(int(_PATIENCE_SECONDS / _POLL_SECONDS)):
            if self._told >= count:
                return True
            pause.wait(_POLL_SECONDS)
        return False

    def _look_on(self) -> None:
        while not self._stop.wait(_POLL_SECONDS):
            self._look()

    def _look(self) -> None:
        for sighting in self._follower.read():
            for event in self._live.take(sighting):
                if isinstance(event, Ended) and event.exchange.run == self._run:
                    self._tell(event.exchange)
                    self._told += 1
