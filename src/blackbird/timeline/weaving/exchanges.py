"""Weaves exchanges: what is new in a request's history, the answer to it, and the generation that it was."""

import msgspec

from blackbird.canon.model import (
    Amend,
    Cost,
    Evidence,
    Generation,
    Mark,
    Outcome,
    Purpose,
    Reply,
    Settings,
    Side,
    Unknown,
    Usage,
)
from blackbird.canon.seen import Ask, Exchanged, whole
from blackbird.timeline.prices import Pricer
from blackbird.timeline.weaving import elements, keys, match
from blackbird.timeline.weaving.asides import Aside, Spot, Tally, place_of
from blackbird.timeline.weaving.elements import Element, Kind
from blackbird.timeline.weaving.loom import Loom, Response, Stand
from blackbird.timeline.weaving.passages import Step
from blackbird.timeline.weaving.starts import Start
from blackbird.timeline.weaving.threads import Strand
from blackbird.timeline.weaving.tree import HISTORY, LOG, REPLY, WIRE, Attempts, Node
from blackbird.timeline.weaving.walk import Beside, Compacted, Grown, Passed, Walk

#: What a conversation grows by; a warm-up brings its beginning.
_CONVERSATION = frozenset({Purpose.TURN, Purpose.SUBAGENT, Purpose.WARMUP})
_FAILED = frozenset({Outcome.CUT, Outcome.ERROR})


