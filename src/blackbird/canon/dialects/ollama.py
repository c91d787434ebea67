"""Ollama's own dialect: chat and generate, as JSON or one document a line."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from blackbird.canon import details, places
from blackbird.canon.dialects import parts
from blackbird.canon.model import (
    Failure,
    Outcome,
    Part,
    Reply,
    Role,
    Settings,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
)
from blackbird.canon.places import Growing
from blackbird.canon.seen import Ask, Slice
from blackbird.exchange import payloads

NAME = "ollama"
ENDS = ("/api/chat", "/api/generate")

_ROLES = {"system": Role.SYSTEM, "assistant": Role.ASSISTANT}
_LARGE = frozenset({"messages", "tools", "prompt", "images", "context", "system"})
_NOTHING = msgspec.Raw(b"")


class _Message(msgspec.Struct, gc=False):
    content: msgspec.Raw = _NOTHING
    thinking: msgspec.Raw = _NOTHING
    tool_calls: msgspec.Raw = _NOTHING


class _Line(msgspec.Struct, gc=False):
    model: str | None = None
    message: _Message | None = None
    response: msgspec.Raw = _NOTHING
    thinking: msgspec.Raw = _NOTHING
    done: bool = False
    done_reason: str | None = None
    error: msgspec.Raw = _NOTHING


_LINES = msgspec.json.Decoder(_Line)


def ask(body: bytes, path: str) -> Ask | None:  # noqa: ARG001 - the same for all dialects
    """What a request says; nothing if it has neither messages nor a prompt.

    A prompt stands with its images beside it, so all of such a request is the one message of its history.
    """
    fields = places.members(Slice(body, 0))
    messages = fields.get("messages")
    if messages is not None and messages.data[:1] == b"[":
        history = places.items(messages)
    elif "prompt" in fields and fields["prompt"].data[:1] == b'"':
        history = [Slice(body, 0)]
    else:
        return None
    leading = next((n for n, each in enumerate(history) if _role(each) is not Role.SYSTEM), len(history))
    system = (*([fields["system"]] if "system" in fields else ()), *history[:leading])
    plain = {key: places.read_any(value.data) for key, value in fields.items() if key not in _LARGE}
    return Ask(
        settings=_settings(plain),
        history=tuple(history[leading:]),
        system=system,
        tools=parts.tool_names(fields.get("tools")),
        tools_digest=parts.digest([fields["tools"]] if "tools" in fields else []),
        system_digest=parts.digest(system),
        hints={"schema": schema} if (schema := parts.schema_fields(plain.get("format"))) else {},
    )


def _role(message: Slice) -> Role:
    return _ROLES.get(parts.text_value(places.members(message), "role") or "", Role.USER)


def _settings(plain: Mapping[str, Any]) -> Settings:
    options = payloads.inner(plain, "options")
    return Settings(
        model=payloads.text(plain, "model"),
        temperature=parts.real(options, "temperature"),
        top_p=parts.real(options, "top_p"),
        max_tokens=payloads.number(options, "num_predict"),
        effort=payloads.text(plain, "think"),
        stream=parts.flag(plain, "stream"),
    )


def turns(message: Slice) -> tuple[Turn, ...]:
    """A message of a history, the system prompt, or a request that is a prompt."""
    if message.data[:1] == b'"':
        text = parts.text_part(message)
        return (Turn(Role.SYSTEM, (text,) if text is not None else (), message.start, message.end),)
    fields = places.members(message)
    name = parts.text_value(fields, "role")
    if name == "tool":
        found: tuple[Part, ...] = (_result(fields),)
    else:
        draft = _Draft()
        draft.add(fields, "prompt" if name is None else "content")
        found = draft.parts()
    return (Turn(_ROLES.get(name or "", Role.USER), found, message.start, message.end),)


def _result(fields: Mapping[str, Slice]) -> ToolResult:
    text, spans = places.read_literal(fields.get("content", Slice(b"", 0)))
    name = parts.text_value(fields, "tool_name") or parts.text_value(fields, "name")
    return details.ended(ToolResult(parts.text_value(fields, "tool_call_id"), text, name=name, spans=spans))


def reply(pieces: Sequence[Slice], *, status: int | None, is_cut: bool) -> Reply:
    """What came back, in one document or many; the last says that it is done."""
    if status is not None and status >= parts.FIRST_ERROR:
        return parts.failed(pieces, status)
    draft = _Draft()
    last = _Line()
    failure: Failure | None = None
    end: Mapping[str, Any] = {}
    for piece in pieces:
        line = places.decode(_LINES, piece.data)
        if line is None:
            if not is_cut:
                draft.more.append(parts.unknown(None, piece))
            continue
        draft.grow(line, piece)
        if line.error:
            failure = parts.failure(piece.data)
        if line.done:
            end = places.read_object(piece.data)
        last = line
    outcome = Outcome.COMPLETE if end else Outcome.CUT
    return Reply(
        parts=draft.parts(),
        outcome=outcome if failure is None else Outcome.ERROR,
        model=last.model,
        stop_reason=last.done_reason,
        usage=_usage(end),
        failure=failure,
    )


class _Draft:
    """An answer of which more may come; its calls always come whole."""

    def __init__(self) -> None:
        self._text = Growing()
        self._thinking = Growing()
        self.more: list[Part] = []

    def grow(self, line: _Line, piece: Slice) -> None:
        """Add what a line of a stream brings."""
        self._text.add_member(piece, b'"response":', line.response)
        self._thinking.add_member(piece, b'"thinking":', line.thinking)
        if line.message is None:
            return
        self._text.add_member(piece, b'"content":', line.message.content)
        self._thinking.add_member(piece, b'"thinking":', line.message.thinking)
        if line.message.tool_calls:
            calls = places.inside(piece, "message", "tool_calls")
            self.more += (_call(call) for call in places.items(calls or piece))

    def add(self, fields: Mapping[str, Slice], key: str) -> None:
        """Add what a message of a history holds."""
        for name, growing in ((key, self._text), ("thinking", self._thinking)):
            if name in fields:
                growing.add_literal(fields[name])
        images = places.items(fields.get("images", Slice(b"", 0)))
        self.more += (parts.base64_media("image", None, image) for image in images)
        self.more += (_call(call) for call in places.items(fields.get("tool_calls", Slice(b"", 0))))

    def parts(self) -> tuple[Part, ...]:
        """What it says: thoughts, words, the rest."""
        found: list[Part] = []
        if self._thinking:
            found.append(Thinking(self._thinking.text, spans=self._thinking.spans))
        if self._text:
            found.append(Text(self._text.text, self._text.spans))
        return (*found, *self.more)


def _call(call: Slice) -> ToolCall:
    fields = places.members(call)
    function = places.members(fields["function"]) if "function" in fields else {}
    name = parts.text_value(function, "name") or ""
    return parts.object_call(name, parts.text_value(fields, "id"), function.get("arguments"))


def _usage(end: Mapping[str, Any]) -> Usage | None:
    if "eval_count" not in end and "prompt_eval_count" not in end:
        return None
    return Usage(input=parts.count(end, "prompt_eval_count"), output=parts.count(end, "eval_count"))


def envelope(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The document that an answer would be of which only these values were kept."""
    return dict(kept)
