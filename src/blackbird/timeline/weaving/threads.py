"""The threads of a session: which conversation a request or a line belongs to, and which call started it."""

from collections import deque
from collections.abc import Iterator
from typing import Any

import msgspec

from blackbird.canon.model import Thread, ToolCall
from blackbird.canon.seen import Entry
from blackbird.sessions.links import Links
from blackbird.timeline.weaving import keys
from blackbird.timeline.weaving.tree import Node

MAIN = "main"
_FORK = "fork"
#: Shorter arguments are no prompts.
_SHORTEST = 12
_OFFERS = 2048


class Strand:
    """A thread while it is woven: where it starts and where it is."""

    def __init__(self, thread: Thread) -> None:
        self.thread = thread
        self.start = Node(thread.id)
        self.leaf = self.start
        #: Whether an item of it was handed out.
        self.is_used = False
        #: Its last compaction, whether the wire or the log told of it, and whether what it led to is known.
        self.compaction: str | None = None
        self.compaction_sources = 0
        self.is_compaction_open = False

    @property
    def id(self) -> str:
        """The thread's id."""
        return self.thread.id

    @property
    def is_subagents(self) -> bool:
        """Whether an agent started it for another one; a fork is its own conversation, which goes another way."""
        return self.thread.parent is not None and self.thread.kind != _FORK

    def fork_from(self, thread: str) -> None:
        """Notes that it goes on from another thread, if nothing else is known of where it comes from."""
        if self.leaf is self.start and self.thread.parent is None:
            self.learn(parent=thread, kind=_FORK)

    def learn(self, **facts: Any) -> None:
        """Notes what turned out."""
        self.thread = msgspec.structs.replace(self.thread, **facts)


class _Offer:
    """A text that a call was given: if a conversation starts with it, the call started it."""

    __slots__ = ("call", "is_taken", "key", "length")

    def __init__(self, call: Node, squeezed: str) -> None:
        self.call = call
        self.key = keys.digest(squeezed)
        self.length = len(squeezed)
        self.is_taken = False


class Threads:
    """All of a session."""

    def __init__(self) -> None:
        self.strands: dict[str, Strand] = {}
        self._natives: dict[str, Strand] = {}
        self._offers: deque[_Offer] = deque(maxlen=_OFFERS)

    def main(self) -> Strand:
        """The session's own."""
        if MAIN not in self.strands:
            self._add(Thread(id=MAIN, is_inferred=True))
        return self.strands[MAIN]

    def main_if_inferred(self) -> Strand | None:
        """The session's own, if it was made of histories and no client's id is known for it."""
        main = self.strands.get(MAIN)
        return main if main is not None and main.thread.native is None and main.leaf is not main.start else None

    def of_links(self, links: Links, agent: str | None) -> Strand | None:
        """The thread that a client's ids name, if it sends any."""
        native = links.thread or links.session
        if native is None:
            return None
        parent = links.parent or links.parent_session
        return self._named(native, parent, links.kind, agent)

    def of_entry(self, entry: Entry) -> Strand:
        """The thread that a line of a log belongs to."""
        if entry.thread is None or entry.thread == entry.session:
            strand = self._named(entry.session, None, None, None)
        else:
            strand = self._named(entry.thread, entry.parent_thread or entry.session, entry.kind, None)
        if entry.call_id is not None and strand.thread.call_id is None:
            strand.learn(call_id=entry.call_id)
        return strand

    def known(self, native: str) -> Strand | None:
        """The thread with this id of the client's, if there is one."""
        return self._natives.get(native)

    def adopt(self, native: str, strand: Strand) -> None:
        """Gives a thread that was inferred the client's id of it; what was made for that id before goes if unused."""
        before = self._natives.get(native)
        if before is not None and not before.is_used:
            self.strands.pop(before.id, None)
        strand.learn(native=native, is_inferred=False)
        self._natives[native] = strand

    def infer(self, squeezed: str) -> Strand | None:
        """A new thread for a conversation that starts with the words of a call that still runs."""
        offer = self._claim(squeezed, None)
        if offer is None or offer.call.is_answered:
            return None
        offer.is_taken = True
        name = f"sub-{(offer.call.item or '').removeprefix('it_')}"
        return self._add(
            Thread(id=name, parent=offer.call.thread, call_id=offer.call.call_id, kind="sub-agent", is_inferred=True)
        )

    def place(self, strand: Strand, squeezed: str) -> None:
        """Finds the call that started a sub-agent, by its first words."""
        thread = strand.thread
        if thread.parent is None or thread.call_id is not None:
            return
        offer = self._claim(squeezed, thread.parent) or self._claim(squeezed, None)
        if offer is not None and offer.call.thread != strand.id:
            offer.is_taken = True
            strand.learn(parent=offer.call.thread, call_id=offer.call.call_id)

    def offer(self, call: Node, part: ToolCall) -> None:
        """Notes what a call was given."""
        for text in _texts(part.arguments):
            squeezed = keys.squeeze(text)
            if len(squeezed) >= _SHORTEST:
                self._offers.append(_Offer(call, squeezed))

    def rename(self, old: str, new: str) -> None:
        """A call's id became known: threads that it started go by that."""
        for strand in self.strands.values():
            if strand.thread.call_id == old:
                strand.learn(call_id=new)

    def _claim(self, squeezed: str, thread: str | None) -> _Offer | None:
        """The best offer of these words: the whole of them before a part, a call that runs before one that ended."""
        digests: dict[int, tuple[bytes, bytes]] = {}
        best: tuple[bool, bool, _Offer] | None = None
        for offer in self._offers:
            if offer.is_taken or offer.length > len(squeezed) or (thread is not None and offer.call.thread != thread):
                continue
            if offer.length not in digests:
                front, back = squeezed[: offer.length], squeezed[-offer.length :]
                digests[offer.length] = (keys.digest(front), keys.digest(back))
            if offer.key not in digests[offer.length]:
                continue
            rank = (offer.length == len(squeezed), not offer.call.is_answered)
            if best is None or rank > best[:2]:
                best = (*rank, offer)
        return best[2] if best is not None else None

    def _named(self, native: str, parent: str | None, kind: str | None, agent: str | None) -> Strand:
        strand = self._natives.get(native)
        if strand is None:
            strand = self._new(native, parent, kind)
            self._natives[native] = strand
        if agent is not None and strand.thread.agent is None:
            strand.learn(agent=agent)
        if kind is not None and strand.thread.kind is None:
            strand.learn(kind=kind)
        return strand

    def _new(self, native: str, parent: str | None, kind: str | None) -> Strand:
        if parent is None:
            main = self.strands.get(MAIN)
            if main is None:
                return self._add(Thread(id=MAIN, native=native))
            if main.thread.native is None and main.leaf is main.start:
                main.learn(native=native, is_inferred=False)
                return main
            return self._add(Thread(id=native, native=native, kind=kind))
        above = self._natives.get(parent) or self._named(parent, None, None, None)
        return self._add(Thread(id=native, native=native, parent=above.id, kind=kind))

    def _add(self, thread: Thread) -> Strand:
        strand = Strand(thread)
        self.strands[thread.id] = strand
        return strand


def _texts(value: Any) -> Iterator[str]:
    """All texts within, however deep."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
