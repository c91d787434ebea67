"""The log of Claude Code: one JSON object a line, of a session or of one of its sub-agents.

A response is written as one line a block; its metadata stands on each, and is handed on with the first, and once more
with a later one that says something else, as those do that were written while the response still streamed.

Beside the client's own lines it takes `{"type": "agent-meta", "agentId": …, "agentType": …, "description": …,
"toolUseId": …}`: what stands in the small file beside a sub-agent's log. A line that only names the call that started
a thread gives an entry with `thread`, `call_id` and `kind` alone.
"""

from collections.abc import Callable
from functools import partial
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec

from blackbird.canon import places
from blackbird.canon.model import Evidence, Origin, Role, Settings, Text, ToolResult, Turn
from blackbird.canon.natives.claude_results import detailed, details_of, read_outcome
from blackbird.canon.natives.jsonl import (
    NOTHING,
    encode,
    is_blank,
    is_given,
    placed,
    read_message,
    reply_of,
    text_of,
    turn_of,
)
from blackbird.canon.natives.times import instant
from blackbird.canon.seen import Entry, Slice
from blackbird.canon.wrappers import split

_CLIENT = "Claude Code"
#: The model of the words that the client says in the model's place.
_SYNTHETIC = "<synthetic>"
#: The fields in which lines that name the session do so.
_TITLES = ("summary", "aiTitle", "customTitle")
_FACTS = ("cwd", "version", "branch", "slug")


class _Line(msgspec.Struct, rename="camel"):
    type: str | None = None
    subtype: str | None = None
    session_id: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    timestamp: str | None = None
    agent_id: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    permission_mode: str | None = None
    request_id: str | None = None
    attribution_agent: str | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    slug: str | None = None
    #: The session and the line that this one was copied from.
    forked_from: msgspec.Raw = NOTHING
    #: Who sent the words of a user's line: `human`, or something that the client tells the model of.
    origin: msgspec.Raw = NOTHING
    message: msgspec.Raw = NOTHING
    tool_use_result: msgspec.Raw = NOTHING
    attachment: msgspec.Raw = NOTHING


class _Attachment(msgspec.Struct, rename="camel"):
    type: str | None = None
    content: msgspec.Raw = NOTHING
    prompt: msgspec.Raw = NOTHING
    command_mode: str | None = None


_LINES = msgspec.json.Decoder(_Line)
_ATTACHMENTS = msgspec.json.Decoder(_Attachment)

#: Makes the entries of one line: where it stands, who says it and when is filled in.
_Make = Callable[..., Entry]


class _Told(NamedTuple):
    """A line, its bytes, and what makes its entries."""

    line: _Line
    data: bytes
    make: _Make

    @property
    def raw(self) -> dict[str, Any]:
        """All that the line says."""
        return places.read_object(self.data)

    def note(self) -> Entry:
        """The line as it is, for want of another home."""
        return self.make(mark="note", text=self.line.type or "", data=self.raw)


_Handler = Callable[[_Told], list[Entry]]


