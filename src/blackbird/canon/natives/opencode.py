"""Sessions of opencode, row by row: `{"table": …, "id": …, "data": {…}}`, or a file of its older store.

A message's parts wait until their step is finished, since the tokens of a response are counted there. A row that
comes again says only what is new.
"""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec

from blackbird.canon import places
from blackbird.canon.dialects import parts as shapes
from blackbird.canon.model import Evidence, Failure, Origin, Outcome, Part, Reply, Role, Thinking, Turn, Usage
from blackbird.canon.natives import pieces
from blackbird.canon.natives.parts import opencode
from blackbird.canon.seen import Entry, Slice
from blackbird.exchange import payloads

_CLIENT = "opencode"
_TABLES = {"ses": "session", "msg": "message", "prt": "part"}
#: The title of a session that has none yet.
_UNTITLED = ("New session - ", "Child session - ")
_FACTS = {"title": "title", "directory": "cwd", "version": "version", "slug": "slug"}
_MILLISECOND = 1_000_000
_ROOTS = 32


class _Row(NamedTuple):
    """A row: its table, its ids, its columns, and the object that it keeps."""

    table: str
    id: str
    session: str
    message: str
    columns: Mapping[str, Any]
    data: Slice
    evidence: Evidence


class _Said(msgspec.Struct):
    """A message that is being read: whose it is, what of it waits, and how it failed."""

    id: str
    role: Role = Role.ASSISTANT
    model: str | None = None
    origin: Origin | None = None
    at: int | None = None
    failure: Entry | None = None
    said: dict[str, Entry] = {}
    answered: dict[str, Entry] = {}
    #: Parts that are still being written: they are told when they are whole, or when nothing more comes.
    growing: set[str] = set()


class _Session:
    """One session: its place among the others, its facts, its messages."""

    def __init__(self) -> None:
        self.parent: str | None = None
        self.facts: dict[str, str] = {}
        self.messages: dict[str, _Said] = {}
        self.open: _Said | None = None
        self.told: set[str] = set()
        self.snapshot: str | None = None


