"""Chats of Gemini CLI: an append log in which a later line with the same id takes the place of an earlier one.

A message is told once. Of a later version of it only what is new is told: calls, results, counted tokens.
"""

import hashlib
import re
from pathlib import PurePath
from typing import Any

import msgspec

from blackbird.canon import places
from blackbird.canon.dialects import contents
from blackbird.canon.dialects import parts as shapes
from blackbird.canon.model import (
    Evidence,
    Media,
    Part,
    Reply,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
)
from blackbird.canon.natives import pieces
from blackbird.canon.natives.parts import gemini
from blackbird.canon.natives.times import instant
from blackbird.canon.seen import Entry, Slice
from blackbird.exchange import payloads

#: What a record may set that says nothing of the conversation.
_KEPT_BY_CLIENT = frozenset({"lastUpdated", "sessionId", "projectHash", "startTime", "kind", "messages"})
_WORKSPACE = re.compile(r"Workspace Directories:\*\*\n\s+- (\S[^\n]*)")
_CLIENT = "Gemini CLI"
_HEADINGS = frozenset({"id", "type", "timestamp", "model"})


class _Told:
    """What was told of a message: how many entries, which words, whether it was thought and counted."""

    __slots__ = ("counted", "entries", "thought", "words")

    def __init__(self) -> None:
        self.entries = 0
        self.words: set[bytes] = set()
        self.thought = False
        self.counted = False


