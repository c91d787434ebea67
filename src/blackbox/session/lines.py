"""The entries of all parts of a session in one order, and what single ones leave: checkpoints, notes, blobs …"""

import bisect
import functools
import re
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from blackbox.document.document import Document
from blackbox.document.line import Line
from blackbox.events import comments, lifecycle
from blackbox.events.messages import Message, Todos
from blackbox.syntax.header import Header
from blackbox.syntax.kinds import SILENT, Kind
from blackbox.syntax.results import BLOB, Blob
from blackbox.syntax.tokens import REDACTED
from blackbox.syntax.values import integer

T = TypeVar("T")

_SUMMARY = re.compile(r"\[COMPACT SUMMARY\](.*?)(?:\[/COMPACT SUMMARY\]|\Z)", re.DOTALL)


class Mark(NamedTuple, Generic[T]):
    """A typed comment or lifecycle primitive, and the line that says it."""

    line: Line
    value: T


class Lines:
    """All entries in order. A line's number repeats from part to part; its position here does not."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.all: list[Line] = [line for document in documents for line in document.lines]
        self._starts: list[int] = []
        start = 0
        for document in documents:
            self._starts.append(start)
            start += len(document.lines)

    @functools.cached_property
    def positions(self) -> dict[Line, int]:
        """Where each entry stands, counted from 0 over all parts."""
        return {line: position for position, line in enumerate(self.all)}

    def part_of(self, line: Line) -> int:
        """Which part an entry stands in, counted from 0."""
        return bisect.bisect_right(self._starts, self.positions[line]) - 1

    def of(self, *kinds: Kind) -> list[Line]:
        """The entries of some kinds, in order."""
        return [line for line in self.all if line.kind in kinds]

    def containing(self, text: str) -> list[Line]:
        """The entries whose first physical line has `text` in it: a cheap sieve before anything is parsed."""
        return [line for line in self.all if text in line.source]

    def marks(self, kind: type[T]) -> tuple[Mark[T], ...]:
        """The comments or lifecycle primitives of one type, in order."""
        return tuple(self._marks.get(kind, ()))

    def first(self, kind: type[T]) -> T | None:
        """The first comment or lifecycle primitive of one type."""
        return next((mark.value for mark in self.marks(kind)), None)

    def last(self, kind: type[T]) -> T | None:
        """The last comment or lifecycle primitive of one type."""
        return next((mark.value for mark in reversed(self.marks(kind))), None)

    @functools.cached_property
    def _marks(self) -> dict[type, list[Mark[Any]]]:
        found: dict[type, list[Mark[Any]]] = {}
        for line in self.of(Kind.COMMENT, Kind.LIFECYCLE, Kind.PHASE):
            event = line.event
            value = event.primitive if isinstance(event, lifecycle.Lifecycle) else event
            found.setdefault(type(value), []).append(Mark(line, value))
        return found


class SessionNote(NamedTuple):
    """A note; `line` is None for the `notes:` of a header."""

    text: str
    line: Line | None = None


class Compaction(NamedTuple):
    """An `@compact`, and the summary on the agent line that follows it."""

    line: Line
    value: lifecycle.Compact
    summary: str | None = None
    summary_line: Line | None = None


class BlobUse(NamedTuple):
    """A blob, and the line whose result or metrics point to it."""

    line: Line
    blob: Blob


class Marks:
    """The marks of a session, typed, each with its line and in order. `Session` has all of them."""

    def __init__(self, lines: Lines, headers: Sequence[Header]) -> None:
        self._lines = lines
        self._headers = headers

    @property
    def start(self) -> lifecycle.Start | None:
        """The first `@start`."""
        return self._lines.first(lifecycle.Start)

    @property
    def end(self) -> lifecycle.End | None:
        """The last `@end`, with summary, pull requests and totals."""
        return self._lines.last(lifecycle.End)

    @property
    def closed(self) -> bool:
        """Whether the session has ended: an `@end` with no `@start` after it."""
        positions = self._lines.positions
        starts = [positions[mark.line] for mark in self._lines.marks(lifecycle.Start)]
        ends = [positions[mark.line] for mark in self._lines.marks(lifecycle.End)]
        return bool(ends) and ends[-1] > max(starts, default=-1)

    @property
    def summary(self) -> str | None:
        """What `@end` says was done."""
        return self.end.summary if self.end is not None else None

    @property
    def totals(self) -> comments.Totals | None:
        """The closing metrics line; the last of several."""
        return self._lines.last(comments.Totals)

    @property
    def checkpoints(self) -> tuple[Mark[lifecycle.Checkpoint], ...]:
        """The `@checkpoint` lines."""
        return self._lines.marks(lifecycle.Checkpoint)

    @property
    def snapshots(self) -> tuple[Mark[lifecycle.Snapshot], ...]:
        """The `@snapshot` lines."""
        return self._lines.marks(lifecycle.Snapshot)

    @property
    def assessments(self) -> tuple[Mark[lifecycle.Assess], ...]:
        """The `@assess` lines."""
        return self._lines.marks(lifecycle.Assess)

    @property
    def notifications(self) -> tuple[Mark[lifecycle.Notify], ...]:
        """The `@notify` lines: told a human, did not wait."""
        return self._lines.marks(lifecycle.Notify)

    @property
    def approvals(self) -> tuple[Mark[lifecycle.Wait], ...]:
        """The `@wait-approval` lines and bare `@wait`; what they wait for is in the event's arguments."""
        waits = self._lines.marks(lifecycle.Wait)
        return tuple(mark for mark in waits if mark.value.subject in ("approval", ""))

    @property
    def escalations(self) -> tuple[Mark[lifecycle.Escalate], ...]:
        """The `@escalate` lines."""
        return self._lines.marks(lifecycle.Escalate)

    @property
    def batches(self) -> tuple[Mark[lifecycle.Batch], ...]:
        """The `@batch` lines."""
        return self._lines.marks(lifecycle.Batch)

    @property
    def rotations(self) -> tuple[Mark[lifecycle.Rotate], ...]:
        """The `@rotate` lines."""
        return self._lines.marks(lifecycle.Rotate)

    @property
    def anchors(self) -> tuple[Mark[comments.Anchor], ...]:
        """The `# anchor` lines: steps to keep when context is dropped."""
        return self._lines.marks(comments.Anchor)

    @property
    def condensations(self) -> tuple[Mark[comments.Condense], ...]:
        """The `# condense` lines."""
        return self._lines.marks(comments.Condense)

    @property
    def memory_stores(self) -> tuple[Mark[comments.MemoryStore], ...]:
        """The `# memory` lines."""
        return self._lines.marks(comments.MemoryStore)

    @property
    def notes(self) -> tuple[SessionNote, ...]:
        """The header's notes, then the `# notes:` lines."""
        headers = (header.text("notes") for header in self._headers)
        marks = self._lines.marks(comments.Note)
        return (
            *(SessionNote(text) for text in headers if text),
            *(SessionNote(mark.value.text, mark.line) for mark in marks),
        )

    @property
    def todos(self) -> Todos | None:
        """The todo list as it stood last."""
        line = next((line for line in reversed(self._lines.all) if line.kind is Kind.TODOS), None)
        event = line.event if line is not None else None
        return event if isinstance(event, Todos) else None

    @functools.cached_property
    def compactions(self) -> tuple[Compaction, ...]:
        """The `@compact` lines. A summary is the next event's `[COMPACT SUMMARY] …`, if an agent line has it."""
        return tuple(self._compaction(mark) for mark in self._lines.marks(lifecycle.Compact))

    def _compaction(self, mark: Mark[lifecycle.Compact]) -> Compaction:
        position = self._lines.positions[mark.line] + 1
        while position < len(self._lines.all) and self._lines.all[position].kind in SILENT:
            position += 1
        line = self._lines.all[position] if position < len(self._lines.all) else mark.line
        event = line.event
        found = _SUMMARY.search(event.text) if isinstance(event, Message) and event.role == "agent" else None
        return Compaction(mark.line, mark.value, found[1].strip(), line) if found else Compaction(*mark)

    @functools.cached_property
    def blobs(self) -> tuple[BlobUse, ...]:
        """The blobs that results and metrics point to."""
        found: list[BlobUse] = []
        for line in self._lines.all:
            if "@blob" in line.source or (line.more and any("@blob" in source for source in line.more)):
                found += [BlobUse(line, blob) for blob in _blobs(line)]
        return tuple(found)

    @functools.cached_property
    def redactions(self) -> int:
        """How many `[redacted:…]` markers stand in the log."""
        sources = (source for line in self._lines.all for source in (line.source, *(line.more or ())))
        return sum(len(REDACTED.findall(source)) for source in sources if "[redacted" in source)


def _blobs(line: Line) -> list[Blob]:
    event = line.event
    metrics = event.metrics if isinstance(event, Message) else event
    if isinstance(metrics, comments.Metrics):
        pointers = (getattr(metrics, name) for name in comments.METRIC_BLOBS)
        return [blob for blob in pointers if blob is not None]
    result = line.result
    if result is None:
        return []
    matches = BLOB.finditer(result.raw or result.text)
    return [Blob(match[1], integer(match[2]), match[3]) for match in matches]
