"""Which sequences a trace has: stretches without a hole, and the holes between them."""

from typing import NamedTuple


class Stretch(NamedTuple):
    """Sequences without a hole, and where the first of them stands."""

    first: int
    last: int
    segment: int
    offset: int


class Hole(NamedTuple):
    """Sequences that are missing, and where the record behind them stands."""

    first: int
    last: int
    segment: int
    offset: int


class Sequences:
    """Collects sequences in any order; neighbours are joined as they come."""

    def __init__(self) -> None:
        self._stretches: list[Stretch] = []
        self._covered: list[tuple[int, int]] = []
        self.last = 0

    def add(self, first: int, last: int, segment: int, offset: int) -> None:
        """These are there."""
        if self._stretches and self._stretches[-1].last + 1 == first:
            self._stretches[-1] = self._stretches[-1]._replace(last=last)
        else:
            self._stretches.append(Stretch(first, last, segment, offset))
        self.last = max(self.last, last)

    def cover(self, first: int, last: int) -> None:
        """These are known to be lost."""
        self._covered.append((first, last))

    def holes(self) -> list[Hole]:
        """What is missing from 1 on, and is not covered."""
        found: list[Hole] = []
        expected = 1
        for stretch in sorted(self._stretches):
            if stretch.first > expected:
                found += self._uncovered(Hole(expected, stretch.first - 1, stretch.segment, stretch.offset))
            expected = max(expected, stretch.last + 1)
        return found

    def _uncovered(self, hole: Hole) -> list[Hole]:
        left: list[Hole] = []
        at = hole.first
        for first, last in sorted(self._covered):
            if last < at or first > hole.last:
                continue
            if first > at:
                left.append(hole._replace(first=at, last=first - 1))
            at = last + 1
        return [*left, hole._replace(first=at)] if at <= hole.last else left
