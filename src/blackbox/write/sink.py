"""Where entries go: the files of a session or a stream of the caller's. One entry, one write."""

import enum
import io
import os
import re
from pathlib import Path
from typing import Protocol

from blackbox.disk import create_file, reopen_file, sync_folder, write_error
from blackbox.errors import UsageError

_STEM = re.compile(r"(.*?)(?:\.part(\d{1,6}))?", re.DOTALL)


class Durability(enum.Enum):
    """What a logged entry survives."""

    #: Handed to the operating system with every entry: survives the end of this process, however it ends.
    FLUSH = "flush"
    #: On the disk before the call returns: survives the end of the machine, and takes a disk's time per entry.
    FSYNC = "fsync"


class Sink(Protocol):
    """Takes whole entries in order."""

    @property
    def size(self) -> int:
        """How many bytes the log has."""

    def write(self, data: bytes) -> None:
        """Append one entry; raise `WriteError` if it cannot be kept."""

    def close(self) -> None:
        """No more entries will come."""


class Stream(Protocol):
    """The part of a binary stream that is needed. A `write` that returns nothing is taken to have kept it all."""

    def write(self, data: bytes, /) -> int | None:
        """Take bytes."""

    def flush(self) -> object:
        """Pass them on."""


class FileSink:
    """An append-only file. A crash leaves at most its last line torn, since every entry is one write."""

    def __init__(self, file: io.RawIOBase | io.FileIO, path: Path, durability: Durability, size: int = 0) -> None:
        self.path = path
        self._file = file
        self._durability = durability
        self._size = size
        self._is_torn = False

    @classmethod
    def create(cls, path: Path, durability: Durability) -> "FileSink":
        """A new file that only its owner may read; an existing one is never overwritten."""
        try:
            file = create_file(path)
        except FileExistsError as error:
            raise UsageError(
                f"{path}: there is such a file already", "choose another name, or go on with it: Writer.reopen(…)"
            ) from error
        except OSError as error:
            raise write_error(path, error) from error
        if durability is Durability.FSYNC:
            sync_folder(path.parent)
        return cls(file, path, durability)

    @classmethod
    def reopen(cls, path: Path, durability: Durability) -> "FileSink":
        """An existing file, to be written on at its end."""
        try:
            file = reopen_file(path)
            size = os.fstat(file.fileno()).st_size
        except OSError as error:
            raise write_error(path, error) from error
        return cls(file, path, durability, size)

    @property
    def size(self) -> int:
        """How many bytes the file has."""
        return self._size

    def write(self, data: bytes) -> None:
        """Append one entry. After a failure in the middle of one, the next begins on a line of its own."""
        if self._is_torn:
            data = b"\n" + data
        done = 0
        try:
            while done < len(data):
                done += self._file.write(data[done:] if done else data) or 0
            self._size += done
            if self._durability is Durability.FSYNC:
                os.fsync(self._file.fileno())
        except OSError as error:
            if done < len(data):
                self._size += done
                self._is_torn = self._is_torn or done > 0
            raise write_error(self.path, error) from error
        self._is_torn = False

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError as error:
            raise write_error(self.path, error) from error


class StreamSink:
    """Any binary stream of the caller's: a socket's file, a pipe, a buffer. It is flushed, and never closed."""

    def __init__(self, stream: Stream, durability: Durability) -> None:
        self._stream = stream
        self._durability = durability
        self._size = 0
        self._name = str(getattr(stream, "name", "the stream"))

    @property
    def size(self) -> int:
        """How many bytes were written."""
        return self._size

    def write(self, data: bytes) -> None:
        """Write one entry and flush it."""
        done = 0
        try:
            while done < len(data):
                # Raw streams may take a part only.
                taken = self._stream.write(data[done:] if done else data)
                done += len(data) - done if taken is None else taken
            self._size += done
            self._stream.flush()
            if self._durability is Durability.FSYNC:
                os.fsync(self._stream.fileno())  # type: ignore[attr-defined]  # a stream without it is refused below
        except (io.UnsupportedOperation, AttributeError) as error:
            raise UsageError(f"{self._name} cannot be synced to a disk", "use Durability.FLUSH for it") from error
        except (OSError, ValueError) as error:
            raise write_error(self._name, error) from error

    def close(self) -> None:
        """The stream stays open: it belongs to the caller."""


class Parts:
    """The files of a rotated log: `name.bbox`, `name.part2.bbox`, `name.part3.bbox` …"""

    def __init__(self, first: Path, header: str, durability: Durability) -> None:
        match = _STEM.fullmatch(first.stem)
        self._stem = match[1] if match else first.stem
        self._number = int(match[2]) if match and match[2] else 1
        self._first = first
        self._header = header
        self._durability = durability

    def open_next(self) -> tuple[str, Sink]:
        """The next part that is not there yet, with its header in it."""
        while True:
            self._number += 1
            path = self._first.with_name(f"{self._stem}.part{self._number}{self._first.suffix}")
            if not path.exists():
                break
        sink = FileSink.create(path, self._durability)
        sink.write(self._header.encode())
        return path.name, sink


def check_limit(rotate_bytes: int | None) -> int | None:
    """A size to rotate at."""
    if rotate_bytes is not None and rotate_bytes <= 0:
        raise UsageError(f"rotate_bytes {rotate_bytes} is no size", "give a number of bytes, or leave it out")
    return rotate_bytes
