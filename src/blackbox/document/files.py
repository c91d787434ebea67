"""Logs on disk: read whole, stream in constant memory, or follow while they grow."""

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from blackbox.document.document import Document, parse
from blackbox.document.line import Line
from blackbox.document.scanner import Scanner
from blackbox.errors import ReadError
from blackbox.syntax.header import Header

EXTENSIONS = (".bbox", ".blackbox", ".rlog")
BLOCK_SIZE = 1 << 18

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


def follow(
    path: str | os.PathLike[str], *, poll_seconds: float = 0.2, stop: Callable[[], bool] = lambda: False
) -> Iterator[Line]:
    """The entries of a growing file as they are written, until `stop` says so.

    An entry is handed out when the next one begins or when the file has been quiet for one poll; continuation lines
    that come later are entries of their own then. A last line without line feed waits. A file that was replaced or
    cut short is read to its end, and then again from its start.
    """
    while not stop():
        with open_log(path) as source:
            scanner = Scanner()
            yield from _follow_open(path, source, scanner, poll_seconds, stop)


def _follow_open(
    path: str | os.PathLike[str],
    source: BinaryIO,
    scanner: Scanner,
    poll_seconds: float,
    stop: Callable[[], bool],
) -> Iterator[Line]:
    replaced = False
    while True:
        block = source.read(BLOCK_SIZE)
        if block:
            yield from scanner.feed(block)
            continue
        if replaced:
            # What was written before the replacement has been read by now, its last line maybe without line feed.
            yield from scanner.close()
            return
        yield from scanner.flush()
        if stop():
            return
        time.sleep(poll_seconds)
        replaced = _was_replaced(path, source)


def _was_replaced(path: str | os.PathLike[str], source: BinaryIO) -> bool:
    try:
        there = Path(path).stat()
    except FileNotFoundError:
        return False
    here = os.fstat(source.fileno())
    return (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino) or there.st_size < source.tell()
