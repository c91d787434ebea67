"""Agents' own logs: which there are, how old, and the calls in those of the last days."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from blackbird.doctor.native import READERS, Client, NativeCall

_LONGEST_LINE = 64 << 20
#: What is read of all logs together; the newest come first.
_MOST_BYTES = 1 << 30
_MOST_FILES = 100_000
_PLACES = {
    Client.CLAUDE: ("CLAUDE_CONFIG_DIR", ".claude", "projects", "**/*.jsonl"),
    Client.CODEX: ("CODEX_HOME", ".codex", "sessions", "**/rollout-*.jsonl"),
    Client.GEMINI: (None, ".gemini", "tmp", "*/chats/**/*.jsonl"),
}


class Logs(msgspec.Struct, frozen=True):
    """The logs of one agent; `oldest_ns` is when the oldest was last written on."""

    client: Client
    folder: Path
    files: int = 0
    oldest_ns: int | None = None
    calls: list[NativeCall] = []
    unreadable: list[str] = []
    left_out: int = 0


def client_folder(client: Client, environ: Mapping[str, str], user_home: Path) -> Path:
    """Where an agent keeps its files."""
    variable, usual, _, _ = _PLACES[client]
    chosen = environ.get(variable) if variable is not None else None
    return Path(chosen) if chosen else user_home / usual


def gather(client: Client, environ: Mapping[str, str], user_home: Path, since_ns: int) -> Logs:
    """The logs of an agent, and the calls in them since then."""
    _, _, below, pattern = _PLACES[client]
    folder = client_folder(client, environ, user_home) / below
    unreadable: list[str] = []
    files = sorted(_files(folder, pattern, unreadable), reverse=True)
    calls: list[NativeCall] = []
    budget, left_out = _MOST_BYTES, 0
    for written, size, path in files:
        if written < since_ns:
            break
        if size > budget:
            left_out += 1
            continue
        budget -= size
        try:
            calls += [call for call in READERS[client](_lines(path)) if call.at_ns >= since_ns]
        except OSError as error:
            unreadable.append(f"{path}: {error.strerror or error}")
    oldest = min((written for written, _, _ in files), default=None)
    return Logs(client, folder, len(files), oldest, _once(calls), unreadable, left_out)


def _once(calls: list[NativeCall]) -> list[NativeCall]:
    """A session that was resumed has the calls of the one before once more."""
    found = {call.request or call: call for call in reversed(calls)}
    return sorted(found.values(), key=lambda call: call.at_ns)


def _files(folder: Path, pattern: str, unreadable: list[str]) -> Iterator[tuple[int, int, Path]]:
    if folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK):
        unreadable.append(f"{folder}: Permission denied")
        return
    for _, path in zip(range(_MOST_FILES), folder.glob(pattern), strict=False):
        try:
            about = path.stat()
        except OSError as error:
            unreadable.append(f"{path}: {error.strerror or error}")
            continue
        if path.is_file():
            yield about.st_mtime_ns, about.st_size, path


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a log; one that is longer than any memory should hold is passed over in pieces."""
    with path.open("rb") as file:
        while line := file.readline(_LONGEST_LINE):
            yield line
