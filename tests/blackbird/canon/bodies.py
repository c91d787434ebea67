"""Bodies as providers and clients spell them, and the check that each text stands where it is said to stand."""

import json
from collections.abc import Iterable, Sequence
from typing import Protocol

from blackbird.canon import streams
from blackbird.canon.dialects import Dialect
from blackbird.canon.model import Part, Reply, Span, Text, Thinking, ToolCall, ToolResult, Turn
from blackbird.canon.model import Refusal as Declined
from blackbird.canon.seen import Ask

Worded = Text | Thinking | Declined | ToolCall | ToolResult


class Spell(Protocol):
    """A way to write JSON."""

    def __call__(self, value: object) -> bytes:
        """The bytes of a value."""


def compact(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def spaced(value: object) -> bytes:
    return json.dumps(value).encode()


def indented(value: object) -> bytes:
    return json.dumps(value, indent=2).encode()


def events(values: Iterable[object], spell: Spell = compact) -> bytes:
    """A stream of events; those that are objects with a type are named."""
    return b"".join(b"data: " + (value if isinstance(value, bytes) else spell(value)) + b"\n\n" for value in values)


def lines(values: Iterable[object], spell: Spell = compact) -> bytes:
    """One document a line."""
    return b"".join(spell(value) + b"\n" for value in values)


def reply(dialect: Dialect, body: bytes, status: int | None = 200) -> Reply:
    """What a dialect reads in a body, with all places checked."""
    found = streams.split(body, None)
    answer = dialect.reply(found.pieces, status=status, is_cut=found.is_cut)
    check_places(body, answer.parts)
    return answer


def ask(dialect: Dialect, value: object, path: str = "", spell: Spell = compact) -> Ask:
    """What a dialect reads in a request."""
    found = dialect.ask(spell(value), path)
    assert found is not None
    return found


def turns(dialect: Dialect, value: object, spell: Spell = compact) -> list[Turn]:
    """The system prompt and the history of a request, with all places checked."""
    body = spell(value)
    found = dialect.ask(body, "")
    assert found is not None
    every = []
    for message in (*found.system, *found.history):
        assert body[message.start : message.end] == message.data
        for turn in dialect.turns(message):
            assert (turn.start, turn.end) == (message.start, message.end)
            check_places(body, turn.parts)
            every.append(turn)
    return every


def words(part: Part) -> str:
    assert isinstance(part, Worded)
    return part.raw if isinstance(part, ToolCall) else part.text


def check_places(body: bytes, parts: Sequence[Part]) -> None:
    """Every text is in the body where its spans say, all of it but the line ends between texts."""
    for part in parts:
        if isinstance(part, Worded):
            _check(body, words(part), part.spans)


def _check(body: bytes, text: str, spans: Sequence[Span]) -> None:
    last = 0
    for span in spans:
        assert text[last : span.first] in ("", "\n")
        assert _spelled(body[span.start : span.end], text[span.first : span.last])
        last = span.last
    assert last == len(text)


def _spelled(data: bytes, text: str) -> bool:
    try:
        return bool(json.loads(b'"' + data + b'"') == text)
    except ValueError:
        return data.decode() == text


def is_beginning(parts: Sequence[Part], whole: Sequence[Part]) -> bool:
    """Whether parts are how far the whole of them came."""
    return len(parts) <= len(whole) and all(
        type(part) is type(full) and (not isinstance(part, Worded) or words(full).startswith(words(part)))
        for part, full in zip(parts, whole, strict=False)
    )