class Reader:
    """Reads one file; `file` says whose it is where its lines do not."""

    def __init__(self, source: str, file: str) -> None:  # noqa: ARG002 - the same for all readers
        self._session, self._thread = _owner(file)
        self._facts: tuple[str | None, ...] = ()
        self._modes: dict[str, str] = {}
        #: The first line of the sidechain that a line belongs to, of logs that give those no id.
        self._sidechains: dict[str, str] = {}
        self._last_uuid: str | None = None
        self._handlers: dict[str | None, _Handler] = {
            "user": self._user,
            "assistant": self._assistant,
            "attachment": _attachment,
            "system": _system,
            "summary": self._title,
            "ai-title": self._title,
            "custom-title": self._title,
            "mode": self._mode,
            "permission-mode": self._mode,
            "queue-operation": _queue,
            "file-history-snapshot": _snapshot,
            "agent-meta": _agent,
            "progress": _progress,
        }

    def line(self, text: str, evidence: Evidence) -> list[Entry]:
        """What one line says. A line that says nothing new gives an entry without anything."""
        if is_blank(text):
            return []
        data = encode(text)
        line = places.decode(_LINES, data)
        if line is None:
            value = places.read_object(data)
            note = partial(Entry, mark="note", text="" if value else text, data=value)
            return [note(session=self._session, thread=self._thread, evidence=evidence)]
        self._session = line.session_id or self._session
        make = partial(
            Entry,
            session=self._session,
            thread=self._thread_of(line),
            kind=line.attribution_agent,
            key=line.uuid,
            follows=line.parent_uuid or line.logical_parent_uuid,
            copied_from=_copied_from(line.forked_from),
            at=instant(line.timestamp),
            about=self._changed(line),
            evidence=evidence,
        )
        told = _Told(line, data, make)
        handle = self._handlers.get(line.type)
        entries = [told.note()] if handle is None else handle(told)
        self._last_uuid = line.uuid or self._last_uuid
        return entries

    def end(self) -> list[Entry]:
        """Nothing waits for a later line."""
        return []

    def _thread_of(self, line: _Line) -> str | None:
        if line.agent_id is not None or self._thread is not None or not line.is_sidechain:
            return line.agent_id or self._thread
        root = self._sidechains.get(line.parent_uuid or "", line.uuid or "")
        self._sidechains[line.uuid or ""] = root
        return f"sidechain-{root}"

    def _changed(self, line: _Line) -> dict[str, str]:
        """The facts that this line is the first to say."""
        facts: tuple[str | None, ...] = (line.cwd, line.version, line.git_branch, line.slug)
        if facts == self._facts or not any(facts):
            return {}
        if self._facts:
            facts = tuple(now or known for now, known in zip(facts, self._facts, strict=True))
        before, self._facts = self._facts, facts
        named = zip(_FACTS, facts, before or [None] * len(_FACTS), strict=True)
        changed = {name: now for name, now, known in named if now and now != known}
        return changed if before else {"client": _CLIENT, **changed}

    def _user(self, told: _Told) -> list[Entry]:
        line, data, make = told
        message = placed(data, b'"message":', line.message)
        turn = turn_of(read_message(line.message), message, Role.USER)
        if turn is None:
            return [told.note()]
        origin = Origin.SUMMARY if line.is_compact_summary else None
        if origin is None and (line.is_meta or not _is_human(line.origin)):
            origin = Origin.CLIENT
        outcome = read_outcome(line.tool_use_result)
        result = next((part for part in turn.parts if isinstance(part, ToolResult)), None)
        if result is not None:
            turn = detailed(turn, result, details_of(outcome, line.tool_use_result))
        entries = [make(turn=turn, origin=origin)]
        if outcome is not None and outcome.agent_id is not None and result is not None:
            entries.append(_link(make, outcome.agent_id, result.call_id, outcome.agent_type))
        return entries + self._mode_change(make, "permission", line.permission_mode)

    def _assistant(self, told: _Told) -> list[Entry]:
        line, data, make = told
        said = read_message(line.message)
        turn = turn_of(said, placed(data, b'"message":', line.message), Role.ASSISTANT)
        if line.is_api_error_message:
            raw = told.raw
            about = {"code": raw.get("error"), "status": raw.get("apiErrorStatus")}
            text = "" if turn is None else _words(turn)
            return [make(mark="error", text=text, data={key: item for key, item in about.items() if item})]
        if said.model == _SYNTHETIC:
            return [told.note() if turn is None else make(turn=turn, origin=Origin.CLIENT)]
        reply = reply_of(said)
        if turn is None and reply is None:
            return [told.note()]
        settings = Settings(model=said.model)
        return [make(turn=turn, reply=reply, settings=settings, provider_request=line.request_id)]

    def _title(self, told: _Told) -> list[Entry]:
        raw = told.raw
        title = next((raw[key] for key in _TITLES if isinstance(raw.get(key), str)), "")
        leaf = raw.get("leafUuid")
        # A file begins with the titles of older conversations: only one of the line before is its own.
        is_own = told.line.type != "summary" or leaf == self._last_uuid
        about = {"title": title} if title and is_own else {}
        return [told.make(mark="title", text=title, data={"leaf": leaf} if leaf else {}, about=about)]

    def _mode(self, told: _Told) -> list[Entry]:
        is_permission = told.line.type == "permission-mode"
        name, value = "permission" if is_permission else "mode", told.line.permission_mode or told.raw.get("mode")
        if name not in self._modes and self._last_uuid is not None and isinstance(value, str):
            # What it was in all along: the client says so once more when it goes.
            self._modes[name] = value
            return [told.note()]
        return self._mode_change(told.make, name, value, is_first_told=True) or [told.make()]

    def _mode_change(self, make: _Make, name: str, value: object, *, is_first_told: bool = False) -> list[Entry]:
        if not isinstance(value, str) or self._modes.get(name) == value:
            return []
        is_told = is_first_told or name in self._modes
        self._modes[name] = value
        return [make(key=None, mark="mode", text=value, data={name: value})] if is_told else []


