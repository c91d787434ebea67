"""What was asked of the memory: one line an answer, in a file that never grows beyond a bound.

Any number of processes append at once, each line in one write. What a full disk cut short spoils no other line, since
every line begins with the end of the one before. No words of a question are kept, and no answer fails for this.
"""

import contextlib
import fcntl
import io
import os
from pathlib import Path

import msgspec

from blackbird.home import Home
from blackbox.disk import create_file, reopen_file
from blackbox.errors import UsageError

#: The size at which a file becomes the old one, in the place of the old one before: some thousands of answers each.
LIMIT_BYTES = 1 << 20


class Use(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An answer: when, by which door, to what, how long it took, and how much there was to say.

    `at` is nanoseconds since 1970; `op` is `search`, `get`, `related`, `context` or `evidence`.
    """

    at: int
    door: str
    op: str
    ms: float
    tokens: int = 0
    session: str | None = None
    task: str | None = None
    run: str | None = None
    #: Whether a pack was there already, and the tokens of each of its sections.
    cached: bool = False
    sections: dict[str, int] = {}
    #: How many artifacts it named.
    found: int = 0
    #: Whether it was more than the contract asks of a run: one search and two gets.
    beyond: bool = False


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Use)


def note(home: Home, use: Use) -> None:
    """Keep one answer. Where it cannot be kept it is not, and nobody hears of it."""
    line = b"\n" + _ENCODER.encode(use)
    with contextlib.suppress(OSError, UsageError), _opened(home.usage) as file:
        file.write(line)
        if file.tell() > LIMIT_BYTES:
            _rotate(home, file)


def read(home: Home) -> list[Use]:
    """The answers that are kept, by time. What is no line of ours, or not whole, is passed over."""
    lines = [line for path in (home.usage_before, home.usage) for line in _content(path).split(b"\n") if line]
    found = []
    for line in lines:
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
            found.append(_DECODER.decode(line))
    return sorted(found, key=lambda use: use.at)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _opened(path: Path) -> io.FileIO:
    try:
        return reopen_file(path)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):
            return create_file(path)
        return reopen_file(path)


def _rotate(home: Home, file: io.FileIO) -> None:
    """Only who holds the lock of a file may take its name away, so that two never do it one after the other."""
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(file.fileno()), home.usage.stat()):
            home.usage.replace(home.usage_before)
