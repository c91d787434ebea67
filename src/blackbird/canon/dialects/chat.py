"""OpenAI Chat Completions, as OpenAI and the many servers that speak like it say it: as JSON or as events."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from blackbird.canon import details, places
from blackbird.canon.dialects import parts
from blackbird.canon.dialects.choice import Choice, Draft, read_content
from blackbird.canon.model import (
    Failure,
    Media,
    Outcome,
    Part,
    Reply,
    Role,
    Settings,
    Text,
    ToolResult,
    Turn,
    Usage,
)
from blackbird.canon.places import Growing
from blackbird.canon.seen import Ask, Slice
from blackbird.exchange import payloads

NAME = "chat"
ENDS = ("/chat/completions",)

_ROLES = {"system": Role.SYSTEM, "developer": Role.SYSTEM, "assistant": Role.ASSISTANT}
_RESULTS = ("tool", "function")
_END = b"[DONE]"
_NOTHING = msgspec.Raw(b"")


class _Role(msgspec.Struct):
    role: str = ""


class _Chunk(msgspec.Struct, gc=False):
    id: str | None = None
    model: str | None = None
    choices: list[Choice] | None = None
    usage: msgspec.Raw = _NOTHING
    error: msgspec.Raw = _NOTHING


_ROLE = msgspec.json.Decoder(_Role)
_CHUNKS = msgspec.json.Decoder(_Chunk)


def ask(body: bytes, path: str) -> Ask | None:  # noqa: ARG001 - the same for all dialects
    """What a request says; nothing if it has no messages. Instructions at the beginning are the system prompt."""
    fields = places.members(Slice(body, 0))
    messages = fields.get("messages")
    if messages is None or messages.data[:1] != b"[":
        return None
    plain = {
        key: places.read_any(fields[key].data) for key in fields if key not in ("messages", "tools", "functions")
    }
    history = places.items(messages)
    system = tuple(_leading(history))
    tools = fields.get("tools") or fields.get("functions")
    return Ask(
        settings=_settings(plain),
        history=tuple(history[len(system) :]),
        system=system,
        tools=parts.tool_names(tools),
        tools_digest=parts.digest([tools] if tools is not None else []),
        system_digest=parts.digest(system),
        hints=_hints(plain),
    )


def _leading(history: Sequence[Slice]) -> Iterator[Slice]:
    for message in history:
        found = places.decode(_ROLE, message.data)
        if found is None or _ROLES.get(found.role) is not Role.SYSTEM:
            return
        yield message


def _settings(plain: Mapping[str, Any]) -> Settings:
    limits = (payloads.number(plain, key) for key in ("max_completion_tokens", "max_tokens"))
    effort = payloads.text(plain, "reasoning_effort") or payloads.text(payloads.inner(plain, "reasoning"), "effort")
    return Settings(
        model=payloads.text(plain, "model"),
        temperature=parts.real(plain, "temperature"),
        top_p=parts.real(plain, "top_p"),
        max_tokens=next((limit for limit in limits if limit is not None), None),
        effort=effort,
        stream=parts.flag(plain, "stream"),
    )


def _hints(plain: Mapping[str, Any]) -> dict[str, Any]:
    wanted = payloads.inner(payloads.inner(plain, "response_format"), "json_schema")
    hints = {"schema": parts.schema_fields(wanted.get("schema")), "user": payloads.text(plain, "user")}
    return {key: value for key, value in hints.items() if value}


def turns(message: Slice) -> tuple[Turn, ...]:
    """A message of a history."""
    fields = places.members(message)
    name = parts.text_value(fields, "role") or ""
    if name in _RESULTS:
        found: tuple[Part, ...] = (_result(fields),)
    elif name == "assistant":
        found = Draft.whole(message).parts()
    else:
        found = tuple(read_content(fields["content"])) if "content" in fields else ()
    role = _ROLES.get(name, Role.USER)
    return (Turn(role, found, message.start, message.end, parts.text_value(fields, "id")),)


def _result(fields: Mapping[str, Slice]) -> ToolResult:
    text = Growing()
    content = tuple(read_content(fields["content"])) if "content" in fields else ()
    media: list[Media] = []
    for part in content:
        if isinstance(part, Text):
            text.add_break()
            text.add_all(part.text, part.spans)
        elif isinstance(part, Media):
            media.append(part)
    call_id, name = (parts.text_value(fields, key) for key in ("tool_call_id", "name"))
    return details.ended(ToolResult(call_id, text.text, name=name, media=tuple(media), spans=text.spans))


def reply(pieces: Sequence[Slice], *, status: int | None, is_cut: bool) -> Reply:
    """What came back, whole or in chunks."""
    if status is not None and status >= parts.FIRST_ERROR:
        return parts.failed(pieces, status)
    answer = _Answer()
    for piece in pieces:
        chunk = places.decode(_CHUNKS, piece.data)
        if chunk is not None:
            answer.take(chunk, piece)
        elif piece.data.strip() == _END:
            answer.is_complete = True
        elif not is_cut:
            answer.others.append(parts.unknown(None, piece))
    return answer.reply()


class _Answer:
    """An answer as its chunks come."""

    def __init__(self) -> None:
        self.is_complete = False
        self.others: list[Part] = []
        self._draft = Draft()
        self._id: str | None = None
        self._model: str | None = None
        self._stop_reason: str | None = None
        self._usage: dict[str, Any] = {}
        self._failure: Failure | None = None

    def take(self, chunk: _Chunk, piece: Slice) -> None:
        self._id = self._id or chunk.id or None
        self._model = self._model or chunk.model or None
        if chunk.usage:
            self._usage = places.read_object(chunk.usage) or self._usage
        if bytes(chunk.error) not in (b"", b"null"):
            self._failure = parts.failure(chunk.error)
        for position, choice in enumerate(chunk.choices or ()):
            if choice.index:
                self._set_aside(position, piece)
            else:
                self._choose(choice, position, piece)

    def _choose(self, choice: Choice, position: int, piece: Slice) -> None:
        if choice.delta is not None:
            self._draft.grow(choice.delta, piece, position)
        elif choice.message:
            message = places.inside(piece, "choices", position, "message")
            self._draft = Draft.whole(message) if message is not None else self._draft
        if choice.finish_reason:
            self._stop_reason = choice.finish_reason
            self.is_complete = self._draft.is_done = True

    def _set_aside(self, position: int, piece: Slice) -> None:
        """Another answer to the same question."""
        self.others.append(parts.unknown("choice", places.inside(piece, "choices", position) or piece))

    def reply(self) -> Reply:
        outcome = Outcome.COMPLETE if self.is_complete else Outcome.CUT
        return Reply(
            parts=(*self._draft.parts(), *self.others),
            outcome=outcome if self._failure is None else Outcome.ERROR,
            response_id=self._id,
            model=self._model,
            stop_reason=self._stop_reason,
            usage=_usage(self._usage),
            reported_cost=parts.money(self._usage, "cost"),
            failure=self._failure,
        )


def _usage(fields: Mapping[str, Any]) -> Usage | None:
    if not fields:
        return None
    details = payloads.inner(fields, "prompt_tokens_details")
    read = parts.count(details, "cached_tokens") or parts.count(fields, "prompt_cache_hit_tokens")
    written = parts.count(details, "cache_write_tokens")
    return Usage(
        input=max(parts.count(fields, "prompt_tokens") - read - written, 0),
        cache_read=read,
        cache_write=written,
        output=parts.count(fields, "completion_tokens"),
        reasoning=parts.count(payloads.inner(fields, "completion_tokens_details"), "reasoning_tokens"),
    )


def envelope(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The document that an answer would be of which only these values were kept."""
    choice = {"index": 0, "message": {"role": "assistant"}, "finish_reason": kept.get("finish_reason")}
    return {**kept, "object": "chat.completion", "choices": [choice]}
