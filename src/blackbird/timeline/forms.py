"""Several forms of one session's log: what a shorter one says that the session has already is left out.

A flight log for people is cut short on purpose, and the companion beside it is whole; an export stands for what it
was made of. Words are the same if one is how the other begins, calls and results if the id of one ends with the
other's.
"""

from collections.abc import Iterable

import msgspec

from blackbird.canon.model import (
    Call,
    Item,
    Message,
    Part,
    Refusal,
    Result,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from blackbird.canon.seen import Entry
from blackbird.imports.sources import Source
from blackbird.timeline.weaving import elements, keys
from blackbird.timeline.weaving.elements import Element, Kind
from blackbird.timeline.weaving.threads import MAIN

#: Forms that are made of something else, the one that holds most first; the logs of clients hold all there is.
_FORMS = {"companion": 1, "bbox": 2}
_CUT_SHORT = ".rlog"
#: How a text ends that was cut.
_CUTS = ("...", "…")
#: Words that are looked for begin with the same signs; those that were cut are longer.
_HEAD = 24
#: The end of an id that is taken for the whole of it.
_SHORTEST_ID = 6


def part(sources: Iterable[Source], *, is_recorded: bool) -> list[Source]:
    """Those that others of a session say more than, in the order in which they are worth reading.

    `is_recorded`: the session has requests, too.
    """
    ranked = sorted(((_rank(source), at, source) for at, source in enumerate(sources)), key=lambda one: one[:2])
    best = 0 if is_recorded or not ranked else ranked[0][0]
    return [source for rank, _, source in ranked if rank > best]


def _rank(source: Source) -> int:
    return _FORMS.get(source.format, 0) + source.path.endswith(_CUT_SHORT)


class Known:
    """What a session has, to be compared with other forms of it: each text as often as it was said."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._words: dict[tuple[Kind, Role, str], list[tuple[str, Item]]] = {}
        self._calls: dict[str, Item] = {}
        self._results: dict[str, Item] = {}
        self._ends: dict[int, dict[str, str]] = {}
        self.add(items)

    def add(self, items: Iterable[Item]) -> None:
        """Know these, too."""
        for item in items:
            if isinstance(item, Call):
                self._calls.setdefault(item.call_id, item)
            elif isinstance(item, Result):
                self._results.setdefault(item.call_id, item)
            elif isinstance(item, Message):
                kind = Kind.THOUGHT if any(isinstance(one, Thinking) for one in item.parts) else Kind.WORDS
                squeezed = _squeezed(item.parts)
                self._words.setdefault((kind, item.role, squeezed[:_HEAD]), []).append((squeezed, item))
        self._ends = {}

    def call_id(self, name: str | None) -> str | None:
        """The id of a call that a form has by this one, of which it may have the end alone."""
        if name is None or name in self._calls or name in self._results or len(name) < _SHORTEST_ID:
            return name
        length = len(name)
        if length not in self._ends:
            every = (*self._calls, *self._results)
            self._ends[length] = {whole[-length:]: whole for whole in every}
        return self._ends[length].get(name, name)

    def find(self, element: Element, taken: set[str]) -> Item | None:
        """The item that an element is; of texts, one that is not among those that were found before."""
        mold = element.mold
        if mold.kind is Kind.CALL:
            return self._calls.get(mold.call_id or "")
        if mold.kind is Kind.RESULT:
            return self._results.get(mold.call_id or "")
        squeezed = _squeezed(element.parts)
        cut = next((squeezed.removesuffix(end) for end in _CUTS if squeezed.endswith(end)), None)
        kind = Kind.THOUGHT if mold.kind is Kind.THOUGHT else Kind.WORDS
        near = self._words.get((kind, mold.role, squeezed[:_HEAD]), [])
        same = (item for whole, item in near if whole == squeezed or (cut is not None and whole.startswith(cut)))
        found = next((item for item in same if item.id not in taken), None)
        if found is not None:
            taken.add(found.id)
        return found


class Form:
    """One form, from its first line on."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._taken: set[str] = set()
        #: Of the answer that is told: whether the session has some of it, and whether it has not.
        self._is_had = self._is_new = False
        self._has_more = False
        self._threads: dict[str | None, str] = {}
        #: By thread, the item of the session that the form came to last.
        self._reached: dict[str | None, Item] = {}

    def take(self, entry: Entry) -> tuple[Entry, Item | None] | None:
        """What an entry says that the session has not, and the item it stands behind; nothing if it has all."""
        if entry.turn is None:
            return self._beside(entry)
        if entry.turn.role is not Role.ASSISTANT:
            self._is_had = self._is_new = False
        rest = tuple(one for one in map(self._named, entry.turn.parts) if not self._has(entry, one))
        self._is_had |= len(rest) < len(entry.turn.parts)
        if not rest:
            return None
        self._is_new = self._has_more = True
        turn = msgspec.structs.replace(entry.turn, parts=rest)
        reply = None if self._is_had else entry.reply
        return self._placed(msgspec.structs.replace(entry, turn=turn, reply=reply))

    def _beside(self, entry: Entry) -> tuple[Entry, Item | None] | None:
        """What an answer used counts if none of it is known; what else stands beside, once something new was said."""
        if entry.reply is not None:
            is_new, self._is_had, self._is_new = self._is_new and not self._is_had, False, False
            return self._placed(entry) if is_new else None
        return self._placed(entry) if entry.mark is not None and self._has_more else None

    def _has(self, entry: Entry, one: Part) -> bool:
        turn = entry.turn
        if turn is None:
            return True
        found = elements.of_turns([msgspec.structs.replace(turn, parts=(one,))], None, entry.origin)
        items = [self._known.find(element, self._taken) for element in found]
        for item in items:
            if item is not None:
                self._threads[entry.thread] = item.thread
                self._reached[entry.thread] = item
        return all(item is not None for item in items)

    def _named(self, one: Part) -> Part:
        """A part with the id that the session has for its call."""
        if isinstance(one, ToolCall | ToolResult):
            return msgspec.structs.replace(one, call_id=self._known.call_id(one.call_id))
        return one

    def _placed(self, entry: Entry) -> tuple[Entry, Item | None]:
        thread = self._threads.get(entry.thread, entry.thread)
        behind = self._reached.get(entry.thread)
        near = None if behind is None else behind.at if behind.at is not None else behind.near
        # Ids of lines are those of the form that they stand in.
        own = None if thread == MAIN else thread
        return msgspec.structs.replace(entry, thread=own, near=near, follows=None), behind


def _squeezed(parts: Iterable[Part]) -> str:
    return keys.squeeze("".join(one.text for one in parts if isinstance(one, Text | Refusal | Thinking)))
