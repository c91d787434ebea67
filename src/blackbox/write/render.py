"""Typed events to the lines of a log: the inverse of `document.Line.event`, for logs with `escape: 1`."""

import re
from collections.abc import Mapping
from typing import NamedTuple, assert_never

from blackbox.errors import UsageError
from blackbox.events import comments
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
from blackbox.events.comments import Comment, Metrics, parse_comment
from blackbox.events.lifecycle import Lifecycle
from blackbox.events.messages import Message, Thinking, Todos
from blackbox.syntax.kinds import PREFIXES, Kind
from blackbox.syntax.results import Blob, Result
from blackbox.write import scalars, spelling
from blackbox.write.results import spell_blob, spell_result

_ROLES = {"user": Kind.USER, "agent": Kind.AGENT}
_STAGES = {"call": Kind.TOOL, "start": Kind.TOOL_START, "progress": Kind.TOOL_PROGRESS}
#: Primitives whose words are a sentence rather than arguments.
_SPOKEN = frozenset({"notify", "escalate", "snapshot"})
_EXTRA_KEY = re.compile(r"[\w.\-]+")
_RESERVED = frozenset(
    {
        *("step", "prompt", "prompt_tokens", "completion", "completion_tokens", "cached", "cached_tokens"),
        *("cost", "cost_usd", "sha256", "bytes", "mime", "completion_token_ids", "prompt_token_ids", "logprobs"),
    }
)
#: Written without `_tokens` behind an agent's message.
_TOKEN_COUNTS = ("prompt_tokens", "completion_tokens", "cached_tokens")
_TOTAL_COUNTS = ("tokens", "tokens_in", "tokens_out", "tools", "skills", "mcp", "subagents", "plans")
_LABEL = re.compile(r"([a-z][a-z-]*):")
_FIRST_PAIR = re.compile(r"([A-Za-z_][\w.\-]*)=")


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
            if meta:
                raise UsageError(f"a comment carries no metadata, but {', '.join(meta)} was given", "leave it out")
            return "\n".join(_spell_comment(event))


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
            kind, source = Kind.TODOS, spelling.todos(event)
        case _:
            assert_never(event)
    first, *rest = source.split("\n")
    first = spelling.guard_run(spelling.keep_start(first))
    if kind is Kind.AGENT:
        first = spelling.guard_metrics(first)
    leading, trailing = spelling.meta_words(meta)
    words = [PREFIXES[kind], first, *leading, *trailing]
    measured = _spell_metrics(metrics, is_inline=True) if metrics is not None else []
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


def _spell_comment(comment: Comment) -> list[str]:
    """The physical lines of a comment, the continuation indent included."""
    first, *rest = _comment_lines(comment)
    source = "\n".join([first, *rest])
    if parse_comment(source, escaped=True) != comment:
        raise UsageError(
            f"this {type(comment).__name__} cannot be written so that it reads back the same",
            "check its fields: another comment of the format claims one of these keys or values",
        )
    return [f"# {first}".rstrip(" "), *(spelling.CONTINUATION + line for line in rest)]


def _spell_metrics(metrics: Metrics, *, is_inline: bool) -> list[str]:
    """The words behind `metrics`; an empty list when there is nothing to say."""
    words = [] if metrics.step is None else [f"step={scalars.whole('step', metrics.step)}"]
    for field in _TOKEN_COUNTS:
        number: int | None = getattr(metrics, field)
        if number is not None:
            key = field.removesuffix("_tokens") if is_inline else field
            words.append(f"{key}={scalars.whole(field, number)}")
    if metrics.cost_usd is not None:
        cost = scalars.money("cost_usd", metrics.cost_usd, sign="")
        words.append(f"{'cost' if is_inline else 'cost_usd'}={cost}")
    for key, value in metrics.other.items():
        if key in _RESERVED or key.startswith("extra.") or not spelling.PLAIN_KEY.fullmatch(key):
            raise UsageError(f"{key!r} cannot be a metric of its own", "use the field of that name, or `extra`")
        words.append(f"{key}={spelling.word(value)}")
    for key, value in metrics.extra.items():
        if not _EXTRA_KEY.fullmatch(key):
            raise UsageError(f"extra key {key!r} is no plain name", "use letters, digits, `_`, `.` and `-`")
        words.append(f"extra.{key}={spelling.word(value)}")
    for key in comments.METRIC_BLOBS:
        pointer: Blob | None = getattr(metrics, key)
        if pointer is not None:
            words.append(f"{key}={spell_blob(pointer)}")
    return words


