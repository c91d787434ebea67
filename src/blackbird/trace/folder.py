"""The folder of a trace: which segments there are, and their bytes. Reads only, and takes no lock."""

import contextlib
import mmap
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from blackbird.trace import synced, tombstones
from blackbird.trace.errors import TraceError
from blackbird.trace.segment import Place, Segment, State
from blackbird.trace.synced import Synced
from blackbird.trace.tombstones import Tombstone
from blackbox.errors import ReadError

_NAME = re.compile(r"^([0-9]{8,})\.(wal|seal|gone)$")
#: A segment can be sealed, and then removed, while a reader is on its way to it: two changes, and a spare.
_ATTEMPTS = 4
_PAUSE_SECONDS = 0.01


class Trace:
    """The trace in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def exists(self) -> bool:
        """Whether anything was ever recorded here."""
        return bool(self.places())

    def places(self) -> list[Place]:
        """All segments by number; a seal goes before the segment it was made of, a tombstone after both."""
        found: dict[int, dict[State, Path]] = {}
        for path in self._files():
            match = _NAME.match(path.name)
            if match is not None:
                found.setdefault(int(match[1]), {})[State(match[2])] = path
        return [_place(number, found[number]) for number in sorted(found)]

    def place(self, number: int) -> Place | None:
        """One segment, without looking at the others."""
        # In this order, one that is being sealed or removed meanwhile is not missed.
        named = ((state, self.folder / f"{number:08}.{state}") for state in (State.WRITTEN, State.SEALED, State.GONE))
        files = {state: path for state, path in named if path.exists()}
        return _place(number, files) if files else None

    def open(self, place: Place) -> Segment | Tombstone:
        """A segment, or what is left of it by now. Raises `TraceError` if it cannot be read."""
        for _ in range(_ATTEMPTS):
            try:
                return _open(place)
            except FileNotFoundError:
                now = next((other for other in self.places() if other.number == place.number), None)
                if now is None:
                    break
                place = now
            except OSError as error:
                raise _read_error(place.path, error) from error
        raise ReadError(f"{place.path}: the segment went away while it was read", "try again")

    def contents(self, *, newest_first: bool = False) -> Iterator[tuple[Place, Segment | Tombstone | TraceError]]:
        """Each segment or what is left of it, opened one at a time; one that cannot be read comes as its error."""
        places = self.places()
        for place in reversed(places) if newest_first else places:
            try:
                yield place, self.open(place)
            except TraceError as error:
                yield place, error

    def segments(self, *, newest_first: bool = False) -> Iterator[Segment | TraceError]:
        """The same without tombstones."""
        for _, content in self.contents(newest_first=newest_first):
            if not isinstance(content, Tombstone):
                yield content

    def synced(self) -> Synced | None:
        """How far the trace is known to be on the disk; nothing if the file is missing or was caught half-written."""
        path = self.folder / synced.NAME
        try:
            return synced.parse(path.read_bytes())
        except (FileNotFoundError, TraceError):
            return None
        except OSError as error:
            raise _read_error(path, error) from error

    def wait_for(self, sequence: int, seconds: float) -> bool:
        """Whether a record is known to be on the disk before so many seconds are over."""
        end = time.monotonic() + seconds
        while True:
            with contextlib.suppress(ReadError):
                found = self.synced()
                if found is not None and found.sequence >= sequence:
                    return True
            if time.monotonic() >= end:
                return False
            time.sleep(_PAUSE_SECONDS)

    def free_bytes(self) -> int | None:
        """How much room the disk has; nothing if the system does not say."""
        with contextlib.suppress(OSError, AttributeError):
            about = os.statvfs(self.folder)
            return about.f_bavail * about.f_frsize
        return None

    def _files(self) -> list[Path]:
        try:
            return list(self.folder.iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _read_error(self.folder, error) from error


def _place(number: int, files: dict[State, Path]) -> Place:
    state = next(state for state in (State.SEALED, State.WRITTEN, State.GONE) if state in files)
    try:
        size = files[state].stat().st_size
    except FileNotFoundError:
        size = 0
    except OSError as error:
        raise _read_error(files[state], error) from error
    return Place(number, state, files[state], size, State.GONE in files)


def _open(place: Place) -> Segment | Tombstone:
    if place.state is State.GONE:
        try:
            return tombstones.parse(place.path.read_bytes())
        except TraceError as error:
            raise error.in_file(str(place.path)) from error
    return Segment(_map(place.path), is_sealed=place.state is State.SEALED, file=str(place.path))


def _map(path: Path) -> memoryview:
    """The bytes of a file without reading them yet: of a seal, most are never needed."""
    with path.open("rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _read_error(path: Path, error: OSError) -> ReadError:
    return ReadError(f"{path}: {error.strerror or error}", "make it readable for you; the trace belongs to one user")
