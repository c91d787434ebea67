"""A history as it is walked: each raw message is read once, and known by its digest from then on."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from blackbird.canon.model import Turn
from blackbird.canon.seen import Slice
from blackbird.timeline.weaving import elements, keys
from blackbird.timeline.weaving.elements import Element, Mold


class Shape(NamedTuple):
    """What is kept of a raw message."""

    raw: bytes
    molds: tuple[Mold, ...]
    has_summary: bool


class Passage:
    """One raw message: its shape, and its elements if someone needs them."""

    __slots__ = ("_elements", "data", "shape", "turns")

    def __init__(self, data: Slice, turns: Callable[[Slice], tuple[Turn, ...]], shape: Shape) -> None:
        self.data = data
        self.shape = shape
        self.turns = turns
        self._elements: list[Element] | None = None

    def element(self, index: int) -> Element:
        """One of its elements, whole."""
        if self._elements is None:
            self._elements = elements.of_turns(self.turns(self.data), self.data)
        return self._elements[index]


class Reader:
    """Reads messages into passages, and remembers their shapes.

    Most of a history is the last one again, byte for byte: that is seen without a digest.
    """

    def __init__(self) -> None:
        self._shapes: dict[str | None, dict[bytes, Shape]] = {}
        self._history: tuple[Slice, ...] = ()
        self._turns: Callable[[Slice], tuple[Turn, ...]] | None = None
        self._last: list[Passage] = []

    def read(
        self, history: Sequence[Slice], turns: Callable[[Slice], tuple[Turn, ...]], dialect: str | None
    ) -> list[Passage]:
        """The passages of a history."""
        shapes = self._shapes.setdefault(dialect, {})
        given = tuple(history)
        same = _common(self._history, given) if turns is self._turns else 0
        passages = self._last[:same]
        passages += (Passage(data, turns, self._shape(data, turns, shapes)) for data in given[same:])
        self._history, self._turns, self._last = given, turns, passages
        return passages

    def _shape(self, data: Slice, turns: Callable[[Slice], tuple[Turn, ...]], shapes: dict[bytes, Shape]) -> Shape:
        raw = keys.raw(data.data)
        shape = shapes.get(raw)
        if shape is None:
            molds = tuple(element.mold for element in elements.of_turns(turns(data), data))
            shape = shapes[raw] = Shape(raw, molds, any(mold.is_summary for mold in molds))
        return shape


def _common(one: tuple[Slice, ...], other: tuple[Slice, ...]) -> int:
    """With how many of the same messages, at the same places, both begin."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


class Given(NamedTuple):
    """One element of a log's line."""

    element: Element

    @property
    def mold(self) -> Mold:
        """What it is known by."""
        return self.element.mold


class Step(NamedTuple):
    """One element of a history, not read yet."""

    passage: Passage
    number: int

    @property
    def mold(self) -> Mold:
        """What it is known by."""
        return self.passage.shape.molds[self.number]

    @property
    def element(self) -> Element:
        """All of it."""
        return self.passage.element(self.number)
