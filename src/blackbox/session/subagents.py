"""Sub-agents with their own calls, and operations nested by `parent=`."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from blackbox.document.line import Line
from blackbox.session.calls import Call, Status
from blackbox.session.lines import Lines
from blackbox.syntax.kinds import SILENT, Kind
from blackbox.syntax.results import ResultKind

if TYPE_CHECKING:
    from blackbox.session.session import Session

_REFERENCE_KEYS = ("session_id", "path", "summary")


class Missing(NamedTuple):
    """A file that a line names and that could not be read: the name as written, the line, and why."""

    path: str
    line: Line
    reason: str


class Reference(NamedTuple):
    """Where a sub-agent's own log is, as far as its results say. `line` is the one that gives the path."""

    session_id: str | None = None
    path: str | None = None
    summary: str | None = None
    line: Line | None = None


class Subagent:
    """A sub-agent: the call that started it, the calls it made itself, and its own log where that was read."""

    def __init__(self, call: Call, followed: "Mapping[Line, Session | Missing]") -> None:
        self.call = call
        #: The calls it made, found by `parent=` or by its thread.
        self.calls: list[Call] = []
        self._followed = followed

    def __repr__(self) -> str:
        return f"Subagent({self.agent_type!r}, id={self.id!r}, tid={self.tid!r}, {self.call.status.value})"

    @property
    def agent_type(self) -> str:
        """`explore`, `plan`, …"""
        return self.call.name

    @property
    def id(self) -> str | None:
        """The call id."""
        return self.call.id

    @property
    def tid(self) -> str | None:
        """Its thread; None if the log gives it none."""
        return None if self.call.tid == "1" else self.call.tid

    @property
    def span(self) -> str | None:
        """The operation id."""
        return self.call.span

    @property
    def task(self) -> str | None:
        """What it was asked to do."""
        return self.call.task

    @property
    def is_closed(self) -> bool:
        """Whether the log has its outcome."""
        return self.call.status is not Status.OPEN

    @functools.cached_property
    def reference(self) -> Reference:
        """`session_id=`, `path=` and `summary=` of its results; of several the last counts."""
        found: dict[str, str] = {}
        where: Line | None = None
        for line, _, result in self.call.observations:
            if result is None or "=" not in result.text:
                continue
            fields = {token.key: token.text for token in result.tokens if token.key in _REFERENCE_KEYS}
            found |= fields
            where = line if "path" in fields else where
        return Reference(found.get("session_id"), found.get("path"), found.get("summary"), where)

    @property
    def summary(self) -> str | None:
        """What it found: `summary=`, or the free text of its result."""
        result = self.call.result
        if self.reference.summary is not None or result is None or self.reference.path or self.reference.session_id:
            return self.reference.summary
        text = result.text if result.kind is ResultKind.TEXT else result.detail
        return text or None

    @property
    def session(self) -> "Session | None":
        """Its own session, if `load_session` found the log that `path=` names."""
        found = self._found
        return None if isinstance(found, Missing) else found

    @property
    def missing(self) -> Missing | None:
        """Why its own log could not be read; None if it was, or if nobody tried."""
        found = self._found
        return found if isinstance(found, Missing) else None

    @property
    def _found(self) -> "Session | Missing | None":
        return self._followed.get(self.reference.line) if self.reference.line is not None else None


class SpanNode:
    """An operation and the operations that name it as their `parent=`, in order."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.children: list[SpanNode] = []

    def __repr__(self) -> str:
        return f"SpanNode({self.call!r}, children={len(self.children)})"


def subagents_of(calls: Sequence[Call], followed: "Mapping[Line, Session | Missing]") -> tuple[Subagent, ...]:
    """The sub-agents in order, each with its own calls.

    A call belongs to the sub-agent its `parent=` names, else to the last one that was given the call's thread.
    """
    found: list[Subagent] = []
    by_name: dict[str, Subagent] = {}
    by_thread: dict[str, Subagent] = {}
    for call in calls:
        owner = by_name.get(call.parent) if call.parent is not None else None
        if call.kind is Kind.SUBAGENT:
            subagent = Subagent(call, followed)
            found.append(subagent)
            by_name |= {name: subagent for name in (call.id, call.span) if name}
            if subagent.tid is not None:
                by_thread[subagent.tid] = subagent
        elif owner is None and call.tid != "1":
            owner = by_thread.get(call.tid)
        if owner is not None:
            owner.calls.append(call)
    return tuple(found)


def span_tree(calls: Iterable[Call]) -> tuple[SpanNode, ...]:
    """Calls nested by `parent=`. A parent is the last call before it with that span or id, so there are no cycles."""
    roots: list[SpanNode] = []
    by_name: dict[str, SpanNode] = {}
    for call in calls:
        node = SpanNode(call)
        parent = by_name.get(call.parent) if call.parent is not None else None
        (parent.children if parent is not None else roots).append(node)
        by_name |= {name: node for name in (call.id, call.span) if name}
    return tuple(roots)


def threads_of(lines: Lines) -> dict[str, list[Line]]:
    """The events of each thread in order; those without `tid=` are the main agent's, `1`."""
    found: dict[str, list[Line]] = {}
    for line in lines.all:
        if line.kind not in SILENT:
            tid = line.meta.tid if "tid=" in line.source else "1"
            found.setdefault(tid, []).append(line)
    return found