class Reader:
    """Reads rows of the tables `session`, `message` and `part`, of one session or of several."""

    def __init__(self, source: str, file: str) -> None:
        self.source = source
        self.file = PurePath(file)
        self._sessions: dict[str, _Session] = {}

    def line(self, text: str, evidence: Evidence) -> list[Entry]:
        """What a row says, and what it completes."""
        row = _row(text, evidence)
        if row is None:
            note = Entry(session=self.file.stem or _CLIENT, mark="note", text=text, evidence=evidence)
            return [note] if text.strip() else []
        session = self._sessions.setdefault(row.session, _Session())
        if row.table == "session":
            return self._about(session, row)
        if row.table == "message":
            return self._message(session, row)
        if row.table == "part":
            return self._part(session, row)
        return [self._entry(row, mark="note", data=places.read_object(row.data.data))]

    def end(self) -> list[Entry]:
        """What waited for its step to be finished."""
        entries: list[Entry] = []
        for session in self._sessions.values():
            for message in session.messages.values():
                message.growing.clear()
                entries += self._hand_out(session, message, self._ending(session, message))
        return entries

    def _about(self, session: _Session, row: _Row) -> list[Entry]:
        session.parent = payloads.text(row.columns, "parent_id") or payloads.text(row.columns, "parentID")
        known = {name: payloads.text(row.columns, key) or "" for key, name in _FACTS.items()}
        known["client"] = _CLIENT
        if known["title"].startswith(_UNTITLED):
            known["title"] = ""
        about = {name: value for name, value in known.items() if value and session.facts.get(name) != value}
        session.facts |= about
        # A sub-agent's title and folder are not those of the session that it belongs to.
        about = {} if session.parent else about
        created = row.columns.get("time_created") or payloads.inner(row.columns, "time").get("created")
        is_new = row.id not in session.told
        session.told.add(row.id)
        return [self._entry(row, at=_moment(created), about=about)] if about or is_new else []

    def _message(self, session: _Session, row: _Row) -> list[Entry]:
        entries = self._turn_to(session, row.id)
        message = session.messages[row.id]
        data = places.read_object(row.data.data)
        message.role = Role.USER if data.get("role") == "user" else Role.ASSISTANT
        message.at = _moment(payloads.inner(data, "time").get("created"))
        message.model = payloads.text(data, "modelID") or payloads.text(payloads.inner(data, "model"), "modelID")
        is_summary = data.get("summary") is True and message.role is Role.ASSISTANT
        message.origin = Origin.SUMMARY if is_summary else None
        error = payloads.inner(data, "error")
        if error and f"{row.id}/error" not in session.told:
            message.failure = self._failure(message, error, row)
        return entries

    def _failure(self, message: _Said, error: Mapping[str, Any], row: _Row) -> Entry:
        name = payloads.text(error, "name") or "error"
        words = payloads.text(payloads.inner(error, "data"), "message") or ""
        outcome = Outcome.CUT if name == "MessageAbortedError" else Outcome.ERROR
        reply = Reply(outcome=outcome, model=message.model, failure=Failure(name, words))
        return self._entry(row, key=f"{row.id}/error", at=message.at, reply=reply, mark="error", text=words)

    def _part(self, session: _Session, row: _Row) -> list[Entry]:
        entries = self._turn_to(session, row.message)
        message = session.messages[row.message]
        found = places.members(row.data)
        kind = shapes.text_value(found, "type") or ""
        if kind == "tool":
            return entries + self._tool(session, message, row, found)
        if row.id in session.told:
            return entries
        if kind == "step-finish":
            session.told.add(row.id)
            return entries + self._finish(session, message, row)
        part = opencode.read(kind, found)
        if part is not None:
            message.said[row.id] = self._saying(message, row, found, part)
        else:
            message.said |= self._aside(session, message, row, kind)
        return entries

    def _saying(self, message: _Said, row: _Row, found: Mapping[str, Slice], part: Part) -> Entry:
        is_made_up = "synthetic" in found and found["synthetic"].data == b"true"
        origin = Origin.CLIENT if is_made_up else message.origin
        times = places.read_object(found["time"].data) if "time" in found else {}
        at = _moment(times.get("start")) or message.at or _moment(row.columns.get("time_created"))
        origin = None if isinstance(part, Thinking) else origin
        is_growing = message.role is Role.ASSISTANT and "start" in times and "end" not in times
        (message.growing.add if is_growing else message.growing.discard)(row.id)
        return self._said(message, row, message.role, part, at, origin)

    def _said(
        self, message: _Said, row: _Row, role: Role, part: Part, at: int | None, origin: Origin | None = None
    ) -> Entry:
        turn = Turn(role, (part,), row.data.start, row.data.end, message.id)
        return self._entry(row, key=row.id, at=at, turn=turn, origin=origin)

    def _aside(self, session: _Session, message: _Said, row: _Row, kind: str) -> dict[str, Entry]:
        """What stands between the words of a message."""
        data = places.read_object(row.data.data)
        snapshot = payloads.text(data, "snapshot")
        if kind in ("step-start", "snapshot"):
            is_same = snapshot is None or snapshot == session.snapshot
            session.snapshot = snapshot or session.snapshot
            if is_same:
                session.told.add(row.id)
                return {}
        mark = {"compaction": "compact", "retry": "error"}.get(kind, "note")
        mark = "snapshot" if kind in ("step-start", "snapshot", "patch") else mark
        words = payloads.text(payloads.inner(payloads.inner(data, "error"), "data"), "message") or ""
        at = message.at or _moment(row.columns.get("time_created"))
        return {row.id: self._entry(row, key=row.id, at=at, mark=mark, text=words, data=data)}

    def _tool(self, session: _Session, message: _Said, row: _Row, found: Mapping[str, Slice]) -> list[Entry]:
        tool = opencode.read_tool(found)
        (message.growing.discard if tool.is_whole else message.growing.add)(row.id)
        if row.id not in session.told:
            message.said[row.id] = self._said(
                message, row, Role.ASSISTANT, tool.call, _moment(tool.began) or message.at
            )
        result = f"{row.id}/result"
        if tool.result is None or result in session.told:
            return []
        answering = row._replace(data=tool.output, evidence=pieces.narrow(row.evidence, tool.output))
        answer = self._said(message, answering, Role.USER, tool.result, _moment(tool.ended) or message.at)
        message.answered[result] = msgspec.structs.replace(answer, key=result)
        if tool.thread is not None:
            link = self._entry(row, at=_moment(tool.began))
            thread = {"thread": tool.thread, "parent_thread": row.session, "call_id": tool.call.call_id}
            link = msgspec.structs.replace(link, **thread, kind=tool.kind)
            message.answered = {f"{row.id}/thread": link, **message.answered}
        return []

    def _finish(self, session: _Session, message: _Said, row: _Row) -> list[Entry]:
        data = places.read_object(row.data.data)
        reply = Reply(
            model=message.model,
            stop_reason=payloads.text(data, "reason"),
            usage=_usage(payloads.inner(data, "tokens")),
            reported_cost=shapes.money(data, "cost"),
        )
        entry = self._entry(row, key=row.id, at=message.at, reply=reply)
        message.growing.clear()
        return self._hand_out(session, message, entry)

    def _turn_to(self, session: _Session, message: str) -> list[Entry]:
        """What waited of the message before, if another one goes on."""
        if session.open is not None and session.open.id == message:
            return []
        entries = self._close(session)
        session.open = session.messages.setdefault(message, _Said(message))
        return entries

    def _close(self, session: _Session) -> list[Entry]:
        message = session.open
        return self._hand_out(session, message, self._ending(session, message)) if message is not None else []

    def _ending(self, session: _Session, message: _Said) -> Entry | None:
        """How a message failed, once."""
        failure, message.failure = message.failure, None
        if failure is not None:
            session.told.add(f"{message.id}/error")
        return failure

    def _hand_out(self, session: _Session, message: _Said, reply: Entry | None) -> list[Entry]:
        """What waits of a message: what was said, with how the response ended, then what the tools gave."""
        waiting = {key: entry for key, entry in message.said.items() if key in message.growing}
        said = [entry for key, entry in message.said.items() if key not in waiting]
        spoken = [n for n, entry in enumerate(said) if entry.turn and entry.turn.role is Role.ASSISTANT]
        if reply is not None and not spoken:
            said.append(reply)
        for n in spoken:
            # The client keeps no id of a response: it goes by that of its first part.
            ended = reply.reply if reply and reply.reply and n == spoken[0] else Reply(model=message.model)
            whose = msgspec.structs.replace(ended, response_id=said[spoken[0]].key)
            said[n] = msgspec.structs.replace(said[n], reply=whose)
        session.told |= (message.said.keys() | message.answered.keys()) - waiting.keys()
        entries = said + list(message.answered.values())
        message.said, message.answered = waiting, {}
        return entries

    def _entry(self, row: _Row, **what: Any) -> Entry:
        parent = self._sessions[row.session].parent
        if parent is None:
            return Entry(session=row.session, evidence=row.evidence, **what)
        return Entry(
            session=self._root(parent), thread=row.session, parent_thread=parent, evidence=row.evidence, **what
        )

    def _root(self, session: str) -> str:
        for _ in range(_ROOTS):
            known = self._sessions.get(session)
            if known is None or known.parent is None:
                break
            session = known.parent
        return session


