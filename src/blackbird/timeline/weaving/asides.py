"""What stands beside a conversation, each time that it was said: by what it says, and by where it stands."""

from collections import Counter
from collections.abc import Callable, Container, Iterable
from typing import NamedTuple

from blackbird.timeline.weaving.elements import Kind
from blackbird.timeline.weaving.tree import LOG, WIRE, Node

#: Of very many that say the same, the latest alone are looked at for one that moved.
_LATEST = 512


class Spot(NamedTuple):
    """A place and what is said there: the same words at the same place may still be said several times."""

    place: Node
    key: bytes


def place_of(node: Node) -> Node:
    """The place behind a node; all results of one answer's calls are one place, since their order changes."""
    while node.kind is Kind.RESULT and node.parent is not None:
        node = node.parent
    return node


class Aside:
    """One thing that was said beside a conversation: the item it became, and who has told of it."""

    __slots__ = ("is_timed", "item", "place", "sources")

    def __init__(self, item: str, place: Node, sources: int, *, is_timed: bool) -> None:
        self.item = item
        self.place = place
        self.sources = sources
        self.is_timed = is_timed


class Tally:
    """How often one history says each thing at each place: what it has `passed`, and what is `coming`."""

    def __init__(self, passed: Iterable[Spot], coming: Iterable[Spot]) -> None:
        self.passed = Counter(passed)
        self._taken = self.passed.copy()
        self.total = self.passed.copy()
        self.total.update(coming)

    def take(self, spot: Spot) -> int:
        """How many of the same at the same place came before this one."""
        before = self._taken[spot]
        self._taken[spot] += 1
        return before


class Asides:
    """All of a session."""

    def __init__(self) -> None:
        self._known: dict[bytes, list[Aside]] = {}
        self._here: dict[Spot, list[Aside]] = {}

    def add(self, spot: Spot, aside: Aside) -> None:
        """Remembers one that is new."""
        self._known.setdefault(spot.key, []).append(aside)
        self._here.setdefault(spot, []).append(aside)

    def sent(self, spot: Spot, tally: Tally, *, is_loose: bool = False) -> Aside | None:
        """The one that a history has at a place: it was there before, or this history has it nowhere else any more.

        Clients say such things at one place and then at another. `is_loose`: what a compaction left standing may have
        come from before it.
        """
        here = self._here.get(spot, ())
        at = tally.take(spot)
        return here[at] if at < len(here) else self._move(spot, tally, is_loose=is_loose)

    def pass_by(self, tally: Tally) -> None:
        """Takes back to its place what a message has again that was walked before, if it moved in between."""
        for spot, count in tally.passed.items():
            for _ in range(count - len(self._here.get(spot, ()))):
                self._move(spot, tally, is_loose=True)

    def _move(self, spot: Spot, tally: Tally, *, is_loose: bool) -> Aside | None:
        """Takes one to a place that this history does not have where it was; of a log's, only one from next to it."""

        def is_gone(aside: Aside) -> bool:
            before = Spot(aside.place, spot.key)
            count = tally.total[before]
            if count and self._here[before].index(aside) < count:
                return False
            return is_loose or bool(aside.sources & WIRE) or _is_next(aside.place, spot.place)

        aside = self._near(spot, is_gone, is_loose=is_loose)
        if aside is not None:
            self._here[Spot(aside.place, spot.key)].remove(aside)
            self._here.setdefault(spot, []).append(aside)
            aside.place = spot.place
        return aside

    def logged(self, spot: Spot, claimed: Container[str]) -> Aside | None:
        """The one that a line of a log tells of: at its place, else next to it if no log has told of that one.

        Of those that are `claimed`, other lines of the same log have told.
        """

        def is_free(aside: Aside) -> bool:
            return not aside.sources & LOG and _is_next(aside.place, spot.place)

        here = (aside for aside in self._here.get(spot, ()) if aside.item not in claimed)
        return next(here, None) or self._near(spot, is_free)

    def _near(self, spot: Spot, is_free: Callable[[Aside], bool], *, is_loose: bool = False) -> Aside | None:
        """The first that is free and says the same on the way to or from a place, with no compaction between."""
        place = spot.place
        for aside in self._known.get(spot.key, [])[-_LATEST:]:
            if aside.place is place or not (is_loose or aside.place.anchor is place.anchor):
                continue
            if is_free(aside) and _is_one_way(aside.place, place):
                return aside
        return None


def _is_next(one: Node, other: Node) -> bool:
    return abs(one.depth - other.depth) <= 1


def _is_one_way(one: Node, other: Node) -> bool:
    """Whether one of two nodes leads to the other."""
    low, high = (one, other) if one.depth >= other.depth else (other, one)
    while low.depth > high.depth and low.parent is not None:
        low = low.parent
    return low is high


def is_news(before: int, source: int) -> bool:
    """Whether the wire says what only a log had said, or the other way round."""
    if source & WIRE:
        return not before & WIRE and bool(before & LOG)
    return not before & LOG and bool(before & WIRE)