def _comment_lines(comment: Comment) -> list[str]:
    match comment:
        case comments.Remark(text):
            return _remark(text)
        case comments.Note(text):
            return _labelled("notes:", text)
        case comments.Status(text):
            return _labelled("status:", text)
        case comments.RawEvent(source, json):
            return _labelled(f"{source}:", json)
        case _:
            return [_comment_line(comment)]


def _comment_line(comment: Comment) -> str:
    match comment:
        case comments.Elapsed(_, text):
            return f"t={scalars.clock('elapsed', text)}"
        case comments.Metrics():
            return " ".join(["metrics", *_spell_metrics(comment, is_inline=False)])
        case comments.Fields(values):
            return " ".join(spelling.pair(key, value) for key, value in values.items())
        case comments.Totals():
            return _totals(comment)
        case comments.Budget(total, remaining, tokens):
            words = [] if total is None else [scalars.money("total", total)]
            words += [] if remaining is None else [f"remaining={scalars.money('remaining', remaining)}"]
            words += [] if tokens is None else [f"tokens={scalars.whole('tokens', tokens)}"]
            return _words("budget:", *words)
        case _:
            return _pairs(comment)


def _pairs(comment: Comment) -> str:
    match comment:
        case comments.ModelSwitch(model, reason):
            return _words("model:", spelling.positional(model), reason=reason)
        case comments.Condense(first, last, detail):
            return _words("condense", f"range={first}-{last}", detail=detail)
        case comments.Anchor(step, reason):
            return _words("anchor", f"step={step}", reason=reason)
        case comments.MemoryStore(store, target):
            return _words("memory", store=store, target=target)
        case comments.FileSnapshot(message_id, files):
            count = None if files is None else scalars.whole("files", files)
            return _words("file-snapshot:", spelling.positional(message_id), files=count)
        case comments.QueueOperation(action, message):
            words = [] if message is None else [spelling.positional(message, quote=True)]
            return _words("queue:", spelling.positional(action), *words)
        case _:
            raise UsageError(f"{type(comment).__name__} is no comment", "use `note` or `comment`")


def _totals(totals: comments.Totals) -> str:
    words = []
    for key in _TOTAL_COUNTS:
        number: int | None = getattr(totals, key)
        if number is not None:
            words.append(f"{key}={scalars.whole(key, number)}")
    if totals.duration is not None:
        words.append(f"duration={spelling.value(totals.duration)}")
    if totals.cost is not None:
        words.append(f"cost={scalars.money('cost', totals.cost)}")
    words += [spelling.pair(key, value) for key, value in totals.other.items()]
    if totals.redactions is not None:
        words.append(f"redactions={scalars.whole('redactions', totals.redactions)}")
    return " ".join(words)


def _words(*words: str, **pairs: str | None) -> str:
    return " ".join([*words, *(spelling.pair(key, value) for key, value in pairs.items() if value is not None)])


def _labelled(label: str, text: str) -> list[str]:
    if not text:
        return [label]
    first, *rest = spelling.block_behind(text)
    return [f"{label} {first}", *rest]


def _remark(text: str) -> list[str]:
    if not text:
        return [""]
    first, *rest = spelling.block(text)
    lines = [spelling.keep_start(first), *rest]
    if parse_comment("\n".join(lines), escaped=True) == comments.Remark(text):
        return lines
    for pattern, mark in ((_LABEL, ":"), (_FIRST_PAIR, "=")):
        match = pattern.match(first)
        if match is not None:
            candidate = [f"{match[1]}\\{mark}{first[match.end() :]}", *rest]
            if parse_comment("\n".join(candidate), escaped=True) == comments.Remark(text):
                return candidate
    return [spelling.EMPTY + first, *rest]
