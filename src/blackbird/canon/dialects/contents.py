"""The contents of Gemini's conversations and the parts in them, on the wire and in a client's own log."""

import re
from collections.abc import Iterator, Mapping

from blackbird.canon import details, places
from blackbird.canon.dialects import parts
from blackbird.canon.model import Media, Part, Role, Text, Thinking, ToolCall, ToolResult
from blackbird.canon.places import Growing
from blackbird.canon.seen import Slice

Fields = Mapping[str, Slice]

_ROLES = {"model": Role.ASSISTANT, "system": Role.SYSTEM}
_KINDS = frozenset({"image", "audio", "video"})
_NOTHING = Slice(b"", 0)
_CODE = "code_execution"
_WORKED = "OUTCOME_OK"
_CAPITAL = re.compile("[A-Z]")
#: The base64 of some clients' libraries has letters of its own.
_ORDINARY = bytes.maketrans(b"-_", b"+/")
#: What of a response is words by itself, and whether it then failed if those do not say otherwise.
_TOLD = {"output": False, "error": True, "result": None, "content": None}


def pick(fields: Fields, key: str) -> Slice:
    """The value of a key, which may be spelled with underscores, too; an empty one if there is none."""
    found = fields.get(key)
    if found is None:
        found = fields.get(_CAPITAL.sub(lambda letter: "_" + letter[0].lower(), key))
    return _NOTHING if found is None else found


def role_of(fields: Fields) -> Role:
    """Who speaks in a content."""
    return _ROLES.get(parts.text_value(fields, "role") or "", Role.USER)


def read(content: Slice) -> Iterator[Part]:
    """The parts of a content, or of what stands for one: a text, a part, a list of either."""
    if content.data[:1] == b"[":
        for each in places.items(content):
            yield from read(each)
    elif content.data[:1] == b'"':
        text = parts.text_part(content)
        if text is not None:
            yield text
    elif content.data[:1] == b"{":
        fields = places.members(content)
        if "parts" in fields:
            yield from read(fields["parts"])
        elif "role" not in fields:
            yield from _part(fields, content)


def _part(fields: Fields, value: Slice) -> Iterator[Part]:
    if "text" in fields:
        text, spans = places.read_literal(fields["text"])
        if pick(fields, "thought").data == b"true":
            yield Thinking(text, _signature(fields), spans=spans)
        elif text:
            yield Text(text, spans)
    elif call := places.members(pick(fields, "functionCall")):
        name = parts.text_value(call, "name") or ""
        yield parts.object_call(name, parts.text_value(call, "id"), call.get("args"))
    elif response := places.members(pick(fields, "functionResponse")):
        yield _result(response)
    elif data := places.members(pick(fields, "inlineData")):
        yield _inline(data)
    elif file := places.members(pick(fields, "fileData")):
        mime, url, label = (places.unquote(pick(file, key).data) for key in ("mimeType", "fileUri", "displayName"))
        yield Media(_kind(mime), mime=mime, url=url, name=label)
    elif code := places.members(pick(fields, "executableCode")):
        raw, spans = places.read_literal(pick(code, "code"))
        yield ToolCall(_CODE, parts.text_value(code, "id"), None, raw, is_hosted=True, spans=spans)
    elif result := places.members(pick(fields, "codeExecutionResult")):
        text, spans = places.read_literal(pick(result, "output"))
        is_failed = parts.text_value(result, "outcome") != _WORKED
        yield ToolResult(parts.text_value(result, "id"), text, is_failed, _CODE, spans=spans)
    elif not _signature(fields) or len(fields) > 1:
        yield parts.unknown(next(iter(fields), None), value)


def _signature(fields: Fields) -> str | None:
    return places.unquote(pick(fields, "thoughtSignature").data) or None


def _result(response: Fields) -> ToolResult:
    """What a tool gave: an object of any shape, of which clients use the few that are words by themselves."""
    value = pick(response, "response")
    fields = places.members(value)
    growing = Growing()
    told = next((key for key in _TOLD if key in fields), None)
    if told is not None and len(fields) == 1 and fields[told].data[:1] == b'"':
        growing.add_literal(fields[told])
    else:
        growing.add(value.data.decode(errors="replace"), value.start, value.end)
    name, call_id = parts.text_value(response, "name"), parts.text_value(response, "id")
    media = tuple(part for part in read(pick(response, "parts")) if isinstance(part, Media))
    error = None if told is None else _TOLD[told]
    # A command that failed is a success of the tool that ran it.
    result = ToolResult(call_id, growing.text, error or None, name, media, spans=growing.spans)
    return parts.settled(details.ended(result), error)


def _inline(data: Fields) -> Media:
    mime, label = (places.unquote(pick(data, key).data) for key in ("mimeType", "displayName"))
    literal = pick(data, "data")
    ordinary = Slice(literal.data.translate(_ORDINARY), literal.start)
    return parts.base64_media(_kind(mime), mime, ordinary, label)


def _kind(mime: str | None) -> str:
    kind = (mime or "").partition("/")[0]
    return kind if kind in _KINDS else "document"
