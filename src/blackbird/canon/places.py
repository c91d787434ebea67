"""Where the values of a JSON document stand in a body: members of objects, items of arrays, the texts of strings."""

import json
import re
from typing import Any, TypeVar

import msgspec

from blackbird.canon.model import Span
from blackbird.canon.seen import Slice

Spelled = bytes | msgspec.Raw

_Value = TypeVar("_Value")

#: What stands between the values of an object, and between those of an array.
_KEY = re.compile(rb'[\s,{]*"(?:[^"\\]|\\.)*"\s*:\s*', re.DOTALL)
_BETWEEN = b", \t\r\n"
#: An escape of one half of a character whose other half is missing: no UTF-8 can spell it.
_HALF = re.compile(
    rb"(?<!\\)((?:\\\\)*)(?:"
    rb"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_UNKNOWN_CHARACTER = rb"\ufffd"

_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
_TEXT = msgspec.json.Decoder(str)
_ANY = msgspec.json.Decoder()


class Growing:
    """A text that comes in stretches, and where each of them stands."""

    __slots__ = ("_length", "_spans", "_texts")

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._spans: list[Span] = []
        self._length = 0

    def add(self, text: str, start: int, end: int) -> None:
        """The next stretch, and its bytes without the quotes; an empty one takes no place."""
        if text:
            last = self._length + len(text)
            self._texts.append(text)
            self._spans.append(Span(self._length, last, start, end))
            self._length = last

    def add_literal(self, literal: Slice) -> None:
        """The next stretch, as a JSON string; anything else is passed over."""
        text = unquote(literal.data)
        if text is not None:
            self.add(text, literal.start + 1, literal.end - 1)

    def add_member(self, piece: Slice, key: bytes, literal: Spelled, begin: int = 0) -> int:
        """The next stretch, as `find_member` finds it; where in the document to look for one behind it."""
        text = unquote(literal) if literal else None
        if not text:
            return begin
        spelled = bytes(literal)
        at = piece.data.find(key + spelled, begin)
        if at >= 0:
            at += len(key)
        else:
            found = find_member(piece, key, spelled, begin)
            if found is None:
                return begin
            at = found.start - piece.start
        last = at + len(spelled)
        self.add(text, piece.start + at + 1, piece.start + last - 1)
        return last

    def add_all(self, text: str, spans: tuple[Span, ...]) -> None:
        """The next stretches, of a text whose places are known."""
        self._texts.append(text)
        self._spans += (
            Span(span.first + self._length, span.last + self._length, span.start, span.end) for span in spans
        )
        self._length += len(text)

    def add_break(self) -> None:
        """A line end between two texts: it stands nowhere."""
        if self._length:
            self._texts.append("\n")
            self._length += 1

    def __bool__(self) -> bool:
        return self._length > 0

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._texts)

    @property
    def spans(self) -> tuple[Span, ...]:
        """Where its stretches stand."""
        return tuple(self._spans)


def decode(decoder: "msgspec.json.Decoder[_Value]", data: Spelled) -> _Value | None:
    """What a document says; nothing if it is not JSON, or not of the shape that is looked for."""
    found = _read(decoder, data)
    return _read(decoder, mend(data)) if found is None else found


def _read(decoder: "msgspec.json.Decoder[_Value]", data: Spelled) -> _Value | None:
    try:
        return decoder.decode(data)
    except (ValueError, RecursionError):
        return None


def mend(data: Spelled) -> bytes:
    """The same bytes with what no text can hold replaced, each by as many bytes as it had.

    Clients that cut a text by length send half characters, and a body that was cut may end within one.
    """
    data = bytes(data)
    try:
        data.decode()
    except UnicodeDecodeError:
        # Surrogates mark the bytes that are no UTF-8, one each.
        data = re.sub("[\udc80-\udcff]", "?", data.decode(errors="surrogateescape")).encode()
    return _HALF.sub(lambda found: found[0] if found[2] else found[1] + _UNKNOWN_CHARACTER, data)


def read_any(data: Spelled) -> Any:
    """A value of any shape; None if it is no JSON."""
    return decode(_ANY, data)


def read_object(data: Spelled) -> dict[str, Any]:
    """An object; an empty one for anything else."""
    value = decode(_ANY, data)
    return value if isinstance(value, dict) else {}


def unquote(literal: Spelled) -> str | None:
    """The text of a JSON string; None for any other value."""
    try:
        return _TEXT.decode(literal)
    except (ValueError, RecursionError):
        pass
    data = bytes(literal)
    if data[:1] != b'"':
        return None
    try:
        value = json.loads(mend(data), strict=False)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def members(value: Slice) -> dict[str, Slice]:
    """The values of an object by their keys, in order; none of anything else."""
    data = value.data
    found = _read(_MEMBERS, data)
    if found is None:
        data = mend(data)
        found = _read(_MEMBERS, data) or {}
    placed: dict[str, Slice] = {}
    at = 0
    for key, raw in found.items():
        spelled = bytes(raw)
        head = _KEY.match(data, at)
        at = head.end() if head is not None else at
        if not data.startswith(spelled, at):
            # A key that is there twice: its last value counts, and stands where only a search can tell.
            at = max(data.find(spelled), 0)
        placed[key] = Slice(spelled, value.start + at)
        at += len(spelled)
    return placed


def items(value: Slice) -> list[Slice]:
    """The values of an array; none of anything else."""
    data = value.data
    found = _read(_ITEMS, data)
    if found is None:
        data = mend(data)
        found = _read(_ITEMS, data) or []
    placed: list[Slice] = []
    at = data.find(b"[")
    for raw in found:
        spelled = bytes(raw)
        at += 1
        if data[at] in _BETWEEN:
            at = _first_other(data, at)
        placed.append(Slice(spelled, value.start + at))
        at += len(spelled)
    return placed


def _first_other(data: bytes, at: int) -> int:
    """Where the next value starts, behind spaces and a comma."""
    while data[at] in _BETWEEN:
        at += 1
    return at


def inside(value: Slice, *path: str | int) -> Slice | None:
    """The value that keys of objects and positions in arrays lead to, if it is there."""
    found: Slice | None = value
    for step in path:
        if found is None:
            return None
        if isinstance(step, str):
            found = members(found).get(step)
        else:
            listed = items(found)
            found = listed[step] if step < len(listed) else None
    return found


def find_member(piece: Slice, key: bytes, literal: Spelled, begin: int = 0) -> Slice | None:
    """The value of a key in a small document, from byte `begin` of it on: the first that is spelled so.

    `key` is the key with its quotes and colon. Inside a string its quotes would be escaped: it cannot be found there.
    """
    data, spelled = piece.data, bytes(literal)
    for head in (key, key + b" "):
        at = data.find(head + spelled, begin)
        if at >= 0:
            return Slice(spelled, piece.start + at + len(head))
    for found in re.compile(re.escape(key[:-1]) + rb"\s*:\s*").finditer(data, begin):
        if data.startswith(spelled, found.end()):
            return Slice(spelled, piece.start + found.end())
    mended = mend(data)
    return find_member(Slice(mended, piece.start), key, literal, begin) if mended != data else None


def read_literal(value: Slice) -> tuple[str, tuple[Span, ...]]:
    """The text of a JSON string and where it stands; an empty text for any other value."""
    growing = Growing()
    growing.add_literal(value)
    return growing.text, growing.spans
