"""The entries of all parts of a session in one order, and the ways every view looks them up."""

import bisect
import functools
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from blackbox.document.document import Document
from blackbox.document.line import Line
from blackbox.events.lifecycle import Lifecycle
from blackbox.syntax.kinds import Kind

T = TypeVar("T")


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

    @functools.cached_property
    def _marks(self) -> dict[type, list[Mark[Any]]]:
        found: dict[type, list[Mark[Any]]] = {}
        for line in self.of(Kind.COMMENT, Kind.LIFECYCLE, Kind.PHASE):
            event = line.event
            value = event.primitive if isinstance(event, Lifecycle) else event
            found.setdefault(type(value), []).append(Mark(line, value))
        return found
