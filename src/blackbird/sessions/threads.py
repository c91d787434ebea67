"""The threads of a session as a tree: the agent's own, and below each the sub-agents that it started."""

from collections import Counter
from typing import NamedTuple

import msgspec

from blackbird.sessions.links import Agent, Sender
from blackbird.sessions.tally import Tally
from blackbird.trace.records import Record


class Key(NamedTuple):
    """A thread: the client's id for it, in a run. Requests of a run whose client sends no ids are one thread."""

    run: str | None
    client: str | None
    thread: str | None


class Thread(msgspec.Struct):
    """What is known of a thread; times are nanoseconds since 1970."""

    key: Key
    agent: Agent | None
    session: str | None
    parent: str | None
    kind: str | None
    tally: Tally
    began: int
    last: int
    turns: set[str]
    initiators: Counter[str]
    children: list["Thread"]


class Threads:
    """The threads of a session, request by request."""

    def __init__(self) -> None:
        self._threads: dict[Key, Thread] = {}

    def begin(self, run: str | None, sender: Sender, wall: int) -> Thread:
        """The thread that a new request belongs to."""
        links, agent = sender.links, sender.agent
        key = Key(run, links.client or (agent.name if agent is not None else None), links.thread)
        thread = self._threads.get(key)
        if thread is None:
            thread = Thread(key, agent, links.session, None, None, Tally(), wall, wall, set(), Counter(), [])
            self._threads[key] = thread
        thread.parent = thread.parent or links.parent
        thread.kind = thread.kind or links.kind
        thread.began = min(thread.began, wall)
        if links.turn is not None:
            thread.turns.add(links.turn)
        if links.initiator is not None:
            thread.initiators[links.initiator] += 1
        return thread

    def tree(self) -> list[Thread]:
        """Those at the top, oldest first, each with its children. One whose parent is not here stands at the top."""
        ordered = sorted(self._threads.values(), key=lambda thread: (thread.began, thread.key.thread or ""))
        for thread in ordered:
            thread.children = []
        top: list[Thread] = []
        for thread in ordered:
            parent = self._parent(thread)
            (parent.children if parent is not None else top).append(thread)
        return top

    def _parent(self, thread: Thread) -> Thread | None:
        """The thread above; none if the ids lead back to the thread itself."""
        above = self._above(thread)
        passed = [thread.key]
        step = above
        while step is not None:
            if step.key in passed:
                return None
            passed.append(step.key)
            step = self._above(step)
        return above

    def _above(self, thread: Thread) -> Thread | None:
        if thread.parent is None:
            return None
        return self._threads.get(thread.key._replace(thread=thread.parent))


def take(thread: Thread, record: Record, wall: int) -> None:
    """Count a record of one of its requests."""
    thread.tally.take(record)
    thread.last = max(thread.last, wall)
