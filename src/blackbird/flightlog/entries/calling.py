"""The calls of a session while they are written: what is open, what is held, and how each one ends."""

from collections.abc import Iterator

import msgspec

from blackbird.canon.model import Call, Result, ToolCall
from blackbird.deeds.questions import Asked, questions_of
from blackbird.deeds.results import is_error
from blackbird.deeds.roles import Role, Use
from blackbird.flightlog.entries import agents, answers, calls, choices, marks
from blackbird.flightlog.entries.line import Line
from blackbird.flightlog.entries.marks import Modes
from blackbird.flightlog.moments import lapse_ms
from blackbox.events import calls as lines
from blackbox.events.build import Event
from blackbox.events.rewrite import Call as CallEvent
from blackbox.syntax.results import NOT_RECORDED
from blackbox.syntax.results import Result as Outcome
from blackbox.write import results, scalars
from blackbox.write.scalars import MetaFields

_SUPERSEDED = "a later attempt took its place"


class OpenCall(msgspec.Struct):
    """A call, its id in the log, and what the log has of it."""

    call_id: str
    id: str
    thread: str
    at: int | None
    use: Use
    event: CallEvent
    call: ToolCall
    asked: list[Asked] = []
    is_open: bool = True
    #: It was made in an earlier session.
    is_inherited: bool = False

    @property
    def is_subagent(self) -> bool:
        """Whether it begins a sub-agent."""
        return self.use is Use.SUBAGENT

    @property
    def stopped(self) -> MetaFields:
        """What the metadata says of an end without a result."""
        return {"id": self.id, "interrupted": True}

    @property
    def is_held(self) -> bool:
        """Whether its line waits for what follows."""
        return self.use in (Use.TOOL, Use.MCP, Use.SKILL, Use.RECALL, Use.SUBAGENT)

    def opening(self, modes: Modes) -> list[tuple[Event, MetaFields]]:
        """The lines of a call that is more than a call: todos, questions, plan mode."""
        match self.use:
            case Use.TODO:
                self.is_open = False
                todos = calls.todos_of(self.call)
                return [] if todos is None else [(todos, {"id": self.id})]
            case Use.QUESTION:
                numbered = enumerate(self.asked, 1)
                return [(calls.question_event(asked), {"id": self.question_id(at)}) for at, asked in numbered]
            case Use.PLAN_ENTER:
                self.is_open = False
                return [(event, {}) for event in modes.enter(marks.PLAN) or [marks.phase("explore")]]
            case Use.PLAN_EXIT:
                plan = calls.plan_of(self.call)
                words = scalars.arguments(() if plan is None else (plan,), {})
                proposed = lines.build_plan("create", words, results.pending())
                before = [(event, MetaFields()) for event in [*modes.enter(marks.PLAN), marks.phase("final")]]
                return [*before, (proposed, {"id": self.id})]
            case _:
                return []

    def outcome(self, item: Result) -> Outcome:
        """The result as the line of the call has it."""
        if self.is_subagent and not is_error(item.result):
            return agents.report(answers.text_of(item.result))
        return answers.result_of(item.result)

    def closing(self, item: Result) -> MetaFields:
        """What the metadata says of the result: how long it took, its exit code, whether it was stopped."""
        meta = answers.meta_of(item.result)
        took = lapse_ms(self.at, item.at)
        if took is not None:
            meta["latency_ms"] = took
        return meta

    def ending(self, item: Result, modes: Modes) -> Iterator[tuple[Event, MetaFields]]:
        """The lines with which the call ends, away from where it began."""
        was_open, self.is_open = self.is_open, False
        meta = self.closing(item)
        failed = is_error(item.result)
        match self.use:
            case Use.TODO | Use.PLAN_ENTER:
                if failed:
                    yield calls.ended(self.event, self.outcome(item)), {**meta, "id": self.id}
            case Use.QUESTION:
                for number, asked in enumerate(self.asked, 1):
                    answer = choices.answer_of(asked, item.result, is_only=len(self.asked) == 1)
                    yield lines.build_question(lines.Arguments(), answer), {**meta, "id": self.question_id(number)}
            case Use.PLAN_EXIT if was_open:
                said = self.outcome(item) if failed else results.ok()
                yield lines.build_plan("create", lines.Arguments(), said), {**meta, "id": self.id}
                for event in modes.leave(approved=not failed):
                    yield event, {}
            case _:
                yield lines.build_observation(lines.Arguments(), self.outcome(item)), {**meta, "id": self.id}

    def question_id(self, number: int) -> str:
        """The id of one of its questions."""
        return self.id if len(self.asked) == 1 else f"{self.id}.{number}"

    def missing(self) -> Event:
        """The end of a call that nothing came back from."""
        if self.use is Use.PLAN_EXIT:
            return lines.build_plan("create", lines.Arguments(), results.skip(NOT_RECORDED))
        return lines.build_observation(lines.Arguments(), results.skip(NOT_RECORDED))

    def superseded(self) -> Event:
        """The end of a call of an attempt that was given up."""
        return lines.build_observation(lines.Arguments(), results.skip(_SUPERSEDED))