class Exchanges:
    """Takes exchanges in, in the order in which they ended."""

    def __init__(self, loom: Loom, prices: Pricer | None) -> None:
        self._loom = loom
        self._prices = prices
        self._fed: set[tuple[str, int]] = set()

    def take(self, seen: Exchanged) -> None:
        """One exchange; one that was taken before changes nothing."""
        if (seen.request_id, seen.round) in self._fed:
            return
        self._fed.add((seen.request_id, seen.round))
        if seen.ask is not None and seen.purpose in _CONVERSATION:
            self._weave(seen, seen.ask)
        else:
            self._side(seen)

    def _side(self, seen: Exchanged) -> None:
        """A request that is no part of a conversation, or whose words were not recorded."""
        agent = seen.agent.name if seen.agent is not None else None
        strand = self._loom.threads.of_links(seen.links, agent) or self._loom.recent or self._loom.threads.main()
        strand.is_used = True
        if seen.ask is None and seen.dialect is None:
            self._loom.hand_out(_other(seen, strand))
            return
        generation = self._generation(seen, strand, _own_id(seen), None, 1)
        self._loom.hand_out(generation)
        self._note(generation, strand, strand.leaf)

    def _weave(self, seen: Exchanged, ask: Ask) -> None:
        loom = self._loom
        passages = loom.histories.read(ask.history, seen.turns, seen.dialect)
        walk = Start(loom, seen, passages).follow()
        strand = walk.strand
        strand.is_used = True
        loom.recent = strand
        if seen.agent is not None and strand.thread.agent is None:
            strand.learn(agent=seen.agent.name)
        prompt = [
            Beside(strand.start, Step(passage, index), strand.start, is_prompt=True)
            for passage in loom.instructions.read(ask.system, seen.turns, seen.dialect)
            for index in range(len(passage.shape.molds))
        ]
        tally = walk.tally(prompt)
        loom.asides.pass_by(tally)
        for said in prompt:
            self._aside(seen, walk, said, tally, is_inherited=False, is_late=True)
        self._history(seen, walk, tally)
        self._answer(seen, walk)

    def _history(self, seen: Exchanged, walk: Walk, tally: Tally) -> None:
        """Hands out what is new in a history; what an agent had said unheard, and all before that, is inherited."""
        grown = {event.node for event in walk.events if isinstance(event, Grown)}
        last = max(
            (at for at, event in enumerate(walk.events) if event.node in grown and event.node.is_agents), default=-1
        )
        thoughts: dict[Node, str] = {}
        for at, event in enumerate(walk.events):
            step = event.step
            if isinstance(event, Beside):
                is_late = not grown.issuperset(event.node.children.values())
                if event.is_aside:
                    self._aside(seen, walk, event, tally, is_inherited=at < last, is_late=is_late)
                else:
                    self._thought(seen, walk, event, thoughts, is_inherited=at < last, is_late=is_late)
                continue
            if isinstance(event, Compacted):
                self._compacted(seen, walk, event.node)
                continue
            element = step.element
            stand = self._stand(seen, step, element, is_inherited=at <= last)
            if isinstance(event, Grown):
                node = event.node
                parent = thoughts.get(node.parent, node.parent.tip) if node.parent is not None else None
                if node.is_summary and walk.strand.is_compaction_open:
                    parent, walk.strand.is_compaction_open = walk.strand.compaction, False
                self._loom.add(node, element, stand, parent)
            else:
                self._passed(event, stand)

    def _passed(self, event: Passed, stand: Stand) -> None:
        node = event.node
        if node.sources == LOG | HISTORY:
            node.sources = LOG
            self._loom.touch(node, HISTORY, stand)

    def _thought(
        self,
        seen: Exchanged,
        walk: Walk,
        event: Beside,
        thoughts: dict[Node, str],
        *,
        is_inherited: bool,
        is_late: bool,
    ) -> None:
        """A thought once at its place, if it did not come with an answer."""
        mold, loom, node = event.step.mold, self._loom, event.node
        is_new_place = node.item is not None and node.sources == HISTORY and is_inherited
        if mold.key in node.thoughts or (mold.key in loom.thoughts and not is_new_place):
            return
        element = event.step.element
        stand = self._stand(seen, event.step, element, is_inherited=is_inherited)
        loom.thoughts.add(mold.key)
        node.thoughts[mold.key] = stand.id
        if stand.at is None:
            loom.undated.add(stand.id)
        loom.say(element, walk.thread, stand, None if is_late else thoughts.get(node, node.tip))
        thoughts[node] = stand.id

    def _aside(
        self, seen: Exchanged, walk: Walk, event: Beside, tally: Tally, *, is_inherited: bool, is_late: bool
    ) -> None:
        """Wrappers and the like, each time that they are said."""
        loom = self._loom
        known = loom.asides.sent(event.spot, tally, is_loose=event.is_loose)
        if known is not None and known.sources & WIRE:
            return
        element = event.step.element
        part = "system" if event.is_prompt else "request"
        stand = self._stand(seen, event.step, element, part, is_inherited=is_inherited)
        if known is not None:
            loom.again(known, HISTORY, stand)
        else:
            loom.asides.add(event.spot, Aside(stand.id, event.place, HISTORY, is_timed=stand.at is not None))
            loom.beside(event.node, element, walk.thread, stand, is_late=is_late)

    def _compacted(self, seen: Exchanged, walk: Walk, leaf: Node) -> None:
        strand = walk.strand
        if strand.is_compaction_open:
            return
        mark = Mark(
            id=keys.item(seen.request_id, seen.round, "compact"),
            thread=strand.id,
            at=seen.at,
            parent=leaf.tip,
            evidence=whole(seen),
            kind="compact",
        )
        self._loom.mark_compaction(strand, WIRE, mark)
        strand.is_compaction_open = True

    def _stand(
        self, seen: Exchanged, step: Step, element: Element, part: str = "request", *, is_inherited: bool = False
    ) -> Stand:
        item = keys.item(seen.request_id, seen.round, part, step.passage.data.start, element.place)
        at = None if is_inherited else seen.at
        return Stand(item, at, _asked(seen, element), is_inherited=is_inherited)

    # The answer.

    def _answer(self, seen: Exchanged, walk: Walk) -> None:
        loom, node, strand = self._loom, walk.node, walk.strand
        reply = seen.reply or Reply(outcome=Outcome.CUT)
        found = elements.of_reply(reply.parts)
        is_idle = seen.ask is not None and seen.ask.is_idle
        attempt = 1 if is_idle else self._attempt(node)
        logged = self._logged(node, reply, found)
        generation = self._generation(seen, strand, logged or _own_id(seen), node.tip, attempt)
        if logged is not None:
            # The log has counted it; what the wire says of it takes the place of that.
            generation = msgspec.structs.replace(generation, is_joined=True)
        loom.hand_out(generation)
        if reply.outcome in _FAILED:
            loom.failed.add(generation.id)
        items = [generation.id]
        joined: list[Node] = []
        leaf = self._say(seen, node, found, generation.id, items, joined)
        if node.attempts is not None and not is_idle:
            node.attempts.items, node.attempts.joined = items, joined
            node.attempts.is_failed = reply.outcome in _FAILED or not found
        if not is_idle or found:
            strand.leaf = leaf
        elif strand.leaf is strand.start:
            strand.leaf = node
        self._note(generation, strand, leaf)

    def _attempt(self, node: Node) -> int:
        """Which attempt at a place this is: those that failed right before it are superseded."""
        before = node.attempts
        if before is None or not before.is_failed:
            node.attempts = before = Attempts()
        else:
            for item in before.items:
                self._loom.hand_out(Amend(id=item, is_superseded=True))
            for joined in before.joined:
                joined.sources &= ~REPLY
            before.joined = []
        before.count += 1
        return before.count

    def _logged(self, node: Node, reply: Reply, found: list[Element]) -> str | None:
        """The generation that an agent's log told of before, if it is this one."""
        known = self._heard(reply.response_id)
        if known is not None:
            return known.generation if not known.sources & WIRE else None
        for element in found:
            if element.mold.is_path:
                child = _unheard(node, element)
                response = self._loom.generations.get(child.generation or "") if child is not None else None
                is_free = response is not None and not response.sources & WIRE
                # Some logs have ids of their own for answers; one that failed is not what a log tells of.
                is_other = reply.outcome in _FAILED
                return response.generation if response is not None and is_free and not is_other else None
        return None

    def _say(
        self,
        seen: Exchanged,
        node: Node,
        found: list[Element],
        generation: str,
        items: list[str],
        joined: list[Node],
    ) -> Node:
        """Hands out an answer, one element behind the other; returns where it ends, and adds what it became."""
        loom, last = self._loom, node.tip
        overall = _range(found)
        for element in found:
            stand = Stand(
                keys.item(seen.request_id, seen.round, "response", element.place),
                seen.ended if seen.ended is not None else seen.at,
                _answered(seen, element, overall),
                generation,
            )
            if element.mold.is_path:
                child = _unheard(node, element)
                if child is not None:
                    if child.kind is Kind.CALL:
                        loom.confirm(child, element.mold.call_id)
                    loom.touch(child, REPLY, stand)
                    joined.append(child)
                    child.generation = child.generation or generation
                    node, last = child, child.tip
                    continue
                node = node.grow(element.mold, self._thread(node))
                node.sources = REPLY
                loom.add(node, element, stand, last)
            elif (
                element.mold.key in node.thoughts
                and node.children
                and any(child.sources == LOG for child in node.children.values())
            ):
                loom.hand_out(Amend(id=node.thoughts[element.mold.key], is_joined=True, evidence=(stand.evidence,)))
                continue
            else:
                loom.thoughts.add(element.mold.key)
                if element.mold.kind is Kind.ASIDE:
                    spot = Spot(place_of(node), element.mold.key)
                    loom.asides.add(spot, Aside(stand.id, spot.place, REPLY, is_timed=stand.at is not None))
                node.thoughts[element.mold.key] = stand.id
                loom.say(element, self._thread(node), stand, last)
            items.append(stand.id)
            last = stand.id
        return node

    def _thread(self, node: Node) -> str:
        recent = self._loom.recent
        return recent.id if recent is not None else node.thread

    # The generation.

    def _generation(self, seen: Exchanged, strand: Strand, item: str, parent: str | None, attempt: int) -> Generation:
        ask, reply = seen.ask, seen.reply or Reply(outcome=Outcome.CUT)
        settings = ask.settings if ask is not None else Settings()
        model = reply.model or settings.model
        usage = self._fresh_usage(reply)
        return Generation(
            id=item,
            thread=strand.id,
            at=seen.at,
            parent=parent,
            evidence=whole(seen),
            purpose=_purpose(seen, strand),
            outcome=reply.outcome,
            settings=settings,
            attempt=attempt,
            model=model,
            stop_reason=reply.stop_reason,
            usage=usage,
            cost=self._cost(model, usage, seen.at),
            reported_cost=reply.reported_cost,
            failure=reply.failure,
            response_id=reply.response_id,
            request_id=seen.request_id,
            provider_request=seen.provider_request,
            run=seen.run,
            task=seen.task,
            status=seen.status,
            first_byte_us=seen.first_byte_us,
            duration_us=seen.duration_us,
            tools=ask.tools if ask is not None else (),
            tools_digest=ask.tools_digest if ask is not None else None,
            system_digest=ask.system_digest if ask is not None else None,
        )

    def _heard(self, response_id: str | None) -> Response | None:
        """An answer by its id, unless it broke off: one that comes whole then is another attempt."""
        known = self._loom.responses.get(response_id or "")
        return None if known is None or known.generation in self._loom.failed else known

    def _fresh_usage(self, reply: Reply) -> Usage | None:
        """The usage of an answer that no other exchange brought already."""
        known = self._heard(reply.response_id)
        is_counted = known is not None and bool(known.sources & WIRE) and known.spent is not None
        return None if is_counted else reply.usage

    def _cost(self, model: str | None, usage: Usage | None, at: int | None) -> Cost | None:
        return self._prices.cost(model, usage, at) if self._prices is not None and usage is not None else None

    def _note(self, generation: Generation, strand: Strand, node: Node) -> None:
        known = self._heard(generation.response_id)
        if known is not None and known.sources & WIRE:
            return
        response = known or self._loom.generations.get(generation.id) or Response(generation.id, strand, node)
        response.node, response.strand = node, strand
        self._loom.note_response(generation.response_id, response, WIRE, generation.usage)


