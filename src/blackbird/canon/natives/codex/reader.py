"""The log of Codex: the items of its requests and responses, one a line, with events and settings between them.

Many events say again what an item says; they give an entry without anything. Events that tell how a command, a patch
or a tool ended are kept until the item with its result comes, and become its details. The tokens of a response follow
its items, so they come as an entry with a reply and no turn: it belongs to the assistant's turns since the last one.
Logs of the first versions have bare items, and a first line without a type.
"""

import re
from collections.abc import Callable
from functools import partial
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec

from blackbird.canon import places
from blackbird.canon.dialects import responses
from blackbird.canon.model import Evidence, Origin, Reply, Role, Settings, Text, ToolResult, Turn, Unknown, Usage
from blackbird.canon.natives.codex.ends import Ended, read_end, with_end
from blackbird.canon.natives.codex.facts import Rewinds, instructions, origin_of, spawned
from blackbird.canon.natives.jsonl import NOTHING, encode, is_blank, is_given, object_of, placed, text_of
from blackbird.canon.natives.times import instant
from blackbird.canon.seen import Entry, Slice

_CLIENT = "Codex"
_THREAD = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
#: Items that stand for a part of the conversation which is no longer sent.
_COMPACTIONS = frozenset({"compaction", "compaction_summary", "context_compaction"})
#: Events that say again what an item, a setting or a record of tokens says.
_REPEATED = frozenset(
    {
        "user_message",
        "agent_message",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "web_search_end",
        "thread_settings_applied",
    }
)
_REPEATED_ITEMS = frozenset({"UserMessage", "AgentMessage", "Reasoning", "WebSearch"})
_ENDS = frozenset({"exec_command_end", "patch_apply_end", "mcp_tool_call_end"})
_ENDED_ITEMS = frozenset({"CommandExecution", "FileChange", "McpToolCall"})


class _Line(msgspec.Struct):
    timestamp: str | None = None
    type: str | None = None
    payload: msgspec.Raw = NOTHING
    id: str | None = None


class _Kind(msgspec.Struct):
    type: str | None = None
    id: str | None = None


class _Tokens(msgspec.Struct):
    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_output_tokens: int = 0


class _Record(msgspec.Struct):
    """What one response took."""

    response_id: str | None = None
    usage: _Tokens | None = None


class _Count(msgspec.Struct):
    total_token_usage: _Tokens | None = None
    last_token_usage: _Tokens | None = None


class _Counted(msgspec.Struct):
    info: _Count | None = None


_LINES = msgspec.json.Decoder(_Line)
_KINDS = msgspec.json.Decoder(_Kind)
_RECORDS = msgspec.json.Decoder(_Record)
_COUNTED = msgspec.json.Decoder(_Counted)

_Make = Callable[..., Entry]


class _Told(NamedTuple):
    """What a line holds, where that stands, its type, and what makes its entries."""

    payload: Slice
    kind: _Kind
    make: _Make

    @property
    def raw(self) -> dict[str, Any]:
        """All that the line holds."""
        return places.read_object(self.payload.data)


_Handler = Callable[[_Told], list[Entry]]


