"""From the events of a flight log to what they say: calls and results apart, all else as turns and marks.

Lines that have a kind of their own in a flight log, but are tools of the agent, become calls: skills, recalls,
sub-agents, questions and todos. A call without an id is named by its line.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from blackbird.canon import details
from blackbird.canon.model import Media, Part, Reply, Role, Settings, Span, Text, Thinking, ToolCall, ToolResult, Turn
from blackbird.canon.natives.flight.steps import Steps
from blackbird.canon.natives.flight.tokens import Tokens, measured
from blackbird.canon.natives.times import instant
from blackbird.canon.seen import Entry
from blackbox.events import calls, comments, lifecycle
from blackbox.events.build import Event, Unparsed
from blackbox.events.messages import Message, Todos
from blackbox.events.messages import Thinking as Thought
from blackbox.syntax.kinds import Kind
from blackbox.syntax.metadata import Meta
from blackbox.syntax.results import NOT_RECORDED, Result, ResultKind

#: The thread of the main agent.
_MAIN = "1"
_NANOSECONDS = 1_000_000_000
_MILLISECONDS = 1_000_000
_MARKED = frozenset({ResultKind.OK, ResultKind.ERR, ResultKind.SKIP})
_ERRORS = {ResultKind.ERR: True, ResultKind.SKIP: None, ResultKind.TEXT: None}


class Told(NamedTuple):
    """An event of a log: its metadata, what makes its entries, where its texts stand, and a name for it.

    `behind` is the byte of the line at which its result begins.
    """

    event: Event
    meta: Mapping[str, str]
    make: Callable[..., Entry]
    place: Callable[[str], tuple[Span, ...]]
    name: str
    behind: int


class Teller:
    """Tells the events of one log in order."""

    def __init__(self) -> None:
        self._tokens = Tokens()
        self._steps = Steps()
        self._running: set[str] = set()
        #: The threads of sub-agents by the operations that they are, and by thread who began them.
        self._spans: dict[str, str] = {}
        self._begun: dict[str, dict[str, str | None]] = {}
        self._start: int | None = None
        self._elapsed: int | None = None
        self.model: str | None = None
        #: The costs were calculated from a list of prices, and reported by nobody.
        self.is_priced = False

    def tell(self, told: Told) -> list[Entry]:
        """What an event says; with it comes the usage of the message before, once that is over."""
        meta = Meta(told.meta)
        event = told.event
        is_comment = isinstance(event, comments.Comment)
        is_message = isinstance(event, Message | Thought)
        thread = self._thread(event, meta)
        released = [] if is_comment else self._steps.enter(thread, meta.step)
        base = told.make(
            thread=thread,
            at=self._at(told),
            key=meta.id if is_message else None,
            follows=meta.parent if is_message else None,
            settings=Settings(model=meta.model or self.model),
            **self._begun.get(thread or "", {}),
        )
        before = self._tokens.tell() + released if released else []
        if not isinstance(event, lifecycle.Lifecycle):
            bare = msgspec.structs.replace(base, key=None, follows=None)
            before += self._tokens.take(told.meta, meta.id if is_message else None, bare, meta.model or self.model)
        entries = self._entries(told, meta, base)
        # A reply without words belongs to what the agent said last: it must come before anyone else speaks.
        spoken = (index for index, entry in enumerate(entries) if entry.turn and entry.turn.role is Role.USER)
        first = next(spoken, None)
        if first is not None and first > 0 and meta.step is not None:
            self._steps.hold(entries[first:])
            entries = entries[:first]
        elif first is not None:
            entries = entries[:first] + self._tokens.tell() + entries[first:]
        if isinstance(event, comments.Metrics):
            waiting = self._steps.release()
            entries += self._tokens.tell() + waiting if waiting else []
        self.hear(entries)
        return before + entries

    def hear(self, entries: Iterable[Entry]) -> None:
        """Take note of what was told: who spoke last."""
        self._steps.heard(entries)

    def end(self) -> list[Entry]:
        """The usage of the last message, and results that waited for it."""
        return self._tokens.tell() + self._steps.release()

    def _thread(self, event: Event, meta: Meta) -> str | None:
        """Whose line it is. The one that starts or ends a sub-agent has its thread, but is its caller's."""
        if isinstance(event, comments.Metrics):
            return self._steps.thread_of(event.step)
        if not isinstance(event, calls.Subagent):
            return None if meta.tid == _MAIN else meta.tid
        if meta.span is not None and meta.tid != _MAIN:
            self._spans[meta.span] = meta.tid
        return self._spans.get(meta.parent or "")

    def _at(self, told: Told) -> int | None:
        at = instant(told.meta.get("ts"))
        if isinstance(told.event, comments.Elapsed) and told.event.seconds is not None:
            self._elapsed = told.event.seconds
        if self._start is None:
            self._start = at
        if at is None and self._start is not None and self._elapsed is not None:
            return self._start + self._elapsed * _NANOSECONDS
        return at

    def _entries(self, told: Told, meta: Meta, base: Entry) -> list[Entry]:
        event = told.event
        if isinstance(event, Unparsed):
            is_blank = event.kind is Kind.BLANK
            return [] if is_blank else [msgspec.structs.replace(base, mark="note", text=event.text)]
        if isinstance(event, Message):
            return self._message(told, event, base)
        if isinstance(event, Thought):
            part = Thinking(event.text, meta.sig, spans=told.place(event.text))
            return [_turn(base, Role.ASSISTANT, part)]
        if isinstance(event, lifecycle.Lifecycle):
            return [self._lifecycle(event, base)]
        if isinstance(event, comments.Metrics):
            reply = self._measured(event, event.step)
            if reply is not None and reply.usage is not None and not self._steps.has_spoken(base.thread):
                # A response that brought no words, or that was answered before this was written.
                reply = msgspec.structs.replace(reply, response_id=told.name)
            settings = base.settings if reply is None else Settings(model=reply.model)
            return [msgspec.structs.replace(base, reply=reply, settings=settings)]
        if isinstance(event, comments.Comment):
            return [self._comment(event, base)]
        if isinstance(event, calls.Mode):
            data = {"is_alone": True} if event.afk else {}
            return [msgspec.structs.replace(base, mark="mode", text=event.name, data=data)]
        if isinstance(event, calls.Plan):
            plan: dict[str, Any] = {"action": event.action, **_given(event.arguments)}
            return [msgspec.structs.replace(base, mark="note", text="plan", data=plan)]
        return self._call(told, meta, base)

    def _message(self, told: Told, event: Message, base: Entry) -> list[Entry]:
        role = Role.USER if event.role == "user" else Role.ASSISTANT
        part = Text(event.text, told.place(event.text))
        reply = self._measured(event.metrics, Meta(told.meta).step) if event.metrics is not None else None
        return [_turn(msgspec.structs.replace(base, reply=reply), role, part)]

    def _measured(self, metrics: comments.Metrics, step: int | None) -> Reply | None:
        """What a step used; nothing if that was said before, or belongs to what its lines say."""
        reply = measured(metrics, self.model, is_priced=self.is_priced)
        if reply.usage is None:
            return self._tokens.cost(reply)
        self._tokens.forget()
        return None if self._steps.is_repeat(step, reply) else reply

    def _call(self, told: Told, meta: Meta, base: Entry) -> list[Entry]:
        event = told.event
        result: Result | None = getattr(event, "result", None)
        if result is not None and result.kind is ResultKind.SKIP and result.detail == NOT_RECORDED:
            return []
        is_open = result is None or result.is_open
        call_id = meta.id or told.name
        if isinstance(event, calls.Observation) and event.partial is not None:
            return [msgspec.structs.replace(base, mark="note", text=event.partial, data={"call": call_id})]
        if isinstance(event, calls.ToolCall) and event.stage == "progress":
            text = "" if result is None else result.text
            return [msgspec.structs.replace(base, mark="note", text=text, data={"call": call_id})]
        entries: list[Entry] = []
        named = _named(event, meta)
        is_answer = isinstance(event, calls.Question) and event.text is None
        if named is not None and call_id not in self._running and not is_answer:
            name, arguments = named
            entries.append(_turn(base, Role.ASSISTANT, ToolCall(name, call_id, arguments)))
            if is_open:
                self._running.add(call_id)
        elif is_open:
            text = "" if result is None else result.text
            entries.append(msgspec.structs.replace(base, mark="note", text=text, data={"call": call_id}))
        if result is not None and not is_open:
            self._running.discard(call_id)
            start = min(max(told.behind, base.evidence.start), base.evidence.end)
            place = msgspec.structs.replace(base.evidence, start=start)
            answered = msgspec.structs.replace(base, evidence=place)
            if entries and base.at is not None and meta.latency_ms is not None:
                answered = msgspec.structs.replace(answered, at=base.at + meta.latency_ms * _MILLISECONDS)
            entries.append(_turn(answered, Role.USER, _result(result, call_id, meta, told)))
        if isinstance(event, calls.Subagent):
            begun = {"parent_thread": base.thread, "call_id": call_id, "kind": event.agent_type}
            if meta.tid != _MAIN:
                self._begun[meta.tid] = begun
            if event.session_id:
                entries.append(msgspec.structs.replace(base, thread=event.session_id, **begun))
        return entries

    def _lifecycle(self, event: lifecycle.Lifecycle, base: Entry) -> Entry:
        given = _given(event.arguments)
        primitive = event.primitive
        if isinstance(primitive, lifecycle.Compact):
            data = {key: item for key, item in msgspec.structs.asdict(primitive).items() if item is not None}
            return msgspec.structs.replace(base, mark="compact", text=primitive.reason or "", data=data)
        if isinstance(primitive, lifecycle.Init) and primitive.model:
            self.model = primitive.model
            return msgspec.structs.replace(base, about={"model": primitive.model})
        if isinstance(primitive, lifecycle.Phase):
            return msgspec.structs.replace(base, mark="mode", text=primitive.name, data={"of": "phase", **given})
        mark = "snapshot" if isinstance(primitive, lifecycle.Snapshot) else "note"
        outcome = {"result": event.result.text} if event.result is not None else {}
        return msgspec.structs.replace(base, mark=mark, text=event.name, data={**given, **outcome})

    def _comment(self, event: comments.Comment, base: Entry) -> Entry:
        put = msgspec.structs.replace
        match event:
            case comments.Elapsed():
                return base
            case comments.ModelSwitch(model, reason):
                self.model = model
                return put(base, mark="model", text=model, data={"reason": reason} if reason else {})
            case comments.QueueOperation(action, message):
                return put(base, mark="queue", text=message or "", data={"operation": action})
            case comments.FileSnapshot(message_id, files):
                return put(base, mark="snapshot", data={"message": message_id, "files": files})
            case comments.RawEvent(source, text):
                value = event.value
                whole = isinstance(value, dict)
                return put(base, mark="note", text=source if whole else text, data=value if whole else {})
            case comments.Remark(text) | comments.Note(text) | comments.Status(text):
                return put(base, mark="note", text=text)
            case _:
                data = {key: item for key, item in msgspec.to_builtins(event).items() if item not in (None, {})}
                return put(base, mark="note", text=type(event).__name__.lower(), data=data)


