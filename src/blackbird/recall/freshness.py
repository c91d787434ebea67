"""Whether the memory is as far as the trace, found out without reading either; and how it is brought there."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from blackbird.artifacts.version import builder_version
from blackbird.errors import MemoryBusy
from blackbird.home import Home
from blackbird.store.memory import Memory
from blackbird.trace import synced
from blackbird.trace.errors import TraceError
from blackbox.errors import BlackboxError, WriteError

if TYPE_CHECKING:
    from blackbird.derive import Report

Tell = Callable[[int, int], None]


def is_up_to_date(memory: Memory, home: Home) -> bool:
    """Whether all that is on the disk is in the memory, and was put there by this version.

    False is only a doubt: who derives knows.
    """
    try:
        reached = synced.parse((home.trace / synced.NAME).read_bytes())
    except (OSError, TraceError):
        return False
    mark = memory.mark()
    if mark is None or not memory.fits(builder_version()):
        return False
    return (mark.segment, mark.sequence) == (reached.segment, reached.sequence)


class Freshness:
    """Keeps the memory of a home up to its trace. A memory that there is answers, even if that takes too long."""

    def __init__(self, home: Home, tell: Tell | None, patience: float | None) -> None:
        """`patience` is how many seconds an answer may have to wait; without one, as many as it takes."""
        self._home = home
        self._tell = tell
        self._patience = patience
        self._thread: threading.Thread | None = None
        self._failure: BlackboxError | None = None
        #: What the last derivation came to, if there was one.
        self.report: Report | None = None

    def bring(self, memory: Memory | None) -> None:
        """Take in what is new. If another process is at it, or nothing can be written, what is there has to do."""
        if memory is not None and is_up_to_date(memory, self._home):
            return
        if memory is None or self._patience is None:
            self._derive(is_needed=memory is None)
            return
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._derive_aside, name="derive", daemon=True)
            self._thread.start()
        self.wait()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def rebuild(self) -> None:
        """Make the memory anew."""
        from blackbird import derive  # noqa: PLC0415 - takes longer to load than most answers take

        self.report = derive.rebuild(self._home, self._tell)

    def wait(self) -> None:
        """Wait for what is under way, as long as there is patience."""
        if self._thread is not None:
            self._thread.join(self._patience)

    def _derive(self, *, is_needed: bool) -> None:
        from blackbird import derive  # noqa: PLC0415 - takes longer to load than most answers take

        try:
            self.report = derive.catch_up(self._home, self._tell)
        except (MemoryBusy, WriteError):
            if is_needed:
                raise

    def _derive_aside(self) -> None:
        """What goes wrong is told to whoever waits, or asks next."""
        try:
            self._derive(is_needed=False)
        except BlackboxError as error:
            self._failure = error
