"""Where agents keep their logs on this machine, and which files are there."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

_MOST_FILES = 100_000


class Place(NamedTuple):
    """A client's folder: from a variable or at its usual place; below it, folders and patterns of logs."""

    client: str
    title: str
    variable: str | None
    usual: str
    below: tuple[tuple[str, str], ...]

    def root(self, environ: Mapping[str, str], user_home: Path) -> Path:
        """The client's own folder."""
        chosen = environ.get(self.variable) if self.variable is not None else None
        return Path(chosen) if chosen else user_home / self.usual


class File(NamedTuple):
    """A file as the file system knows it."""

    path: Path
    size: int
    mtime_ns: int
    inode: int


PLACES = {
    place.client: place
    for place in (
        Place("claude-code", "Claude Code", "CLAUDE_CONFIG_DIR", ".claude", (("projects", "**/*.jsonl"),)),
        Place(
            "codex",
            "Codex",
            "CODEX_HOME",
            ".codex",
            (("sessions", "**/rollout-*.jsonl"), ("archived_sessions", "**/rollout-*.jsonl")),
        ),
        Place(
            "gemini-cli",
            "Gemini CLI",
            None,
            ".gemini",
            (("tmp", "*/chats/**/*.jsonl"), ("tmp", "*/chats/**/session-*.json")),
        ),
        Place("qwen-code", "Qwen Code", None, ".qwen", ((".", "**/chats/**/*.jsonl"),)),
        Place("opencode", "opencode", "XDG_DATA_HOME", ".local/share", (("opencode", "opencode*.db"),)),
    )
}
#: SpecStory keeps its documents in the folder of the project.
SPECSTORY = Place("specstory", "SpecStory", None, ".specstory", (("history", "*.md"),))


def logs(place: Place, root: Path, unreadable: list[str]) -> Iterator[File]:
    """The logs below a client's folder; what cannot be looked at is named in `unreadable`."""
    for below, pattern in place.below:
        yield from files(root / below, pattern, unreadable)


def files(folder: Path, pattern: str, unreadable: list[str]) -> Iterator[File]:
    """The files of a folder that a pattern names."""
    if folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK):
        unreadable.append(f"{folder}: Permission denied")
        return
    for _, path in zip(range(_MOST_FILES), folder.glob(pattern), strict=False):
        try:
            found = look(path)
        except OSError as error:
            unreadable.append(f"{path}: {error.strerror or error}")
            continue
        if found is not None:
            yield found


def named(path: Path, patterns: Iterable[str], unreadable: list[str]) -> Iterator[File]:
    """A file, or the files somewhere in a folder. Raises `FileNotFoundError` for a path that is not there."""
    if path.is_dir():
        for pattern in patterns:
            yield from files(path, f"**/{pattern}", unreadable)
        return
    try:
        found = look(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        unreadable.append(f"{path}: {error.strerror or error}")
        return
    if found is not None:
        yield found


def look(path: Path) -> File | None:
    """A file, or nothing if it is none; what SQLite has not yet moved into a database counts as a part of it."""
    about = path.stat()
    if not path.is_file():
        return None
    size, mtime = about.st_size, about.st_mtime_ns
    beside = path.with_name(path.name + "-wal")
    if path.suffix == ".db" and beside.is_file():
        size, mtime = size + beside.stat().st_size, max(mtime, beside.stat().st_mtime_ns)
    return File(path, size, mtime, about.st_ino)
