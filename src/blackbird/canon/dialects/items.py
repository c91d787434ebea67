"""The items of OpenAI's Responses: messages, thoughts, calls and results, on the wire and in a client's own log."""

from collections.abc import Iterator, Mapping

from blackbird.canon import details, places
from blackbird.canon.dialects import parts
from blackbird.canon.model import Media, Part, Refusal, Role, Span, Text, Thinking, ToolCall, ToolResult, Unknown
from blackbird.canon.places import Growing
from blackbird.canon.seen import Slice

#: Which stretch of an item a part is: a group and an index in it, by which the deltas of a stream name it, too.
Key = tuple[str, int]
Keyed = tuple[Key, Part]
Fields = Mapping[str, Slice]

ARGUMENTS: Key = ("arguments", 0)
ENCRYPTED: Key = ("encrypted", 0)
_OTHER = "other"
_NOTHING = Slice(b"", 0)

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM, "developer": Role.SYSTEM}
_TEXTS = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text"})
_IMAGES = frozenset({"input_image", "computer_screenshot"})
#: Tools that the client runs itself; every other `…_call` is the provider's.
_CLIENTS = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call"}
)
#: Where a call keeps what the tool is given, and what a provider's own tool gave.
_GIVEN = ("arguments", "input", "action", "operation", "code", "queries", "query")
_GAINED = ("output", "outputs", "results", "result")
_FAILED = frozenset({"failed", "incomplete"})
_EMPTY = frozenset({b"", b"null", b'""', b"[]"})


def kind_of(fields: Fields) -> str:
    """What an item is; one without a type is a message."""
    return parts.text_value(fields, "type") or ("message" if "role" in fields else "unknown")


def role_of(fields: Fields) -> Role:
    """Who speaks in an item."""
    if "role" in fields:
        return _ROLES.get(parts.text_value(fields, "role") or "", Role.USER)
    return Role.USER if kind_of(fields).endswith("_output") else Role.ASSISTANT


def read(item: Slice) -> Iterator[Keyed]:
    """What an item holds, each part under its key; an empty text is none."""
    fields = places.members(item)
    kind = kind_of(fields)
    if kind == "message":
        yield from _content(fields.get("content", _NOTHING))
    elif kind == "reasoning":
        yield from _thoughts(fields)
    elif kind.endswith("_output"):
        yield (_OTHER, 0), _result(fields, kind)
    elif kind.endswith("_call"):
        yield from _call(fields, kind)
    else:
        yield (_OTHER, 0), parts.unknown(kind, item)


def _content(content: Slice) -> Iterator[Keyed]:
    if content.data[:1] == b'"':
        text = parts.text_part(content)
        if text is not None:
            yield ("text", 0), text
        return
    for index, block in enumerate(places.items(content)):
        fields = places.members(block)
        kind = parts.text_value(fields, "type") or ""
        if kind in _TEXTS and "text" in fields:
            text = parts.text_part(fields["text"])
            if text is not None:
                yield ("text", index), text
        elif kind == "refusal" and "refusal" in fields:
            yield ("refusal", index), Refusal(*places.read_literal(fields["refusal"]))
        else:
            yield (_OTHER, index), _media(kind, fields) or parts.unknown(kind, block)


def _media(kind: str, fields: Fields) -> Media | None:
    """An image, a document or a sound, if it is one."""
    name = parts.text_value(fields, "filename") or parts.text_value(fields, "file_id")
    if kind in _IMAGES:
        url = fields.get("image_url", _NOTHING)
        return parts.url_media("image", url, name) if url.data[:1] == b'"' else Media("image", name=name)
    if kind == "input_file":
        literal = fields.get("file_data", fields.get("file_url", _NOTHING))
        if literal.data[:1] != b'"':
            return Media("document", name=name)
        is_bare = "file_data" in fields and not literal.data.startswith(b'"data:')
        if is_bare:
            return parts.base64_media("document", None, literal, name)
        return parts.url_media("document", literal, name)
    if kind == "input_audio":
        sound = places.members(fields.get("input_audio", _NOTHING))
        form = parts.text_value(sound, "format")
        return parts.base64_media("audio", f"audio/{form}" if form else None, sound.get("data", _NOTHING))
    return None


def _thoughts(fields: Fields) -> Iterator[Keyed]:
    is_told = False
    for group, key in (("summary", "summary"), ("reasoning", "content")):
        for index, block in enumerate(places.items(fields.get(key, _NOTHING))):
            text, spans = places.read_literal(places.members(block).get("text", _NOTHING))
            if text:
                is_told = True
                yield (group, index), Thinking(text, spans=spans)
    if not is_told and parts.text_value(fields, "encrypted_content"):
        yield ENCRYPTED, Thinking("", is_encrypted=True)


