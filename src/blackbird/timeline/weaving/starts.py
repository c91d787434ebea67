"""Finds where a history begins: in which thread, and at which node of the tree."""

import bisect
from collections.abc import Sequence
from typing import NamedTuple

from blackbird.canon.model import Origin
from blackbird.canon.seen import Exchanged
from blackbird.timeline.weaving import match
from blackbird.timeline.weaving.asides import place_of
from blackbird.timeline.weaving.elements import Kind
from blackbird.timeline.weaving.loom import Loom
from blackbird.timeline.weaving.passages import Passage, Step
from blackbird.timeline.weaving.threads import Strand
from blackbird.timeline.weaving.tree import Node
from blackbird.timeline.weaving.walk import Beside, Compacted, Walk

#: How many steps are compared to tell beginnings apart, and how many may be new before a known one.
_PROBE = 64
_AHEAD = 8
#: So many more nodes than steps mean that something was left out, not spelled anew.
_SLACK = 3
_SUMMARIES = 2


class _Place(NamedTuple):
    """An element of a history: which passage, which of its elements."""

    passage: int
    number: int


_FRONT = _Place(0, -1)


class Start:
    """Finds the start of one request's history, and walks it."""

    def __init__(self, loom: Loom, seen: Exchanged, passages: Sequence[Passage]) -> None:
        self._loom = loom
        self._seen = seen
        self._passages = passages
        agent = seen.agent.name if seen.agent is not None else None
        self._own = loom.threads.of_links(seen.links, agent)
        self._steps: list[Step] = []
        self._places: list[_Place] = []

    def follow(self) -> Walk:
        """The whole history, walked."""
        previous = self._seen.ask.previous if self._seen.ask is not None else None
        if previous is not None:
            return self._continued(previous)
        summary = self._summary()
        self._collect(_AHEAD)
        if not self._steps:
            strand = self._own or self._loom.recent or self._loom.threads.main()
            walk = self._walk(strand, strand.start)
            walk.all(self._passages)
            return walk
        if summary is not None:
            return self._summarised(summary)
        entry = self._entry()
        if entry is not None:
            return self._entered(entry)
        return self._within() or self._new()

    def _continued(self, previous: str) -> Walk:
        response = self._loom.responses.get(previous)
        if response is not None:
            walk = self._walk(self._own or response.strand, response.node)
        else:
            strand = self._own or self._loom.recent or self._loom.threads.main()
            walk = self._walk(strand, strand.leaf)
        is_first = walk.node.kind is Kind.START
        walk.all(self._passages)
        if is_first:
            self._note_first(walk)
        return walk

    def _note_first(self, walk: Walk) -> None:
        """What was grown from a thread's start is where its histories begin."""
        node = walk.node
        for above in node.above():
            node = above
        if node.kind is not Kind.START and node not in self._loom.entries.get(node.key, ()):
            node.run = self._seen.run
            self._loom.enter(node)

    def _walk(self, strand: Strand, node: Node) -> Walk:
        return Walk(self._loom, strand, node)

    def _summary(self) -> _Place | None:
        for at in range(len(self._passages) - 1, -1, -1):
            shape = self._passages[at].shape
            if shape.has_summary:
                found = [index for index, mold in enumerate(shape.molds) if mold.is_summary]
                return _Place(at, found[-1])
        return None

    def _collect(self, limit: int | None) -> None:
        """The first steps of the history, or all."""
        self._steps, self._places = [], []
        for at, passage in enumerate(self._passages):
            for index, mold in enumerate(passage.shape.molds):
                if mold.is_path:
                    self._steps.append(Step(passage, index))
                    self._places.append(_Place(at, index))
            if limit is not None and len(self._steps) >= limit:
                return

    # A history that begins as one that is known.

    def _entry(self) -> Node | None:
        known = self._loom.entries.get(self._steps[0].mold.key, [])
        if not known:
            return None
        if self._own is None:
            return self._unnamed(known)
        own = [node for node in known if node.thread == self._own.id]
        if own:
            return self._best(own)
        others = [node for node in known if self._probe(node)]
        return self._best(others) if others else None

    def _unnamed(self, known: list[Node]) -> Node | None:
        """The beginning of a history of no one's: the same words may begin another conversation."""
        best = self._best(known)
        if len(self._steps) > 1:
            return best
        attempts = best.attempts
        if attempts is None or attempts.is_failed:
            return best
        strand = self._loom.threads.infer(self._steps[0].element.squeezed)
        if strand is not None:
            self._own = strand
            return None
        return best if best.run == self._seen.run else None

    def _best(self, nodes: list[Node]) -> Node:
        if len(nodes) == 1:
            return nodes[0]
        ranked = [(self._probe(node), node.run == self._seen.run, at) for at, node in enumerate(nodes)]
        return nodes[max(ranked)[2]]

    def _probe(self, node: Node) -> int:
        """How many of an agent's own steps follow a beginning as they do in this history."""
        self._collect(_PROBE)
        count, at = 0, 1
        while at < len(self._steps):
            found = match.find(node, self._steps, at, self._loom.is_failed, is_strict=True)
            if found is None:
                break
            node = found.node
            count += self._steps[at].mold.is_agents
            at += found.taken
        return count

    def _entered(self, entry: Node) -> Walk:
        strand = self._own or self._loom.threads.strands[entry.thread]
        if strand.leaf is strand.start and entry.thread != strand.id:
            strand.fork_from(entry.thread)
            strand.leaf = self._loom.threads.strands[entry.thread].leaf
        walk = self._walk(strand, entry)
        front = entry if entry.is_summary or entry.parent is None else entry.parent
        self._aside(walk, self._places[0], at=front)
        walk.pass_by(entry, self._steps[0])
        if entry.is_summary:
            self._after_summary(walk, entry, self._places[0])
        else:
            self._rest(walk, self._places[0])
        return walk

    # A history that begins with a summary.

    def _summarised(self, place: _Place) -> Walk:
        step = Step(self._passages[place.passage], place.number)
        known = self._loom.entries.get(step.mold.key, [])
        own = [node for node in known if self._own is None or node.thread == self._own.id] or known
        strand = self._own or (self._loom.threads.strands[own[-1].thread] if own else self._unnamed_strand())
        if own:
            walk = self._walk(strand, own[-1])
            self._aside(walk, place, at=own[-1])
            walk.pass_by(own[-1], step)
            self._after_summary(walk, own[-1], place)
            return walk
        walk = self._walk(strand, strand.leaf)
        self._aside(walk, place, at=strand.leaf)
        self._collect(None)
        self._grow_unknown(walk, place)
        self._grow_summary(walk, step)
        self._after_summary(walk, walk.node, place)
        return walk

    def _unnamed_strand(self) -> Strand:
        return self._loom.recent or self._loom.threads.main()

    def _grow_unknown(self, walk: Walk, until: _Place) -> None:
        """What a client keeps before a summary is known, as a rule."""
        known = {node.key for node in walk.node.above()}
        for step, place in zip(self._steps, self._places, strict=True):
            if place >= until:
                return
            if step.mold.key not in known and not (step.mold.is_summary and step.mold.key in self._loom.entries):
                walk.grow(step)

    def _grow_summary(self, walk: Walk, step: Step) -> None:
        if walk.node.kind is not Kind.START:
            walk.events.append(Compacted(walk.node, step))
        node = walk.grow(step, below=walk.node)
        node.summarise()
        # What the client puts before a summary stands there from now on.
        walk.events = [event._replace(place=node) if isinstance(event, Beside) else event for event in walk.events]
        node.run = self._seen.run
        self._loom.enter(node)

    def _after_summary(self, walk: Walk, summary: Node, place: _Place) -> None:
        """Goes on behind a summary and the part of the conversation that was kept beside it."""
        if self._is_next(summary, place):
            walk.node = summary
            self._rest(walk, place)
            return
        self._collect(None)
        first = bisect.bisect_right(self._places, place)
        kept = _kept(summary, self._steps[first:])
        end = self._places[first + kept - 1] if kept else place
        self._aside(walk, end, place, at=summary)
        walk.node = summary
        self._rest(walk, end)

    def _is_next(self, summary: Node, place: _Place) -> bool:
        """Whether what follows a place is known to follow the summary: nothing was kept beside it."""
        for at in range(place.passage, len(self._passages)):
            for number, mold in enumerate(self._passages[at].shape.molds):
                if mold.is_path and place < (at, number):
                    return mold.key in summary.children
        return False

    # A history that begins within a known conversation.

    def _within(self) -> Walk | None:
        """A history whose beginning was left out, or is spelled anew: known by what an agent said or did."""
        for strand in self._strands():
            chain = {node.key: node for node in strand.leaf.above()}
            for at, step in enumerate(self._steps[:_AHEAD]):
                mold = step.mold
                node = chain.get(mold.key) if mold.is_agents or mold.kind is Kind.RESULT else None
                if node is None or not self._goes_on(node, at):
                    continue
                return self._entered_at(strand, node, at)
        return None

    def _strands(self) -> list[Strand]:
        if self._own is not None and self._own.leaf is not self._own.start:
            return [self._own]
        return list(self._loom.threads.strands.values())

    def _goes_on(self, node: Node, at: int) -> bool:
        if at + 1 == len(self._steps):
            return True
        return match.find(node, self._steps, at + 1, self._loom.is_failed) is not None or not node.children

    def _entered_at(self, strand: Strand, node: Node, at: int) -> Walk:
        strand = self._own or strand
        first = self._steps[0]
        is_cut = at > 0 and node.depth > at + _SLACK and first.mold.kind is Kind.WORDS
        if is_cut and first.mold.origin is Origin.USER and strand.leaf.kind is not Kind.START:
            walk = self._walk(strand, strand.leaf)
            self._aside(walk, self._places[0], at=strand.leaf)
            self._grow_summary(walk, first)
            self._after_summary(walk, walk.node, self._places[0])
            return walk
        walk = self._walk(strand, node)
        self._aside(walk, self._places[at], at=node)
        walk.pass_by(node, self._steps[at])
        self._rest(walk, self._places[at])
        return walk

    # A history that nobody knows.

    def _new(self) -> Walk:
        strand = self._own
        first = self._steps[0]
        squeezed = first.element.squeezed if first.mold.kind is Kind.WORDS else ""
        if strand is None and squeezed:
            strand = self._loom.threads.infer(squeezed)
        strand = strand or self._loom.threads.main()
        if squeezed:
            self._loom.threads.place(strand, squeezed)
        walk = self._walk(strand, strand.start)
        self._aside(walk, self._places[0], at=strand.start)
        node = walk.grow(first)
        node.run = self._seen.run
        self._loom.enter(node)
        self._rest(walk, self._places[0])
        return walk

    # Both ends of a place.

    def _aside(self, walk: Walk, until: _Place, behind: _Place = _FRONT, *, at: Node) -> None:
        """What stands beside the conversation between two places, of which the tree knows no more than a node."""
        is_loose = at.kind is not Kind.START
        for number in range(behind.passage, until.passage + 1):
            passage = self._passages[number]
            for index, mold in enumerate(passage.shape.molds):
                if behind < (number, index) < until and not mold.is_path:
                    walk.events.append(Beside(walk.node, Step(passage, index), place_of(at), is_loose))

    def _rest(self, walk: Walk, place: _Place) -> None:
        """Walks all that is behind a place."""
        is_last = place.number + 1 == len(self._passages[place.passage].shape.molds)
        first = 0 if is_last else place.number + 1
        walk.all(self._passages[place.passage + is_last :], first)


def _since_summaries(node: Node) -> list[Node]:
    """What led to a node, from the summary before the last one on: nothing older is kept through a compaction."""
    chain: list[Node] = []
    summaries = 0
    for above in node.above():
        chain.append(above)
        summaries += above.is_summary
        if summaries == _SUMMARIES:
            break
    chain.reverse()
    return chain


def _kept(summary: Node, steps: Sequence[Step]) -> int:
    """How many of the steps behind a summary are the end of what it stands for."""
    if summary.parent is None:
        return 0
    chain = _since_summaries(summary.parent)
    places: dict[bytes, list[int]] = {}
    for at, node in enumerate(chain):
        places.setdefault(node.key, []).append(at)
    count, last = 0, -1
    for step in steps:
        key = step.mold.key
        if key in summary.children:
            break
        is_result = step.mold.kind is Kind.RESULT
        later = [at for at in places.get(key, ()) if at > last or is_result]
        if not later:
            break
        last = max(last, later[-1] if count == 0 else later[0])
        count += 1
    is_weak = count == 1 and steps[0].mold.kind is Kind.WORDS and not steps[0].mold.is_agents
    return 0 if is_weak and last != len(chain) - 1 else count
