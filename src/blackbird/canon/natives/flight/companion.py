"""The JSON lines beside a flight log: a client's messages with their times, ours and those of other recorders.

Nested lines hold messages of the provider's shape; flat ones a call or its result each. A flat call has no id until
its result names one, so it waits for the next line. In `bbox` our own lines say what a message has no place for. The
short-key form of a flight log, one event a line, is read, too.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from blackbird.canon import details, places
from blackbird.canon.dialects import blocks, parts
from blackbird.canon.model import Evidence, Part, Reply, Role, Settings, Span, ToolCall, ToolResult, Turn
from blackbird.canon.natives.flight.bbox import Owner, facts_of, is_priced
from blackbird.canon.natives.flight.telling import Teller, Told
from blackbird.canon.natives.flight.tokens import parts_of
from blackbird.canon.natives.jsonl import (
    NOTHING,
    encode,
    is_blank,
    is_given,
    object_of,
    placed,
    read_message,
    reply_of,
    text_of,
    turn_of,
)
from blackbird.canon.natives.times import instant
from blackbird.canon.seen import Entry, Slice
from blackbox.formats import shortkeys
from blackbox.syntax.results import NOT_RECORDED, parse_result

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
_MAIN = "1"
#: The kind of a line that begins or ends a sub-agent.
_SUB_AGENT = "x"
_MILLISECONDS = 1_000_000
#: What an init line says of its client, by the field of a header that it is.
_INIT = {"session_id": "id", "model": "model", "cwd": "cwd", "claude_code_version": "client_version"}


class _Line(msgspec.Struct):
    type: str | None = None
    subtype: str | None = None
    timestamp: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = msgspec.field(default=None, name="parentUuid")
    session: str | None = msgspec.field(default=None, name="sessionId")
    #: The call whose sub-agent speaks.
    parent_call: str | None = msgspec.field(default=None, name="parent_tool_use_id")
    message: msgspec.Raw = NOTHING
    bbox: dict[str, Any] | None = None


_LINES = msgspec.json.Decoder(_Line)

#: Makes the entries of one line: where it stands, who says it and when is filled in.
_Make = Callable[..., Entry]


class Reader:
    """Reads one file."""

    def __init__(self, source: str, file: str) -> None:
        self._owner = Owner(file)
        self._source = source
        self._teller = Teller()
        self._count = 0
        #: A call that its result will name.
        self._nameless: Entry | None = None
        #: What a call's own line says of the result on the next one.
        self._carried: details.Details = {}

    def line(self, text: str, evidence: Evidence) -> list[Entry]:
        """What one line says, and the call that waited for it."""
        if is_blank(text):
            return []
        self._count += 1
        data = encode(text)
        line = places.decode(_LINES, data)
        if line is None:
            value = places.read_object(data)
            note = self._owner.make(evidence, mark="note", text="" if value else text, data=value)
            return [*self._waiting(None), note]
        if line.session and self._owner.thread is None:
            self._owner.session = line.session
        patch = line.bbox or {}
        thread = patch.get("tid") if isinstance(patch.get("tid"), str) and patch.get("tid") != _MAIN else None
        make = partial(
            self._owner.make,
            evidence,
            thread=thread or (f"call-{line.parent_call}" if line.parent_call else None),
            call_id=line.parent_call,
            at=instant(line.timestamp),
            key=line.uuid,
            follows=line.parent_uuid,
        )
        entries = self._read(line, data, make)
        answer = next((part for entry in entries for part in _results(entry)), None)
        return [*self._waiting(answer if line.type == "tool_result" else None), *self._hold(line, entries)]

    def end(self) -> list[Entry]:
        """A call whose result never came, and the usage of the last message."""
        return [*self._waiting(None), *self._teller.end()]

    def _waiting(self, answer: ToolResult | None) -> list[Entry]:
        entry, self._nameless = self._nameless, None
        if entry is None:
            return []
        if answer is None or answer.call_id is None or entry.turn is None:
            return [entry]
        named = tuple(
            msgspec.structs.replace(part, call_id=answer.call_id) if isinstance(part, ToolCall) else part
            for part in entry.turn.parts
        )
        return [msgspec.structs.replace(entry, turn=msgspec.structs.replace(entry.turn, parts=named))]

    def _hold(self, line: _Line, entries: list[Entry]) -> list[Entry]:
        """Nothing, if it is a call that is to wait."""
        if line.type != "tool_use" or len(entries) != 1 or entries[0].turn is None:
            return entries
        call = entries[0].turn.parts[0]
        if not isinstance(call, ToolCall) or call.call_id is not None:
            return entries
        self._nameless = entries[0]
        return []

    def _read(self, line: _Line, data: bytes, make: _Make) -> list[Entry]:
        role = _ROLES.get(line.type or "")
        if role is not None and is_given(line.message):
            entries = self._message(line, data, role, make)
            if entries is not None:
                self._teller.hear(entries)
                # What an event before it used belongs to what was said until then.
                return [*self._teller.end(), *entries]
        if line.type == "system":
            return self._system(line, data, make)
        if line.type in ("tool_use", "tool_result"):
            return [_flat(line, Slice(data, 0), make)]
        raw = places.read_object(data)
        if line.type is None and raw.get("t") == shortkeys.HEADER:
            return [self._init({"header": raw if shortkeys.SPELLED in raw else raw.get("v")}, make)]
        if line.type is None and "t" in raw:
            return self._event(raw, Slice(data, 0), make) or [make(mark="note", data=raw)]
        if line.type == "header":
            return [self._sub_agent(raw, make)]
        return [make(mark="note", text=line.type or "", data=raw)]

    def _message(self, line: _Line, data: bytes, role: Role, make: _Make) -> list[Entry] | None:
        """What a message says; None if it is none."""
        message = placed(data, b'"message":', line.message)
        if message.data.startswith(b'"'):
            text = parts.text_part(message)
            return [make(turn=Turn(role, (text,), message.start, message.end))] if text is not None else None
        said, patch = read_message(line.message), line.bbox or {}
        turn = turn_of(said, message, role)
        reply = _in_parts(reply_of(said), patch) if role is Role.ASSISTANT else None
        if turn is None and reply is None:
            return None
        if turn is None or role is Role.ASSISTANT:
            self._carried = _details(patch) if patch.get("joined") is True else {}
            return [make(turn=turn, reply=reply, settings=Settings(model=said.model))]
        return self._answers(turn, patch, make)

    def _answers(self, turn: Turn, patch: dict[str, Any], make: _Make) -> list[Entry]:
        """What a user or a tool says; a report of a sub-agent names its own log, too."""
        carried, self._carried = self._carried, {}
        told = [_reported(part, patch) for part in turn.parts if not _is_missing(part, patch)]
        found = {**carried, **_details(patch)}
        linked = [make(thread=own, call_id=call_id, key=None, follows=None) for _, call_id, own in told if own]
        if not told:
            return linked
        entry = make(turn=msgspec.structs.replace(turn, parts=tuple(_detailed(part, found) for part, _, _ in told)))
        if entry.at is not None and "duration_ms" in carried:
            # Of a call and a result that were one line, both have the time of that.
            entry = msgspec.structs.replace(entry, at=entry.at + carried["duration_ms"] * _MILLISECONDS)
        return [entry, *linked]

    def _system(self, line: _Line, data: bytes, make: _Make) -> list[Entry]:
        message = places.read_object(line.message) if is_given(line.message) else places.read_object(data)
        subtype = text_of(message, "subtype")
        if subtype == "init":
            return [self._init(message, make)]
        if subtype != "event":
            return [make(mark="note", text=subtype or "system", data=message)]
        event = {key: value for key, value in message.items() if key != "subtype"}
        event |= {"ts": line.timestamp} if line.timestamp else {}
        told = self._event(event, placed(data, b'"message":', line.message), make)
        return told or [make(mark="note", text=subtype, data=message)]

    def _event(self, event: dict[str, Any], value: Slice, make: _Make) -> list[Entry]:
        """An event under short keys; nothing if it is none."""
        entry = shortkeys.decode(event)
        if entry is None:
            return []
        fields = places.members(value)
        behind = fields["r"].start if "r" in fields else value.end
        name = f"{self._source}:{self._count}"
        told = Told(entry.event, entry.meta, partial(_made, make), partial(_spans, fields), name, behind)
        return self._teller.tell(told)

    def _init(self, message: dict[str, Any], make: _Make) -> Entry:
        header = shortkeys.read_header(object_of(message, "header"))
        fields: dict[str, Any] = {
            field: message[key] for key, field in _INIT.items() if text_of(message, key)
        } | header
        self._owner.read(fields)
        self._teller.model = text_of(fields, "model") or None
        self._teller.is_priced = is_priced(fields)
        rest = {key: value for key, value in message.items() if key not in ("subtype", "header", *_INIT)}
        entry = make(about=facts_of(fields), data=rest | header)
        return msgspec.structs.replace(entry, session=self._owner.session, thread=self._owner.thread)

    def _sub_agent(self, raw: dict[str, Any], make: _Make) -> Entry:
        header = shortkeys.read_header(object_of(raw, "header"))
        named = {"id": raw.get("session_id"), "parent_session": raw.get("parent_session")}
        self._owner.read({**header, **named, "agent_type": raw.get("agent_type")})
        self._teller.model = text_of(header, "model") or None
        self._teller.is_priced = is_priced(header)
        entry = make(about=facts_of(header), data=raw, at=instant(raw.get("started_at")))
        owner = self._owner
        return msgspec.structs.replace(entry, session=owner.session, thread=owner.thread, kind=owner.kind)


def _in_parts(reply: Reply | None, patch: dict[str, Any]) -> Reply | None:
    """The metadata of a response, with what the message of a provider has no place for."""
    if reply is None or reply.usage is None:
        return reply
    told = parts_of({key.removeprefix("extra."): str(value) for key, value in patch.items()})
    known = {name: count for name, count in told.items() if count}
    return msgspec.structs.replace(reply, usage=msgspec.structs.replace(reply.usage, **known))


def _detailed(part: Part, found: details.Details) -> Part:
    return details.add(part, found) if found and isinstance(part, ToolResult) else part


def _is_missing(part: Part, patch: dict[str, Any]) -> bool:
    """Whether it only says that nothing came back."""
    return patch.get("as") == "skip" and isinstance(part, ToolResult) and part.text == NOT_RECORDED


def _reported(part: Part, patch: dict[str, Any]) -> tuple[Part, str | None, str | None]:
    """A part; of what a sub-agent reported, the words alone, with the call that began it and the id of its log."""
    if patch.get("t") != _SUB_AGENT or not isinstance(part, ToolResult):
        return part, None, None
    fields = parse_result(part.text, escaped=patch.get("as") == "raw").fields
    own, summary = fields.get("session_id"), fields.get("summary")
    if not isinstance(own, str):
        return part, None, None
    if isinstance(summary, str):
        part = msgspec.structs.replace(part, text=summary, spans=())
    return part, part.call_id, own


def _results(entry: Entry) -> list[ToolResult]:
    return [part for part in entry.turn.parts if isinstance(part, ToolResult)] if entry.turn is not None else []


def _made(make: _Make, **fields: Any) -> Entry:
    """An entry of an event: what the line says of it counts where the event says nothing."""
    return make(**{key: value for key, value in fields.items() if value is not None})


def _flat(line: _Line, value: Slice, make: _Make) -> Entry:
    """A call or a result that is a line of its own."""
    if line.type == "tool_result":
        found: tuple[Part, ...] = tuple(blocks.read(value))
        role = Role.USER
    else:
        fields = places.members(value)
        name = parts.text_value(fields, "name") or parts.text_value(fields, "tool") or ""
        call_id = parts.text_value(fields, "id") or parts.text_value(fields, "tool_use_id")
        found, role = (parts.object_call(name, call_id, fields.get("input")),), Role.ASSISTANT
    return make(turn=Turn(role, found, value.start, value.end))


def _details(patch: dict[str, Any]) -> details.Details:
    found: details.Details = {}
    if isinstance(patch.get("latency_ms"), int):
        found["duration_ms"] = patch["latency_ms"]
    if patch.get("interrupted") is True:
        found["is_interrupted"] = True
    return found


def _spans(fields: Mapping[str, Slice], text: str) -> tuple[Span, ...]:
    """Where the words of an event stand, if one of its fields is just that text."""
    if not text:
        return ()
    for literal in fields.values():
        found, spans = places.read_literal(literal)
        if found == text:
            return spans
    return ()
