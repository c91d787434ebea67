"""Walks a history down the tree: what is known is passed, what is new is grown."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from blackbird.timeline.weaving import match
from blackbird.timeline.weaving.asides import Spot, Tally, place_of
from blackbird.timeline.weaving.elements import Kind, Mold
from blackbird.timeline.weaving.loom import Loom
from blackbird.timeline.weaving.passages import Passage, Step
from blackbird.timeline.weaving.threads import Strand
from blackbird.timeline.weaving.tree import HISTORY, WIRE, Node


class Grown(NamedTuple):
    """An element that nobody had seen: a new node."""

    node: Node
    step: Step


class Passed(NamedTuple):
    """An element that only a log had told of."""

    node: Node
    step: Step


class Compacted(NamedTuple):
    """The history goes on with a summary in place of what led to a node."""

    node: Node
    step: Step


class Beside(NamedTuple):
    """An element that is no step of the conversation, the node it stands behind, and the place it is known by.

    `is_loose`: it stands in what a compaction, or a client that leaves things out, kept of the history.
    `is_prompt`: it stands outside of the history.
    """

    node: Node
    step: Step
    place: Node
    is_loose: bool = False
    is_prompt: bool = False

    @property
    def spot(self) -> Spot:
        """What is said where."""
        return Spot(self.place, self.step.mold.key)

    @property
    def is_aside(self) -> bool:
        """Whether it is said beside the conversation, and is no thought of the agent's."""
        return self.step.mold.kind is not Kind.THOUGHT


Event = Grown | Passed | Beside | Compacted


class Walk:
    """One walk: where it is, and what it met."""

    def __init__(self, loom: Loom, strand: Strand, node: Node) -> None:
        self._loom = loom
        self.strand = strand
        self.node = node
        self.thread = strand.id
        self.events: list[Event] = []
        #: What is said beside the conversation in messages that were walked from here before.
        self.passed: list[Spot] = []

    @property
    def has_grown(self) -> bool:
        """Whether anything was new."""
        return any(isinstance(event, Grown) for event in self.events)

    def besides(self, since: int = 0) -> Iterator[Beside]:
        """What is new, or may be, of what is said beside the conversation."""
        return (event for event in self.events[since:] if isinstance(event, Beside) and event.is_aside)

    def tally(self, more: Iterable[Beside]) -> Tally:
        """How often the request says each thing beside the conversation, with what it says outside of the history."""
        return Tally(self.passed, (event.spot for event in (*more, *self.besides())))

    def all(self, passages: Sequence[Passage], first: int = 0) -> None:
        """Walks the passages, from element `first` of the first of them."""
        at = 0
        while at < len(passages):
            if first == 0:
                known = self._loom.memo.get((self.node, passages[at].shape.raw))
                if known is not None:
                    self.node = known[0]
                    self.passed += known[1]
                    at += 1
                    continue
            at, first = self._passage(passages, at, first)

    def _passage(self, passages: Sequence[Passage], at: int, first: int) -> tuple[int, int]:
        """Walks one passage, or more if an element reaches into the next; returns where to go on."""
        start, is_whole, met = self.node, first == 0, len(self.events)
        shape = passages[at].shape
        steps = [Step(passages[at], index) for index in range(first, len(shape.molds))]
        own = len(steps)
        ahead = _ahead(passages, at)
        index = 0
        while index < own:
            taken = self._step(steps, index, ahead)
            index += taken
        if index > own:
            return _behind(passages, at, index - own)
        if is_whole:
            self._loom.memo[start, shape.raw] = self.node, tuple(event.spot for event in self.besides(met))
        return at + 1, 0

    def _step(self, steps: list[Step], index: int, ahead: Sequence[Step]) -> int:
        step = steps[index]
        if not step.mold.is_path:
            self.events.append(Beside(self.node, step, place_of(self.node)))
            return 1
        path = [other for other in steps[index:] if other.mold.is_path]
        path += ahead
        found = match.find(self.node, path, 0, self._loom.is_failed) or self._far(step.mold)
        if found is not None:
            self.pass_by(found.node, step)
            return found.taken if found.taken == 1 else _width(steps, index, found.taken)
        inserted = self._is_inserted(path) if step.mold.kind is Kind.WORDS else None
        if inserted is None:
            self.grow(step)
        elif inserted:
            self.events.append(Beside(self.node, step, place_of(self.node)))
        return 1

    def _far(self, mold: Mold) -> match.Found | None:
        """The same element on the way to where the thread is, however much was left out before it."""
        if not (mold.is_agents or mold.kind is Kind.RESULT) or self.node is self.strand.leaf:
            return None
        known = None
        for above in self.strand.leaf.above():
            if above is self.node:
                return match.Found(known) if known is not None else None
            known = above if above.key == mold.key else known
        return None

    def _is_inserted(self, path: Sequence[Step]) -> bool | None:
        inserted = match.is_inserted(self.node, path, 0)
        if inserted is not None:
            return inserted
        later = [step.mold for step in path[1:4] if step.mold.is_agents or step.mold.kind is Kind.RESULT]
        return False if any(self._far(mold) is not None for mold in later) else None

    def pass_by(self, node: Node, step: Step) -> None:
        """Takes a step to a known node."""
        meant = node
        if step.mold.kind is Kind.RESULT:
            meant = next((one for one in _results_above(node) if one.key == step.mold.key), node)
        is_named = step.mold.call_id is not None and (meant.is_made_up or meant.is_log_id)
        if not meant.sources & WIRE:
            self.events.append(Passed(meant, step))
        if is_named and meant.kind is Kind.CALL:
            self._loom.confirm(meant, step.mold.call_id)
        elif is_named:
            self._loom.confirm_result(meant, step.mold)
        meant.sources |= HISTORY
        self.node = node

    def grow(self, step: Step, below: Node | None = None) -> Node:
        """Adds what is new."""
        place = below if below is not None else match.attach(self.node, step.mold)
        self.node = place.grow(step.mold, self.thread)
        self.node.sources = HISTORY
        self.events.append(Grown(self.node, step))
        return self.node


def _results_above(node: Node) -> list[Node]:
    found = []
    for above in node.above():
        if above.kind is not Kind.RESULT:
            break
        found.append(above)
    return found


def _ahead(passages: Sequence[Passage], at: int) -> list[Step]:
    """The next steps behind a passage."""
    steps: list[Step] = []
    for passage in passages[at + 1 : at + 9]:
        steps += (Step(passage, index) for index, mold in enumerate(passage.shape.molds) if mold.is_path)
    return steps


def _width(steps: Sequence[Step], index: int, taken: int) -> int:
    """How many of a passage's elements a number of steps is; those behind the passage count one each."""
    width = 0
    for step in steps[index:]:
        if taken == 0:
            return width
        width += 1
        taken -= step.mold.is_path
    return width + taken


def _behind(passages: Sequence[Passage], at: int, over: int) -> tuple[int, int]:
    """The passage and the element of it that follows, when the steps of one reached `over` more into the next."""
    at += 1
    while over and at < len(passages):
        for index, mold in enumerate(passages[at].shape.molds):
            over -= mold.is_path
            if over == 0:
                if index + 1 < len(passages[at].shape.molds):
                    return at, index + 1
                return at + 1, 0
        at += 1
    return at, 0
