"""One open session: its clock, its numbering, its counters, the file its entries go to, and who adds to it."""

import datetime as dt
import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple, Unpack

from blackbox.errors import ClosedError
from blackbox.events.build import Event
from blackbox.events.calls import Arguments
from blackbox.events.comments import Comment, Note
from blackbox.events.lifecycle import Lifecycle, Rotate
from blackbox.events.messages import Message, Thinking
from blackbox.redaction.config import load_redactor
from blackbox.syntax.results import Blob
from blackbox.syntax.values import integer, timestamp
from blackbox.vault.guard import Guard
from blackbox.write import scalars
from blackbox.write.render import render_event
from blackbox.write.scalars import MetaFields
from blackbox.write.sink import Sink
from blackbox.write.tally import Tally

Clock = Callable[[], dt.datetime]
#: Opens the next part of a rotated log: its name as `@rotate` gives it, and where its entries go.
OpenPart = Callable[[], tuple[str, Sink]]
#: An event and its metadata as the entry of a log.
Render = Callable[[Event, Mapping[str, str]], str]


class Witnessed(NamedTuple):
    """What a log shows of an event, and the entry in full, in which hidden secrets are counted."""

    shown: Event
    full: str


#: Sees each event in full with its metadata, before it is written, and says what the log shows of it.
Witness = Callable[[Event, Mapping[str, str]], Witnessed]