def call_name(fields: Fields) -> str:
    """The name of a tool, behind that of its namespace or server as clients write it."""
    name = parts.text_value(fields, "name") or kind_of(fields).removesuffix("_call")
    server = parts.text_value(fields, "server_label")
    space = f"mcp__{server}" if server else parts.text_value(fields, "namespace")
    return in_space(space, name) if space else name


def in_space(space: str, name: str) -> str:
    """A tool's name in its namespace."""
    return f"{space.rstrip('_')}__{name}"


def _call(fields: Fields, kind: str) -> Iterator[Keyed]:
    is_hosted = kind not in _CLIENTS and parts.text_value(fields, "execution") != "client"
    call_id = parts.text_value(fields, "call_id") or parts.text_value(fields, "id")
    name = call_name(fields)
    raw, spans = _spelled(next((fields[key] for key in _GIVEN if key in fields), _NOTHING))
    has_begun_only = parts.text_value(fields, "status") == "in_progress"
    arguments = {} if kind == "function_call" and not raw and not has_begun_only else read_arguments(raw)
    yield ARGUMENTS, ToolCall(name, call_id, arguments, raw, is_hosted, spans)
    if not is_hosted:
        return
    gained = next((fields[key] for key in _GAINED if fields.get(key, _NOTHING).data not in _EMPTY), None)
    error = fields.get("error", _NOTHING)
    is_failed = error.data not in _EMPTY
    if gained is None and not is_failed:
        return
    value = gained if gained is not None else error
    if kind == "image_generation_call" and not is_failed:
        picture = parts.base64_media("image", None, value)
        yield (_OTHER, 0), ToolResult(call_id, "", False, name, (picture,))
    else:
        text, spans = _spelled(value)
        is_failed = is_failed or parts.text_value(fields, "status") in _FAILED
        yield (_OTHER, 0), ToolResult(call_id, text, is_failed, name, spans=spans)


def read_arguments(raw: str) -> dict[str, object] | None:
    """What a tool is given, if it is a whole JSON object."""
    return parts.read_arguments(raw) if raw.lstrip()[:1] == "{" else None


def _result(fields: Fields, kind: str) -> ToolResult:
    call_id = parts.text_value(fields, "call_id") or parts.text_value(fields, "id")
    name = parts.text_value(fields, "name")
    output = fields.get("output", fields.get("tools", _NOTHING))
    error = True if parts.text_value(fields, "status") in _FAILED else None
    if kind == "shell_call_output":
        growing, codes = _printed(output)
        failed = [code for code in codes if code != 0]
        error = error or (bool(failed) if codes else None)
        # Of several commands, the first that failed tells how they ended.
        code = next(iter((*failed, *codes)), None)
        told = {"exit_code": code} if isinstance(code, int) else {}
        return ToolResult(call_id, growing.text, error, name, details=told, spans=growing.spans)
    inner = places.members(output) if output.data[:1] == b"{" else {}
    picture = _media(parts.text_value(inner, "type") or "", inner)
    if picture is not None:
        return ToolResult(call_id, "", error, name, (picture,))
    found = [part for _, part in _content(output)] if output.data[:1] == b"[" else []
    if not found or any(isinstance(part, Unknown) for part in found):
        text, spans = _spelled(output)
        return details.ended(ToolResult(call_id, text, error, name, spans=spans))
    growing = _joined(found)
    pictures = tuple(part for part in found if isinstance(part, Media))
    return details.ended(ToolResult(call_id, growing.text, error, name, pictures, spans=growing.spans))


def _printed(output: Slice) -> tuple[Growing, list[object]]:
    """What commands printed, in order, and their exit codes; one that was stopped has none."""
    growing = Growing()
    codes: list[object] = []
    for each in places.items(output):
        fields = places.members(each)
        for stream in ("stdout", "stderr"):
            growing.add_literal(fields.get(stream, _NOTHING))
        outcome = places.read_object(fields.get("outcome", _NOTHING).data)
        codes.append(outcome.get("exit_code"))
    return growing, codes


def _joined(found: list[Part]) -> Growing:
    """Several texts as one."""
    growing = Growing()
    for part in found:
        if isinstance(part, Text | Refusal) and part.text:
            growing.add_break()
            for span in part.spans:
                growing.add(part.text[span.first : span.last], span.start, span.end)
    return growing


def _spelled(value: Slice) -> tuple[str, tuple[Span, ...]]:
    """The text of a string; of any other value, how it is spelled."""
    if value.data[:1] == b'"':
        return places.read_literal(value)
    text = "" if value.data in _EMPTY else value.data.decode(errors="replace")
    return text, parts.plain_spans(text, value)
