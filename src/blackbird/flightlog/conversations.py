"""Where in a session another conversation begins, or a branch of one, and how deep among sub-agents a thread is."""

from collections.abc import Iterable

from blackbird.canon.model import Call, Item, Message, Origin, Result, Thread

_FORK = "fork"
_SPOKEN = frozenset({Origin.USER, Origin.AGENT, Origin.SUMMARY})
_BRIEF = 60


class Conversations:
    """The conversations of a session, item by item in order; those of sub-agents belong to their agent's."""

    def __init__(self, threads: Iterable[Thread], items: Iterable[Item]) -> None:
        self._threads = {thread.id: thread for thread in threads}
        self._items = {item.id: item for item in items}
        self._now: str | None = None
        self._begun: set[str] = set()
        #: The steps that another followed, and the threads that had one.
        self._followed: set[str] = set()
        self._used: set[str] = set()

    def depth(self, name: str) -> int:
        """How many sub-agents lead to a thread. One that only goes on from another is none."""
        depth, thread, seen = 0, self._threads.get(name), {name}
        while thread is not None and thread.parent is not None and thread.parent not in seen:
            seen.add(thread.parent)
            depth += thread.kind != _FORK
            thread = self._threads.get(thread.parent)
        return depth

    def turn(self, item: Item) -> str | None:
        """What is to be said before an item, if it is not simply what follows."""
        if not _is_step(item):
            return None
        before, name = self._before(item), self._conversation(item.thread)
        told = self._moved(name, before) or (self._parted(item, before) if isinstance(item, Message) else None)
        self._now = name
        self._begun.add(name)
        self._used.add(item.thread)
        if before is not None:
            self._followed.add(before.id)
        return told

    def _moved(self, name: str, before: Item | None) -> str | None:
        """What is to be said if this is another conversation than that of the last step."""
        if self._now in (None, name):
            return None
        thread = self._threads.get(name)
        called = (thread.native if thread is not None else None) or name
        if name in self._begun:
            return f"back in the conversation {called}"
        if before is not None:
            return f"a branch begins, {called}: it goes on from {_words(before)}"
        return f"another conversation begins, {called}"

    def _parted(self, item: Message, before: Item | None) -> str | None:
        """What is to be said if a conversation goes another way than it did, or begins anew."""
        if before is not None and before.id in self._followed and before.thread == item.thread:
            return f"a branch begins: it goes on from {_words(before)}"
        is_first = before is None and item.origin is Origin.USER
        return "another conversation begins" if is_first and item.thread in self._used else None

    def _conversation(self, name: str) -> str:
        """The thread whose conversation this one belongs to: its own, or that of the agent that it works for."""
        thread, seen = self._threads.get(name), {name}
        while thread is not None and thread.parent is not None and thread.kind != _FORK and thread.parent not in seen:
            seen.add(thread.parent)
            thread = self._threads.get(thread.parent)
        return thread.id if thread is not None else name

    def _before(self, item: Item) -> Item | None:
        """The step that an item follows, whatever stands between."""
        seen: set[str] = set()
        while item.parent is not None and item.parent in self._items and item.parent not in seen:
            seen.add(item.parent)
            item = self._items[item.parent]
            if _is_step(item):
                return item
        return None


def _is_step(item: Item) -> bool:
    """Whether it is a part of what was said and done, and nothing took its place."""
    is_said = isinstance(item, Message) and item.origin in _SPOKEN and bool(item.text.strip())
    return (is_said or isinstance(item, Call | Result)) and not item.is_superseded


def _words(item: Item) -> str:
    """A step in a few words."""
    if isinstance(item, Call):
        return f"the call of {item.call.name}"
    if isinstance(item, Result):
        return "a result"
    text = " ".join(item.text.split()) if isinstance(item, Message) else ""
    return f"“{text if len(text) <= _BRIEF else text[: _BRIEF - 1] + '…'}”"
