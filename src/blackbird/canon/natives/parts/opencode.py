"""The parts of a message of opencode: words, thoughts, files, and tools with what they gave."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from blackbird.canon import details, places
from blackbird.canon.details import Details
from blackbird.canon.dialects import parts as shapes
from blackbird.canon.model import Media, Part, Text, Thinking, ToolCall, ToolResult
from blackbird.canon.seen import Slice
from blackbird.exchange import payloads

_REJECTED = "The user rejected permission"
_ABORTED = "Tool execution aborted"


class Tool(NamedTuple):
    """A tool's part: the call, what came of it, when, and the session of the sub-agent that it started."""

    call: ToolCall
    result: ToolResult | None
    began: Any
    ended: Any
    thread: str | None
    kind: str | None
    #: The call is there as a whole.
    is_whole: bool
    #: Where the result stands; where the state of the tool does if there is none.
    output: Slice


def read(kind: str, found: Mapping[str, Slice]) -> Part | None:
    """Words, a thought or a file; None for anything else."""
    if kind in ("text", "reasoning"):
        text, spans = places.read_literal(found["text"]) if "text" in found else ("", ())
        return Thinking(text, spans=spans) if kind == "reasoning" else Text(text, spans)
    return _media(found) if kind == "file" else None


def read_tool(found: Mapping[str, Slice]) -> Tool:
    """A tool's part, however far it has come."""
    inside = places.members(found["state"]) if "state" in found else {}
    state = {key: places.read_any(value.data) for key, value in inside.items() if key not in ("output", "raw")}
    name, call_id = shapes.text_value(found, "tool") or "", shapes.text_value(found, "callID")
    call = shapes.object_call(name, call_id, inside.get("input"))
    if state.get("status") == "pending" and "raw" in inside:
        raw, spans = places.read_literal(inside["raw"])
        call = msgspec.structs.replace(call, arguments=None, raw=raw, spans=spans) if raw else call
    metadata, times = payloads.inner(state, "metadata"), payloads.inner(state, "time")
    thread = payloads.text(metadata, "sessionId") or payloads.text(metadata, "sessionID")
    kind = payloads.text(payloads.inner(state, "input"), "subagent_type")
    result = _result(call, inside, state)
    is_whole = state.get("status") != "pending"
    output = (
        inside.get("error" if state.get("status") == "error" else "output") or found.get("state") or Slice(b"", 0)
    )
    return Tool(call, result, times.get("start"), times.get("end"), thread, kind, is_whole, output)


def _result(call: ToolCall, inside: Mapping[str, Slice], state: Mapping[str, Any]) -> ToolResult | None:
    status = state.get("status")
    if status not in ("completed", "error"):
        return None
    told = inside.get("error" if status == "error" else "output", Slice(b"", 0))
    text, spans = places.read_literal(told)
    if told.data and told.data[:1] != b'"':
        text = told.data.decode(errors="replace")
        spans = shapes.plain_spans(text, told)
    attached = places.items(inside["attachments"]) if "attachments" in inside else []
    found = _details(state, text if status == "error" else "")
    code = found.get("exit_code")
    failed = status == "error" or bool(code)
    media = tuple(_media(places.members(item)) for item in attached)
    return details.add(ToolResult(call.call_id, text, failed, call.name, media, spans=spans), found)


def _details(state: Mapping[str, Any], error: str) -> Details:
    metadata, times = payloads.inner(state, "metadata"), payloads.inner(state, "time")
    change = payloads.inner(metadata, "filediff")
    found: Details = {
        "exit_code": payloads.number(metadata, "exit"),
        "path": payloads.text(change, "file"),
        "patch": payloads.text(metadata, "diff") or payloads.text(change, "patch"),
        "thread": payloads.text(metadata, "sessionId") or payloads.text(metadata, "sessionID"),
        "is_rejected": error.startswith(_REJECTED) or None,
        "is_interrupted": error.startswith(_ABORTED) or None,
    }
    began, ended = payloads.number(times, "start"), payloads.number(times, "end")
    if began is not None and ended is not None:
        found["duration_ms"] = ended - began
    return {key: value for key, value in found.items() if value is not None}


def _media(found: Mapping[str, Slice]) -> Media:
    mime, name = shapes.text_value(found, "mime"), shapes.text_value(found, "filename")
    kind = (mime or "").partition("/")[0]
    kind = kind if kind in ("image", "audio", "video") else "document"
    media = shapes.url_media(kind, found["url"], name) if "url" in found else Media(kind, name=name)
    return msgspec.structs.replace(media, mime=mime or media.mime)
