"""New records of a trace as they are written: each once, in order, without reading anything twice. Takes no lock."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from blackbird.exchange.clock import Clock
from blackbird.sessions.growing import Growing
from blackbird.trace import header as headers
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.header import Header
from blackbird.trace.records import Kind, Record
from blackbird.trace.segment import Place, Segment, State
from blackbird.trace.synced import Synced
from blackbox.errors import ReadError

_BLOCK = 1 << 20
#: Longer than any header: its policy has a length of 16 bits.
_HEADER_BYTES = 1 << 17


class Sighting(NamedTuple):
    """A record with the segment it lies in, and the clock of that."""

    header: Header
    clock: Clock
    record: Record

    @property
    def wall(self) -> int:
        """When it was written: nanoseconds since 1970."""
        return self.clock.wall(self.record)


class Follower:
    """Follows the trace in a folder, which need not be there yet, from the beginning of a segment on.

    A segment that is being written stays open, so that its end is read even if it is sealed or removed meanwhile.
    What cannot be read is passed over and named in `problems`.
    """

    def __init__(self, folder: Path, *, segment: int = 1, bodies: bool = True) -> None:
        self._trace = Trace(folder)
        self._number = segment
        self._bodies = bodies
        self._file: int | None = None
        self._growing = Growing(bodies=bodies)
        self._clock: Clock | None = None
        self._last = 0
        self.problems: list[TraceError] = []

    @classmethod
    def now(cls, folder: Path, *, bodies: bool = True) -> Self:
        """From now on: what was written before is left out.

        Starts where the trace was last known to be on the disk, so little of the segment is read.
        """
        trace = Trace(folder)
        newest = next(reversed(trace.places()), None)
        if newest is None:
            return cls(folder, bodies=bodies)
        if newest.state is not State.WRITTEN:
            return cls(folder, segment=newest.number + 1, bodies=bodies)
        follower = cls(folder, segment=newest.number, bodies=bodies)
        follower._skip_to(trace.synced(), newest)
        for _ in follower.read():
            pass
        return follower

    @classmethod
    def since(cls, folder: Path, mark: Synced | None, *, segment: int = 1, bodies: bool = True) -> Self:
        """From what was known to be on the disk earlier; if nothing was, from the beginning of a segment."""
        if mark is None:
            return cls(folder, segment=segment, bodies=bodies)
        follower = cls(folder, segment=mark.segment, bodies=bodies)
        follower._last = mark.sequence
        place = follower._trace.place(mark.segment)
        if place is not None and place.state is State.WRITTEN:
            follower._skip_to(mark, place)
        return follower

    @classmethod
    def last(
        cls, folder: Path, requests: int, wanted: Callable[[Record], bool] | None = None, *, bodies: bool = True
    ) -> Self:
        """From the segment on in which the last so many requests begin; `wanted` is asked about each start."""
        trace = Trace(folder)
        number, found = 1, 0
        for place, content in trace.contents(newest_first=True):
            number = place.number
            if isinstance(content, Segment):
                found += _count_starts(content, wanted)
            if found >= requests:
                break
        return cls(folder, segment=number, bodies=bodies)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file that is open."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def poll(self) -> list[Record]:
        """The records that are new."""
        return [sighting.record for sighting in self.read()]

    def read(self) -> Iterator[Sighting]:
        """The same one by one, with where and when; as far as it was asked for, it is not given again."""
        while True:
            # Looked at before the file is read: of a segment that was followed by another then, nothing is to come.
            place, following = self._trace.place(self._number), self._trace.place(self._number + 1)
            is_closed = following is not None or (place is not None and place.state is not State.WRITTEN)
            if self._file is None:
                if place is None:
                    if not self._skip_missing():
                        return
                    continue
                if place.state is not State.WRITTEN:
                    yield from self._whole(place)
                    self._go_on(self._number + 1)
                    continue
                if not self._open(place):
                    continue
            yield from self._rest(is_closed=is_closed)
            if not is_closed:
                return
            self._go_on(self._number + 1)

    def _skip_missing(self) -> bool:
        """Go on with the next segment that is there, if there is one: the first may be gone without a trace."""
        later = [place.number for place in self._trace.places() if place.number >= self._number]
        if later:
            self._go_on(later[0])
        return bool(later)

    def _go_on(self, number: int) -> None:
        self.close()
        if self._growing.damaged:
            told = f"{self._growing.damaged} bytes are no records; what is behind them was read"
            self.problems.append(TraceError(told).in_file(f"segment {self._number}"))
        self._number = number
        self._growing = Growing(bodies=self._bodies)
        self._clock = None

    def _open(self, place: Place) -> bool:
        """Whether the file was still there."""
        try:
            self._file = os.open(place.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise ReadError(f"{place.path}: {error.strerror}", "make it readable for you") from error
        return True

    def _skip_to(self, synced: Synced | None, place: Place) -> None:
        if synced is None or synced.segment != place.number or not self._open(place) or self._file is None:
            return
        try:
            header = headers.parse(os.pread(self._file, _HEADER_BYTES, 0))
        except TraceError:
            return
        if len(header.raw) <= synced.offset <= os.fstat(self._file).st_size:
            os.lseek(self._file, synced.offset, os.SEEK_SET)
            self._growing.go_on(header, synced.sequence)
            self._last = synced.sequence

    def _rest(self, *, is_closed: bool) -> Iterator[Sighting]:
        """What is new in the file that is open."""
        while self._file is not None and (data := os.read(self._file, _BLOCK)):
            yield from self._sight(self._growing.feed(data))
        if is_closed:
            try:
                yield from self._sight(self._growing.close())
            except TraceError as error:
                self.problems.append(error.in_file(f"segment {self._number}"))

    def _whole(self, place: Place) -> Iterator[Sighting]:
        """A segment that was sealed, or removed, before it was opened."""
        try:
            content = self._trace.open(place)
            if isinstance(content, Segment):
                self._clock = Clock(content.header)
                yield from self._stamp(content.header, content.records(bodies=self._bodies))
        except TraceError as error:
            self.problems.append(error)

    def _sight(self, records: Iterator[Record]) -> Iterator[Sighting]:
        for record in records:
            if self._growing.header is not None:
                yield from self._stamp(self._growing.header, iter((record,)))

    def _stamp(self, header: Header, records: Iterator[Record]) -> Iterator[Sighting]:
        clock = self._clock = self._clock or Clock(header)
        for record in records:
            clock.take(record)
            if record.sequence > self._last:
                self._last = record.sequence
                yield Sighting(header, clock, record)


def _count_starts(segment: Segment, wanted: Callable[[Record], bool] | None) -> int:
    """As far as the segment can be read; what cannot is told when it is followed."""
    found = 0
    try:
        for record in segment.records(bodies=False):
            found += record.kind == Kind.REQUEST_START and (wanted is None or wanted(record))
    except TraceError:
        return found
    return found
