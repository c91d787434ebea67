"""Logs on disk: read whole, stream in constant memory, or follow while they grow."""

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from blackbox.document.document import Document, parse
from blackbox.document.line import Line
from blackbox.document.scanner import Scanner
from blackbox.errors import ReadError
from blackbox.events.lifecycle import Lifecycle, Rotate
from blackbox.syntax.header import Header
from blackbox.syntax.kinds import Kind
from blackbox.syntax.values import has_scheme

EXTENSIONS = (".bbox", ".blackbox", ".rlog")
BLOCK_SIZE = 1 << 18
#: How many entries before its end a part is looked at for `@rotate` at least.
_LOOK_BACK = 64

_REASONS = {
    errno.ENOENT: ("no such file", "check the path"),
    errno.EACCES: ("permission denied", "make the file readable for you, or run as its owner"),
    errno.EISDIR: ("is a directory", "name a log in it, or pass the folder to a command that takes folders"),
}


class Stream:
    """A log read block by block: iterate it for its entries. Memory holds one block and one entry."""

    def __init__(self, source: BinaryIO, *, block_size: int = BLOCK_SIZE) -> None:
        self.scanner = Scanner()
        self._source = source
        self._block_size = block_size

    @property
    def header(self) -> Header | None:
        """The header; known once the first entry has been handed out."""
        return self.scanner.header

    def __iter__(self) -> Iterator[Line]:
        for batch in self.batches():
            yield from batch

    def batches(self) -> Iterator[list[Line]]:
        """The entries of one block at a time."""
        while block := self._source.read(self._block_size):
            yield self.scanner.feed(block)
        yield self.scanner.close()


def scan(source: BinaryIO, *, block_size: int = BLOCK_SIZE) -> Stream:
    """Read a log from an open binary stream, entry by entry."""
    return Stream(source, block_size=block_size)


