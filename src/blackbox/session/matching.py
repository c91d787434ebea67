"""Which call a line belongs to: starts, progress, answers and retries joined by id, span or name.

Works on a stream and keeps little: open calls in full, of closed ones only a hash, so that a log of any length can
be followed in memory that grows with its ids alone.
"""

import enum
from collections.abc import Callable

import msgspec

from blackbox.document.line import Line
from blackbox.syntax.kinds import Kind
from blackbox.syntax.quick import Head
from blackbox.syntax.results import OPEN_RESULTS, ResultKind, quick_kind


class Role(enum.Enum):
    """What a line is to the call it belongs to."""

    NEW = "new"
    REUSED = "reused"
    RETRY = "retry"
    PROGRESS = "progress"
    ANSWER = "answer"
    ORPHAN = "orphan"


class Match(msgspec.Struct, frozen=True, gc=False):
    """A line's call: `key` is the same for all lines of one call; `is_open` says whether an answer is still due."""

    role: Role
    key: str
    is_open: bool


class OpenCall(msgspec.Struct, frozen=True, gc=False):
    """A call whose answer is still due."""

    kind: Kind
    name: str
    line: int
    alias: str | None = None


# An enum's member is looked up through its metaclass; these lines run for every call of a long log.
_NEW, _REUSED, _RETRY = Role.NEW, Role.REUSED, Role.RETRY
_PROGRESS, _ANSWER, _ORPHAN = Role.PROGRESS, Role.ANSWER, Role.ORPHAN
_TOOL, _TOOL_START, _MCP, _SUBAGENT = Kind.TOOL, Kind.TOOL_START, Kind.MCP, Kind.SUBAGENT
_RETRY_RESULT = ResultKind.RETRY
_TOOLS = frozenset({Kind.TOOL, Kind.TOOL_START, Kind.TOOL_PROGRESS})


def _same_family(one: Kind, other: Kind) -> bool:
    return one is other or (one in _TOOLS and other in _TOOLS)


