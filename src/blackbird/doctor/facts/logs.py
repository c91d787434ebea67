"""Agents' own logs: which there are, how old, and the calls in those of the last days."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from blackbird.doctor.native import READERS, Client, NativeCall
from blackbird.imports import places

_LONGEST_LINE = 64 << 20
#: What is read of all logs together; the newest come first.
_MOST_BYTES = 1 << 30
_PLACES = {
    Client.CLAUDE: places.PLACES["claude-code"],
    Client.CODEX: places.PLACES["codex"],
    Client.GEMINI: places.PLACES["gemini-cli"],
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
    return _PLACES[client].root(environ, user_home)


def gather(client: Client, environ: Mapping[str, str], user_home: Path, since_ns: int) -> Logs:
    """The logs of an agent, and the calls in them since then."""
    below, pattern = _PLACES[client].below[0]
    folder = client_folder(client, environ, user_home) / below
    unreadable: list[str] = []
    found = places.files(folder, pattern, unreadable)
    files = sorted(((file.mtime_ns, file.size, file.path) for file in found), reverse=True)
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


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a log; one that is longer than any memory should hold is passed over in pieces."""
    with path.open("rb") as file:
        while line := file.readline(_LONGEST_LINE):
            yield line
