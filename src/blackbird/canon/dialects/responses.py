"""OpenAI's Responses: as JSON, as server-sent events, or as the messages of a WebSocket."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from blackbird.canon import places
from blackbird.canon.dialects import items, parts
from blackbird.canon.model import (
    Failure,
    Outcome,
    Part,
    Refusal,
    Reply,
    Role,
    Settings,
    Text,
    Thinking,
    ToolCall,
    Turn,
    Usage,
)
from blackbird.canon.places import Growing
from blackbird.canon.seen import Ask, Slice
from blackbird.exchange import payloads

NAME = "responses"
ENDS = ("/responses", "/responses/compact", "/responses/input_tokens")

Fields = Mapping[str, Slice]

#: What no other request with an `input` has.
_MARKS = frozenset({"instructions", "previous_response_id", "reasoning", "store", "tools", "conversation", "text"})
_INSTRUCTIONS = re.compile(rb'"instructions"\s*:\s*')
_LARGE = frozenset({"input", "instructions", "tools"})
_NOTHING = msgspec.Raw(b"")
_DELTA = b'"delta":'
_ADDED_TOOLS = b'"additional_tools"'
#: In how many bytes the type of an item stands that is looked for before it is read.
_HEAD = 200

#: The group of a stretch of text (see `items.Key`) by the event that adds to it.
_GROUPS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "summary",
    "response.reasoning_text.delta": "reasoning",
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "arguments",
    "response.mcp_call_arguments.delta": "arguments",
    "response.code_interpreter_call_code.delta": "arguments",
}
_ITEM_EVENTS = frozenset({"response.output_item.added", "response.output_item.done"})
_BEGUN = frozenset({"response.created", "response.in_progress", "response.queued"})
_ENDED = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
_OUTCOMES = {
    "failed": Outcome.ERROR,
    "cancelled": Outcome.CUT,
    "queued": Outcome.ACTIVE,
    "in_progress": Outcome.ACTIVE,
}
#: What of a response is told beside its items.
_FACTS = ("id", "model", "status", "usage", "incomplete_details")


class _Tool(msgspec.Struct):
    type: str | None = None
    name: str | None = None
    server_label: str | None = None
    tools: "list[_Tool] | None" = None


class _Event(msgspec.Struct):
    type: str = ""
    delta: msgspec.Raw = _NOTHING
    output_index: int | None = None
    item_id: str | None = None
    content_index: int | None = None
    summary_index: int | None = None


_TOOLS = msgspec.json.Decoder(list[_Tool])
_EVENTS = msgspec.json.Decoder(_Event)


def ask(body: bytes, path: str) -> Ask | None:
    """What a request says; nothing if it is not one for a response."""
    fields = places.members(Slice(body, 0))
    given = fields.get("input")
    if not _is_ours(fields, given, path):
        return None
    plain = {key: places.read_any(value.data) for key, value in fields.items() if key not in _LARGE}
    system = _system(body, fields.get("instructions"))
    history = () if given is None else (given,) if given.data[:1] == b'"' else tuple(places.items(given))
    tools = _tools(fields, history)
    return Ask(
        settings=_settings(plain),
        history=history,
        system=system,
        tools=tuple(name for each in tools for name in _tool_names(places.decode(_TOOLS, each.data) or [])),
        tools_digest=parts.digest(tools),
        system_digest=parts.digest(system),
        previous=payloads.text(plain, "previous_response_id"),
        is_idle=plain.get("generate") is False,
        hints=_hints(plain),
    )


def _is_ours(fields: Fields, given: Slice | None, path: str) -> bool:
    """By its path it needs little more; without one it must not be a request for embeddings or speech."""
    if "messages" in fields or "contents" in fields:
        return False
    has_marks = not _MARKS.isdisjoint(fields)
    if path.partition("?")[0].endswith(ENDS) or parts.text_value(fields, "type") == "response.create":
        return given is not None or has_marks
    return given is not None and has_marks


def _system(body: bytes, instructions: Slice | None) -> tuple[Slice, ...]:
    """The instructions with their key before them, which tells them from a user's words; a list of items as it is."""
    if instructions is None or instructions.data[:1] not in (b'"', b"["):
        return ()
    if instructions.data[:1] == b"[":
        return tuple(places.items(instructions))
    start = body.rfind(b'"instructions"', 0, instructions.start)
    return (Slice(body[start : instructions.end], start),)


def _settings(plain: Mapping[str, Any]) -> Settings:
    return Settings(
        model=payloads.text(plain, "model"),
        temperature=parts.real(plain, "temperature"),
        top_p=parts.real(plain, "top_p"),
        max_tokens=payloads.number(plain, "max_output_tokens"),
        effort=payloads.text(payloads.inner(plain, "reasoning"), "effort"),
        stream=parts.flag(plain, "stream"),
    )


