"""Anthropic Messages: as JSON or as server-sent events, and the counting of tokens."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from blackbird.canon import places
from blackbird.canon.dialects import blocks, parts
from blackbird.canon.model import Failure, Outcome, Part, Refusal, Reply, Role, Settings, Text, Thinking, Turn, Usage
from blackbird.canon.places import Growing
from blackbird.canon.seen import Ask, Slice
from blackbird.exchange import payloads

NAME = "messages"
ENDS = ("/messages", "/messages/count_tokens")

_ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT}
_NOTHING = msgspec.Raw(b"")


class _Delta(msgspec.Struct, gc=False):
    type: str = ""
    text: msgspec.Raw = _NOTHING
    thinking: msgspec.Raw = _NOTHING
    partial_json: msgspec.Raw = _NOTHING
    signature: str | None = None
    stop_reason: str | None = None


class _Event(msgspec.Struct, gc=False):
    type: str = ""
    index: int = 0
    delta: _Delta | None = None
    message: msgspec.Raw = _NOTHING
    usage: msgspec.Raw = _NOTHING
    error: msgspec.Raw = _NOTHING


_EVENTS = msgspec.json.Decoder(_Event)


def ask(body: bytes, path: str) -> Ask | None:  # noqa: ARG001 - the same for all dialects
    """What a request says; nothing if it has no messages."""
    fields = places.members(Slice(body, 0))
    messages = fields.get("messages")
    if messages is None or messages.data[:1] != b"[":
        return None
    small = {key: value for key, value in fields.items() if key not in ("messages", "system", "tools")}
    plain = {key: places.read_any(value.data) for key, value in small.items()}
    system = _system(fields.get("system"))
    tools = fields.get("tools")
    return Ask(
        settings=_settings(plain),
        history=tuple(places.items(messages)),
        system=system,
        tools=parts.tool_names(tools),
        tools_digest=parts.digest([tools] if tools is not None else []),
        system_digest=parts.digest(system),
        hints=_hints(plain),
    )


def _system(value: Slice | None) -> tuple[Slice, ...]:
    if value is None:
        return ()
    return tuple(places.items(value)) if value.data[:1] == b"[" else (value,)


def _settings(plain: Mapping[str, Any]) -> Settings:
    return Settings(
        model=payloads.text(plain, "model"),
        temperature=parts.real(plain, "temperature"),
        top_p=parts.real(plain, "top_p"),
        max_tokens=payloads.number(plain, "max_tokens"),
        effort=payloads.text(payloads.inner(plain, "output_config"), "effort"),
        stream=parts.flag(plain, "stream"),
    )


def _hints(plain: Mapping[str, Any]) -> dict[str, Any]:
    wanted = payloads.inner(payloads.inner(plain, "output_config"), "format") or payloads.inner(
        plain, "output_format"
    )
    hints = {
        "schema": parts.schema_fields(wanted.get("schema")),
        "thinking": payloads.text(payloads.inner(plain, "thinking"), "type"),
        "user": payloads.text(payloads.inner(plain, "metadata"), "user_id"),
    }
    return {key: value for key, value in hints.items() if value}


def turns(message: Slice) -> tuple[Turn, ...]:
    """A message of a history, or a block of the system prompt."""
    if message.data[:1] == b'"':
        return _turn(Role.SYSTEM, blocks.read_content(message), message)
    fields = places.members(message)
    if "role" not in fields:
        return _turn(Role.SYSTEM, tuple(blocks.read(message)), message)
    role = _ROLES.get(parts.text_value(fields, "role") or "", Role.USER)
    content = fields.get("content")
    return _turn(role, blocks.read_content(content) if content is not None else (), message)


def _turn(role: Role, found: tuple[Part, ...], message: Slice) -> tuple[Turn, ...]:
    return (Turn(role, found, message.start, message.end),)


def reply(pieces: Sequence[Slice], *, status: int | None, is_cut: bool) -> Reply:
    """What came back, whole or in events."""
    if status is not None and status >= parts.FIRST_ERROR:
        return parts.failed(pieces, status)
    stream = _Stream()
    for piece in pieces:
        event = places.decode(_EVENTS, piece.data)
        if event is not None and event.type == "content_block_delta":
            stream.grow(event, piece)
        elif event is not None and event.type:
            stream.take(event, piece)
        elif len(pieces) > 1:
            stream.set_aside(piece)
        elif not is_cut:
            return _other(pieces, piece)
    return stream.reply()


def _other(pieces: Sequence[Slice], piece: Slice) -> Reply:
    """A document that is no message: the answer to a count, or something else."""
    fields = places.read_object(piece.data)
    if "error" in fields:
        return parts.failed(pieces, None)
    return Reply() if "input_tokens" in fields else Reply(parts=(parts.unknown(None, piece),))


class _Block:
    """A part of an answer that grows."""

    def __init__(self, kind: str, fields: Mapping[str, Slice]) -> None:
        self.kind = kind
        self.fields = fields
        self.growing = Growing()
        self.signature = parts.text_value(fields, "signature") or ""
        self.is_done = False
        if kind in ("text", "thinking") and kind in fields:
            self.growing.add_literal(fields[kind])

    def part(self) -> Part | None:
        if self.kind == "thinking":
            thought = Thinking(self.growing.text, self.signature or None, spans=self.growing.spans)
            return thought if thought.text or thought.signature else None
        if self.kind == "text":
            return Text(self.growing.text, self.growing.spans) if self.growing else None
        name, call_id = parts.text_value(self.fields, "name") or "", parts.text_value(self.fields, "id")
        given = self.fields.get("input")
        is_hosted = self.kind != "tool_use"
        if not self.growing and given is not None and places.read_object(given.data):
            return parts.object_call(name, call_id, given, is_hosted=is_hosted)
        call = parts.string_call(name, call_id, self.growing, is_done=self.is_done)
        return msgspec.structs.replace(call, is_hosted=is_hosted)


class _Stream:
    """An answer as its events come."""

    def __init__(self) -> None:
        self._blocks: dict[int, _Block | list[Part]] = {}
        self._last: list[Part] = []
        self._head: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._stop_reason: str | None = None
        self._failure: Failure | None = None
        self._is_complete = False

    def grow(self, event: _Event, piece: Slice) -> None:
        """More of a block; one whose start is missing begins with it."""
        delta = event.delta
        if delta is None:
            return
        block = self._blocks.get(event.index)
        if delta.type == "text_delta":
            kind, key, literal = "text", b'"text":', delta.text
        elif delta.type == "input_json_delta":
            kind, key, literal = "tool_use", b'"partial_json":', delta.partial_json
        elif delta.type in ("thinking_delta", "signature_delta"):
            kind, key, literal = "thinking", b'"thinking":', delta.thinking
        else:
            return
        if block is None:
            block = self._blocks[event.index] = _Block(kind, {})
        if not isinstance(block, _Block):
            return
        if delta.signature:
            block.signature += delta.signature
        block.growing.add_member(piece, key, literal)

    def take(self, event: _Event, piece: Slice) -> None:
        """Any other event, or the whole message at once."""
        if event.type == "content_block_start":
            self._start(event.index, places.members(piece).get("content_block"))
        elif event.type == "content_block_stop":
            block = self._blocks.get(event.index)
            if isinstance(block, _Block):
                block.is_done = True
        elif event.type == "message_start":
            self._open(places.read_object(event.message))
        elif event.type == "message_delta":
            self._close(event, piece)
        elif event.type == "message_stop":
            self._is_complete = True
        elif event.type == "error":
            self._failure = parts.failure(event.error or piece.data)
        elif event.type == "message":
            self._whole(piece)

    def set_aside(self, piece: Slice) -> None:
        """Something that is no event."""
        self._last.append(parts.unknown(None, piece))

    def _start(self, index: int, value: Slice | None) -> None:
        if value is None:
            return
        fields = places.members(value)
        kind = parts.text_value(fields, "type") or ""
        grows = kind in ("text", "thinking") or kind in blocks.CALLS
        self._blocks[index] = _Block(kind, fields) if grows else list(blocks.read(value))

    def _open(self, message: dict[str, Any]) -> None:
        self._head = {key: value for key, value in message.items() if key != "content"}
        self._stop_reason = payloads.text(message, "stop_reason")
        self._usage.update(payloads.inner(message, "usage"))

    def _close(self, event: _Event, piece: Slice) -> None:
        if event.delta is not None and event.delta.stop_reason:
            self._stop_reason = event.delta.stop_reason
            delta = places.members(piece).get("delta")
            self._explain(places.members(delta) if delta is not None else {})
        more = places.read_object(event.usage) if event.usage else {}
        self._usage.update({key: value for key, value in more.items() if value is not None})

    def _explain(self, fields: Mapping[str, Slice]) -> None:
        """What a refusal says of its reason."""
        details = fields.get("stop_details")
        literal = places.members(details).get("explanation") if details is not None else None
        text, spans = places.read_literal(literal) if literal is not None else ("", ())
        if text:
            self._last.append(Refusal(text, spans))

    def _whole(self, piece: Slice) -> None:
        fields = places.members(piece)
        content = fields.pop("content", None)
        self._open({key: places.read_any(value.data) for key, value in fields.items()})
        self._explain(fields)
        self._blocks[0] = list(blocks.read_content(content)) if content is not None else []
        self._is_complete = True

    def reply(self) -> Reply:
        found: list[Part] = []
        for block in self._blocks.values():
            if isinstance(block, _Block):
                part = block.part()
                found += [part] if part is not None else []
            else:
                found += block
        outcome = Outcome.COMPLETE if self._is_complete else Outcome.CUT
        return Reply(
            parts=(*found, *self._last),
            outcome=outcome if self._failure is None else Outcome.ERROR,
            response_id=payloads.text(self._head, "id"),
            model=payloads.text(self._head, "model"),
            stop_reason=self._stop_reason,
            usage=_usage(self._usage),
            failure=self._failure,
        )


def _usage(fields: Mapping[str, Any]) -> Usage | None:
    if not fields:
        return None
    written = payloads.inner(fields, "cache_creation")
    by_age = parts.count(written, "ephemeral_5m_input_tokens") + parts.count(written, "ephemeral_1h_input_tokens")
    return Usage(
        input=parts.count(fields, "input_tokens"),
        cache_read=parts.count(fields, "cache_read_input_tokens"),
        cache_write=max(parts.count(fields, "cache_creation_input_tokens"), by_age),
        cache_write_1h=parts.count(written, "ephemeral_1h_input_tokens"),
        output=parts.count(fields, "output_tokens"),
    )


def envelope(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The document that an answer would be of which only these values were kept."""
    return {**kept, "type": "message", "role": "assistant", "content": []}
