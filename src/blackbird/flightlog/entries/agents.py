"""The agents of a session: the main one, and sub-agents with their numbers, the lines that begin and end them."""

import re
from collections.abc import Iterable

import msgspec

from blackbird.canon.model import Thread
from blackbird.flightlog.entries.line import name_of
from blackbox.events import calls
from blackbox.syntax.results import Result
from blackbox.write import results
from blackbox.write.scalars import MetaFields

MAIN = "main"
_NO_FILE = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_ID = 56
#: Longer reports are results as those of tools are.
_LONGEST_SUMMARY = 500


class Agent(msgspec.Struct):
    """A sub-agent: its `tid`, the operation it is, the id of the call that began it, and the thread that called."""

    number: int
    id: str
    kind: str
    parent: str
    #: It began in an earlier session.
    is_inherited: bool = False
    is_open: bool = True

    @property
    def span(self) -> str:
        """The id of the operation."""
        return f"x{self.number - 1}"


class Agents:
    """Who takes part. Numbers are given in the order in which sub-agents appear; the main agent is 1."""

    def __init__(self, threads: Iterable[Thread] = (), *, apart: bool = False) -> None:
        self._apart = apart
        self._taken: set[str] = set()
        self._threads: dict[str, Thread] = {}
        self._by_thread: dict[str, Agent] = {}
        self._by_call: dict[str, Agent] = {}
        self._every: list[Agent] = []
        self._numbers = 1
        self.know(threads)

    def know(self, threads: Iterable[Thread]) -> None:
        """Take in threads that turned out."""
        self._threads.update({thread.id: thread for thread in threads})

    def is_main(self, thread: str) -> bool:
        """Whether a thread is the agent's own conversation."""
        first = MAIN if MAIN in self._threads else next(iter(self._threads), MAIN)
        return thread in (MAIN, first)

    def begins(self, call_id: str) -> bool:
        """Whether a call is known to have begun a thread."""
        return any(thread.call_id == call_id for thread in self._threads.values())

    def kind_of(self, call_id: str) -> str | None:
        """What kind of sub-agent a call began, if its thread says so."""
        kinds = (thread.kind for thread in self._threads.values() if thread.call_id == call_id and thread.kind)
        kind = next(kinds, None)
        return None if kind is None else name_of(kind, "agent").lower()

    def is_under_way(self, call_id: str) -> bool:
        """Whether the thread that a call began had its first line before the call was known."""
        return any(thread.call_id == call_id and thread.id in self._by_thread for thread in self._threads.values())

    def find(self, thread: str) -> Agent | None:
        """The sub-agent of a thread, if its line was written or can be told from the call that began it."""
        found = self._by_thread.get(thread)
        known = self._threads.get(thread)
        if found is None and known is not None and known.call_id is not None:
            found = self._by_call.get(known.call_id)
            if found is not None:
                self._by_thread[thread] = found
        return found

    def unwritten(self, thread: str) -> list[str]:
        """The threads from the uppermost down to this one that no line has begun."""
        found: list[str] = []
        name: str | None = thread
        while name is not None and name not in found and not self.is_main(name) and self.find(name) is None:
            found.append(name)
            known = self._threads.get(name)
            name = None if known is None else known.parent
        return found[::-1]

    def called(self, call_id: str, log_id: str, kind: str, parent: str, *, is_inherited: bool) -> Agent:
        """The sub-agent that a call begins."""
        agent = self._by_call[call_id] = self._new(log_id, kind, parent, is_inherited=is_inherited)
        return agent

    def found(self, thread: str, *, is_inherited: bool) -> Agent:
        """The sub-agent of a thread that no call is known to have begun."""
        known = self._threads.get(thread)
        kind = name_of((known.kind or known.agent) if known is not None else None, "agent").lower()
        parent = known.parent if known is not None and known.parent is not None else MAIN
        name = f"sub_{self._numbers}"
        agent = self._by_thread[thread] = self._new(name, kind, parent, is_inherited=is_inherited)
        return agent

    def by_call(self, call_id: str) -> Agent | None:
        """The sub-agent that this call began."""
        return self._by_call.get(call_id)

    def thread_of(self, agent: Agent) -> str | None:
        """The thread of a sub-agent, if something of it was seen."""
        return next((thread for thread, one in self.logs().items() if one is agent), None)

    def logs(self) -> dict[str, Agent]:
        """The sub-agents that said or did something, by thread."""
        for thread in self._threads.values():
            self.find(thread.id)
        return dict(self._by_thread)

    @property
    def still_open(self) -> list[Agent]:
        """Sub-agents that have not reported back."""
        return [agent for agent in reversed(self._every) if agent.is_open]

    def scope(self, agent: Agent) -> MetaFields:
        """What the lines that begin and end a sub-agent carry."""
        scope: MetaFields = {"id": agent.id, "tid": agent.number, "span": agent.span}
        above = None if self.is_main(agent.parent) else self.find(agent.parent)
        if above is not None and above is not agent:
            scope["parent"] = above.span
        return scope

    def _new(self, log_id: str, kind: str, parent: str, *, is_inherited: bool) -> Agent:
        self._numbers += 1
        name = self._file_id(log_id) if self._apart else log_id
        agent = Agent(self._numbers, name, kind, parent, is_inherited)
        self._every.append(agent)
        return agent

    def _file_id(self, wanted: str) -> str:
        """An id that can be part of a file's name, and that no other sub-agent has."""
        plain = _NO_FILE.sub("-", wanted)[:_LONGEST_ID] or "agent"
        name, number = plain, 1
        while name in self._taken:
            number += 1
            name = f"{plain}-{number}"
        self._taken.add(name)
        return name


def start_of(agent: Agent) -> calls.Subagent:
    """`x:explore … → [started]` of a sub-agent whose call is not known."""
    return calls.build_subagent(agent.kind, calls.Arguments(), results.started())


def end_of(agent: Agent, result: Result) -> calls.Subagent:
    """`x:explore … → …`: its report."""
    agent.is_open = False
    return calls.build_subagent(agent.kind, calls.Arguments(), result)


def report(text: str, session_id: str | None = None) -> Result:
    """What a sub-agent brought back: a summary where it is one line, and the id of its own log."""
    text = text.strip("\n")
    if session_id is None and (len(text) > _LONGEST_SUMMARY or "\n" in text):
        return results.text(text)
    given = results.fields(session_id=session_id, summary=text or None)
    return given if given.text else results.done()