def _attachment(told: _Told) -> list[Entry]:
    line, data, make = told
    found = places.decode(_ATTACHMENTS, line.attachment)
    if found is None:
        return [told.note()]
    parts: tuple[Text, ...] = ()
    role, origin = Role.USER, Origin.USER if found.command_mode in (None, "prompt") else Origin.CLIENT
    if found.type == "queued_command":
        parts = _texts(placed(data, b'"prompt":', found.prompt))
    elif found.type == "hook_additional_context":
        parts = _texts(placed(data, b'"content":', found.content))
        role, origin = Role.SYSTEM, Origin.PACK
        if not any(_is_pack(part) for part in parts):
            # On the wire they are one text.
            parts, origin = _as_one(parts), Origin.CLIENT
    if not parts:
        return [make(mark="note", text=found.type or "", data=places.read_object(line.attachment))]
    return [make(turn=Turn(role, parts, 0, len(data), line.uuid), origin=origin)]


def _system(told: _Told) -> list[Entry]:
    raw, subtype = told.raw, told.line.subtype
    text = text_of(raw, "content")
    if subtype == "compact_boundary":
        return [told.make(mark="compact", text=text, data=_compacted(raw.get("compactMetadata")))]
    if subtype == "api_error":
        return [told.make(mark="error", text=text or _error_text(raw), data=raw)]
    return [told.make(mark="note", text=text or subtype or "", data=raw)]


def _queue(told: _Told) -> list[Entry]:
    raw = told.raw
    return [told.make(mark="queue", text=text_of(raw, "content"), data={"operation": raw.get("operation")})]


def _snapshot(told: _Told) -> list[Entry]:
    raw = told.raw
    snapshot = raw.get("snapshot")
    tracked = snapshot.get("trackedFileBackups") if isinstance(snapshot, dict) else None
    files = sorted(tracked) if isinstance(tracked, dict) else []
    return [told.make(mark="snapshot", data={"message": raw.get("messageId"), "files": files})]


def _agent(told: _Told) -> list[Entry]:
    raw = told.raw
    thread = told.line.agent_id or told.make().thread
    link = _link(told.make, thread, text_of(raw, "toolUseId") or None, raw.get("agentType"))
    description = text_of(raw, "description")
    return [msgspec.structs.replace(link, data={"description": description} if description else {})]


def _progress(told: _Told) -> list[Entry]:
    raw = told.raw
    about, call = raw.get("data"), raw.get("parentToolUseID")
    entries = [told.make(mark="note", text="progress", data=raw)]
    if isinstance(about, dict) and isinstance(about.get("agentId"), str) and isinstance(call, str):
        entries.append(_link(told.make, about["agentId"], call, None))
    return entries


def _owner(file: str) -> tuple[str, str | None]:
    """The session of a file, and the sub-agent whose log it is."""
    path = PurePath(file)
    agent = path.name.partition(".")[0]
    thread = agent.removeprefix("agent-") if agent.startswith("agent-") else None
    if "subagents" in path.parts[1:]:
        return path.parts[path.parts.index("subagents", 1) - 1], thread
    return agent, thread


def _copied_from(told: msgspec.Raw) -> str | None:
    return text_of(places.read_object(told), "sessionId") or None if is_given(told) else None


def _link(make: _Make, thread: str | None, call_id: str | None, kind: object) -> Entry:
    """An entry that says which call started a thread."""
    shown = kind if isinstance(kind, str) else None
    return make(thread=thread, call_id=call_id, kind=shown, key=None, follows=None, about={})


def _is_human(origin: msgspec.Raw) -> bool:
    return not is_given(origin) or places.read_object(origin).get("kind") in (None, "human")


def _words(turn: Turn) -> str:
    return "\n".join(part.text for part in turn.parts if isinstance(part, Text))


def _is_pack(part: Text) -> bool:
    return any(piece.origin is Origin.PACK for piece in split(part.text, Role.SYSTEM))


def _as_one(texts: tuple[Text, ...]) -> tuple[Text, ...]:
    growing = places.Growing()
    for text in texts:
        growing.add_break()
        growing.add_all(text.text, text.spans)
    return (Text(growing.text, growing.spans),) if growing else ()


def _texts(words: Slice) -> tuple[Text, ...]:
    """A text, or all texts of a list, also those in blocks."""
    found: list[Text] = []
    for item in places.items(words) if words.data.startswith(b"[") else [words]:
        literal = places.members(item).get("text", item) if item.data.startswith(b"{") else item
        text, spans = places.read_literal(literal)
        if text:
            found.append(Text(text, spans))
    return tuple(found)


def _compacted(metadata: object) -> dict[str, Any]:
    given: dict[str, Any] = metadata if isinstance(metadata, dict) else {}
    names = {
        "trigger": "trigger",
        "preTokens": "tokens_before",
        "postTokens": "tokens_after",
        "durationMs": "duration_ms",
    }
    return {names.get(key, key): value for key, value in given.items()}


def _error_text(raw: dict[str, Any]) -> str:
    """The innermost message of a provider's error."""
    text, inner = "", raw.get("error")
    while isinstance(inner, dict):
        text = inner["message"] if isinstance(inner.get("message"), str) else text
        inner = inner.get("error")
    return text