def _purpose(seen: Exchanged, strand: Strand) -> Purpose:
    """What it was for; that a thread is a sub-agent's may follow from its history alone."""
    is_subagents = seen.purpose is Purpose.TURN and strand.is_subagents
    return Purpose.SUBAGENT if is_subagents else seen.purpose


def _own_id(seen: Exchanged) -> str:
    return keys.item(seen.request_id, seen.round, "generation")


def _other(seen: Exchanged, strand: Strand) -> Mark:
    data = {"purpose": seen.purpose.value, "method": seen.method, "path": seen.path, "status": seen.status}
    return Mark(
        id=keys.item(seen.request_id, seen.round, "other"),
        thread=strand.id,
        at=seen.at,
        evidence=whole(seen),
        kind="other",
        text=" ".join(word for word in (seen.method, seen.path) if word),
        data={name: value for name, value in data.items() if value is not None},
    )


def _unheard(node: Node, element: Element) -> Node | None:
    """What an answer's element became already, if only a log or a history told of it."""
    mold = element.mold
    child = match.call(node, mold) if mold.kind is Kind.CALL else node.children.get(mold.key)
    return child if child is not None and child.parent is node and not child.sources & REPLY else None


def _asked(seen: Exchanged, element: Element) -> Evidence:
    return seen.locate(Side.REQUEST, element.start, element.end)


def _answered(seen: Exchanged, element: Element, overall: tuple[int, int]) -> Evidence:
    start, end = _range([element])
    return seen.locate(Side.RESPONSE, *((start, end) if end > start else overall))


def _range(found: list[Element]) -> tuple[int, int]:
    """The bytes of an answer from which elements come."""
    places: list[int] = []
    for element in found:
        for part in element.parts:
            if isinstance(part, Unknown):
                places += (part.start, part.end)
            else:
                for span in getattr(part, "spans", ()):
                    places += (span.start, span.end)
    return (min(places), max(places)) if places else (0, 0)
