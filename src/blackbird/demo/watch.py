"""Tells of requests as they are recorded, by reading the trace that is being written."""

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from blackbird.exchange.catalog import Selection, recent
from blackbird.exchange.exchange import Exchange, State
from blackbird.trace.folder import Trace

_POLL_SECONDS = 0.02
_PATIENCE_SECONDS = 10.0


class Watch:
    """Looks at a trace for the time of a `with` block, and tells of each request of a run once it is over."""

    def __init__(self, folder: Path, run: str, live: bytes | None, tell: Callable[[Exchange], None]) -> None:
        self._trace = Trace(folder)
        self._selection = Selection(run=run)
        self._live = live
        self._tell = tell
        self._told: set[str] = set()
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

    def wait_for(self, count: int) -> bool:
        """Whether so many requests were told of before long."""
        pause = threading.Event()
        for _ in range(int(_PATIENCE_SECONDS / _POLL_SECONDS)):
            if len(self._told) >= count:
                return True
            pause.wait(_POLL_SECONDS)
        return False

    def _look_on(self) -> None:
        while not self._stop.wait(_POLL_SECONDS):
            self._look()

    def _look(self) -> None:
        for exchange in recent(self._trace, self._selection, self._live).exchanges:
            if exchange.state is not State.ACTIVE and exchange.request_id not in self._told:
                self._tell(exchange)
                self._told.add(exchange.request_id)
