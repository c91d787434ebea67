"""The files of a session: the next part of a rotated one, and going on with one that is there."""

import re
from pathlib import Path

from blackbox.document.files import open_log, scan
from blackbox.errors import UsageError
from blackbox.events import calls, lifecycle
from blackbox.syntax.header import Header
from blackbox.write.recording import Recording
from blackbox.write.sink import Durability, FileSink, Sink

_STEM = re.compile(r"(.*?)(?:\.part(\d{1,6}))?", re.DOTALL)


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


def replay(path: Path, recording: Recording) -> Header:
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
    recording.resume(cut_line=0 if scanner.final_newline else scanner.line_count)
    return header


def _check_goes_on(path: Path, last: lifecycle.Lifecycle | None) -> None:
    if last is not None and last.name == "rotate":
        name = last.arguments.text("file") or "another file"
        raise UsageError(f"{path}: the session went on in {name}", f"reopen {path.parent / name}")
    if last is not None and last.name == "end":
        raise UsageError(f"{path}: the session was ended", "start a new log with an id of its own")
