"""Puts what the weaver handed out in order, with all that turned out later."""

from collections.abc import Iterable
from typing import Any

import msgspec

from blackbird.canon.model import Amend, Call, Generation, Item, Result

_BEFORE_ALL = -(1 << 63)


def settle(things: Iterable[Item | Amend]) -> tuple[Item, ...]:
    """The items in order: by time, those of one moment as they came, none before the one that it follows.

    An item of which nobody knows when it happened goes right behind the one that it follows, or to the start; an
    answer stands before what came out of it at the same moment. An item that is handed out again takes the place of
    the first.
    """
    items: dict[str, Item] = {}
    for thing in things:
        if isinstance(thing, Amend):
            if thing.id in items:
                items[thing.id] = amended(items[thing.id], thing)
        elif thing.id in items:
            items[thing.id] = _replaced(items[thing.id], thing)
        else:
            items[thing.id] = thing
    places = _Places(items)
    return tuple(sorted(items.values(), key=lambda item: places.of(item.id)))


def amended(item: Item, amend: Amend) -> Item:
    """An item with what turned out about it."""
    facts: dict[str, Any] = {
        name: value
        for name in ("is_superseded", "is_joined", "at", "generation")
        if (value := getattr(amend, name)) is not None
    }
    if amend.evidence:
        facts["evidence"] = item.evidence + tuple(one for one in amend.evidence if one not in item.evidence)
    if amend.call_id is not None:
        if isinstance(item, Call):
            facts |= {"call_id": amend.call_id, "is_made_up": False}
        elif isinstance(item, Result):
            facts["call_id"] = amend.call_id
    if isinstance(item, Result) and (amend.details is not None or amend.error is not None):
        error = amend.error if amend.error is not None else item.result.error
        told = item.result.details | (amend.details or {})
        facts["result"] = msgspec.structs.replace(item.result, details=told, error=error)
    if isinstance(item, Generation):
        facts |= {
            name: value
            for name in ("usage", "cost", "provider_request")
            if (value := getattr(amend, name)) is not None
        }
    return msgspec.structs.replace(item, **facts) if facts else item


def _replaced(old: Item, new: Item) -> Item:
    evidence = new.evidence + tuple(one for one in old.evidence if one not in new.evidence)
    return msgspec.structs.replace(new, evidence=evidence, is_joined=True)


def _moment(item: Item) -> int | None:
    """When it happened, as near as anyone knows."""
    return item.at if item.at is not None else item.near


class _Places:
    """Where each item goes: a moment and a position; without a moment, behind the place of what it follows."""

    def __init__(self, items: dict[str, Item]) -> None:
        self._items = items
        # Between two of them there is room for one more.
        self._positions = {item_id: 2 * position for position, item_id in enumerate(items)}
        for item in items.values():
            answer = items.get(item.generation or "")
            if answer is not None and _moment(answer) == _moment(item):
                before = self._positions[item.id] - 1
                self._positions[answer.id] = min(self._positions[answer.id], before)
        self._places: dict[str, tuple[int, ...]] = {}

    def of(self, item_id: str) -> tuple[int, ...]:
        chain: list[str] = []
        at: str | None = item_id
        while at is not None and at in self._items and at not in self._places and len(chain) <= len(self._items):
            chain.append(at)
            at = self._items[at].parent
        above = self._places.get(at) if at is not None else None
        for one in reversed(chain):
            above = self._places[one] = self._place(one, above)
        return self._places[item_id]

    def _place(self, item_id: str, above: tuple[int, ...] | None) -> tuple[int, ...]:
        item, position = self._items[item_id], self._positions[item_id]
        at = _moment(item)
        if above is None:
            return (at if at is not None else _BEFORE_ALL, position)
        if at is None or (at, position) < above[:2]:
            return (*above[:2], above[2] + 1 if len(above) > 2 else 0, position)
        return (at, position)
