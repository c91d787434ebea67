"""What should not be open to everyone: paths that hold secrets, redactions met, and secrets still in the clear."""

import fnmatch
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from blackbox.document.line import Line
from blackbox.redaction.redactor import Redactor
from blackbox.report.hosts import command_of, commands_in
from blackbox.report.tables import sensitive_paths
from blackbox.session.calls import Call
from blackbox.session.effects import TouchedFile
from blackbox.syntax.tokens import REDACTED


class Reach(NamedTuple):
    """A touch of a sensitive path: which, why it is sensitive, how it was touched and by which call."""

    path: str
    why: str
    access: str
    call: Call


class Marker(NamedTuple):
    """A `[redacted:kind]` in the log."""

    kind: str
    line: Line


class Exposed(NamedTuple):
    """A secret that stands in the log: its kind and its line. What it is, nobody is told."""

    kind: str
    line: Line


def why_sensitive(path: str) -> str | None:
    """Why a path is sensitive; None if it is not known to be."""
    parts = [part for part in re.split(r"[\\/]+", path.strip("\"'").lower()) if part not in ("", ".", "~")]
    if not parts or any(fnmatch.fnmatchcase(parts[-1], glob) for glob in sensitive_paths().harmless):
        return None
    for kind in sensitive_paths().path:
        for glob in kind.patterns:
            names = glob.split("/")
            tail = parts[-len(names) :]
            if len(tail) == len(names) and all(map(fnmatch.fnmatchcase, tail, names)):
                return kind.why
    return None


def reaches_of(files: Iterable[TouchedFile], calls: Iterable[Call]) -> Iterator[Reach]:
    """The sensitive paths that calls touch, and those that stand as a word in a command."""
    for file in files:
        why = why_sensitive(file.path)
        if why is not None:
            yield from (Reach(file.path, why, access.value, call) for access, call in file.touches)
    for call in calls:
        command = command_of(call)
        if command is None:
            continue
        words = [word for one in commands_in(command) for word in one]
        for path in dict.fromkeys(path for word in words for path in _paths_in(word)):
            why = why_sensitive(path)
            if why is not None:
                yield Reach(path, why, "named in a command", call)


def _paths_in(word: str) -> Iterator[str]:
    """A word, and what stands behind `=`, `@`, `<` or `>` in it: `--env-file=.env`, `-d@.env`, `>.env`."""
    yield from (piece for piece in re.split(r"[=@<>,]", word) if piece)


def markers_in(lines: Iterable[Line]) -> Iterator[Marker]:
    """The redactions that the log shows."""
    for line in lines:
        for source in line.physical_lines:
            if "[redacted" in source:
                yield from (Marker(match[1] or "unnamed", line) for match in REDACTED.finditer(source))


def exposed_in(lines: Iterable[Line], redactor: Redactor) -> Iterator[Exposed]:
    """The secrets that nobody has redacted."""
    for line in lines:
        data = "\n".join(line.physical_lines).encode(errors="surrogateescape")
        yield from (Exposed(found.kind, line) for found in redactor.find(data))
