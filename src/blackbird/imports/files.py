"""Agents' logs as they lie on the disk, line by line. Opened to be read, and never locked."""

import codecs
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from blackbird.imports import opencode
from blackbird.imports.line import Line
from blackbox.errors import ReadError

#: A longer line is handed on in pieces: as JSON, none takes more than a recorder reads at once.
LONGEST_PIECE = 1 << 20
_BLOCK = 1 << 20
#: What an agent keeps beside a log is small; larger ones are something else.
_LARGEST_SIDECAR = 1 << 20
_SIDECAR = ".meta.json"
#: What the name of a database has before the name of one of its sessions.
MEMBER = ".db#"


class Piece(NamedTuple):
    """A line, or a part of one that is too long: all have the offset and length of the line."""

    offset: int
    length: int
    text: str
    #: More of the line follows.
    has_more: bool
    #: Bytes were no UTF-8 and were replaced.
    is_damaged: bool
    #: Where the next line begins.
    end: int


def read(path: Path, *, is_document: bool = False, start: int = 0) -> Iterator[Line]:
    """The lines of a log from an offset on, what is kept beside it first; a document is one line.

    A last line that has no line feed yet is left out. Raises `ReadError`.
    """
    if MEMBER in path.name:
        yield from _rows(path)
        return
    beside = sidecar(path) if start == 0 else None
    if beside is not None:
        yield beside
    begun: list[str] = []
    for piece in pieces(path, start=start, is_document=is_document):
        begun.append(piece.text)
        if not piece.has_more:
            yield Line(piece.offset, piece.length, "".join(begun))
            begun = []


def pieces(path: Path, *, start: int = 0, is_document: bool = False) -> Iterator[Piece]:
    """The same in pieces that no memory is too small for, without what is kept beside. Raises `ReadError`."""
    try:
        with path.open("rb") as file:
            if is_document:
                size = os.fstat(file.fileno()).st_size
                yield from _cut(file, 0, size, size)
                return
            file.seek(start)
            offset = start
            while (line := file.readline(LONGEST_PIECE + 1)) and (length := _length(file, line)) is not None:
                if len(line) == length + 1:
                    text, is_damaged = _decode(line[:-1])
                    yield Piece(offset, length, text, has_more=False, is_damaged=is_damaged, end=offset + length + 1)
                else:
                    yield from _cut(file, offset, length, offset + length + 1)
                offset += length + 1
                file.seek(offset)
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}", "make it readable for you, or leave it out") from error


def stretch(path: Path, offset: int, length: int) -> bytes:
    """Bytes of a log, as many as there are. Raises what the operating system says."""
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(length)


def line_number(path: Path, offset: int) -> int:
    """Which line of a log begins at an offset. Raises what the operating system says."""
    count = 1
    with path.open("rb") as file:
        while offset > 0 and (block := file.read(min(offset, _BLOCK))):
            count += block.count(b"\n")
            offset -= len(block)
    return count


def cut(text: str, offset: int) -> Iterator[Piece]:
    """A text that stands in no file as it is, as a line at an offset that was chosen for it."""
    length = len(text.encode())
    # No character takes more than four bytes.
    step = LONGEST_PIECE // 4 if length > LONGEST_PIECE else max(1, len(text))
    for first in range(0, max(1, len(text)), step):
        more = first + step < len(text)
        part = text[first : first + step]
        yield Piece(offset, length, part, has_more=more, is_damaged=False, end=offset + length + 1)


def sidecar(path: Path) -> Line | None:
    """What Claude Code keeps beside the log of a sub-agent, as a line; nothing if there is nothing to be read."""
    beside = path.with_suffix(_SIDECAR)
    try:
        if path.suffix != ".jsonl" or beside.stat().st_size > _LARGEST_SIDECAR:
            return None
        known = msgspec.json.decode(beside.read_bytes(), type=dict[str, object])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    agent = path.stem.removeprefix("agent-")
    about = {"type": "agent-meta", "agentId": agent} | {key: known[key] for key in known if key != "type"}
    if "type" in known:
        about["agentType"] = about.get("agentType", known["type"])
    return Line(0, 0, msgspec.json.encode(about).decode())


def is_sidecar(path: Path) -> bool:
    """Whether a file is what is kept beside a log, by its name."""
    return path.name.endswith(_SIDECAR)


def _rows(path: Path) -> Iterator[Line]:
    """The rows of one session of a database, which stand in no order that bytes have."""
    database, _, session = path.name.rpartition("#")
    offset = 0
    for row in opencode.rows(path.with_name(database)):
        if row.session == session:
            length = len(row.text.encode())
            yield Line(offset, length, row.text)
            offset += length + 1


def _length(file: BinaryIO, line: bytes) -> int | None:
    """How long the line is that begins so, or nothing if it has no end yet."""
    if line.endswith(b"\n"):
        return len(line) - 1
    length = len(line)
    while block := file.read(_BLOCK):
        at = block.find(b"\n")
        if at >= 0:
            return length + at
        length += len(block)
    return None


def _cut(file: BinaryIO, offset: int, length: int, end: int) -> Iterator[Piece]:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    file.seek(offset)
    left = length
    while True:
        data = file.read(min(left, LONGEST_PIECE))
        left = left - len(data) if data else 0
        text = decoder.decode(data, final=not left)
        is_damaged = "\ufffd" in text and b"\xef\xbf\xbd" not in data
        yield Piece(offset, length, text, has_more=left > 0, is_damaged=is_damaged, end=end)
        if not left:
            return


def _decode(data: bytes) -> tuple[str, bool]:
    try:
        return data.decode(), False
    except UnicodeDecodeError:
        return data.decode(errors="replace"), True
