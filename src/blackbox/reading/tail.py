"""`blackbox tail`: the last entries of a log, and the live ones as they are written."""

import collections
import os
import select
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from blackbox.document.files import Follower, scan
from blackbox.document.line import Line
from blackbox.errors import ReadError
from blackbox.reading import entries
from blackbox.reading.contents import check_file, checked
from blackbox.syntax.kinds import Kind
from blackbox.terminal import inputs, output

SCHEMA = "blackbox.tail/1"


def command(
    log: Annotated[str | None, typer.Argument(help="A log, or `-` for standard input.")] = None,
    count: Annotated[int, typer.Option("--lines", "-n", min=0, help="How many of the last entries to show.")] = 20,
    live: Annotated[
        bool, typer.Option("--follow/--no-follow", "-f", help="Go on as the log grows (default), or stop.")
    ] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object an entry (schema blackbox.tail/1).")
    ] = False,
) -> None:
    """Show the last entries of a log, then each new one as it is written. Ctrl-C ends it.

    Without a log, the newest one nearby. A log that is not there yet is waited for, a replaced one read again, and
    `@rotate` followed into the next part. A last line that is still being written waits until it is whole; with
    --no-follow it is shown as it is.

    Examples:

      blackbox tail

      blackbox tail session.bbox -n 50 --no-follow

      blackbox tail session.bbox --json | jq -r .text
    """
    view = _View(count, as_json=as_json)
    try:
        if log == inputs.STDIN:
            view.take_all(inputs.STDIN, checked(inputs.STDIN, scan(sys.stdin.buffer)))
            return
        path = log if log is not None else _newest()
        check_file(path, is_growing=live)
        if live:
            _follow(path, view)
        else:
            _read(path, view)
    except KeyboardInterrupt:
        return


def _read(path: str, view: "_View") -> None:
    follower = Follower(path, live=False, last=view.count)
    for line in follower:
        view.take(os.fspath(follower.path), line)
    view.release()
    if follower.is_torn:
        view.tell(f"the last line of {follower.path} has no line end yet")
    if follower.refused is not None:
        view.tell(f"not followed: {follower.refused}")


def _follow(path: str, view: "_View") -> None:
    told: set[str] = set()

    def tell_once(text: str) -> None:
        if text not in told:
            told.add(text)
            view.tell(text)

    def idle() -> None:
        view.release()
        if _reader_left():
            output.reader_gone()
        if not Path(follower.path).exists():
            tell_once(f"waiting for {follower.path}")
        if follower.refused is not None:
            tell_once(f"not followed: {follower.refused}")

    follower = Follower(path, wait=True, idle=idle, last=view.count)
    for line in follower:
        view.take(os.fspath(follower.path), line)


def _newest() -> str:
    logs = inputs.nearby_logs()
    if not logs:
        raise ReadError("no log is in this folder or right below it", "name one: blackbox tail LOG")
    newest = max(logs, key=lambda name: Path(name).stat().st_mtime_ns)
    output.stderr().print(f"{output.printable(newest)} (the newest of {len(logs)} nearby)", style="bright_black")
    return newest


def _reader_left() -> bool:
    """Whether the reader of a pipe is gone: a quiet log would otherwise keep us here for ever."""
    if sys.stdout.isatty() or not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


class _View:
    """Keeps the last entries until the end of the log is reached; from then on shows each at once."""

    def __init__(self, count: int, *, as_json: bool) -> None:
        self.count = count
        self._console = output.stdout()
        self._as_json = as_json
        self._held: collections.deque[tuple[str, Line]] | None = collections.deque(maxlen=count)
        self._file: str | None = None

    def take_all(self, file: str, lines: Iterable[Line]) -> None:
        """Show the last entries of something that ends."""
        for line in lines:
            self.take(file, line)
        self.release()

    def take(self, file: str, line: Line) -> None:
        """The next entry."""
        if line.kind is Kind.BLANK:
            return
        if self._held is not None:
            self._held.append((file, line))
        else:
            self._show(file, line)

    def release(self) -> None:
        """The end of what is there has been reached: show what was held back."""
        held, self._held = self._held or (), None
        for file, line in held:
            self._show(file, line)
        sys.stdout.flush()

    def tell(self, text: str) -> None:
        """Something about the log and not of it."""
        output.stderr().print(output.marked("!", output.printable(text)))

    def _show(self, file: str, line: Line) -> None:
        if self._as_json:
            output.write_json(entries.as_object(SCHEMA, file, line))
        elif self._console.is_terminal:
            if self._file not in (None, file):
                self._console.print(f"==> {output.printable(file)} <==", style="bright_black")
            for text in entries.styled(line):
                self._console.print(text)
        else:
            output.write(entries.raw(line))
        self._file = file
