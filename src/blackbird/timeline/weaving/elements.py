"""Takes a turn apart into elements: words, calls, results, thoughts, and what the client says in someone's name."""

import enum
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from blackbird.canon import wrappers
from blackbird.canon.model import (
    Media,
    Origin,
    Part,
    Refusal,
    Role,
    Span,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
    Unknown,
)
from blackbird.canon.seen import Slice
from blackbird.timeline.weaving import keys

#: One character as a JSON string spells it.
_CHARACTER = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[\x00-\x7f]|[\xc0-\xff][\x80-\xbf]*",
    re.DOTALL,
)


class Kind(enum.IntEnum):
    """What an element is. Words, calls and results make the path of a conversation; the others stand beside it."""

    START = 0
    WORDS = 1
    CALL = 2
    RESULT = 3
    THOUGHT = 4
    ASIDE = 5


#: What a path consists of.
PATH = frozenset({Kind.WORDS, Kind.CALL, Kind.RESULT})


class Mold(NamedTuple):
    """What is kept of an element: enough to know it again."""

    kind: Kind
    key: bytes
    role: Role
    origin: Origin
    #: A call by its name and what it was given; the name alone for a result.
    use: bytes = b""
    name: str = ""
    call_id: str | None = None
    #: How long words are without their blanks.
    length: int = 0

    @property
    def is_path(self) -> bool:
        """Whether it is a step of the conversation."""
        return self.kind in PATH

    @property
    def is_summary(self) -> bool:
        """Whether it stands for an earlier part of the conversation."""
        return self.origin is Origin.SUMMARY

    @property
    def is_agents(self) -> bool:
        """Whether a model said it."""
        return self.kind is Kind.CALL or (self.kind is Kind.WORDS and self.role is Role.ASSISTANT)


class Element(NamedTuple):
    """One thing of a turn. `place` tells it from the others of its message."""

    mold: Mold
    parts: tuple[Part, ...]
    start: int
    end: int
    place: int

    @property
    def squeezed(self) -> str:
        """Its words without blanks."""
        return keys.squeeze(self.text)

    @property
    def text(self) -> str:
        """Its words."""
        return "".join(part.text for part in self.parts if isinstance(part, Text | Refusal))


def of_turns(turns: Iterable[Turn], data: Slice | None = None, origin: Origin | None = None) -> list[Element]:
    """The elements of a history's or a log's turns; `data` are their bytes, `origin` whose words they hold."""
    found: list[Element] = []
    for turn in turns:
        found += _spoken(turn, is_echo=True) if turn.role is Role.ASSISTANT else _heard(turn, data, origin)
    return [element._replace(place=place) for place, element in enumerate(found)]


def of_reply(parts: Iterable[Part]) -> list[Element]:
    """The elements of an answer."""
    return list(_spoken(Turn(role=Role.ASSISTANT, parts=tuple(parts)), is_echo=False))


def _spoken(turn: Turn, *, is_echo: bool) -> Iterator[Element]:
    for place, part in enumerate(turn.parts):
        mold = _agents(part, is_echo=is_echo)
        if mold is not None:
            yield Element(mold, (part,), turn.start, turn.end, place)


def _agents(part: Part, *, is_echo: bool) -> Mold | None:
    match part:
        case Text() | Refusal():
            squeezed = keys.squeeze(part.text)
            if not squeezed:
                return None
            pieces = wrappers.split(part.text, Role.ASSISTANT) if is_echo else []
            if len(pieces) == 1 and pieces[0].origin is not Origin.AGENT:
                return _aside(part.text, Role.ASSISTANT, pieces[0].origin)
            return Mold(
                Kind.WORDS, keys.words(Role.ASSISTANT, squeezed), Role.ASSISTANT, Origin.AGENT, length=len(squeezed)
            )
        case Thinking():
            if not part.text.strip() and not part.signature and not part.is_encrypted:
                return None
            known_by = keys.squeeze(part.text) or part.signature or ""
            return Mold(Kind.THOUGHT, keys.digest("thought", known_by), Role.ASSISTANT, Origin.AGENT)
        case ToolCall():
            return _call(part)
        case ToolResult():
            return _result(part, Role.ASSISTANT)
        case Media():
            return Mold(Kind.WORDS, _seen(part), Role.ASSISTANT, Origin.AGENT)
        case Unknown():
            return Mold(Kind.ASIDE, _odd(part), Role.ASSISTANT, Origin.AGENT)


def _call(part: ToolCall) -> Mold:
    use = keys.use(part.name, part.arguments, part.raw)
    key = keys.call(part.call_id) if part.call_id else use
    return Mold(Kind.CALL, key, Role.ASSISTANT, Origin.AGENT, use=use, name=part.name, call_id=part.call_id or None)


def _result(part: ToolResult, role: Role) -> Mold:
    said = keys.digest("said", part.name or "", keys.squeeze(part.text))
    key = keys.result(part.call_id) if part.call_id else said
    return Mold(Kind.RESULT, key, role, Origin.CLIENT, use=said, name=part.name or "", call_id=part.call_id or None)


