"""A call as an event of a log, by what its tool is for."""

from collections.abc import Mapping, Sequence
from typing import Any

from blackbird.canon.model import ToolCall
from blackbird.deeds import roles, todos
from blackbird.deeds.questions import Asked
from blackbird.deeds.roles import Role, Use
from blackbird.flightlog.entries.line import name_of, server_of
from blackbox.events import calls
from blackbox.events.messages import Todo, Todos
from blackbox.events.rewrite import Call as CallEvent
from blackbox.events.rewrite import with_result
from blackbox.syntax.results import Result
from blackbox.write import results, scalars, spelling
from blackbox.write.scalars import MetaFields


def event_of(call: ToolCall, role: Role, result: Result | None) -> CallEvent:
    """The call with its result, or with none yet. Todos, questions and plan mode have lines of their own kind."""
    given = call.arguments or {}
    match role.use:
        case Use.MCP:
            return calls.McpCall(server_of(role.server), name_of(role.method, "call"), arguments_of(call), result)
        case Use.SKILL:
            return _skill(call, given, result)
        case Use.RECALL:
            return _recall(call, given, result)
        case Use.SUBAGENT:
            return _subagent(call, given, result)
        case _:
            return calls.ToolCall(name_of(call.name, "tool"), arguments_of(call), result)


def asked_of(role: Role) -> MetaFields:
    """The server that a recall asked, which its line has no other place for."""
    if role.use is not Use.RECALL or not role.method:
        return {}
    return {"extra": {"mcp": f"{server_of(role.server)}.{name_of(role.method, 'call')}"}}


def begun(event: CallEvent) -> CallEvent:
    """The call whose result comes later."""
    if isinstance(event, calls.ToolCall):
        return calls.ToolCall(event.name, event.arguments, results.running(), "start")
    waiting = results.started() if isinstance(event, calls.Subagent) else results.running()
    return with_result(event, event.arguments, waiting)


def ended(event: CallEvent, result: Result) -> CallEvent:
    """The call as it is now that its result is known."""
    return with_result(event, event.arguments, result)


def arguments_of(call: ToolCall, without: Sequence[str] = ()) -> calls.Arguments:
    """What a tool was given; what is no JSON object stands as it was written."""
    if call.arguments is None:
        return scalars.arguments((call.raw,) if call.raw else (), {})
    more = {key or "_": value for key, value in call.arguments.items() if key not in without}
    return scalars.arguments((), {}, more)


def todos_of(call: ToolCall) -> Todos | None:
    """The list that a todo tool was given; None if it has another form."""
    tasks = todos.tasks_of(call)
    return spelling.todos_of([Todo(task.state, task.text) for task in tasks]) if tasks else None


def question_event(asked: Asked) -> calls.Question:
    """A question that waits for its answer."""
    keyword = {"options": asked.options or None, "multi": asked.several or None}
    return calls.build_question(scalars.arguments((asked.text,), keyword), results.pending())


def plan_of(call: ToolCall) -> str | None:
    """The plan that is to be approved."""
    return roles.first_text(call.arguments or {}, roles.keys_of(Use.PLAN_EXIT).texts)


def _skill(call: ToolCall, given: Mapping[str, Any], result: Result | None) -> calls.Skill:
    keys = roles.keys_of(Use.SKILL).texts
    used = next((key for key in keys if isinstance(given.get(key), str) and given[key]), None)
    rest = arguments_of(call, () if used is None else (used,))
    name = name_of(given[used] if used is not None else None, "skill")
    return calls.build_skill(name, calls.Arguments(("activate", *rest.positional), rest.keyword), result)


def _recall(call: ToolCall, given: Mapping[str, Any], result: Result | None) -> calls.Recall:
    keys = roles.keys_of(Use.RECALL).texts
    used = next((key for key in keys if given.get(key)), None)
    asked = given[used] if used is not None else ()
    queries = tuple(scalars.text_of(one) for one in (asked if isinstance(asked, list | tuple) else [asked]))
    rest = arguments_of(call, () if used is None else (used,))
    return calls.build_recall(calls.Arguments((*queries, *rest.positional), rest.keyword), result)


def _subagent(call: ToolCall, given: Mapping[str, Any], result: Result | None) -> calls.Subagent:
    keys = roles.keys_of(Use.SUBAGENT)
    kind = next((key for key in keys.kinds if isinstance(given.get(key), str) and given[key]), None)
    task = next((key for key in keys.texts if isinstance(given.get(key), str) and given[key]), None)
    rest = arguments_of(call, tuple(key for key in (kind, task) if key is not None))
    words = (given[task],) if task is not None else ()
    name = name_of(given[kind] if kind is not None else call.name, "agent").lower()
    return calls.build_subagent(name, calls.Arguments((*words, *rest.positional), rest.keyword), result)