class Reader:
    """Reads `chats/session-*.jsonl`, the sub-agents' `chats/<session>/<id>.jsonl` and older `session-*.json`."""

    def __init__(self, source: str, file: str) -> None:
        self.source = source
        path = PurePath(file)
        self.is_sub = path.parent.name != "chats" and path.parent.parent.name == "chats"
        self.session = path.parent.name if self.is_sub else path.stem or "gemini"
        self.thread = path.stem if self.is_sub else None
        self._told: dict[str, _Told] = {}
        self._calls: set[str] = set()
        self._results: set[str] = set()
        #: The messages of the conversation as it stands, in order.
        self._order: dict[str, None] = {}
        self._follows: str | None = None
        self._is_begun = False

    def line(self, text: str, evidence: Evidence) -> list[Entry]:
        """What a line says that was not said before."""
        record = pieces.slice_of(text, evidence)
        found = places.members(record)
        if not found:
            return [self._note(text, {}, evidence)] if text.strip() else []
        if "$rewindTo" in found:
            return self._rewind(record, evidence)
        if "$set" in found:
            return self._set(found["$set"], evidence)
        if "id" in found:
            return self._message(record, evidence)
        if "sessionId" in found:
            return self._head(found, evidence)
        return [self._note("", places.read_object(record.data), evidence)]

    def end(self) -> list[Entry]:
        """Nothing waits."""
        return []

    def _head(self, found: dict[str, Slice], evidence: Evidence) -> list[Entry]:
        head = {key: places.read_any(value.data) for key, value in found.items() if key != "messages"}
        session = payloads.text(head, "sessionId")
        if self.is_sub:
            self.thread = session or self.thread
        else:
            self.session = session or self.session
        told: list[Entry] = []
        about = self._facts(head)
        if not self._is_begun:
            self._is_begun = True
            told.append(self._entry(evidence, at=instant(head.get("startTime")), about=about))
        if "messages" in found:
            told += self._messages(found["messages"], evidence)
        return told

    def _set(self, changes: Slice, evidence: Evidence) -> list[Entry]:
        found = places.members(changes)
        told: list[Entry] = []
        given = {key: places.read_any(value.data) for key, value in found.items() if key not in _KEPT_BY_CLIENT}
        about = self._facts(given)
        about.pop("client", None)
        if about:
            told.append(self._entry(evidence, about=about))
        rest = {key: value for key, value in given.items() if key not in ("summary", "directories")}
        if rest:
            told.append(self._note("", {"$set": rest}, evidence))
        if "messages" in found:
            told += self._replaced(found["messages"], evidence)
        return told

    def _facts(self, given: dict[str, Any]) -> dict[str, str]:
        about = {"client": _CLIENT}
        directories = given.get("directories")
        if isinstance(directories, list) and directories and isinstance(directories[0], str):
            about["cwd"] = directories[0]
        if title := payloads.text(given, "summary"):
            about["title"] = title
        return about

    def _replaced(self, messages: Slice, evidence: Evidence) -> list[Entry]:
        """A whole list of messages takes the place of what was there: resumed, or made shorter."""
        before = set(self._order)
        self._order = {}
        told = self._messages(messages, evidence)
        if before - set(self._order) and any(entry.turn and _has_words(entry.turn) for entry in told):
            told.insert(0, self._entry(evidence, mark="compact"))
        return told

    def _messages(self, messages: Slice, evidence: Evidence) -> list[Entry]:
        return [entry for item in places.items(messages) for entry in self._message(item, evidence)]

    def _rewind(self, record: Slice, evidence: Evidence) -> list[Entry]:
        """The conversation goes on from before a message; what came after stays as a branch."""
        data = places.read_object(record.data)
        ids = list(self._order)
        target = data.get("$rewindTo")
        kept = ids[: ids.index(target)] if target in ids else []
        self._order = dict.fromkeys(kept)
        self._follows = kept[-1] if kept else None
        return [self._note("rewind", data, evidence)]

    def _message(self, record: Slice, evidence: Evidence) -> list[Entry]:
        found = places.members(record)
        message = {key: places.read_any(value.data) for key, value in found.items() if key in _HEADINGS}
        key = payloads.text(message, "id")
        if key is None:
            return [self._note("", places.read_object(record.data), pieces.narrow(evidence, record))]
        self._order.setdefault(key)
        told = self._told.setdefault(key, _Told())
        parts = [_with_own_id(part) for part in contents.read(found["content"])] if "content" in found else []
        kind = message.get("type")
        at = instant(message.get("timestamp"))
        evidence = pieces.narrow(evidence, record)
        if kind == "user":
            return self._turns(key, told, Role.USER, self._news(told, parts), at, evidence)
        if kind != "gemini":
            return self._aside(key, told, str(kind), parts, at, evidence)
        thoughts = [_thought(item) for item in places.items(found["thoughts"])] if "thoughts" in found else []
        calls = places.items(found["toolCalls"]) if "toolCalls" in found else []
        asked = [_with_own_id(shapes.object_call(*_asked(call))) for call in calls]
        news = self._news(told, [*thoughts, *parts, *asked])
        reply = self._reply(key, told, payloads.text(message, "model"), found.get("tokens"), is_news=bool(news))
        entries = self._turns(key, told, Role.ASSISTANT, news, at, evidence, reply)
        for call in calls:
            entries += self._result(key, told, call, at, evidence)
        return entries

    def _news(self, told: _Told, parts: list[Part]) -> list[Part]:
        """The parts that nobody was told of. A message's words come again in other pieces: they count as a whole."""
        words = hashlib.blake2b(_words(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        is_said, is_thought = words in told.words, told.thought
        told.words.add(words)
        news: list[Part] = []
        for part in parts:
            if isinstance(part, ToolCall | ToolResult):
                known = self._calls if isinstance(part, ToolCall) else self._results
                if part.call_id is None or part.call_id not in known:
                    news.append(part)
                known.add(part.call_id or "")
            elif isinstance(part, Thinking):
                told.thought = True
                news += [] if is_thought else [part]
            elif not is_said:
                news.append(part)
        return news

    def _turns(
        self,
        key: str,
        told: _Told,
        role: Role,
        parts: list[Part],
        at: int | None,
        evidence: Evidence,
        reply: Reply | None = None,
    ) -> list[Entry]:
        if not parts and reply is None:
            return []
        turn = Turn(role, tuple(parts), evidence.start, evidence.end, key) if parts else None
        entries = [self._entry(evidence, key=self._key(key, told), at=at, turn=turn, reply=reply)]
        found = _WORKSPACE.search(_words(parts)) if role is Role.USER else None
        if found and not self.is_sub:
            entries[0] = msgspec.structs.replace(entries[0], about={"cwd": found[1].strip()})
        return entries

    def _result(self, key: str, told: _Told, call: Slice, at: int | None, evidence: Evidence) -> list[Entry]:
        """What a call led to, and the sub-agent that it started."""
        found = places.members(call)
        given = {name: places.read_any(value.data) for name, value in found.items() if name != "result"}
        call_id = _own_id(payloads.text(given, "id"), payloads.text(given, "name"))
        entries: list[Entry] = []
        where = pieces.narrow(evidence, call)
        results = [
            part
            for part in map(_with_own_id, contents.read(contents.pick(found, "result")))
            if isinstance(part, ToolResult) and (part.call_id or call_id or "") not in self._results
        ]
        for part in results:
            self._results.add(part.call_id or call_id or "")
            full = gemini.ended(msgspec.structs.replace(part, call_id=part.call_id or call_id), given)
            turn = Turn(Role.USER, (full,), where.start, where.end)
            ended = instant(given.get("timestamp")) or at
            entries.append(self._entry(where, key=self._key(key, told), at=ended, turn=turn))
        thread = payloads.text(given, "agentId")
        if thread and results:
            kind = payloads.text(payloads.inner(given, "args"), "agent_name")
            started = self._entry(where, at=at)
            link = {"thread": thread, "parent_thread": self.thread or self.session, "call_id": call_id, "kind": kind}
            entries.insert(0, msgspec.structs.replace(started, **link))
        return entries

    def _reply(
        self, key: str, told: _Told, model: str | None, tokens: Slice | None, *, is_news: bool
    ) -> Reply | None:
        """The response that a message is. The client keeps no id of it: it goes by that of the message."""
        usage = _usage(places.read_object(tokens.data)) if tokens and not told.counted else None
        told.counted = told.counted or usage is not None
        is_first = told.entries == 0
        return Reply(response_id=key, model=model, usage=usage) if is_news or is_first or usage is not None else None

    def _aside(
        self, key: str, told: _Told, kind: str, parts: list[Part], at: int | None, evidence: Evidence
    ) -> list[Entry]:
        if told.entries:
            return []
        mark = "error" if kind == "error" else "note"
        return [
            self._entry(evidence, key=self._key(key, told), at=at, mark=mark, text=_words(parts), data={"type": kind})
        ]

    def _key(self, key: str, told: _Told) -> str:
        told.entries += 1
        return key if told.entries == 1 else f"{key}/{told.entries}"

    def _note(self, text: str, data: dict[str, Any], evidence: Evidence) -> Entry:
        return self._entry(evidence, mark="note", text=text, data=data)

    def _entry(self, evidence: Evidence, **what: Any) -> Entry:
        if what.get("turn") and self._follows:
            what["follows"], self._follows = self._follows, None
        if self.is_sub:
            what |= {"thread": self.thread, "parent_thread": self.session}
        return Entry(session=self.session, evidence=evidence, **what)


def _asked(call: Slice) -> tuple[str, str | None, Slice | None]:
    found = places.members(call)
    return shapes.text_value(found, "name") or "", shapes.text_value(found, "id"), found.get("args")


def _own_id(call_id: str | None, name: str | None) -> str | None:
    """The id of a call as the client sends it; newer versions log it behind the tool's name."""
    return call_id.removeprefix(f"{name}__") if call_id is not None else None


def _with_own_id(part: Part) -> Part:
    if not isinstance(part, ToolCall | ToolResult):
        return part
    return msgspec.structs.replace(part, call_id=_own_id(part.call_id, part.name))


def _thought(value: Slice) -> Part:
    """A thought has a subject and a description; where both are given, the description holds the words."""
    found = places.members(value)
    for key in ("description", "subject"):
        text, spans = places.read_literal(found[key]) if key in found else ("", ())
        if text:
            return Thinking(text, spans=spans)
    return shapes.unknown("thought", value)


def _usage(tokens: dict[str, Any]) -> Usage | None:
    """The tokens of a response; `input` includes what came from the cache, `output` does not include thoughts."""
    if not tokens:
        return None
    cached, thoughts = shapes.count(tokens, "cached"), shapes.count(tokens, "thoughts")
    asked = shapes.count(tokens, "input") + shapes.count(tokens, "tool")
    return Usage(
        input=max(asked - cached, 0),
        cache_read=cached,
        output=shapes.count(tokens, "output") + thoughts,
        reasoning=thoughts,
    )


def _words(parts: list[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Text)).strip()


def _has_words(turn: Turn) -> bool:
    return any(isinstance(part, Text | Media) for part in turn.parts)
