"""Chats of Qwen Code: one JSON object a line, each with its id and that of the line before it."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import msgspec

from blackbird.canon import places
from blackbird.canon.dialects import contents
from blackbird.canon.dialects import parts as shapes
from blackbird.canon.model import Evidence, Part, Reply, Role, ToolResult, Turn, Usage
from blackbird.canon.natives import pieces
from blackbird.canon.natives.jsonl import is_blank
from blackbird.canon.natives.parts import gemini
from blackbird.canon.natives.times import instant
from blackbird.canon.seen import Entry, Slice
from blackbird.exchange import payloads

_CLIENT = "Qwen Code"
_FACTS = {"cwd": "cwd", "version": "version", "gitBranch": "branch"}
#: What the client notes beside the conversation, and what that is called here.
_MARKS = {"chat_compression": "compact", "attribution_snapshot": "snapshot", "file_history_snapshot": "snapshot"}
_ANSWERED = "qwen-code.api_response"


class Reader:
    """Reads `projects/*/chats/*.jsonl`."""

    def __init__(self, source: str, file: str) -> None:
        self.source = source
        self.session = PurePath(file).stem or "qwen"
        self._facts: dict[str, str] = {}
        #: The provider's id of the last response: the client notes it before the words.
        self._response: str | None = None

    def line(self, text: str, evidence: Evidence) -> list[Entry]:
        """What a line says."""
        if is_blank(text):
            return []
        record = pieces.slice_of(text, evidence)
        found = places.members(record)
        data = {key: places.read_any(value.data) for key, value in found.items() if key != "message"}
        self.session = payloads.text(data, "sessionId") or self.session
        content = places.members(found["message"]).get("parts") if "message" in found else None
        parts = tuple(contents.read(content)) if content else ()
        kind = data.get("type")
        if not parts or kind not in ("user", "assistant", "tool_result"):
            return [self._aside(data, text, evidence)]
        entry = self._entry(data, evidence)
        if kind == "assistant":
            return [
                msgspec.structs.replace(entry, turn=_turn(Role.ASSISTANT, parts, record), reply=self._reply(data))
            ]
        outcome = payloads.inner(data, "toolCallResult")
        ended = tuple(gemini.ended(part, outcome) if isinstance(part, ToolResult) else part for part in parts)
        return [msgspec.structs.replace(entry, turn=_turn(Role.USER, ended, record))]

    def end(self) -> list[Entry]:
        """Nothing waits."""
        return []

    def _aside(self, data: dict[str, Any], text: str, evidence: Evidence) -> Entry:
        entry = self._entry(data, evidence)
        subtype = payloads.text(data, "subtype") or ""
        event = payloads.inner(payloads.inner(data, "systemPayload"), "uiEvent")
        if payloads.text(event, "event.name") == _ANSWERED:
            self._response = payloads.text(event, "response_id")
        words = "" if data else text
        return msgspec.structs.replace(entry, mark=_MARKS.get(subtype, "note"), text=words, data=data)

    def _entry(self, data: dict[str, Any], evidence: Evidence) -> Entry:
        known = {name: value for key, name in _FACTS.items() if (value := payloads.text(data, key))}
        about = {
            name: value for name, value in {"client": _CLIENT, **known}.items() if self._facts.get(name) != value
        }
        self._facts |= about
        return Entry(
            session=self.session,
            key=payloads.text(data, "uuid"),
            follows=payloads.text(data, "parentUuid"),
            at=instant(data.get("timestamp")),
            about=about,
            evidence=evidence,
        )

    def _reply(self, data: dict[str, Any]) -> Reply:
        response, self._response = self._response, None
        usage = _usage(payloads.inner(data, "usageMetadata"))
        return Reply(response_id=response, model=payloads.text(data, "model"), usage=usage)


def _turn(role: Role, parts: tuple[Part, ...], record: Slice) -> Turn:
    return Turn(role, parts, record.start, record.end)


def _usage(tokens: Mapping[str, Any]) -> Usage | None:
    """The tokens of a response: the prompt's include those from the cache.

    Whether thoughts are in the count of what was written depends on the provider; the total tells.
    """
    if not tokens:
        return None
    asked, cached = shapes.count(tokens, "promptTokenCount"), shapes.count(tokens, "cachedContentTokenCount")
    said, thought = shapes.count(tokens, "candidatesTokenCount"), shapes.count(tokens, "thoughtsTokenCount")
    is_inside = payloads.number(tokens, "totalTokenCount") == asked + said
    return Usage(
        input=max(asked - cached, 0),
        cache_read=cached,
        output=said if is_inside else said + thought,
        reasoning=thought,
    )
