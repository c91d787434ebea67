"""What the dialects have in common: media, arguments, names of tools, settings and what went wrong."""

import binascii
import functools
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from blackbird.canon import places
from blackbird.canon.model import Failure, Media, Outcome, Reply, Span, Text, ToolCall, ToolResult, Unknown
from blackbird.canon.places import Growing
from blackbird.canon.seen import Slice
from blackbird.exchange import payloads

#: From this status on, a body tells of an error.
FIRST_ERROR = 400
_LONGEST_MESSAGE = 2000
_DEEPEST = 8
_ESCAPES = re.compile(rb"\\[nr]|\s")
_DATA_URL = re.compile(rb'"data:([\w.+/-]*)[^,"]*;base64,')


class _Function(msgspec.Struct):
    name: str | None = None


class _Tool(msgspec.Struct):
    name: str | None = None
    type: str | None = None
    function: _Function | None = None


_TOOLS = msgspec.json.Decoder(list[_Tool])


def digest(values: Iterable[Slice]) -> str | None:
    """What tells whether values are the same as before; nothing if there are none."""
    found = tuple(value.data for value in values)
    return _digest(found) if found else None


@functools.lru_cache(maxsize=16)
def _digest(values: tuple[bytes, ...]) -> str:
    """Remembered: tools and instructions come again with each request."""
    found = hashlib.blake2b(digest_size=16)
    for value in values:
        found.update(value)
        found.update(b"\0")
    return found.hexdigest()


def tool_names(tools: Slice | None) -> tuple[str, ...]:
    """The names of the tools that are offered; one without a name is called by its type."""
    return _tool_names(tools.data) if tools is not None else ()


@functools.lru_cache(maxsize=16)
def _tool_names(tools: bytes) -> tuple[str, ...]:
    found = places.decode(_TOOLS, tools)
    names = ((tool.function.name if tool.function is not None else tool.name) or tool.type for tool in found or ())
    return tuple(name for name in names if name)


def real(fields: Mapping[str, Any], key: str) -> float | None:
    """A number, if it is one."""
    value = fields.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def flag(fields: Mapping[str, Any], key: str) -> bool | None:
    """Yes or no, if it is said."""
    value = fields.get(key)
    return value if isinstance(value, bool) else None


def count(fields: Mapping[str, Any], key: str) -> int:
    """How many of something; 0 if that is not said."""
    return max(payloads.number(fields, key) or 0, 0)


def money(fields: Mapping[str, Any], key: str) -> Decimal | None:
    """An amount, if it is one."""
    value = real(fields, key)
    return Decimal(str(fields[key])) if value is not None else None


def schema_fields(schema: Any) -> list[str]:
    """The names of the fields that a JSON schema has."""
    return sorted(payloads.inner(schema, "properties")) if isinstance(schema, dict) else []


def text_part(literal: Slice) -> Text | None:
    """A text, if there is any."""
    text, spans = places.read_literal(literal)
    return Text(text, spans) if text else None


def text_value(fields: Mapping[str, Slice], key: str) -> str | None:
    """A text without its place, if it is one."""
    return places.unquote(fields[key].data) if key in fields else None


def unknown(kind: str | None, value: Slice) -> Unknown:
    """A part that nobody here knows."""
    return Unknown(kind or "unknown", len(value.data), value.start, value.end)


def base64_media(kind: str, mime: str | None, literal: Slice, name: str | None = None) -> Media:
    """What was sent as a JSON string of base64; without size and hash if it is none, as when it was redacted."""
    return _decoded(kind, mime, literal.data[1:-1], name)


def text_media(kind: str, mime: str | None, literal: Slice, name: str | None = None) -> Media:
    """A document that was sent as plain text."""
    data = (places.unquote(literal.data) or "").encode()
    return Media(kind, mime=mime, size=len(data), sha256=hashlib.sha256(data).hexdigest(), name=name)