@contextlib.contextmanager
def open_log(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a log for reading; what goes wrong is a `ReadError` that says what to do."""
    try:
        with Path(path).open("rb") as source:
            yield source
    except OSError as error:
        raise read_error(path, error) from error


def read_error(path: str | os.PathLike[str], error: OSError) -> ReadError:
    """The operating system's complaint, in the words of this package."""
    reason, remedy = _REASONS.get(error.errno or 0, (error.strerror or str(error), "check the disk and the path"))
    return ReadError(f"{os.fspath(path)}: {reason}", remedy)


def read_document(path: str | os.PathLike[str]) -> Document:
    """A whole log in memory."""
    with open_log(path) as source:
        return parse(source.read())


class Follower:
    """A log read to its end and then, if it is live, as it grows: iterate it for its entries.

    An entry is handed out when the next one begins or when the file has been quiet for one poll; continuation lines
    that come later are entries of their own then. A last line without line feed waits, unless the log is not live. A
    file that was replaced or cut short is read to its end, and then again from its start.

    With `rotated`, an `@rotate file=…` leads to the next part once this one has been read. It is looked up beside the
    part that names it and never outside the folder of the first; `refused` says why one is not followed, and reading
    then goes on where it is. With `wait`, a file that is not there yet is waited for.

    With `last`, what is there already is not read from its start: each part begins about so many entries before its
    end, never later. What follows is whole.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        live: bool = True,
        rotated: bool = True,
        wait: bool = False,
        last: int | None = None,
        poll_seconds: float = 0.2,
        stop: Callable[[], bool] = lambda: False,
        idle: Callable[[], None] = lambda: None,
    ) -> None:
        #: The part that the entry handed out last stands in.
        self.path: str | os.PathLike[str] = path
        #: Why the part that the last `@rotate` names was not read.
        self.refused: str | None = None
        #: Whether the log ended in a line without line feed; known once a log that is not live has been read.
        self.is_torn = False
        self._live, self._rotated, self._wait, self._last = live, rotated, wait, last
        self._poll_seconds, self._stop = poll_seconds, stop
        # Called whenever all that has been written so far has been handed out.
        self._idle = idle
        self._root = Path(os.path.realpath(path)).parent
        self._seen: set[Path] = set()
        self._next: Path | None = None

    def __iter__(self) -> Iterator[Line]:
        while not self._stop():
            try:
                with open_log(self.path) as source:
                    yield from self._read(source)
            except ReadError as error:
                if not self._live and self._seen:
                    self.refused = error.message
                    return
                # A part that `@rotate` has announced may be written a moment later.
                is_awaited = self._live and (self._wait or self._seen)
                if not is_awaited or not isinstance(error.__cause__, FileNotFoundError):
                    raise
                # What appears from now on is new, and read whole.
                self._last = None
                self._idle()
                time.sleep(self._poll_seconds)
                continue
            if self._next is not None:
                self.path, self._next = self._next, None
            elif not self._live:
                return

    def _read(self, source: BinaryIO) -> Iterator[Line]:
        """One opening of a part: until it is replaced, until the session goes on elsewhere, or until the end."""
        scanner = Scanner() if self._last is None else _scan_near_end(source, max(self._last, _LOOK_BACK))
        replaced = False
        while True:
            block = source.read(BLOCK_SIZE)
            if block:
                yield from self._watch(scanner.feed(block))
                continue
            if replaced or not self._live:
                # What was written before the replacement has been read by now, its last line maybe without line feed.
                self.is_torn = not replaced and bool(scanner.pending)
                yield from self._watch(scanner.close())
                return
            yield from self._watch(scanner.flush())
            if self._next is not None and not scanner.pending:
                return
            self._last = None
            self._idle()
            if self._stop():
                return
            time.sleep(self._poll_seconds)
            replaced = _was_replaced(self.path, source)

    def _watch(self, lines: Iterable[Line]) -> Iterator[Line]:
        for line in lines:
            if self._rotated and line.kind is Kind.LIFECYCLE and line.name == "rotate":
                self._note_rotation(line)
            yield line

    def _note_rotation(self, line: Line) -> None:
        event = line.event
        name = event.primitive.file if isinstance(event, Lifecycle) and isinstance(event.primitive, Rotate) else None
        if not name:
            return
        here = Path(os.path.realpath(self.path))
        self._seen.add(here)
        found = resolve_beside(here.parent, name, self._root)
        if isinstance(found, Path) and found in self._seen:
            found = "this part has been read already"
        self.refused = f"{name}: {found}" if isinstance(found, str) else None
        if isinstance(found, str):
            self._next = None
        else:
            # In the words of the caller, where that is the same file.
            self._next = Path(self.path).parent / found.name if found.parent == here.parent else found


def follow(
    path: str | os.PathLike[str],
    *,
    poll_seconds: float = 0.2,
    stop: Callable[[], bool] = lambda: False,
    rotated: bool = False,
) -> Iterator[Line]:
    """The entries of a growing file as they are written, until `stop` says so; `Follower` has the details.

    With `rotated`, the session is followed into the parts that `@rotate file=…` names.
    """
    return iter(Follower(path, poll_seconds=poll_seconds, stop=stop, rotated=rotated))


def resolve_beside(folder: Path, name: str, root: Path) -> Path | str:
    """The file below `root` that a log in `folder` means by `name`, or why it is not followed."""
    if has_scheme(name):
        return "not a local file"
    try:
        path = (folder / name).resolve()
        if not path.is_relative_to(root):
            return "outside the folder of the log"
        if path.exists() and not path.is_file():
            return "not a regular file"
    except (OSError, RuntimeError, ValueError) as error:
        return f"not a usable path ({error})"
    return path


def _scan_near_end(source: BinaryIO, count: int) -> Scanner:
    """Move a log that was just opened to at least `count` entries before its end; its scanner knows where that is.

    The header is read, the lines between are only counted. Without a header, or in a pipe, nothing is skipped.
    """
    scanner = Scanner()
    if not source.seekable():
        return scanner
    while scanner.line_count == 0 and (line := source.readline()):
        scanner.feed(line)
    start = source.tell()
    if scanner.header is None or scanner.flush():
        source.seek(0)
        return Scanner()
    target = _entry_near_end(source, start, count)
    source.seek(start)
    while (left := target - source.tell()) > 0:
        scanner.line_count += source.read(min(left, BLOCK_SIZE)).count(b"\n")
    return scanner


def _entry_near_end(source: BinaryIO, start: int, count: int) -> int:
    """Where the last `count` entries behind `start` begin; ever larger ends are looked at until they are found."""
    end = source.seek(0, os.SEEK_END)
    window = BLOCK_SIZE
    while (begin := end - window) > start:
        source.seek(begin)
        data = source.read(window)
        # What stands before the first line feed is the end of a line whose beginning is not known.
        position = len(data)
        found = 0
        for line in reversed(data.split(b"\n")[1:]):
            position -= len(line) + 1
            found += not line.startswith((b"  ", b"\t")) and bool(line.strip(b" \t\r"))
            if found == count:
                return begin + position + 1
        window *= 4
    return start


def _was_replaced(path: str | os.PathLike[str], source: BinaryIO) -> bool:
    try:
        there = Path(path).stat()
    except FileNotFoundError:
        return False
    here = os.fstat(source.fileno())
    return (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino) or there.st_size < source.tell()