def _turn(base: Entry, role: Role, part: Part) -> Entry:
    evidence = base.evidence
    turn = Turn(role, (part,), evidence.start, evidence.end, base.key)
    # What a tool gave back was said by no model.
    settings = Settings() if role is Role.USER else base.settings
    return msgspec.structs.replace(base, turn=turn, settings=settings)


def _given(arguments: calls.Arguments) -> dict[str, Any]:
    """Arguments by their names; those without one are a list."""
    given: dict[str, Any] = {"_": [_plain(value) for value in arguments.positional]} if arguments.positional else {}
    return {**given, **{key: _plain(value) for key, value in arguments.keyword.items()}}


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else list(value)


def _named(event: Event, meta: Meta) -> tuple[str, dict[str, Any]] | None:
    """The tool that a line stands for, and what it is given; nothing if the line is only an answer."""
    match event:
        case calls.ToolCall(name, arguments):
            return name, _given(arguments)
        case calls.McpCall(server, method, arguments):
            return f"mcp__{server}__{method}", _given(arguments)
        case calls.Subagent(agent_type, task, arguments):
            rest = {key: _plain(value) for key, value in arguments.keyword.items()}
            return "Task", {"subagent_type": agent_type, **({"prompt": task} if task else {}), **rest}
        case calls.Skill(name, _, arguments):
            return "Skill", {"skill": name, **_given(arguments)}
        case calls.Recall(queries, arguments):
            rest = {key: _plain(value) for key, value in arguments.keyword.items()}
            server, method = meta.mcp
            name = f"mcp__{server}__{method}" if server and method else "memory_search"
            return name, {"query": " ".join(queries), **rest}
        case calls.Question(text, options, multi):
            asked = {
                "question": text or "",
                "options": [{"label": option} for option in options],
                "multiSelect": multi,
            }
            return "AskUserQuestion", {"questions": [asked]}
        case Todos(items):
            return "TodoWrite", {"todos": [{"content": item.text, "status": item.status} for item in items]}
        case _:
            return None


def _result(result: Result, call_id: str, meta: Meta, told: Told) -> ToolResult:
    text = result.detail if result.kind in _MARKED else "" if result.blob is not None else result.text
    if isinstance(told.event, calls.Subagent) and told.event.session_id and told.event.summary is not None:
        text = told.event.summary
    error = _ERRORS.get(result.kind, False)
    found: details.Details = {}
    code = details.exit_code(text)
    if code is not None and error:
        found["exit_code"] = code
    if meta.latency_ms is not None:
        found["duration_ms"] = meta.latency_ms
    if meta.interrupted:
        found["is_interrupted"] = True
    blob = result.blob
    media = (Media("blob", blob.mime, blob.bytes, blob.sha256),) if blob is not None else ()
    return ToolResult(call_id, text, error, media=media, details=found, spans=told.place(text))