def utc_now() -> dt.datetime:
    """The wall clock, to the millisecond."""
    now = dt.datetime.now(dt.UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


class Course:
    """One agent's course through the session: the step it is at, and whether it has just been thinking."""

    def __init__(self) -> None:
        self.step: int | None = None
        self.is_thinking = False


class Recording:
    """What all logs of one session share. Every entry is stamped, guarded, rendered and written under one lock.

    Without a `guard` secrets are hidden by the user's own rules, and every result stays inline. One `within` another
    is a file more of the same session: lock and sums are shared, numbering is its own.
    """

    def __init__(
        self,
        sink: Sink,
        *,
        clock: Clock,
        steps: bool,
        timestamps: bool,
        guard: Guard | None = None,
        witness: Witness | None = None,
        render: Render = render_event,
        within: "Recording | None" = None,
    ) -> None:
        self.tally: Tally = Tally(None if within is None else within.tally.figures)
        self.lock: threading.RLock = threading.RLock() if within is None else within.lock
        self.began = clock()
        self.is_afk = False
        self.last_plan = ""
        self.is_closed = False
        self.clock = clock
        self.guard = guard or Guard(load_redactor())
        #: The main agent's.
        self.course = Course()
        self._rotate_bytes: int | None = None
        self._open_part: OpenPart | None = None
        self._sink = sink
        self._witness = witness
        self._render = render
        self._steps = steps
        self._timestamps = timestamps
        self._step = 0
        self._has_entries = False
        self._is_dated = False

    def write_source(self, text: str) -> None:
        """Write text that is no event: the header, the end of a torn line."""
        with self.lock:
            self._sink.write(text.encode())

    def append(self, event: Event, meta: Mapping[str, str], course: Course) -> None:
        """Write one entry, with its step and time filled in."""
        with self.lock:
            if self.is_closed:
                raise ClosedError("the log is closed", "log before `close()`, or start a new session")
            event, stamped = self.guard.admit(event, self._stamp(event, meta, course))
            text, full = self._spell(event, stamped)
            data = (text + "\n").encode()
            self._make_room(len(data), stamped)
            self._sink.write(data)
            self._has_entries = True
            self._take(event, stamped, full, course)

    def keep(self, data: bytes, mime: str | None) -> Blob:
        """Put content beside the log, for an entry to come."""
        with self.lock:
            if self.is_closed:
                raise ClosedError("the log is closed", "log before `close()`, or start a new session")
            return self.guard.keep(data, mime)

    @property
    def redactions(self) -> dict[str, int]:
        """How many secrets of each kind are hidden in the session and in the blobs that were kept of it."""
        return dict(self.tally.figures.redactions + self.guard.in_blobs)

    def replay(self, event: Event, meta: Mapping[str, str], written: str) -> None:
        """Count an entry that is in the log already."""
        first = timestamp(meta.get("ts"))
        if first is not None and not self._is_dated:
            self._is_dated = True
            self.began = first
        self._has_entries = True
        self._take(event, meta, written, Course() if "tid" in meta else self.course)

    def resume(self, *, cut_line: int) -> None:
        """Go on where the log ends; `cut_line` is the number of its last line if that has no line feed."""
        if cut_line:
            self.write_source("\n")
            note = f"line {cut_line} was cut short: the writer was stopped in the middle of it"
            self.append(Note(note), {}, self.course)

    def rotate_at(self, limit: int | None, open_part: OpenPart) -> None:
        """Go on in another file before an entry would take this one past `limit` bytes."""
        self._rotate_bytes = limit
        self._open_part = open_part

    def stay(self) -> None:
        """Write the rest into this file, whatever its size: a session's last lines belong together."""
        self._rotate_bytes = None

    def elapsed(self) -> dt.timedelta:
        """Time since the session began."""
        return max(self.clock() - self.began, dt.timedelta())

    def close(self) -> None:
        """Take no more entries."""
        with self.lock:
            self.is_closed = True
            self._sink.close()

    def _stamp(self, event: Event, meta: Mapping[str, str], course: Course) -> dict[str, str]:
        stamped = dict(meta)
        if isinstance(event, Comment):
            return stamped
        if self._steps and "step" not in stamped:
            shares = course.step == self._step and (course.is_thinking or not isinstance(event, Message | Thinking))
            is_answer = isinstance(event, Message) and event.role == "user"
            stamped["step"] = str(self._step if shares and self._step and not is_answer else self._step + 1)
        if self._timestamps and "ts" not in stamped:
            stamped["ts"] = scalars.timestamp("clock", self.clock())
        return stamped

    def _spell(self, event: Event, meta: Mapping[str, str]) -> tuple[str, str]:
        """The entry as it is written and in full: what the witness leaves of it, searched once more as a whole."""
        if self._witness is None:
            text = self.guard.look_again(self._render(event, meta))
            return text, text
        seen = self._witness(event, meta)
        return self.guard.look_again(self._render(seen.shown, meta)), seen.full

    def _take(self, event: Event, meta: Mapping[str, str], written: str, course: Course) -> None:
        step = integer(meta.get("step"))
        if step is not None:
            course.step = step
            self._step = max(self._step, step)
        if not isinstance(event, Comment):
            course.is_thinking = isinstance(event, Thinking)
        self.tally.count(event, meta, written)

    def _make_room(self, size: int, coming: Mapping[str, str]) -> None:
        """Go on in the next part if this one is full, and has more in it than its header.

        The part is opened before the old one names it, so that the name never points nowhere.
        """
        is_full = self._rotate_bytes is not None and self._sink.size + size > self._rotate_bytes
        if self._open_part is None or not self._has_entries or not is_full:
            return
        name, sink = self._open_part()
        event = Lifecycle("rotate", Rotate(name), Arguments((), {"file": name}), None)
        # No later than the entry it makes room for.
        meta = self._stamp(event, {"ts": coming["ts"]} if "ts" in coming else {}, self.course)
        # Of the file and not of the session: no witness needs it.
        self._sink.write((self._render(event, meta) + "\n").encode())
        self._sink.close()
        self._sink = sink
        self._has_entries = False


class Author:
    """One agent's hand in an open session. Thread-safe: entries are whole and in order."""

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

    def _append(self, event: Event, meta: MetaFields | None, **fixed: str) -> None:
        self._check_open()
        given = scalars.meta_of(meta) if meta else {}
        self._recording.append(event, self._context | given | fixed, self._course)

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
