"""One session in detail: its tasks, its runs with what was stated of them, its threads, and what passed."""

from typing import Any

import msgspec

from blackbird.exchange import payloads
from blackbird.sessions import threads
from blackbird.sessions.links import sender_of
from blackbird.sessions.rows import REGISTERED, Row
from blackbird.sessions.tally import Tally
from blackbird.sessions.threads import Thread, Threads
from blackbird.trace import ids
from blackbird.trace.records import Kind, Record, read_object


class Run:
    """A run: what was stated of it, and what its requests came to. Times are nanoseconds since 1970."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.task: str | None = None
        self.began: int | None = None
        self.ended: int | None = None
        #: What `run.start`, `run.context` and `run.end` say, the later over the earlier.
        self.data: dict[str, Any] = {}
        self.description: str | None = None
        self.tally = Tally()

    def text(self, *keys: str) -> str | None:
        """The first of these that was stated."""
        return next((value for key in keys if (value := payloads.text(self.data, key)) is not None), None)

    @property
    def outcome(self) -> str:
        """How its process ended, in a few words."""
        if self.ended is None:
            return "no end recorded"
        code, signal = payloads.number(self.data, "exit_code"), self.data.get("signal")
        if signal is not None:
            return f"ended by signal {signal}"
        return "ended" if code is None else f"exit code {code}"

    @property
    def duration_ms(self) -> int | None:
        """As stated, else between the two statements."""
        stated = payloads.number(self.data, "duration_ms")
        if stated is not None or self.began is None or self.ended is None:
            return stated
        return (self.ended - self.began) // 1_000_000

    def state(self, event: object, data: payloads.Fields, wall: int) -> None:
        """What a harness states of it."""
        if event == "run.describe":
            self.description = payloads.text(data, "text") or self.description
            return
        if event == "run.start":
            self.began = wall if self.began is None else self.began
        elif event == "run.end":
            self.ended = wall
        elif event != "run.context":
            return
        self.data.update(data)


class _Owned(msgspec.Struct):
    run: Run | None
    thread: Thread


class Detail:
    """What there is of one row. Records of other sessions' statements are passed over."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.tally = Tally()
        self.tasks: dict[str, None] = {}
        self.runs: dict[str, Run] = {}
        self.threads = Threads()
        self._owned: dict[bytes, _Owned] = {}

    def take(self, record: Record, wall: int) -> None:
        """Count a record: of one of its requests, or of none."""
        if record.request == ids.ZERO:
            if record.kind == Kind.HARNESS_EVENT and self.row.filing.attribution == REGISTERED:
                self._hear(read_object(record) or {}, wall)
            return
        if record.kind == Kind.NATIVE_LINE:
            return
        owned = self._owned.get(record.request)
        if owned is None:
            owned = self._begin(record, wall)
        if record.kind != Kind.REQUEST_START:
            self.tally.take(record)
            if owned.run is not None:
                owned.run.tally.take(record)
            threads.take(owned.thread, record, wall)

    def _begin(self, record: Record, wall: int) -> _Owned:
        fields = (read_object(record) or {}) if record.kind == Kind.REQUEST_START else {}
        task, name = payloads.text(fields, "task"), payloads.text(fields, "run")
        if task is not None:
            self.tasks.setdefault(task)
        run = self._run(name, task) if name is not None else None
        thread = self.threads.begin(name, sender_of(fields), wall)
        owned = self._owned[record.request] = _Owned(run, thread)
        for tally in (self.tally, thread.tally, *((run.tally,) if run is not None else ())):
            tally.begin(record.request, fields)
        return owned

    def _hear(self, fields: dict[str, Any], wall: int) -> None:
        session, task, name = (payloads.text(fields, key) for key in ("session", "task", "run"))
        is_mine = session == self.row.filing.session if session is not None else name in self.runs
        if not is_mine or fields.get("event") in ("pin", "unpin"):
            return
        if task is not None:
            self.tasks.setdefault(task)
        if name is not None:
            self._run(name, task).state(fields.get("event"), payloads.inner(fields, "data"), wall)

    def _run(self, name: str, task: str | None) -> Run:
        run = self.runs.setdefault(name, Run(name))
        run.task = run.task or task
        return run
