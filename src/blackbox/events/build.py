"""From the parts of a line to its event."""

from collections.abc import Callable, Sequence

import msgspec

from blackbox.events import calls, comments, lifecycle, messages
from blackbox.syntax.escape import unescape
from blackbox.syntax.kinds import Kind
from blackbox.syntax.parts import Parts
from blackbox.syntax.results import Result, parse_result


class Unparsed(msgspec.Struct, frozen=True):
    """A blank, unknown or stray indented line: kept, with nothing to say about it."""

    kind: Kind
    text: str


Event = (
    messages.Message
    | messages.Thinking
    | messages.Todos
    | calls.ToolCall
    | calls.McpCall
    | calls.Observation
    | calls.Skill
    | calls.Plan
    | calls.Recall
    | calls.Subagent
    | calls.Mode
    | calls.Question
    | lifecycle.Lifecycle
    | comments.Comment
    | Unparsed
)

_STAGES = {Kind.TOOL: "call", Kind.TOOL_START: "start", Kind.TOOL_PROGRESS: "progress"}


def build_event(parts: Parts, continuations: Sequence[str]) -> Event:
    """The event of one entry: its first physical line in parts, and the text of its continuation lines."""
    kind = parts.kind
    builder = _PROSE.get(kind)
    if builder is not None:
        return builder(parts, continuations)
    if kind in _STAGES:
        return calls.ToolCall(parts.name, _arguments(parts), _result(parts, continuations), _STAGES[kind])
    if kind in (Kind.LIFECYCLE, Kind.PHASE):
        return _lifecycle(parts, continuations)
    if kind is Kind.MODE:
        return calls.build_mode(parts.name, _arguments(parts), parts.comment)
    named = _NAMED.get(kind)
    if named is not None:
        return named(parts.name, _arguments(parts), _result(parts, continuations))
    unnamed = _UNNAMED.get(kind)
    if unnamed is not None:
        return unnamed(_arguments(parts), _result(parts, continuations))
    return Unparsed(kind, parts.source)


def join_text(first: str, continuations: Sequence[str], escaped: bool) -> str:
    """One text from a first line and its continuations; an empty first line leaves no empty line behind."""
    text = "\n".join((first, *continuations)) if first else "\n".join(continuations)
    return unescape(text) if escaped else text


def _arguments(parts: Parts) -> calls.Arguments:
    return calls.arguments_of(parts.arguments)


def _result(parts: Parts, continuations: Sequence[str]) -> Result | None:
    first = parts.result
    if first is None:
        # A block below a call without an arrow is its output all the same.
        return parse_result(join_text("", continuations, False), escaped=parts.escaped) if continuations else None
    return parse_result(join_text(first, continuations, False), escaped=parts.escaped)


def _user(parts: Parts, continuations: Sequence[str]) -> Event:
    return messages.Message("user", join_text(parts.text, continuations, parts.escaped))


def _agent(parts: Parts, continuations: Sequence[str]) -> Event:
    metrics = comments.parse_metrics(parts.metrics) if parts.metrics_start >= 0 else None
    return messages.Message("agent", join_text(parts.text, continuations, parts.escaped), metrics)


def _thinking(parts: Parts, continuations: Sequence[str]) -> Event:
    return messages.Thinking(join_text(parts.text, continuations, parts.escaped))


def _todos(parts: Parts, continuations: Sequence[str]) -> Event:
    return messages.parse_todos(join_text(parts.text, continuations, False), escaped=parts.escaped)


def _comment(parts: Parts, continuations: Sequence[str]) -> Event:
    return comments.parse_comment(join_text(parts.text, continuations, False), escaped=parts.escaped)


def _lifecycle(parts: Parts, continuations: Sequence[str]) -> Event:
    name = "phase" if parts.kind is Kind.PHASE else parts.name
    arguments = _arguments(parts)
    result = _result(parts, continuations)
    primitive = lifecycle.build_primitive(name, arguments, parts.raw_meta, result)
    return lifecycle.Lifecycle(name, primitive, arguments, result, parts.comment)


_Prose = Callable[[Parts, Sequence[str]], Event]
_Named = Callable[[str, calls.Arguments, Result | None], Event]
_Unnamed = Callable[[calls.Arguments, Result | None], Event]

_PROSE: dict[Kind, _Prose] = {
    Kind.USER: _user,
    Kind.AGENT: _agent,
    Kind.THINKING: _thinking,
    Kind.TODOS: _todos,
    Kind.COMMENT: _comment,
}
_NAMED: dict[Kind, _Named] = {
    Kind.MCP: calls.build_mcp,
    Kind.SKILL: calls.build_skill,
    Kind.PLAN: calls.build_plan,
    Kind.SUBAGENT: calls.build_subagent,
}
_UNNAMED: dict[Kind, _Unnamed] = {
    Kind.OBSERVATION: calls.build_observation,
    Kind.RECALL: calls.build_recall,
    Kind.QUESTION: calls.build_question,
}