def _row(text: str, evidence: Evidence) -> _Row | None:
    """A row of a table; a file of the older store is the object alone, which has the ids in it."""
    record = pieces.slice_of(text, evidence)
    found = places.members(record)
    data = found.get("data", record) if "table" in found else record
    columns = {key: places.read_any(value.data) for key, value in found.items() if key != "data" or data is record}
    key = payloads.text(columns, "id")
    if key is None:
        return None
    table = payloads.text(columns, "table") or _TABLES.get(key.partition("_")[0], "")
    session = payloads.text(columns, "session_id") or payloads.text(columns, "sessionID")
    message = payloads.text(columns, "message_id") or payloads.text(columns, "messageID")
    owner = key if table == "session" else session
    if owner is None:
        return None
    return _Row(table, key, owner, message or "", columns, data, pieces.narrow(evidence, record))


def _moment(milliseconds: Any) -> int | None:
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float) or not 0 < milliseconds < 2**53:
        return None
    return int(milliseconds * 1000) * (_MILLISECOND // 1000)


def _usage(tokens: Mapping[str, Any]) -> Usage | None:
    """The tokens of a step. Whether `output` has the thoughts in it, the total tells, if there is one."""
    if not tokens:
        return None
    cache = payloads.inner(tokens, "cache")
    asked, output, thought = (shapes.count(tokens, key) for key in ("input", "output", "reasoning"))
    read, write = shapes.count(cache, "read"), shapes.count(cache, "write")
    is_inside = payloads.number(tokens, "total") == asked + output + read + write
    return Usage(
        input=asked,
        cache_read=read,
        cache_write=write,
        output=output if is_inside else output + thought,
        reasoning=thought,
    )