def url_media(kind: str, literal: Slice, name: str | None = None) -> Media:
    """What a JSON string refers to by its address; one that holds the data itself is read like base64."""
    found = _DATA_URL.match(literal.data.replace(b"\\/", b"/"))
    if found is None:
        return Media(kind, url=places.unquote(literal.data), name=name)
    spelled = literal.data.replace(b"\\/", b"/")[found.end() : -1]
    return _decoded(kind, found[1].decode() or None, spelled, name)


def _decoded(kind: str, mime: str | None, spelled: bytes, name: str | None) -> Media:
    try:
        data = binascii.a2b_base64(_ESCAPES.sub(b"", spelled.replace(b"\\/", b"/")), strict_mode=True)
    except ValueError:
        return Media(kind, mime=mime, name=name)
    return Media(kind, mime=mime, size=len(data), sha256=hashlib.sha256(data).hexdigest(), name=name)


def object_call(name: str, call_id: str | None, value: Slice | None, *, is_hosted: bool = False) -> ToolCall:
    """A call whose arguments stand in the document as JSON, not as a string that holds JSON."""
    if value is None:
        return ToolCall(name, call_id, {}, is_hosted=is_hosted)
    raw = value.data.decode(errors="replace")
    return ToolCall(name, call_id, read_arguments(raw), raw, is_hosted, plain_spans(raw, value))


def plain_spans(text: str, value: Slice) -> tuple[Span, ...]:
    """Where a text stands that the body spells as it is."""
    return (Span(0, len(text), value.start, value.end),) if text else ()


def string_call(name: str, call_id: str | None, raw: Growing, *, is_done: bool = True) -> ToolCall:
    """A call whose arguments came as text; no text at all means none, if it came to its end."""
    text = raw.text
    arguments = read_arguments(text) if text.strip() or not is_done else {}
    return ToolCall(name, call_id, arguments, text, spans=raw.spans)


def read_arguments(raw: str) -> dict[str, Any] | None:
    """Arguments as an object, if they are one and whole."""
    value = places.read_any(raw.encode(errors="replace"))
    return value if isinstance(value, dict) else None


def settled(result: ToolResult, error: bool | None) -> ToolResult:
    """A result with what holds where nothing else has said whether it failed."""
    return msgspec.structs.replace(result, error=error) if result.error is None else result


def collect(value: Slice, keys: frozenset[str], into: Growing, depth: int = 0) -> None:
    """All texts under some keys of a value, in order, as deep as such values go."""
    if depth > _DEEPEST:
        return
    if value.data[:1] == b"[":
        for item in places.items(value):
            collect(item, keys, into, depth + 1)
    elif value.data[:1] == b"{":
        for key, inner in places.members(value).items():
            if inner.data[:1] != b'"':
                collect(inner, keys, into, depth + 1)
            elif key in keys and len(inner.data) > len(b'""'):
                into.add_break()
                into.add_literal(inner)


def failed(pieces: Sequence[Slice], status: int | None) -> Reply:
    """The answer that a body of an error is."""
    return Reply(outcome=Outcome.ERROR, failure=failure(pieces[0].data if pieces else b"", status))


def failure(data: bytes | msgspec.Raw, status: int | None = None) -> Failure:
    """What a document says went wrong: an error, or an object that holds one."""
    value = places.read_any(data)
    inner = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(inner, dict):
        text = inner if isinstance(inner, str) else bytes(data).decode(errors="replace")
        return Failure(_status_name(status), text.strip()[:_LONGEST_MESSAGE])
    words = (inner.get(key) for key in ("code", "type", "status"))
    number = payloads.number(inner, "code")
    code = next((word for word in words if isinstance(word, str) and word), None)
    message = payloads.text(inner, "message") or payloads.text(inner, "detail") or ""
    return Failure(code or _status_name(status if number is None else number), message[:_LONGEST_MESSAGE])


def _status_name(status: int | None) -> str:
    return "error" if status is None else str(status)
