"""Logs to write to: a session's own, opened, gone on with and closed, and a sub-agent's within its parent's."""

import abc
import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from blackbox.document.files import open_log, scan
from blackbox.errors import ClosedError, UsageError, WriteError
from blackbox.events import calls, lifecycle
from blackbox.redaction.config import load_redactor
from blackbox.redaction.redactor import Redactor
from blackbox.syntax.header import Header
from blackbox.syntax.results import Result
from blackbox.vault.guard import THRESHOLD, Guard, count_markers
from blackbox.vault.store import BlobStore
from blackbox.write import results, scalars
from blackbox.write.header import HeaderFields, map_header, spell_header
from blackbox.write.marks import Marks, Notes
from blackbox.write.recording import Clock, Recording, utc_now
from blackbox.write.scalars import Argument, MetaFields, Money
from blackbox.write.sink import Durability, FileSink, Parts, Stream, StreamSink, check_limit
from blackbox.write.turns import Calls, Talk


class Log(Talk, Calls, Marks, Notes, abc.ABC):
    """Everything one agent can log. Leaving the `with` block closes it."""

    _subject = "the log"

    def subagent(
        self,
        agent_type: str,
        task: str | None = None,
        /,
        *,
        meta: MetaFields | None = None,
        **kwargs: Argument,
    ) -> "SubagentLog":
        """`x:explore id=sub_1 tid=2 span=x1 "find tests" → [started]`: a log for the sub-agent's own events."""
        name = self._next_id("sub_", meta)
        with self._recording.lock:
            scope = {"tid": self._recording.tally.next_tid(), "span": self._recording.tally.next_id("x")}
        if "span" in self._scope:
            scope["parent"] = self._scope["span"]
        given = scalars.arguments(() if task is None else (task,), kwargs)
        event = calls.build_subagent(agent_type, given, results.started())
        self._append(event, meta, **scope, id=name)
        return SubagentLog(self, agent_type, {"id": name, **scope})

    def blob(self, data: bytes, mime: str | None = None) -> Result:
        """`@blob sha256=… bytes=… mime=…`: content put beside the log, as the result of an entry to come.

        Secrets in it are hidden first, so hash and length may not be those of `data`.
        """
        self._check_open()
        kept = self._recording.keep(data, mime if mime is None else results.check_mime(mime))
        return results.blob(kept.sha256, kept.bytes, kept.mime)

    @property
    def redactions(self) -> dict[str, int]:
        """How many secrets of each kind are hidden in the session so far, in its lines and in its blobs."""
        return self._recording.redactions

    @abc.abstractmethod
    def close(self) -> None:
        """Write the end; once is enough."""

    @abc.abstractmethod
    def _close_failed(self, error: str) -> None:
        """Write the end of a block that an error of this type ended."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or error is None:
            self.close()
            return
        try:
            # The type alone: a message may hold what must not be logged.
            self._close_failed(kind.__name__)
        except (WriteError, ClosedError) as failure:
            # What the caller has to hear about is the error that ended the block.
            error.add_note(f"{self._subject} could not be closed: {failure.message}")


class SubagentLog(Log):
    """The events of a sub-agent, marked with its `tid`."""

    _subject = "the sub-agent's log"

    def __init__(self, parent: Log, agent_type: str, scope: dict[str, str]) -> None:
        super().__init__(parent._recording, {"tid": scope["tid"]})  # noqa: SLF001 - one session, one recording
        self._scope = scope
        self._agent_type = agent_type

    @property
    def id(self) -> str:
        """The id of the sub-agent's call."""
        return self._scope["id"]

    def close(
        self,
        *,
        summary: str | None = None,
        session_id: str | None = None,
        path: str | os.PathLike[str] | None = None,
        result: Result | None = None,
    ) -> None:
        """`x:explore id=sub_1 tid=2 span=x1 → session_id=… path=… summary="…"`; once is enough."""
        if self._is_closed:
            return
        if result is None:
            where = None if path is None else os.fspath(path)
            result = results.fields(session_id=session_id, path=where, summary=summary)
            result = result if result.text else results.done()
        event = calls.build_subagent(self._agent_type, calls.Arguments(), result)
        self._recording.append(event, self._scope, self._course)
        self._is_closed = True

    def _close_failed(self, error: str) -> None:
        self.close(result=results.err(error))


