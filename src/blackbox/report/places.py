"""Where a line stands: its number, the part of a rotated session it is in, and whose log that is."""

from collections.abc import Iterable, Iterator

import msgspec

from blackbox.document.line import Line
from blackbox.session.session import Session


class Place(msgspec.Struct, frozen=True):
    """The evidence for something: a line of the session or of a sub-agent's own log."""

    line: int
    #: The part, counted from 1; None if the session has one part.
    part: int | None = None
    #: The sub-agent whose log it is; None for the session's own.
    agent: str | None = None

    def __str__(self) -> str:
        number = f"{self.line}" if self.part is None else f"{self.part}:{self.line}"
        return number if self.agent is None else f"{self.agent}/{number}"


class Member(msgspec.Struct, frozen=True):
    """A session of a family: the one that was asked for, or that of a sub-agent in it."""

    session: Session
    agent: str | None = None

    def place(self, line: Line) -> Place:
        """Where a line of this session stands."""
        part = self.session.part_of(line) + 1 if len(self.session.documents) > 1 else None
        return Place(line.number, part, self.agent)


def family_of(session: Session, others: Iterable[Member] = ()) -> list[Member]:
    """A session and those of its sub-agents, theirs too, each once; `others` are sub-agents that no line leads to."""
    found: list[Member] = []
    known: set[int] = set()
    for member in (*_walk(session, None), *others):
        if id(member.session) not in known:
            known.add(id(member.session))
            found.append(member)
    return found


def _walk(session: Session, agent: str | None) -> Iterator[Member]:
    # Loading stops at cycles and at a depth, so this ends.
    yield Member(session, agent)
    for subagent in session.subagents:
        if subagent.session is not None:
            yield from _walk(subagent.session, subagent.session.id or subagent.id or subagent.agent_type)
