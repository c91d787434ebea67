"""One segment, whether it is still as it was written or sealed: what a reader can ask of it."""

import enum
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from blackbird.trace import header as headers
from blackbird.trace import ids
from blackbird.trace.errors import TraceError
from blackbird.trace.header import Header
from blackbird.trace.records import Record
from blackbird.trace.scan import Intact, Step, scan
from blackbird.trace.seal.reader import Sealed


class State(enum.StrEnum):
    """What is left of a segment."""

    WRITTEN = "wal"
    SEALED = "seal"
    GONE = "gone"


class Place(NamedTuple):
    """A segment as the folder has it; `has_tombstone` also while the segment itself is still there."""

    number: int
    state: State
    path: Path
    size: int
    has_tombstone: bool


class Segment:
    """A segment that was opened. Its records are read when they are asked for."""

    def __init__(self, data: bytes | memoryview, *, is_sealed: bool, file: str = "") -> None:
        """`data` is the whole file. Raises `TraceError` if its header, or the index of a seal, cannot be read."""
        self._data = memoryview(data)
        self.file = file
        try:
            self._sealed = Sealed(self._data) if is_sealed else None
            self.header: Header = self._sealed.header if self._sealed is not None else headers.parse(self._data)
        except TraceError as error:
            raise error.in_file(file) from error

    @property
    def is_sealed(self) -> bool:
        """Whether it is compressed, and has an index."""
        return self._sealed is not None

    @property
    def size(self) -> int:
        """What it takes on the disk."""
        return len(self._data)

    @property
    def raw_size(self) -> int:
        """What it takes, or took, before it was sealed."""
        return self._sealed.index.bytes if self._sealed is not None else len(self._data)

    @property
    def sealed_root(self) -> bytes | None:
        """The root in the footer of a seal."""
        return self._sealed.footer.root if self._sealed is not None else None

    def steps(self, *, bodies: bool = True) -> Iterator[Step]:
        """Records and damage, in order. Raises `TraceError` if a seal cannot be unpacked."""
        try:
            if self._sealed is not None:
                yield from self._sealed.steps(bodies=bodies)
            else:
                yield from scan(self._data, self.header, bodies=bodies)
        except TraceError as error:
            raise error.in_file(self.file) from error

    def records(self, *, bodies: bool = True) -> Iterator[Record]:
        """The intact records, in order."""
        return (step.record for step in self.steps(bodies=bodies) if isinstance(step, Intact))

    def requests(self) -> list[bytes]:
        """The ids of the requests that have records here, in the order of their first."""
        if self._sealed is not None:
            return self._sealed.requests()
        found = dict.fromkeys(record.request for record in self.records(bodies=False))
        return [request for request in found if request != ids.ZERO]

    def may_have(self, request: bytes) -> bool:
        """Whether it is worth looking for a request here; only the index of a seal can say no."""
        return self._sealed is None or self._sealed.has(request)

    def pick(self, wanted: Iterable[bytes], *, bodies: bool = True) -> list[Record]:
        """The records of some requests (zeros: of none), in order. Of a seal, only their parts are unpacked."""
        chosen = frozenset(wanted)
        if self._sealed is None:
            return [record for record in self.records(bodies=bodies) if record.request in chosen]
        try:
            found = [record for request in chosen for record in self._sealed.group(request, bodies=bodies)]
        except TraceError as error:
            raise error.in_file(self.file) from error
        return sorted(found, key=lambda record: record.sequence)