class Writer(Log):
    """Writes one session: `Writer.create` a new file, `Writer.reopen` one to go on, or `Writer(stream)`.

    Entries get an id where they need one, a step and a time; `steps` and `timestamps` switch the latter two off.
    `clock` returns the time, aware of its zone. `start` writes `@start` below the header.

    Secrets are hidden before anything is written: by the user's own rules, or by the `redactor` given. In a file, a
    result of more than `blob_bytes` bytes is kept beside the log and the line points to it; None keeps all of them
    inline, as does a stream.
    """

    def __init__(
        self,
        target: Stream | Recording,
        *,
        durability: Durability = Durability.FLUSH,
        clock: Clock = utc_now,
        steps: bool = True,
        timestamps: bool = True,
        start: bool = True,
        redactor: Redactor | None = None,
        **header: Unpack[HeaderFields],
    ) -> None:
        spell_header(header)  # Refused before anything is opened.
        if not isinstance(target, Recording):
            sink = StreamSink(target, durability)
            guard = Guard(load_redactor() if redactor is None else redactor)
            target = Recording(sink, clock=clock, steps=steps, timestamps=timestamps, guard=guard)
        super().__init__(target, course=target.course)
        header = map_header(header, target.guard.clean_value)
        source = spell_header(header)
        target.write_source(source)
        target.tally.figures.redactions += count_markers(source)
        if start:
            self.start(budget=header.get("budget"), duration=header.get("duration"), id=header["id"])

    @classmethod
    def create(  # noqa: PLR0913 - one argument an option
        cls,
        path: str | os.PathLike[str],
        *,
        durability: Durability = Durability.FLUSH,
        rotate_bytes: int | None = None,
        clock: Clock = utc_now,
        steps: bool = True,
        timestamps: bool = True,
        start: bool = True,
        redactor: Redactor | None = None,
        blob_bytes: int | None = THRESHOLD,
        **header: Unpack[HeaderFields],
    ) -> Self:
        """A log in a new file, readable for its owner alone; its folder has to be there, the file must not.

        With `rotate_bytes` the session goes on in `name.part2.bbox` before an entry would take the file past that.
        Blobs go to `.bbox-blobs/` in the same folder.
        """
        guard = _guard(Path(path), redactor, blob_bytes, durability)
        header = map_header(header, guard.clean_value)
        parts = Parts(Path(path), spell_header(header), durability)
        limit = check_limit(rotate_bytes)
        sink = FileSink.create(Path(path), durability)
        recording = Recording(sink, clock=clock, steps=steps, timestamps=timestamps, guard=guard)
        recording.rotate_at(limit, parts.open_next)
        with contextlib.ExitStack() as undo:
            undo.callback(recording.close)
            writer = cls(recording, start=start, **header)
            undo.pop_all()
        return writer

    @classmethod
    def reopen(
        cls,
        path: str | os.PathLike[str],
        *,
        durability: Durability = Durability.FLUSH,
        rotate_bytes: int | None = None,
        clock: Clock = utc_now,
        steps: bool = True,
        timestamps: bool = True,
        redactor: Redactor | None = None,
        blob_bytes: int | None = THRESHOLD,
    ) -> Self:
        """Go on with a log that was not ended, as after a crash: numbering and counters continue.

        A last line that was cut short gets its line feed and a note; nothing is taken away.
        """
        limit = check_limit(rotate_bytes)
        guard = _guard(Path(path), redactor, blob_bytes, durability)
        sink = FileSink.reopen(Path(path), durability)
        recording = Recording(sink, clock=clock, steps=steps, timestamps=timestamps, guard=guard)
        with contextlib.ExitStack() as undo:
            undo.callback(recording.close)
            header = _replay(Path(path), recording)
            undo.pop_all()
        parts = Parts(Path(path), "\n".join([*header.sources, "", ""]), durability)
        recording.rotate_at(limit, parts.open_next)
        writer = cls.__new__(cls)
        Log.__init__(writer, recording, course=recording.course)
        return writer

    def close(
        self,
        *,
        summary: str | None = None,
        prs: Iterable[str | int] = (),
        issues: int | None = None,
        tokens: int | None = None,
        cost: Money | None = None,
        meta: MetaFields | None = None,
    ) -> None:
        """Write `@end` and the closing metrics line; once is enough. `tokens` and `cost` go before the sums.

        `meta` is of `@end`, such as `tokens_in` and `tokens_out` of a session that was converted.
        """
        with self._recording.lock:
            if self._is_closed:
                return
            self._recording.stay()
            try:
                listed = tuple(str(number) for number in prs) or None
                count = None if issues is None else scalars.whole("issues", issues)
                self.lifecycle("end", summary=summary, prs=listed, issues=count, meta=meta)
                spent = None if cost is None else scalars.amount("cost", cost)
                length = scalars.duration("duration", self._recording.elapsed())
                hidden = sum(self.redactions.values())
                totals = self._recording.tally.totals(duration=length, tokens=tokens, cost=spent, redactions=hidden)
                self._comment(totals)
            finally:
                self._is_closed = True
                self._recording.close()

    def _close_failed(self, error: str) -> None:
        if self._is_closed:
            return
        try:
            self.note(f"the session was ended by an error: {error}")
            self.close(summary=f"failed: {error}")
        finally:
            self._is_closed = True
            self._recording.close()


