"""Counts what passes in a run from the trace as it grows, so that the end of the run need not wait for it."""

import contextlib
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blackbox.errors import BlackboxError

if TYPE_CHECKING:
    from blackbird.sessions.tally import Tally
    from blackbird.trace.records import Record

_POLL_SECONDS = 0.2
_QUICK_SECONDS = 0.01
_PATIENCE_SECONDS = 1.0
_SYNCED = "synced"
_FAILED_STATUS = 400


class Watch:
    """Follows the trace in a thread of its own, from where it stood when this was made."""

    def __init__(self, folder: Path, segment: int) -> None:
        self._folder = folder
        self._segment = segment
        self._mark = b""
        with contextlib.suppress(OSError):
            self._mark = (folder / _SYNCED).read_bytes()
        self._run = ""
        self._last = 0
        self._asked_for: int | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="watch", daemon=True)
        self.tally: Tally | None = None
        self.tunnels = 0
        #: What each call failed with, once it did: its status, or the code of what broke it.
        self.failed: dict[bytes, str] = {}
        self.problem: str | None = None

    def start(self, run: str) -> None:
        """Count the requests of this run from here on."""
        self._run = run
        self._thread.start()

    def finish(self, sequence: int | None) -> None:
        """Count up to this record, the last of the run, and what its requests still have to come."""
        self._asked_for = sequence
        self._over.set()
        self._thread.join(2 * _PATIENCE_SECONDS)
        if self._thread.is_alive():
            self.problem = "reading the trace takes too long"

    def _follow(self) -> None:
        # Imported here, beside the child that is starting, and not before it.
        from blackbird.sessions.follow import Follower  # noqa: PLC0415
        from blackbird.sessions.tally import Tally  # noqa: PLC0415
        from blackbird.trace import synced  # noqa: PLC0415
        from blackbird.trace.errors import TraceError  # noqa: PLC0415

        tally = Tally(run=self._run)
        try:
            mark = synced.parse(self._mark)
        except TraceError:
            mark = None
        try:
            with Follower.since(self._folder, mark, segment=self._segment, bodies=False) as follower:
                while not self._over.wait(_POLL_SECONDS):
                    self._count(follower.poll(), tally)
                end = time.monotonic() + _PATIENCE_SECONDS
                self._count(follower.poll(), tally)
                while self._is_behind(tally) and time.monotonic() < end:
                    time.sleep(_QUICK_SECONDS)
                    self._count(follower.poll(), tally)
        except BlackboxError as error:
            self.problem = error.message
        self.tally = tally

    def _is_behind(self, tally: "Tally") -> bool:
        return self._last < (self._asked_for or 0) or tally.active > 0

    def _count(self, records: list["Record"], tally: "Tally") -> None:
        from blackbird.trace.records import Kind, read_object  # noqa: PLC0415 - as above

        for record in records:
            self._last = record.sequence
            if record.kind == Kind.REQUEST_START:
                fields = read_object(record) or {}
                if fields.get("via") == "tunnel":
                    self.tunnels += fields.get("run") == self._run
                    continue
            if tally.take(record) and record.kind in (Kind.RESPONSE_START, Kind.ERROR):
                self._note_failure(record.request, read_object(record) or {})

    def _note_failure(self, request: bytes, fields: dict[str, Any]) -> None:
        """A call that was broken off after an answer that says so failed once, with what broke it.

        A client that has read enough of such an answer broke nothing: SDKs leave so before they try again.
        """
        from blackbird.exchange.payloads import is_left  # noqa: PLC0415 - as above

        status, code = fields.get("status"), fields.get("code")
        if isinstance(code, str):
            is_known = fields.get("where") == "client" and request in self.failed
            if not is_known and not is_left(fields):
                self.failed[request] = code
        elif isinstance(status, int) and status >= _FAILED_STATUS:
            self.failed[request] = str(status)
