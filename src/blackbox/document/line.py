"""One entry of a log: a physical line and the continuations below it, parsed as far as someone asks."""

import re
from typing import NamedTuple

import msgspec

from blackbox.events import Event, build_event
from blackbox.syntax.kinds import MESSAGES, PREFIX_LENGTHS, PREFIXES, PROSE, Kind
from blackbox.syntax.metadata import INHERITED, Meta
from blackbox.syntax.parts import Parts
from blackbox.syntax.quick import CALL_LIKE, Head, call_head, message_head
from blackbox.syntax.results import Result, ResultKind, quick_kind


class Span(NamedTuple):
    """A stretch of one physical line. Lines and columns count from 1, columns in characters; `end` is exclusive."""

    line: int
    start: int
    end: int


class Element(NamedTuple):
    """A part of a line with the place it was read from."""

    role: str
    text: str
    span: Span


_LEADING_ID = re.compile(r'(?:(?:t[!~]?|[csxp]):[^ \t\r→"\[{\\]+|o:) id=([\w-]++)(?= |\Z)')
_COMMENT = Kind.COMMENT


class Line(msgspec.Struct, eq=False, gc=False):
    """An entry of the body. Cheap to make: kind and source are set, everything else is parsed on first use.

    A struct, since its constructor runs in C; a log has a million entries. Nothing it holds refers back to it, so the
    garbage collector need not look at it.
    """

    kind: Kind
    number: int
    #: The first physical line without its line feed (a carriage return before it is kept).
    source: str
    escaped: bool = False
    #: The continuation lines below it, as they stand.
    more: list[str] | None = None
    _parts: Parts | None = None
    _head: Head | None = None
    _event: Event | None = None

    def __repr__(self) -> str:
        return f"Line({self.number}, {self.kind.label}, {self.source!r})"

    @property
    def last_number(self) -> int:
        """The number of the entry's last physical line."""
        return self.number + (len(self.more) if self.more else 0)

    @property
    def physical_lines(self) -> list[str]:
        """All physical lines of the entry, without their line feeds."""
        return [self.source, *self.more] if self.more else [self.source]

    @property
    def continuations(self) -> list[str]:
        """The text of the continuation lines, without the indent that marks them and a carriage return."""
        return [_dedent(source) for source in self.more] if self.more else []

    @property
    def parts(self) -> Parts:
        """The first physical line, taken apart."""
        if self._parts is None:
            self._parts = Parts(self.kind, self.source, self.escaped)
        return self._parts

    @property
    def head(self) -> Head:
        """Name, metadata and where the result starts: all that most questions about a line need, at little cost."""
        head = self._head
        if head is None:
            kind, source = self.kind, self.source
            if kind in CALL_LIKE:
                head = call_head(kind, source)
            elif kind in MESSAGES:
                head = message_head(source, PREFIX_LENGTHS[kind])
            if head is None:
                parts = self.parts
                head = Head(parts.name, parts.raw_meta, parts.result_start)
            self._head = head
        return head

    @property
    def brief_head(self) -> Head:
        """The head without metadata behind the result that neither joins the line with others nor dates it."""
        if self._head is None and self.kind in CALL_LIKE:
            head = call_head(self.kind, self.source, brief=True)
            if head is not None:
                return head
        return self.head

    @property
    def event(self) -> Event:
        """What the line says, typed."""
        if self._event is None:
            self._event = build_event(self.parts, self.continuations)
        return self._event

    @property
    def text(self) -> str:
        """Everything behind the prefix as it stands, continuations included."""
        # Stripped before the prefix is cut off: one leading space is not part of it.
        text = self.source.strip(" \t\r")[PREFIX_LENGTHS.get(self.kind, 0) :].lstrip(" \t\r")
        return "\n".join([text, *self.continuations]) if self.more else text

    @property
    def id(self) -> str | None:
        """The `id=` of the line."""
        source = self.source
        # The usual place is right behind the name.
        match = _LEADING_ID.match(source)
        if match is not None:
            return match[1]
        if "id=" not in source or self.kind is _COMMENT:
            return None
        return self.head.metadata.get("id")

    @property
    def is_inherited(self) -> bool:
        """Whether it tells of an earlier session that this one goes on from: what it says is no deed of this one."""
        return INHERITED in self.source and self.meta.inherited

    @property
    def name(self) -> str:
        """The tool, skill, plan action, mode, sub-agent type, `server.method` or primitive; empty elsewhere."""
        return "phase" if self.kind is Kind.PHASE else self.head.name

    @property
    def meta(self) -> Meta:
        """The line's metadata, typed."""
        return Meta(self.head.metadata)

    @property
    def step(self) -> int | None:
        """The step number."""
        return self.meta.step if "step=" in self.source else None

    @property
    def result(self) -> Result | None:
        """What stands behind the arrow, typed, continuations included."""
        result: Result | None = getattr(self.event, "result", None)
        return result

    @property
    def result_kind(self) -> ResultKind | None:
        """The kind of the result as far as the first physical line tells it; much cheaper than `result`."""
        start = self.head.result_start
        return None if start < 0 else quick_kind(self.source[start:], escaped=self.escaped)

    @property
    def is_truncated(self) -> bool:
        """Whether the log holds only a part: content that ends in `...`, or its length alone (`[200 lines]`)."""
        result = self.result
        if result is not None:
            return result.kind is ResultKind.LINES or result.text.endswith(("...", "…"))
        return [self.parts.text, *self.continuations][-1].endswith(("...", "…"))

    @property
    def elements(self) -> list[Element]:
        """Every part of the entry with its place: prefix, name, arguments, metadata, result, comment, text."""
        return _elements(self)


def _dedent(source: str) -> str:
    text = source[1:] if source.startswith("\t") else source[2:]
    return text.removesuffix("\r")


def _elements(line: Line) -> list[Element]:
    parts = line.parts
    number = line.number
    found: list[Element] = []

    def add(role: str, start: int, end: int, on: int = number, source: str = line.source) -> None:
        if end > start:
            found.append(Element(role, source[start:end], Span(on, start + 1, end + 1)))

    prefix = PREFIXES.get(line.kind)
    if prefix is not None:
        indent = line.source[:1] == " "
        add("prefix", indent, indent + len(prefix))
    add("name", parts.name_start, parts.name_start + len(parts.name))
    if line.kind in PROSE or prefix is None:
        add("text", parts.start, parts.start + len(parts.text))
    else:
        arguments = {(token.start, token.end) for token in parts.arguments}
        for token in parts.tokens:
            role = "argument" if (token.start, token.end) in arguments else "metadata"
            add(role, token.start, token.end)
    if parts.result_start >= 0:
        add("result", parts.result_start, parts.result_end)
    for token in parts.run_tokens:
        add("metadata", token.start, token.end)
    if parts.metrics_start >= 0:
        add("metrics", parts.metrics_start, len(line.source.rstrip(" \t\r")))
    if parts.comment_start >= 0:
        add("comment", parts.comment_start, len(line.source.rstrip("\r")))
    for offset, source in enumerate(line.more or (), 1):
        start = 1 if source.startswith("\t") else 2
        add("continuation", start, len(source.removesuffix("\r")), number + offset, source)
    return found