def _hints(plain: Mapping[str, Any]) -> dict[str, Any]:
    wanted = payloads.inner(payloads.inner(plain, "text"), "format")
    hints = {"schema": parts.schema_fields(wanted.get("schema")), "user": payloads.text(plain, "user")}
    return {key: value for key, value in hints.items() if value}


def _tools(fields: Fields, history: tuple[Slice, ...]) -> list[Slice]:
    """The lists of tools that are offered: some clients do so in an item of the input."""
    added = [item for item in history if _ADDED_TOOLS in item.data[:_HEAD]]
    found = (each.get("tools") for each in (fields, *map(places.members, added)))
    return [tools for tools in found if tools is not None and tools.data[:1] == b"["]


def _tool_names(tools: list[_Tool]) -> Iterator[str]:
    for tool in tools:
        if tool.tools is not None and tool.name:
            yield from (items.in_space(tool.name, name) for name in _tool_names(tool.tools))
        else:
            yield tool.name or tool.server_label or tool.type or "unknown"


def turns(message: Slice) -> tuple[Turn, ...]:
    """An item of the input, all of it if it is a text, or the instructions."""
    key = _INSTRUCTIONS.match(message.data)
    if key is not None or message.data[:1] == b'"':
        start = key.end() if key is not None else 0
        text = parts.text_part(Slice(message.data[start:], message.start + start))
        role = Role.USER if key is None else Role.SYSTEM
        return (Turn(role, (text,) if text is not None else (), message.start, message.end),)
    fields = places.members(message)
    found = tuple(part for _, part in items.read(message))
    return (Turn(items.role_of(fields), found, message.start, message.end, parts.text_value(fields, "id")),)


def reply(pieces: Sequence[Slice], *, status: int | None, is_cut: bool) -> Reply:  # noqa: ARG001 - its end tells
    """What came back, whole or in events."""
    if status is not None and status >= parts.FIRST_ERROR:
        return parts.failed(pieces, status)
    answer = _Answer()
    for piece in pieces:
        event = places.decode(_EVENTS, piece.data)
        if event is None:
            continue
        group = _GROUPS.get(event.type)
        if group is not None:
            answer.grow(event, group, piece)
        elif event.type:
            answer.take(event, piece)
        else:
            answer.take_whole(piece)
    return answer.reply()


class _Draft:
    """An item of an answer as far as it came."""

    __slots__ = ("added", "done", "texts")

    def __init__(self) -> None:
        self.added: Slice | None = None
        self.done: Slice | None = None
        self.texts: dict[items.Key, Growing] = {}

    def parts(self) -> list[Part]:
        """Its parts, told by the whole item and found where its deltas stand."""
        base = self.added if self.done is None else self.done
        found = list(items.read(base)) if base is not None else []
        left = dict(self.texts)
        told = [(key, _grown(part, left.pop(key, None), is_begun=self.done is None)) for key, part in found]
        told += [(key, _begun(key[0], growing)) for key, growing in left.items() if growing]
        if len(told) > len(found):
            told = [each for each in told if each[0] != items.ENCRYPTED]
            told.sort(key=lambda each: (each[0][0] == "reasoning", each[0][1]))
        return [part for _, part in told]


def _grown(part: Part, growing: Growing | None, *, is_begun: bool) -> Part:
    """A part with the places of its deltas, unless they tell something else than the part when it was done."""
    if growing is None or not isinstance(part, Text | Refusal | Thinking | ToolCall):
        return part
    is_call = isinstance(part, ToolCall)
    text, told = growing.text, part.raw if isinstance(part, ToolCall) else part.text
    if not is_begun and told not in ("", text):
        return part
    if is_call:
        arguments = items.read_arguments(text)
        return msgspec.structs.replace(part, raw=text, arguments=arguments, spans=growing.spans)
    return msgspec.structs.replace(part, text=text, spans=growing.spans)


def _begun(group: str, growing: Growing) -> Part:
    """A part of which only deltas are known."""
    text, spans = growing.text, growing.spans
    if group == "text":
        return Text(text, spans)
    if group == "refusal":
        return Refusal(text, spans)
    if group == "arguments":
        return ToolCall("", None, items.read_arguments(text), text, spans=spans)
    return Thinking(text, spans=spans)


