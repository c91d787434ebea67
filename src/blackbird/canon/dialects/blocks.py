"""The blocks of content of Anthropic Messages: in histories, in answers and in the log of its own client."""

from collections.abc import Iterator, Mapping

from blackbird.canon import details, places
from blackbird.canon.dialects import parts
from blackbird.canon.model import Media, Part, Thinking, ToolResult
from blackbird.canon.places import Growing
from blackbird.canon.seen import Slice

#: Calls by their types; all but the first are run by the provider.
CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_MEDIA = ("image", "document", "container_upload")
#: The texts of a result that the provider's own tools gave.
_TOLD = frozenset({"title", "url", "text", "stdout", "stderr", "data", "error_code", "tool_name"})

Fields = Mapping[str, Slice]


def read_content(content: Slice) -> tuple[Part, ...]:
    """The content of a message: a text, or blocks."""
    if content.data[:1] == b'"':
        text = parts.text_part(content)
        return (text,) if text is not None else ()
    return tuple(part for block in places.items(content) for part in read(block))


def read(block: Slice) -> Iterator[Part]:
    """A block; an empty text is none, and a block may hold several media."""
    fields = places.members(block)
    kind = parts.text_value(fields, "type") or ""
    if kind == "text":
        text = parts.text_part(fields["text"]) if "text" in fields else None
        if text is not None:
            yield text
    elif kind == "thinking":
        text_, spans = places.read_literal(fields.get("thinking", Slice(b"", 0)))
        yield Thinking(text_, parts.text_value(fields, "signature") or None, spans=spans)
    elif kind == "redacted_thinking":
        yield Thinking("", parts.text_value(fields, "data"), is_encrypted=True)
    elif kind in CALLS:
        name, call_id = parts.text_value(fields, "name") or "", parts.text_value(fields, "id")
        yield parts.object_call(name, call_id, fields.get("input"), is_hosted=kind != CALLS[0])
    elif kind.endswith("tool_result"):
        yield _result(fields)
    elif kind in _MEDIA:
        yield _media(kind, fields)
    else:
        yield parts.unknown(kind, block)


def _result(fields: Fields) -> ToolResult:
    text = Growing()
    media: list[Media] = []
    content = fields.get("content", Slice(b"", 0))
    error = fields["is_error"].data == b"true" if "is_error" in fields else None
    if content.data[:1] == b'"':
        text.add_literal(content)
    elif content.data[:1] == b"[":
        for block in places.items(content):
            _add(block, text, media)
    else:
        parts.collect(content, _TOLD, text)
        error = error or b'"error_code"' in content.data or None
    call_id = parts.text_value(fields, "tool_use_id")
    result = ToolResult(call_id, text.text, error, media=tuple(media), spans=text.spans)
    return parts.settled(details.ended(result), error=False)


def _add(block: Slice, text: Growing, media: list[Media]) -> None:
    """One block of a result."""
    fields = places.members(block)
    kind = parts.text_value(fields, "type")
    if kind in _MEDIA:
        media.append(_media(kind, fields))
    else:
        parts.collect(block, _TOLD, text)


def _media(kind: str, fields: Fields) -> Media:
    source = places.members(fields["source"]) if "source" in fields else fields
    name = parts.text_value(fields, "title") or parts.text_value(source, "file_id")
    mime = parts.text_value(source, "media_type")
    form = parts.text_value(source, "type")
    if form == "base64" and "data" in source:
        return parts.base64_media(kind, mime, source["data"], name)
    if form == "url" and "url" in source:
        return parts.url_media(kind, source["url"], name)
    if form == "text" and "data" in source:
        return parts.text_media(kind, mime, source["data"], name)
    return Media(kind, mime=mime, name=name)