class Matcher:
    """Feed it lines in order; it tells for each call, observation or question what it belongs to."""

    def __init__(self) -> None:
        self.open: dict[str, OpenCall] = {}
        self._seen: set[int] = set()
        #: Spans of open calls that have an id too, and names of open calls that have neither.
        self._aliases: dict[str, str] = {}
        self._anonymous = 0
        self._handlers: dict[Kind, Callable[[Line, Head], Match | None]] = {
            Kind.TOOL: self._call,
            Kind.TOOL_START: self._call,
            Kind.TOOL_PROGRESS: self._progress,
            Kind.MCP: self._call,
            Kind.SUBAGENT: self._call,
            Kind.OBSERVATION: self._observation,
            Kind.QUESTION: self._question,
            Kind.SKILL: self._named,
            Kind.PLAN: self._named,
            Kind.RECALL: self._named,
        }

    def feed(self, line: Line, head: Head | None = None) -> Match | None:
        """The match of one line; None for lines that neither make nor answer a call.

        Who has the line's (brief) head at hand already may pass it on.
        """
        handler = self._handlers.get(line.kind)
        return handler(line, head or line.brief_head) if handler is not None else None

    def knows(self, key: str) -> bool:
        """Whether a call with this id or span has been seen."""
        return key in self.open or key in self._aliases or hash(key) in self._seen

    def _call(self, line: Line, head: Head) -> Match:
        kind = _result_kind(line, head)
        is_open = kind in OPEN_RESULTS or (kind is None and line.kind is not _TOOL and line.kind is not _MCP)
        name = head.metadata.get("id")
        # Most calls have an id of their own; spans are among the seen ones too, so an unseen id is no alias either.
        key = None if name and hash(name) not in self._seen else self._find(line, head)
        if key is None:
            return self._begin(line, head, _NEW, is_open)
        if key in self.open:
            restarted = line.kind is _TOOL_START and kind is not _RETRY_RESULT
            if restarted or not _same_family(line.kind, self.open[key].kind):
                return self._begin(line, head, _REUSED, is_open)
            role = _RETRY if kind is _RETRY_RESULT else _ANSWER
            if not is_open:
                self._close(key)
            return Match(role, key, is_open)
        if kind is _RETRY_RESULT or "attempt" in head.metadata:
            if is_open:
                self.open[key] = OpenCall(line.kind, head.name, line.number)
            return Match(_RETRY, key, is_open)
        return self._begin(line, head, _REUSED, is_open)

    def _begin(self, line: Line, head: Head, role: Role, is_open: bool) -> Match:
        metadata = head.metadata
        key = metadata.get("id")
        span = metadata.get("span")
        alias = None
        if key:
            self._seen.add(hash(key))
            if span:
                alias = span
                self._seen.add(hash(span))
        elif span:
            key = span
            self._seen.add(hash(key))
        else:
            self._anonymous += 1
            key = f"\0{self._anonymous}"
            alias = _name_alias(line, head)
        if is_open:
            self.open[key] = OpenCall(line.kind, head.name, line.number, alias)
            if alias:
                self._aliases[alias] = key
        return Match(role, key, is_open)

    def _find(self, line: Line, head: Head) -> str | None:
        """The key of the call this line names, if it was seen before."""
        name = head.metadata.get("id")
        if name:
            if name in self.open:
                return name
            return self._aliases.get(name) or (name if hash(name) in self._seen else None)
        if span := head.metadata.get("span"):
            return self._aliases.get(span) or (span if hash(span) in self._seen else None)
        # A thread of its own tells a sub-agent from the others of its type.
        is_named = line.kind in _TOOLS or (line.kind is _SUBAGENT and "tid" in head.metadata)
        return self._aliases.get(_name_alias(line, head)) if is_named else None

    def _close(self, key: str) -> None:
        alias = self.open.pop(key).alias
        if alias is not None and self._aliases.get(alias) == key:
            del self._aliases[alias]

    def _progress(self, line: Line, head: Head) -> Match:
        key = self._find(line, head)
        if key is None:
            return Match(_ORPHAN, head.metadata.get("id") or "", False)
        return Match(_PROGRESS, key, key in self.open)

    def _observation(self, line: Line, head: Head) -> Match:
        key = self._find(line, head)
        if key is None:
            return Match(_ORPHAN, head.metadata.get("id") or "", False)
        if head.result_start < 0:
            return Match(_PROGRESS, key, key in self.open)
        is_open = _result_kind(line, head) in OPEN_RESULTS
        if key in self.open and not is_open:
            self._close(key)
        return Match(_ANSWER, key, is_open)

    def _question(self, line: Line, head: Head) -> Match:
        kind = line.result_kind
        is_open = kind is None or kind is ResultKind.PENDING or (kind is ResultKind.AUTO and not _auto_choice(line))
        key = self._find(line, head)
        if key is None:
            return self._begin(line, head, _NEW, is_open)
        if key in self.open and not is_open:
            self._close(key)
        return Match(_ANSWER, key, is_open)

    def _named(self, line: Line, head: Head) -> Match | None:
        """Skills, plans and recalls: an observation may refer to their ids, nothing waits for one."""
        name = head.metadata.get("id")
        if not name:
            return None
        self._seen.add(hash(name))
        if line.result_kind in OPEN_RESULTS:
            self.open[name] = OpenCall(line.kind, head.name, line.number)
            return Match(_NEW, name, True)
        started = self.open.get(name)
        if started is not None and (started.kind, started.name) == (line.kind, head.name):
            self._close(name)
            return Match(_ANSWER, name, False)
        return Match(_NEW, name, False)


def _name_alias(line: Line, head: Head) -> str:
    """What joins the lines of a call without id and span: its thread and name, apart for each family of calls."""
    family = "t" if line.kind in _TOOLS else line.kind.value
    return f"\0{family}\0{head.metadata.get('tid', '1')}\0{head.name}"


def _result_kind(line: Line, head: Head) -> ResultKind | None:
    """`Line.result_kind` for a head that is at hand."""
    start = head.result_start
    return None if start < 0 else quick_kind(line.source[start:], escaped=line.escaped)


def _auto_choice(line: Line) -> bool:
    result = line.result
    return result is not None and bool(result.detail)