class Reader:
    """Reads one file: one thread of a session."""

    def __init__(self, source: str, file: str) -> None:
        self._source = source
        found = _THREAD.search(PurePath(file).name)
        self._session = PurePath(file).stem if found is None else found[0]
        self._thread: str | None = None
        self._parent: str | None = None
        self._kind: str | None = None
        self._has_meta = False
        self._settings = Settings()
        self._facts: dict[str, str] = {}
        self._modes: dict[str, str] = {}
        self._has_record = False
        self._total: _Tokens | None = None
        #: Older versions count the tokens of a response before they write its items: the count waits for those.
        self._held: list[Entry] = []
        self._has_spoken = False
        self._is_compacted = False
        #: What events say of calls whose results are still to come.
        self._ended: dict[str, Ended] = {}
        self._rewinds = Rewinds()
        self._handlers: dict[str | None, _Handler] = {
            "session_meta": self._meta,
            "turn_context": self._context,
            "response_item": self._item,
            "event_msg": self._event,
            "compacted": self._compacted,
            "token_usage_record": self._record,
        }

    def line(self, text: str, evidence: Evidence) -> list[Entry]:
        """What one line says. A line that says nothing new gives an entry without anything."""
        if is_blank(text):
            return []
        data = encode(text)
        line = places.decode(_LINES, data)
        make = partial(Entry, session=self._session, evidence=evidence)
        make = partial(make, thread=self._thread, parent_thread=self._parent, kind=self._kind)
        if line is None:
            value = places.read_object(data)
            return [make(mark="note", text="" if value else text, data=value)]
        make = partial(make, at=instant(line.timestamp), settings=self._settings)
        if is_given(line.payload):
            payload = placed(data, b'"payload":', line.payload)
            handle = self._handlers.get(line.type)
        else:
            payload = Slice(data, 0)
            handle = self._meta if line.type is None and line.id is not None else self._item
        kind = places.decode(_KINDS, payload.data) or _Kind()
        told = _Told(payload, kind, make)
        return _noted(told, line.type) if handle is None else handle(told)

    def end(self) -> list[Entry]:
        """What is known of calls whose results never came, and of commands that a script ran: they have no call."""
        counted = self._counted()
        left = [
            msgspec.structs.replace(ended.entry, mark="note", data={"call": call, **ended.told})
            for call, ended in self._ended.items()
            if ended.entry is not None
        ]
        self._ended.clear()
        return counted + left

    def _changed(self, facts: dict[str, Any]) -> dict[str, str]:
        """The facts that are said for the first time."""
        changed = {
            key: value for key, value in facts.items() if isinstance(value, str) and self._facts.get(key) != value
        }
        self._facts.update(changed)
        return changed

    def _meta(self, told: _Told) -> list[Entry]:
        raw = told.raw
        thread = text_of(raw, "id") or self._session
        if self._has_meta:
            # A fork begins with a copy of what it was forked from, first line included.
            return [told.make(mark="note", text="session_meta", data=_without_instructions(raw))]
        self._has_meta = True
        parent = spawned(raw.get("source"))
        self._parent = text_of(raw, "parent_thread_id") or text_of(parent, "parent_thread_id") or None
        self._session = text_of(raw, "session_id") or self._parent or thread
        self._thread = None if thread == self._session else thread
        if self._thread is not None:
            self._kind = (
                text_of(raw, "agent_role") or text_of(parent, "agent_role") or text_of(parent, "kind") or None
            )
        git = object_of(raw, "git")
        facts = {"client": _CLIENT, "version": raw.get("cli_version"), "cwd": raw.get("cwd")}
        facts |= {"sha": git.get("commit_hash"), "branch": git.get("branch"), "repository": git.get("repository_url")}
        names = {"forked_from": "forked_from_id", "agent": "agent_nickname", "originator": "originator"}
        data = {name: raw[key] for name, key in names.items() if isinstance(raw.get(key), str)}
        base = told.make(at=instant(raw.get("timestamp")) or told.make().at)
        base = msgspec.structs.replace(
            base, session=self._session, thread=self._thread, parent_thread=self._parent, kind=self._kind
        )
        first = msgspec.structs.replace(base, about=self._changed(facts), data=data)
        parts = instructions(told.payload)
        if not parts:
            return [first]
        turn = Turn(Role.SYSTEM, parts, told.payload.start, told.payload.end)
        return [first, msgspec.structs.replace(base, turn=turn, origin=Origin.SYSTEM)]

    def _context(self, told: _Told) -> list[Entry]:
        raw = told.raw
        sandbox = object_of(raw, "sandbox_policy")
        model, effort = text_of(raw, "model") or None, text_of(raw, "effort") or None
        limits = text_of(sandbox, "type") or text_of(sandbox, "mode")
        facts = {"cwd": raw.get("cwd"), "model": model, "sandbox": limits or None}
        before, self._settings = self._settings, Settings(model=model, effort=effort)
        entries = [told.make(about=self._changed(facts))]
        if before.model is not None and model is not None and before.model != model:
            entries.append(told.make(mark="model", text=model, data={"before": before.model}))
        mode = raw.get("collaboration_mode")
        modes = {
            "approval": raw.get("approval_policy"),
            "sandbox": limits,
            "collaboration": mode.get("mode") if isinstance(mode, dict) else mode,
        }
        said = {name: value for name, value in modes.items() if isinstance(value, str) and value}
        changed = {name: value for name, value in said.items() if self._modes.get(name, value) != value}
        self._modes |= said
        if changed:
            entries.append(told.make(mark="mode", text=", ".join(changed.values()), data=changed))
        return entries

    def _item(self, told: _Told) -> list[Entry]:
        kind = told.kind.type
        if kind == "ghost_snapshot":
            return [told.make(key=told.kind.id, mark="snapshot", data=told.raw)]
        if kind in _COMPACTIONS:
            return self._compact(told, "")
        turns = responses.turns(told.payload) if kind is not None else ()
        turn = next((turn for turn in turns if any(not isinstance(part, Unknown) for part in turn.parts)), None)
        if turn is None:
            return _noted(told, kind)
        offset = told.make().evidence.offset
        key = told.kind.id or (f"{self._source}:{offset}" if offset is not None else None)
        follows = self._rewinds.item(key, turn.role) if key is not None else None
        origin = origin_of(told.payload, turn)
        counted = self._counted() if turn.role is Role.USER and self._has_spoken else []
        self._has_spoken = self._has_spoken or turn.role is Role.ASSISTANT
        return [*counted, told.make(key=key, follows=follows, turn=self._detailed(turn), origin=origin)]

    def _counted(self) -> list[Entry]:
        """The counts that waited, if what they count was said by now."""
        counted, self._held = self._held, []
        self._has_spoken = self._has_spoken and not counted
        return counted

    def _detailed(self, turn: Turn) -> Turn:
        if not any(isinstance(part, ToolResult) for part in turn.parts):
            return turn
        parts = tuple(
            with_end(part, self._ended.pop(part.call_id or "", Ended())) if isinstance(part, ToolResult) else part
            for part in turn.parts
        )
        return msgspec.structs.replace(turn, parts=parts)

    def _event(self, told: _Told) -> list[Entry]:
        kind = told.kind.type or ""
        if kind in _REPEATED:
            if kind == "user_message":
                self._rewinds.begin()
            return [told.make()]
        if kind == "token_count":
            return self._count(told)
        raw = told.raw
        if kind == "item_completed":
            return self._completed(told, raw)
        if kind in _ENDS:
            return [self._keep(text_of(raw, "call_id"), read_end(raw), told)]
        if kind == "context_compacted":
            return self._compact(told, "")
        if kind == "turn_aborted":
            return [told.make(mark="interrupt", text=text_of(raw, "reason"), data=raw)]
        if kind in ("error", "stream_error"):
            return [told.make(mark="error", text=text_of(raw, "message"), data=raw)]
        if kind == "thread_name_updated":
            name = text_of(raw, "thread_name")
            return [told.make(mark="title", text=name, about={"title": name} if name else {})]
        if kind == "collab_agent_spawn_end" and text_of(raw, "new_thread_id"):
            return [_link(told, raw, text_of(raw, "new_thread_id"), text_of(raw, "call_id"))]
        if kind == "thread_rolled_back":
            self._rewinds.take_back(raw.get("num_turns"))
        return _noted(told, kind)

    def _completed(self, told: _Told, raw: dict[str, Any]) -> list[Entry]:
        item = object_of(raw, "item")
        kind, call = text_of(item, "type"), text_of(item, "id")
        if kind in _REPEATED_ITEMS:
            if kind == "UserMessage":
                self._rewinds.begin()
            return [told.make()]
        if kind in _ENDED_ITEMS:
            return [self._keep(call, read_end(item), told)]
        started = item.get("receiver_thread_ids")
        if kind == "CollabAgentToolCall" and text_of(item, "tool") == "spawn_agent" and isinstance(started, list):
            links = [_link(told, item, thread, call) for thread in started if isinstance(thread, str)]
            return links or [told.make()]
        return [told.make(mark="note", text=kind or "item_completed", data=item or raw)]

    def _keep(self, call: str, ended: Ended, told: _Told) -> Entry:
        """An entry without anything; what the event says waits for the result."""
        before, entry = self._ended.get(call, Ended()), told.make()
        has_failed = before.has_failed if ended.has_failed is None else ended.has_failed
        self._ended[call] = Ended({**before.told, **ended.told}, has_failed, entry)
        return entry

    def _compacted(self, told: _Told) -> list[Entry]:
        self._is_compacted = False
        entries = self._compact(told, text_of(told.raw, "message"))
        self._is_compacted = True
        return entries

    def _compact(self, told: _Told, message: str) -> list[Entry]:
        """A line that tells of a compaction, unless another just did."""
        if self._is_compacted:
            self._is_compacted = False
            return [told.make()]
        retained = told.raw.get("replacement_history")
        data = {"retained": len(retained)} if isinstance(retained, list) else {}
        mark = told.make(mark="compact", data=data)
        literal = places.members(told.payload).get("message")
        if not message or literal is None:
            return [mark]
        text, spans = places.read_literal(literal)
        turn = Turn(Role.USER, (Text(text, spans),), literal.start, literal.end)
        return [mark, told.make(turn=turn, origin=Origin.SUMMARY)]

    def _record(self, told: _Told) -> list[Entry]:
        found = places.decode(_RECORDS, told.payload.data)
        if found is None or found.usage is None:
            return _noted(told, "token_usage_record")
        self._has_record = True
        return [self._reply(told, found.usage, found.response_id)]

    def _count(self, told: _Told) -> list[Entry]:
        """The tokens of the last response, said again whenever a limit changed."""
        found = places.decode(_COUNTED, told.payload.data)
        info = found.info if found is not None else None
        if info is None or info.last_token_usage is None:
            return _noted(told, "token_count")
        is_new = info.total_token_usage is None or info.total_token_usage != self._total
        is_recorded, self._has_record = self._has_record, False
        self._total = info.total_token_usage
        if is_recorded or not is_new:
            return [told.make()]
        counted = self._counted()
        reply = self._reply(told, info.last_token_usage, None)
        if self._has_spoken:
            self._has_spoken = False
            return [*counted, reply]
        self._held.append(reply)
        return [*counted, told.make()]

    def _reply(self, told: _Told, tokens: _Tokens, response_id: str | None) -> Entry:
        read, written = tokens.cached_input_tokens, tokens.cache_write_input_tokens
        usage = Usage(
            input=max(tokens.input_tokens - read - written, 0),
            cache_read=read,
            cache_write=written,
            output=tokens.output_tokens,
            reasoning=tokens.reasoning_output_tokens,
        )
        return told.make(reply=Reply(response_id=response_id, model=self._settings.model, usage=usage))


def _noted(told: _Told, kind: str | None) -> list[Entry]:
    """The line as it is, for want of another home."""
    return [told.make(mark="note", text=kind or "", data=told.raw)]


def _without_instructions(raw: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in raw.items() if key not in ("base_instructions", "instructions")}


def _link(told: _Told, raw: dict[str, Any], thread: str, call: str) -> Entry:
    """An entry that says which call started a thread."""
    kind = text_of(raw, "new_agent_role") or None
    parent = text_of(raw, "sender_thread_id") or None
    return told.make(thread=thread, parent_thread=parent, call_id=call or None, kind=kind)
