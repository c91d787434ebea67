"""Sessions on disk: a log, the parts it was rotated into, and the logs of its sub-agents. The only I/O here."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from blackbox.document.document import Document
from blackbox.document.files import read_document, resolve_beside
from blackbox.document.line import Line
from blackbox.errors import ReadError
from blackbox.events import lifecycle
from blackbox.session.lines import Lines
from blackbox.session.session import Session
from blackbox.session.subagents import Missing
from blackbox.syntax.values import has_scheme

#: How deep sub-agents of sub-agents are followed.
MAX_DEPTH = 16
#: How many parts one session may have; a chain of more is taken for a trap.
MAX_PARTS = 10_000


class _Part(NamedTuple):
    path: Path
    document: Document


def load_session(path: str | os.PathLike[str]) -> Session:
    """Read a log with everything that belongs to it.

    `@rotate file=…` leads to the next part, `path=` of a sub-agent to its own session; both are looked up beside the
    log that names them and never outside the folder of the first log, and a name with a URL scheme is left alone. The
    first log must be readable (`ReadError`); whatever else cannot be read is a value: `missing_parts` and
    `missing_subagents` say which and why.
    """
    return load_with_files(path)[0]


def load_with_files(path: str | os.PathLike[str]) -> tuple[Session, frozenset[Path]]:
    """A session as `load_session` reads it, and all files that were read for it, links resolved."""
    first = Path(path)
    document = read_document(first)
    resolved = first.resolve()
    loader = _Loader(resolved.parent)
    return loader.load(_Part(resolved, document), ()), frozenset(loader.files)


def look_beside(path: str | os.PathLike[str]) -> Callable[[str], str | None]:
    """A function that tells why a log named in the one at `path` cannot be read; None if it can, or is not local."""
    # Unlike Path.resolve, realpath takes a loop of links as it is; reading the log tells of it.
    root = Path(os.path.realpath(path)).parent
    loader = _Loader(root)

    def look_up(name: str) -> str | None:
        return None if has_scheme(name) else loader.why_missing(root, name)

    return look_up


class _Loader:
    """One load: every sub-agent's log is read once, however often it is named."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.files: set[Path] = set()
        self._sessions: dict[Path, Session] = {}

    def load(self, first: _Part, ancestors: tuple[frozenset[Path], ...]) -> Session:
        """The session that begins with one part; `ancestors` are the files of the sessions that lead here."""
        parts, missing = self._parts(first)
        self.files.update(part.path for part in parts)
        followed: dict[Line, Session | Missing] = {}
        session = Session((part.document for part in parts), missing_parts=missing, followed=followed)
        family = (*ancestors, frozenset(part.path for part in parts))
        for subagent in session.subagents:
            line, name = subagent.reference.line, subagent.reference.path
            if line is not None and name and not has_scheme(name):
                folder = parts[session.part_of(line)].path.parent
                found = self._child(folder, name, family)
                followed[line] = Missing(name, line, found) if isinstance(found, str) else found
        self._sessions[first.path] = session
        return session

    def _parts(self, first: _Part) -> tuple[list[_Part], list[Missing]]:
        parts = [first]
        seen = {first.path}
        while (rotation := _rotation(parts[-1].document)) is not None:
            name, line = rotation
            part = self._next_part(parts[-1].path.parent, name, seen)
            if isinstance(part, str):
                return parts, [Missing(name, line, part)]
            seen.add(part.path)
            parts.append(part)
        return parts, []

    def _next_part(self, folder: Path, name: str, seen: set[Path]) -> _Part | str:
        path = self._resolve(folder, name)
        if isinstance(path, str):
            return path
        if path in seen:
            return "this part is already in the session"
        return f"more than {MAX_PARTS} parts" if len(seen) >= MAX_PARTS else _read(path)

    def _child(self, folder: Path, name: str, family: tuple[frozenset[Path], ...]) -> Session | str:
        path = self._resolve(folder, name)
        if isinstance(path, str):
            return path
        if any(path in ancestor for ancestor in family):
            return "it is one of the sessions that lead here"
        if path in self._sessions:
            return self._sessions[path]
        if len(family) > MAX_DEPTH:
            return f"more than {MAX_DEPTH} sub-agents deep"
        part = _read(path)
        return part if isinstance(part, str) else self.load(part, family)

    def why_missing(self, folder: Path, name: str) -> str | None:
        """Why the file a log means by `name` cannot be read, without reading it."""
        path = self._resolve(folder, name)
        if isinstance(path, str):
            return path
        if not path.exists():
            return "no such file"
        return None if os.access(path, os.R_OK) else "permission denied"

    def _resolve(self, folder: Path, name: str) -> Path | str:
        """The file a log means by `name`, or why it is not followed."""
        return resolve_beside(folder, name, self._root)


def _read(path: Path) -> _Part | str:
    try:
        return _Part(path, read_document(path))
    except ReadError as error:
        return error.message.rpartition(": ")[2]


def _rotation(document: Document) -> tuple[str, Line] | None:
    """Where the session goes on after this part: the file its last `@rotate` names."""
    marks = Lines([document]).marks(lifecycle.Rotate)
    named = ((mark.value.file, mark.line) for mark in reversed(marks))
    return next(((file, line) for file, line in named if file), None)