class _Answer:
    """An answer as its events come."""

    def __init__(self) -> None:
        self._drafts: dict[int, _Draft] = {}
        self._ids: dict[str, int] = {}
        self._facts: dict[str, Any] = {}
        self._others: list[Part] = []
        self._outcome = Outcome.CUT
        self._failure: Failure | None = None

    def grow(self, event: _Event, group: str, piece: Slice) -> None:
        """More of a text."""
        literal = places.find_member(piece, _DELTA, event.delta)
        text = places.unquote(event.delta)
        if literal is None or text is None:
            return
        draft = self._draft(event.output_index, event.item_id)
        index = event.summary_index if group == "summary" else event.content_index
        key = (group, index or 0)
        growing = draft.texts.get(key)
        if growing is None:
            growing = draft.texts[key] = Growing()
        growing.add(text, literal.start + 1, literal.end - 1)

    def take(self, event: _Event, piece: Slice) -> None:
        """Any other event."""
        if event.type in _ITEM_EVENTS:
            item = places.members(piece).get("item")
            if item is not None:
                self._place(event, item)
        elif event.type in _BEGUN or event.type in _ENDED:
            response = places.members(piece).get("response")
            self._tell(response, is_ended=event.type in _ENDED)
            if event.type == "response.failed" and self._failure is None:
                self._failure = Failure("failed", "")
        elif event.type == "error":
            self._failure = parts.failure(piece.data)

    def take_whole(self, piece: Slice) -> None:
        """A document that is no event: a response, the answer to a count, or an error."""
        fields = places.members(piece)
        if "output" in fields:
            self._tell(piece, is_ended=True)
        elif "error" in fields:
            self._failure = parts.failure(piece.data)
        elif not self._facts:
            self._outcome = Outcome.COMPLETE
            self._others += [] if "input_tokens" in fields else [parts.unknown(None, piece)]

    def _draft(self, index: int | None, item_id: str | None) -> _Draft:
        """The item that an event is about: by its place, else by its id, else the last one."""
        if index is None:
            index = self._ids.get(item_id or "", max(self._drafts, default=0))
        draft = self._drafts.get(index)
        if draft is None:
            draft = self._drafts[index] = _Draft()
            if item_id is not None:
                self._ids[item_id] = index
        return draft

    def _place(self, event: _Event, item: Slice) -> None:
        item_id = parts.text_value(places.members(item), "id")
        index = event.output_index
        if index is None:
            index = self._ids.get(item_id or "", len(self._drafts))
        draft = self._draft(index, item_id)
        if event.type == "response.output_item.added":
            draft.added = item
        else:
            draft.done = item

    def _tell(self, response: Slice | None, *, is_ended: bool) -> None:
        """What a response says of itself; at its end, the items that no event has brought, too."""
        fields = places.members(response) if response is not None else {}
        facts = {key: places.read_any(fields[key].data) for key in _FACTS if key in fields}
        self._facts.update({key: value for key, value in facts.items() if value is not None})
        if not is_ended:
            return
        for index, item in enumerate(places.items(fields.get("output", Slice(b"", 0)))):
            item_id = parts.text_value(places.members(item), "id")
            draft = self._draft(self._ids.get(item_id or "", index), item_id)
            draft.done = item if draft.done is None else draft.done
        self._outcome = _OUTCOMES.get(payloads.text(self._facts, "status") or "", Outcome.COMPLETE)
        error = fields.get("error")
        if error is not None and error.data != b"null":
            self._failure = parts.failure(error.data)

    def reply(self) -> Reply:
        facts = self._facts
        found = [part for index in sorted(self._drafts) for part in self._drafts[index].parts()]
        reason = payloads.text(payloads.inner(facts, "incomplete_details"), "reason")
        usage = payloads.inner(facts, "usage")
        return Reply(
            parts=(*found, *self._others),
            outcome=self._outcome if self._failure is None else Outcome.ERROR,
            response_id=payloads.text(facts, "id"),
            model=payloads.text(facts, "model"),
            stop_reason=reason or (payloads.text(facts, "status") if self._outcome is Outcome.COMPLETE else None),
            usage=_usage(usage),
            reported_cost=parts.money(usage, "cost"),
            failure=self._failure,
        )


def _usage(fields: Mapping[str, Any]) -> Usage | None:
    if not fields:
        return None
    read = parts.count(payloads.inner(fields, "input_tokens_details"), "cached_tokens")
    return Usage(
        input=max(parts.count(fields, "input_tokens") - read, 0),
        cache_read=read,
        output=parts.count(fields, "output_tokens"),
        reasoning=parts.count(payloads.inner(fields, "output_tokens_details"), "reasoning_tokens"),
    )


def envelope(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The document that an answer would be of which only these values were kept."""
    return {**kept, "object": "response", "output": []}
