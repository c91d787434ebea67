"""The writer: opens a session, takes its events, and closes with what they came to."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from blackbox.errors import WriteError
from blackbox.syntax.values import money as amount_of
from blackbox.write import scalars
from blackbox.write.header import HeaderFields, spell_header
from blackbox.write.parts import Parts, check_limit, replay
from blackbox.write.recording import Clock, Recording, utc_now
from blackbox.write.scalars import Money
from blackbox.write.sink import Durability, FileSink, Stream, StreamSink
from blackbox.write.subagent import Log

_PART = re.compile(r"(.*?)(?:\.part(\d{1,6}))?")


class Writer(Log):
    """Writes one session: `Writer.create` a new file, `Writer.reopen` one to go on, or `Writer(stream)`.

    Entries get an id where they need one, a step and a time; `steps` and `timestamps` switch the latter two off.
    `clock` returns the time, aware of its zone. `start` writes `@start` below the header.
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
        **header: Unpack[HeaderFields],
    ) -> None:
        source = spell_header(header)
        if not isinstance(target, Recording):
            sink = StreamSink(target, durability)
            target = Recording(sink, clock=clock, steps=steps, timestamps=timestamps)
        super().__init__(target, course=target.course)
        target.write_source(source)
        if start:
            self.start(budget=header.get("budget"), duration=header.get("duration"), id=header["id"])

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        durability: Durability = Durability.FLUSH,
        rotate_bytes: int | None = None,
        clock: Clock = utc_now,
        steps: bool = True,
        timestamps: bool = True,
        start: bool = True,
        **header: Unpack[HeaderFields],
    ) -> Self:
        """A log in a new file, readable for its owner alone; its folder has to be there, the file must not.

        With `rotate_bytes` the session goes on in `name.part2.bbox` before an entry would take the file past that.
        """
        parts = Parts(Path(path), spell_header(header), durability)
        limit = check_limit(rotate_bytes)
        sink = FileSink.create(Path(path), durability)
        recording = Recording(sink, clock=clock, steps=steps, timestamps=timestamps)
        recording.rotate_at(limit, parts.open_next)
        try:
            return cls(recording, start=start, **header)
        except BaseException:
            recording.close()
            raise

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
    ) -> Self:
        """Go on with a log that was not ended, as after a crash: numbering and counters continue.

        A last line that was cut short gets its line feed and a note; nothing is taken away.
        """
        limit = check_limit(rotate_bytes)
        sink = FileSink.reopen(Path(path), durability)
        recording = Recording(sink, clock=clock, steps=steps, timestamps=timestamps)
        try:
            header = replay(Path(path), recording)
        except BaseException:
            recording.close()
            raise
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
    ) -> None:
        """Write `@end` and the closing metrics line; once is enough. `tokens` and `cost` go before the sums."""
        with self._recording.lock:
            if self._is_closed:
                return
            self._recording.stay()
            try:
                listed = tuple(str(number) for number in prs) or None
                count = None if issues is None else scalars.whole("issues", issues)
                self.lifecycle("end", summary=summary, prs=listed, issues=count)
                spent = None if cost is None else amount_of(scalars.money("cost", cost))
                length = scalars.duration("duration", self._recording.elapsed())
                self._comment(self._recording.tally.totals(duration=length, tokens=tokens, cost=spent))
            finally:
                self._is_closed = True
                self._recording.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or error is None:
            self.close()
            return
        try:
            if not self._is_closed:
                # The type alone: a message may hold what must not be logged.
                self.note(f"the session was ended by an error: {kind.__name__}")
                self.close(summary=f"failed: {kind.__name__}")
        except WriteError as failure:
            # What the caller has to hear about is the error that ended the block.
            error.add_note(f"the log could not be closed: {failure.message}")
        finally:
            self._is_closed = True
            self._recording.close()