class Calling:
    """All calls by their ids. At most one is held: the last, until what follows it is known."""

    def __init__(self) -> None:
        self._calls: dict[str, OpenCall] = {}
        self._by_item: dict[str, OpenCall] = {}
        self._unanswered: list[OpenCall] = []
        self._ids: set[str] = set()
        self._names: dict[str, str] = {}
        self._held: tuple[OpenCall, MetaFields, list[Line]] | None = None

    def begin(self, item: Call, role: Role, kind: str | None = None) -> OpenCall:
        """A call that was made; `kind` is that of the sub-agent it began, if it is known."""
        role, asked = _settled(item.call, role)
        event = calls.event_of(item.call, role, None)
        if kind is not None and isinstance(event, lines.Subagent):
            event = lines.build_subagent(kind, event.arguments, None)
        name = self._free(item.call_id or item.id)
        call = OpenCall(item.call_id, name, item.thread, item.at, role.use, event, item.call, asked)
        call.is_inherited = item.is_inherited
        self._add(call, item.id)
        return call

    def unknown(self, item: Result) -> OpenCall:
        """The call of a result that nobody saw being made."""
        made = ToolCall(item.result.name or "unknown", item.call_id, {})
        name = self._free(item.call_id or item.id)
        event = calls.event_of(made, Role(Use.TOOL), None)
        call = OpenCall(item.call_id, name, item.thread, None, Use.TOOL, event, made, is_open=False)
        self._add(call, item.id)
        return call

    def answered(self, item: Result) -> OpenCall | None:
        """The call that a result belongs to."""
        call = self._calls.get(item.call_id)
        if call is not None:
            self._names[item.id] = call.id
        return call

    def said(self, item: str) -> None:
        """A message has a line with its id."""
        self._names[item] = item

    def by_item(self, item: str) -> OpenCall | None:
        """The call that an item made."""
        return self._by_item.get(item)

    def rename(self, item: str, call_id: str) -> None:
        """Its id turned out to be another one; the log keeps the one that it has."""
        call = self._by_item.get(item)
        if call is not None:
            self._calls[call_id] = call

    def name_of(self, item: str) -> str | None:
        """What the log calls an item: a call and its result by the call's id, a message by its own, others not."""
        return self._names.get(item)

    def hold(self, call: OpenCall, meta: MetaFields) -> None:
        """Wait with the line of a call."""
        self._held = (call, meta, [])

    def is_held(self, call: OpenCall) -> bool:
        """Whether the line of this call waits."""
        return self._held is not None and self._held[0] is call

    def behind(self, more: list[Line]) -> bool:
        """Lines to come right behind the one that is held; False if none is."""
        if self._held is None:
            return False
        self._held[2].extend(more)
        return True

    def release(self) -> tuple[OpenCall, MetaFields, list[Line]] | None:
        """The call that was held, its metadata, and what comes behind it."""
        held, self._held = self._held, None
        return held

    @property
    def still_open(self) -> list[OpenCall]:
        """Calls that nothing came back from; those of sub-agents and questions are closed elsewhere, or never."""
        self._unanswered = [call for call in self._unanswered if call.is_open]
        return [call for call in self._unanswered if call.use not in (Use.SUBAGENT, Use.QUESTION)]

    def _free(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._ids:
            number += 1
            name = f"{wanted}~{number}"
        self._ids.add(name)
        return name

    def _add(self, call: OpenCall, item: str) -> None:
        self._calls[call.call_id] = self._by_item[item] = call
        self._names[item] = call.id
        if call.is_open:
            self._unanswered.append(call)


def _settled(call: ToolCall, role: Role) -> tuple[Role, list[Asked]]:
    """The use of a call by what it was given: a todo list or a question that is none is a tool's."""
    if role.use in (Use.TODO_ADD, Use.TODO_CHANGE):
        return Role(Use.TOOL), []
    asked = questions_of(call) if role.use is Use.QUESTION else []
    if role.use is Use.QUESTION and not asked:
        return Role(Use.TOOL), []
    if role.use is Use.TODO and calls.todos_of(call) is None:
        return Role(Use.TOOL), []
    return role, asked