def _seen(part: Media) -> bytes:
    return keys.digest("media", part.kind, part.sha256 or part.url or part.name or str(part.size))


def _odd(part: Unknown) -> bytes:
    return keys.digest("unknown", part.kind, str(part.size))


def _aside(text: str, role: Role, origin: Origin) -> Mold | None:
    """What a client adds is the same with its tag or without, in whoever's name it is said."""
    squeezed = keys.squeeze(wrappers.bare(text))
    return Mold(Kind.ASIDE, keys.digest("aside", squeezed), role, origin) if squeezed else None


class _Words:
    """All that a user says in one turn, wherever in it: clients move what stands between."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.place = 0

    def add(self, part: Part, place: int) -> None:
        if not self.parts:
            self.place = place
        self.parts.append(part)

    def mold(self, role: Role, origin: Origin) -> Mold | None:
        squeezed = keys.squeeze("".join(part.text for part in self.parts if isinstance(part, Text | Refusal)))
        media = [part for part in self.parts if isinstance(part, Media)]
        if squeezed:
            return Mold(Kind.WORDS, keys.words(role, squeezed), role, origin, length=len(squeezed))
        if media:
            return Mold(Kind.WORDS, keys.digest(*map(_seen, media)), role, origin)
        return None


def _heard(turn: Turn, data: Slice | None, origin: Origin | None) -> Iterator[Element]:
    words = {Origin.USER: _Words(), Origin.SUMMARY: _Words()}
    beside: list[Element] = []
    place = 0
    for part in turn.parts:
        place += 1
        command = _command(part, turn.role, data) if origin in (None, Origin.USER) else None
        if command is not None:
            typed = Mold(Kind.ASIDE, keys.digest("command", command.text), turn.role, Origin.USER)
            beside.append(Element(typed, (command,), turn.start, turn.end, place))
        elif isinstance(part, Text | Refusal | Media):
            for piece, whose in _pieces(part, turn.role, data, origin):
                place += 1
                if whose in words:
                    words[whose].add(piece, place)
                elif isinstance(piece, Text | Refusal):
                    mold = _aside(piece.text, turn.role, whose)
                    beside += [Element(mold, (piece,), turn.start, turn.end, place)] if mold is not None else []
        else:
            found = _agents(part, is_echo=True)
            if found is not None:
                whose = found.origin
                if isinstance(part, Unknown):
                    whose = Origin.SYSTEM if turn.role is Role.SYSTEM else Origin.CLIENT
                owned = found._replace(role=turn.role, origin=whose)
                beside.append(Element(owned, (part,), turn.start, turn.end, place))
    for whose, said in words.items():
        spoken = said.mold(Role.USER, whose)
        if spoken is not None:
            beside.append(Element(spoken, tuple(said.parts), turn.start, turn.end, said.place))
    beside.sort(key=lambda element: element.place)
    yield from beside


def _command(part: Part, role: Role, data: Slice | None) -> Text | None:
    """What a user typed for the client itself. It stands beside the conversation: of some, the model never hears."""
    found = wrappers.typed(part.text) if role is Role.USER and isinstance(part, Text) else None
    if found is None or not isinstance(part, Text):
        return None
    spans = [
        Span(at + span.first, at + span.last, span.start, span.end)
        for at, first, last in found.places
        for span in cut(part, first, last, data).spans
    ]
    return Text(found.words, tuple(spans))


def _pieces(
    part: Text | Refusal | Media, role: Role, data: Slice | None, origin: Origin | None
) -> Iterator[tuple[Part, Origin]]:
    own = Origin.SYSTEM if role is Role.SYSTEM else Origin.USER
    if isinstance(part, Media):
        yield part, own
    elif origin is not None and origin is not Origin.USER:
        yield part, origin
    else:
        for whose, first, last in wrappers.split(part.text, role):
            piece = part if last - first == len(part.text) else cut(part, first, last, data)
            yield piece, own if whose is Origin.AGENT else whose


def cut(part: Text | Refusal, first: int, last: int, data: Slice | None) -> Text | Refusal:
    """Characters `first` to `last` of a text, with the places where they stand if those can be told."""
    spans = []
    for span in part.spans:
        low, high = max(span.first, first), min(span.last, last)
        if low >= high:
            continue
        start, end = _within(span, low, data), _within(span, high, data)
        if start is None or end is None:
            return msgspec.structs.replace(part, text=part.text[first:last], spans=())
        spans.append(Span(low - first, high - first, start, end))
    return msgspec.structs.replace(part, text=part.text[first:last], spans=tuple(spans))


def _within(span: Span, character: int, data: Slice | None) -> int | None:
    """The byte at which a character of a span starts."""
    if character == span.first:
        return span.start
    if character == span.last:
        return span.end
    if span.end - span.start == span.last - span.first:
        return span.start + character - span.first
    if data is None:
        return None
    at = span.start - data.start
    for _ in range(character - span.first):
        found = _CHARACTER.match(data.data, at)
        if found is None:
            return None
        at = found.end()
    return at + data.start
