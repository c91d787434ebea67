"""Typed events to the lines of a log: the inverse of `document.Line.event`, for logs with `escape: 1`."""

from collections.abc import Mapping
from typing import NamedTuple, assert_never

from blackbox.errors import UsageError
from blackbox.events.build import Event, Unparsed
from blackbox.events.calls import (
    Arguments,
    McpCall,
    Mode,
    Observation,
    Plan,
    Question,
    Recall,
    Skill,
    Subagent,
    ToolCall,
)
from blackbox.events.comments import Comment, Metrics
from blackbox.events.lifecycle import Lifecycle
from blackbox.events.messages import Message, Thinking, Todos
from blackbox.syntax.kinds import PREFIXES, Kind
from blackbox.syntax.results import Result
from blackbox.write import scalars, spelling
from blackbox.write.remarks import spell_comment, spell_metrics
from blackbox.write.results import spell_result
from blackbox.write.todos import spell_todos

_ROLES = {"user": Kind.USER, "agent": Kind.AGENT}
_STAGES = {"call": Kind.TOOL, "start": Kind.TOOL_START, "progress": Kind.TOOL_PROGRESS}
#: Primitives whose words are a sentence rather than arguments.
_SPOKEN = frozenset({"notify", "escalate", "snapshot"})


class _Call(NamedTuple):
    """What a call line is written from. `quote` asks for quotes around its positional words."""

    head: str
    arguments: Arguments
    result: Result | None
    quote: bool = False
    is_commented: bool = False
    comment: str | None = None


def render_event(event: Event, meta: Mapping[str, str] | None = None) -> str:
    """The entry that reads as `event` with the metadata `meta`: physical lines joined by line feeds."""
    meta = meta or {}
    scalars.check_meta(meta)
    match event:
        case Message() | Thinking() | Todos():
            return "\n".join(_prose(event, meta))
        case ToolCall() | McpCall() | Observation() | Skill() | Plan() | Recall() | Subagent() | Mode() | Question():
            return "\n".join(_call_lines(_call(event), meta))
        case Lifecycle():
            return "\n".join(_call_lines(_lifecycle(event), meta))
        case Unparsed():
            raise UsageError("a line that says nothing cannot be written as an event", "use `comment`")
        case _:
            return "\n".join(_comment(event, meta))


def _prose(event: Message | Thinking | Todos, meta: Mapping[str, str]) -> list[str]:
    metrics: Metrics | None = None
    match event:
        case Message(role, text, metrics):
            if role not in _ROLES:
                raise UsageError(f"role {role!r} is neither user nor agent", "use role 'user' or 'agent'")
            kind = _ROLES[role]
            source = "\n".join(spelling.block(text))
        case Thinking(text):
            kind, source = Kind.THINKING, "\n".join(spelling.block(text))
        case Todos():
            kind, source = Kind.TODOS, spell_todos(event)
        case _:
            assert_never(event)
    first, *rest = source.split("\n")
    first = spelling.guard_run(spelling.keep_start(first))
    if kind is Kind.AGENT:
        first = spelling.guard_metrics(first)
    leading, trailing = spelling.meta_words(meta)
    words = [PREFIXES[kind], first, *leading, *trailing]
    measured = spell_metrics(metrics, is_inline=True) if metrics is not None else []
    if measured:
        words += ["# metrics", *measured]
    return [" ".join(words), *(spelling.CONTINUATION + line for line in rest)]


def _call(
    event: ToolCall | McpCall | Observation | Skill | Plan | Recall | Subagent | Mode | Question,
) -> _Call:
    match event:
        case ToolCall(tool, arguments, result, stage):
            if stage not in _STAGES:
                raise UsageError(f"stage {stage!r} is no stage of a tool", f"use one of {', '.join(_STAGES)}")
            head = PREFIXES[_STAGES[stage]] + scalars.name("tool", tool)
            return _Call(head, arguments, result, quote=stage == "progress")
        case McpCall(server, method, arguments, result):
            if "." in server:
                raise UsageError(f"server {server!r} holds a dot", "the server ends at the first dot: rename it")
            target = scalars.name("server", server)
            target += f".{scalars.name('method', method)}" if method else ""
            return _Call(f"c:{target}", arguments, result)
        case Observation(_, arguments, result):
            return _Call("o:", arguments, result)
        case Skill(skill, _, arguments, result):
            return _Call(f"s:{scalars.name('skill', skill)}", arguments, result)
        case Plan(action, _, _, arguments, result):
            return _Call(f"p:{scalars.name('action', action)}", arguments, result, quote=True)
        case Recall(_, arguments, result):
            return _Call("r:", arguments, result, quote=True)
        case Subagent(agent_type, _, arguments, result):
            return _Call(f"x:{scalars.name('agent_type', agent_type)}", arguments, result, quote=True)
        case Mode(mode, _, arguments, comment):
            return _Call(f"m:{scalars.name('mode', mode)}", arguments, None, is_commented=True, comment=comment)
        case Question(_, _, _, arguments, result):
            return _Call("q:", arguments, result, quote=True)
        case _:
            assert_never(event)


def _lifecycle(event: Lifecycle) -> _Call:
    quote = event.name in _SPOKEN
    head = f"@{scalars.primitive(event.name)}"
    return _Call(head, event.arguments, event.result, quote, is_commented=True, comment=event.comment)


def _call_lines(call: _Call, meta: Mapping[str, str]) -> list[str]:
    leading, trailing = spelling.meta_words(meta)
    words = [call.head, *leading, *spelling.arguments(call.arguments, quote=call.quote), *trailing]
    below: list[str] = []
    if call.result is not None:
        first, below = spell_result(call.result, is_commented=call.is_commented, has_comment=call.comment is not None)
        words += ["→", first] if first else ["→"]
    if call.comment is not None:
        words.append("#")
        if call.comment:
            words.append(_comment_text(call.comment))
    return [" ".join(words), *(spelling.CONTINUATION + line for line in below)]


def _comment_text(comment: str) -> str:
    """A trailing comment has the rest of its one line."""
    lines = spelling.block(comment)
    return spelling.keep_start("\\n".join("" if line == spelling.EMPTY else line for line in lines))


def _comment(comment: Comment, meta: Mapping[str, str]) -> list[str]:
    if meta:
        raise UsageError(f"a comment carries no metadata, but {', '.join(meta)} was given", "leave it out")
    return spell_comment(comment)