def _guard(path: Path, redactor: Redactor | None, blob_bytes: int | None, durability: Durability) -> Guard:
    if blob_bytes is not None and blob_bytes < 0:
        raise UsageError(f"blob_bytes {blob_bytes} is no size", "give a number of bytes, or None for no blobs")
    used = load_redactor() if redactor is None else redactor
    return Guard(used, BlobStore.beside(path), blob_bytes, sync=durability is Durability.FSYNC)


def _replay(path: Path, recording: Recording) -> Header:
    """Take in what a log holds already, and finish a last line that was cut short. Nothing is taken away."""
    last: lifecycle.Lifecycle | None = None
    with open_log(path) as source:
        stream = scan(source)
        for line in stream:
            event = line.event
            recording.replay(event, line.parts.raw_meta, "\n".join(line.physical_lines))
            if isinstance(event, lifecycle.Lifecycle):
                last = event
            elif isinstance(event, calls.Plan) and line.id:
                recording.last_plan = line.id
            elif isinstance(event, calls.Mode):
                recording.is_afk = event.afk
        header, scanner = stream.header, stream.scanner
    if header is None or not header.closed:
        raise UsageError(f"{path}: there is no whole header to go on from", "start a new log under another name")
    if not header.escaped:
        raise UsageError(f"{path}: its header has no `escape: 1`", "start a new log: this one was not written by us")
    _check_goes_on(path, last)
    recording.tally.figures.redactions += count_markers("\n".join(header.sources))
    recording.resume(cut_line=0 if scanner.final_newline else scanner.line_count)
    return header


def _check_goes_on(path: Path, last: lifecycle.Lifecycle | None) -> None:
    if last is not None and last.name == "rotate":
        name = last.arguments.text("file") or "another file"
        raise UsageError(f"{path}: the session went on in {name}", f"reopen {path.parent / name}")
    if last is not None and last.name == "end":
        raise UsageError(f"{path}: the session was ended", "start a new log with an id of its own")
