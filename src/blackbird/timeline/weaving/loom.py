"""What the weaver knows of a session: its tree, its threads, its responses; and how an element becomes an item."""

from typing import NamedTuple

import msgspec

from blackbird.canon import wrappers
from blackbird.canon.model import (
    Amend,
    Call,
    Evidence,
    Item,
    Mark,
    Message,
    Result,
    ToolCall,
    ToolResult,
    Usage,
)
from blackbird.timeline.weaving import keys, match
from blackbird.timeline.weaving.asides import Aside, Asides, Spot, is_news
from blackbird.timeline.weaving.elements import Element, Kind, Mold
from blackbird.timeline.weaving.passages import Reader
from blackbird.timeline.weaving.threads import Strand, Threads
from blackbird.timeline.weaving.tree import LOG, WIRE, Node


class Response:
    """An answer of a model: the generation it became, and where the conversation went on from it."""

    __slots__ = ("generation", "node", "sources", "spent", "strand")

    def __init__(self, generation: str, strand: Strand, node: Node) -> None:
        self.generation = generation
        self.strand = strand
        self.node = node
        self.sources = 0
        #: All tokens that were reported, and by whom is in `sources`; None if no one did.
        self.spent: int | None = None


class Stand(NamedTuple):
    """Where and when an element was seen."""

    id: str
    at: int | None
    evidence: Evidence
    generation: str | None = None
    is_inherited: bool = False
    #: If the time is not known.
    near: int | None = None


class Loom:
    """The state of a session, and what is handed out of it."""

    def __init__(self) -> None:
        self.threads = Threads()
        self.histories = Reader()
        self.instructions = Reader()
        #: Where a message led to from a node, and what it said beside the conversation on the way.
        self.memo: dict[tuple[Node, bytes], tuple[Node, tuple[Spot, ...]]] = {}
        #: The nodes that a history may begin with.
        self.entries: dict[bytes, list[Node]] = {}
        self.responses: dict[str, Response] = {}
        #: By generation, for answers that have no id of their own.
        self.generations: dict[str, Response] = {}
        self.failed: set[str] = set()
        #: Calls by ids that only a log has for them.
        self.aliases: dict[str, Node] = {}
        self.asides = Asides()
        self.thoughts: set[bytes] = set()
        #: Thoughts of a history, of which nobody knows yet when they came and out of which answer.
        self.undated: set[str] = set()
        self.recent: Strand | None = None
        self._out: list[Item | Amend] = []

    def take(self) -> list[Item | Amend]:
        """What was handed out since the last time."""
        out, self._out = self._out, []
        return out

    def hand_out(self, thing: Item | Amend) -> None:
        """Adds an item, or what turned out about one."""
        self._out.append(thing)

    def is_failed(self, node: Node) -> bool:
        """Whether it came out of an answer that never ended well."""
        return node.generation in self.failed

    def enter(self, node: Node) -> None:
        """Notes that histories may begin with a node."""
        self.entries.setdefault(node.key, []).append(node)

    def add(self, node: Node, element: Element, stand: Stand, parent: str | None) -> None:
        """Hands out the item of a new node."""
        node.item = node.tip = stand.id
        node.generation = stand.generation
        node.is_timed = stand.at is not None
        part = element.parts[0]
        if isinstance(part, ToolCall):
            self._call(node, part, stand, parent)
        elif isinstance(part, ToolResult):
            self._result(node, element, part, stand, parent)
        else:
            self.say(element, node.thread, stand, parent)

    def say(self, element: Element, thread: str, stand: Stand, parent: str | None) -> None:
        """Hands out a message, or what the words of a client tell of."""
        mark = wrappers.mark_of(element.text) if element.mold.kind is Kind.ASIDE else None
        if mark is not None:
            self.hand_out(
                Mark(
                    id=stand.id,
                    thread=thread,
                    at=stand.at,
                    near=stand.near,
                    parent=parent,
                    evidence=(stand.evidence,),
                    is_inherited=stand.is_inherited,
                    kind=mark,
                    text=element.text,
                )
            )
            return
        self.hand_out(
            Message(
                id=stand.id,
                thread=thread,
                at=stand.at,
                near=stand.near,
                parent=parent,
                generation=stand.generation,
                evidence=(stand.evidence,),
                is_inherited=stand.is_inherited,
                role=element.mold.role,
                origin=element.mold.origin,
                parts=element.parts,
            )
        )

    def _call(self, node: Node, part: ToolCall, stand: Stand, parent: str | None) -> None:
        if node.call_id is None:
            node.call_id, node.is_made_up = f"call_{stand.id.removeprefix('it_')}", True
        self.threads.offer(node, part)
        self.hand_out(
            Call(
                id=stand.id,
                thread=node.thread,
                at=stand.at,
                near=stand.near,
                parent=parent,
                generation=stand.generation,
                evidence=(stand.evidence,),
                is_inherited=stand.is_inherited,
                call_id=node.call_id,
                call=part,
                is_made_up=node.is_made_up,
            )
        )

    def _result(self, node: Node, element: Element, part: ToolResult, stand: Stand, parent: str | None) -> None:
        call = match.caller(node.parent, element.mold) if node.parent is not None else None
        if call is not None:
            call.is_answered = True
            if node.call_id is not None and call.is_made_up:
                self.name(call, node.call_id)
            node.is_made_up = node.call_id is None
            node.name = node.name or call.name
            node.call_id = call.call_id
        elif node.call_id is None:
            node.call_id, node.is_made_up = f"call_{stand.id.removeprefix('it_')}", True
        self.hand_out(
            Result(
                id=stand.id,
                thread=node.thread,
                at=stand.at,
                near=stand.near,
                parent=parent,
                evidence=(stand.evidence,),
                is_inherited=stand.is_inherited,
                call_id=node.call_id or "",
                result=part,
            )
        )

    def name(self, call: Node, call_id: str) -> None:
        """Gives a call the id that became known, and what came of it, too."""
        old, call.call_id = call.call_id, call_id
        if old is not None and not call.is_made_up:
            self.aliases[old] = call
        call.is_made_up = call.is_log_id = False
        call.rename(keys.call(call_id))
        if call.item is not None:
            self.hand_out(Amend(id=call.item, call_id=call_id))
        if old is not None:
            self.threads.rename(old, call_id)
        for result in call.last_call().results():
            if result.call_id == old and result.item is not None:
                result.call_id = call_id
                result.rename(keys.result(call_id))
                self.hand_out(Amend(id=result.item, call_id=call_id))

    def confirm(self, call: Node, call_id: str | None) -> None:
        """What the wire calls a call by is its id."""
        if call_id is None:
            return
        if call.call_id != call_id and (call.is_made_up or call.is_log_id):
            self.name(call, call_id)
        call.is_log_id = False

    def confirm_result(self, result: Node, mold: Mold) -> None:
        """A result that had no id has one now, and so has its call."""
        if not result.is_made_up or mold.call_id is None:
            return
        result.is_made_up = False
        for above in result.above():
            if above.kind is Kind.CALL and above.call_id == result.call_id and above.is_made_up:
                self.name(above, mold.call_id)
                return

    def touch(self, node: Node, source: int, stand: Stand, result: ToolResult | None = None) -> None:
        """Notes that a known node was seen in another place: what the wire and the log both have is joined.

        `result` is a result as the log has it: the client that ran the tool knows how it ended.
        """
        before, node.sources = node.sources, node.sources | source
        is_joined = bool(before & LOG and source & WIRE and not before & WIRE) or bool(
            before & WIRE and source & LOG and not before & LOG
        )
        if not is_joined or node.item is None:
            return
        at = stand.at if not node.is_timed else None
        node.is_timed = node.is_timed or at is not None
        generation = stand.generation if node.generation is None else None
        amend = Amend(id=node.item, is_joined=True, at=at, generation=generation, evidence=(stand.evidence,))
        if result is not None:
            amend = msgspec.structs.replace(amend, details=result.details or None, error=result.error)
        self.hand_out(amend)

    def beside(self, node: Node, element: Element, thread: str, stand: Stand, *, is_late: bool) -> None:
        """Hands out what stands beside a conversation; if others follow the node already, by itself."""
        self.say(element, thread, stand, None if is_late else node.tip)
        if not is_late and node.item is not None:
            node.tip = stand.id

    def again(self, aside: Aside, source: int, stand: Stand) -> None:
        """Notes that what stands beside a conversation was seen in another place."""
        if is_news(aside.sources, source):
            at = stand.at if not aside.is_timed else None
            aside.is_timed = aside.is_timed or at is not None
            self.hand_out(Amend(id=aside.item, is_joined=True, at=at, evidence=(stand.evidence,)))
        aside.sources |= source

    def mark_compaction(self, strand: Strand, source: int, mark: Mark) -> None:
        """Hands out the mark of a compaction."""
        strand.compaction, strand.compaction_sources = mark.id, source
        strand.is_used = True
        self.hand_out(mark)

    def note_response(self, response_id: str | None, response: Response, source: int, usage: Usage | None) -> None:
        """Remembers an answer by its ids."""
        response.sources |= source
        if usage is not None:
            response.spent = usage.total
        self.generations[response.generation] = response
        if response_id is not None:
            self.responses[response_id] = response
