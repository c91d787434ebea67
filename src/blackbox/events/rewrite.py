"""The same event with every text in it mapped: what redaction needs, and whatever else rewrites what was said."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from blackbox.events import calls, comments, lifecycle, messages
from blackbox.events.build import Event, Unparsed
from blackbox.syntax.escape import unescape
from blackbox.syntax.results import Result, ResultKind, parse_result
from blackbox.syntax.tokens import Value

#: A text in, what stands in its place out.
MapText = Callable[[str], str]
#: The same for a value whose key is known: `(key, value)` in.
MapPair = Callable[[str, str], str]

#: What clocks and counters write: never a text.
_COUNTED = re.compile(r"[0-9TZ:./-]{0,40}", re.ASCII)
_EXTRA = "extra."


class _Mapping(NamedTuple):
    text: MapText
    pair: MapPair


def map_texts(event: Event, text: MapText, pair: MapPair) -> Event:
    """`event` with every text in it mapped; what is derived from those texts is derived anew.

    Values with a key go through `pair`, everything else through `text`, lists item by item. Numbers, times, ids, the
    hashes of blobs, kinds and the names of tools, modes and agents stay. An event that does not change is returned as
    it is.
    """
    how = _Mapping(text, pair)
    match event:
        case messages.Message(role, said, metrics):
            mapped: Event = messages.Message(role, text(said), metrics and _metrics(metrics, how))
        case messages.Thinking(thought):
            mapped = messages.Thinking(text(thought))
        case messages.Todos(items, whole):
            mapped = messages.Todos(tuple(messages.Todo(item.status, text(item.text)) for item in items), text(whole))
        case lifecycle.Lifecycle():
            mapped = _lifecycle(event, how)
        case Unparsed(kind, source):
            mapped = Unparsed(kind, text(source))
        case calls.Mode(name, _, arguments, comment):
            given = _arguments(arguments, how)
            mapped = calls.build_mode(name, given, comment if comment is None else text(comment))
            mapped = event if (mapped.arguments, mapped.comment) == (arguments, comment) else mapped
        case (
            calls.ToolCall()
            | calls.McpCall()
            | calls.Observation()
            | calls.Skill()
            | calls.Plan()
            | calls.Recall()
            | calls.Subagent()
            | calls.Question()
        ):
            mapped = with_result(event, _arguments(event.arguments, how), _result(event.result, how))
        case _:
            mapped = _comment(event, how)
    return event if mapped == event else mapped


def map_meta(meta: Mapping[str, str], pair: MapPair) -> dict[str, str]:
    """Metadata with its values mapped; an `extra.` key is asked for by its own name, counts and times stay."""
    return {
        key: value if _COUNTED.fullmatch(value) else pair(key.removeprefix(_EXTRA), value)
        for key, value in meta.items()
    }


Call = (
    calls.ToolCall
    | calls.McpCall
    | calls.Observation
    | calls.Skill
    | calls.Plan
    | calls.Recall
    | calls.Subagent
    | calls.Question
)


def with_result(event: Call, arguments: calls.Arguments, result: Result | None) -> Call:
    """The same call with other arguments and another result; a call that has both already is returned as it is."""
    if (event.arguments, event.result) == (arguments, result):
        return event
    match event:
        case calls.ToolCall(name, _, _, stage):
            return calls.ToolCall(name, arguments, result, stage)
        case calls.McpCall(server, method):
            return calls.McpCall(server, method, arguments, result)
        case calls.Observation():
            return calls.build_observation(arguments, result)
        case calls.Skill(name):
            return calls.build_skill(name, arguments, result)
        case calls.Plan(action):
            return calls.build_plan(action, arguments, result)
        case calls.Recall():
            return calls.build_recall(arguments, result)
        case calls.Subagent(agent_type):
            return calls.build_subagent(agent_type, arguments, result)
        case calls.Question():
            return calls.build_question(arguments, result)


def _arguments(arguments: calls.Arguments, how: _Mapping) -> calls.Arguments:
    positional = tuple(
        how.text(value) if isinstance(value, str) else tuple(how.text(item) for item in value)
        for value in arguments.positional
    )
    return calls.Arguments(positional, {key: _pair(key, value, how) for key, value in arguments.keyword.items()})


def _pair(key: str, value: Value, how: _Mapping) -> Value:
    return how.pair(key, value) if isinstance(value, str) else tuple(how.pair(key, item) for item in value)


def _result(result: Result | None, how: _Mapping) -> Result | None:
    """A result whose text changed is read anew where that says the same; else its fields are mapped one by one.

    The spelling it came with is kept if mapping that gives the same text, since only it tells a quote of the text
    from one of the format. Otherwise the writer finds a new one.
    """
    if result is None or result.kind is ResultKind.BLOB:
        return result
    text = how.text(result.text)
    if text == result.text:
        return result
    source = how.text(result.raw) if result.raw else text
    read = parse_result(source, escaped=bool(result.raw))
    is_faithful = parse_result(result.raw or result.text, escaped=bool(result.raw)) == result
    if is_faithful and (unescape(source) if result.raw else source) == text and _says_the_same(read, result):
        return read
    return msgspec.structs.replace(
        result,
        text=text,
        detail=how.text(result.detail),
        choices=tuple(how.text(choice) for choice in result.choices),
        unit=result.unit and how.text(result.unit),
        reason=result.reason and how.text(result.reason),
        raw="",
    )


def _says_the_same(read: Result, result: Result) -> bool:
    return (read.kind, read.word, read.count, len(read.choices)) == (
        result.kind,
        result.word,
        result.count,
        len(result.choices),
    )


def _lifecycle(event: lifecycle.Lifecycle, how: _Mapping) -> lifecycle.Lifecycle:
    arguments, result = _arguments(event.arguments, how), _result(event.result, how)
    comment = None if event.comment is None else how.text(event.comment)
    meta = map_meta(_meta_of(event.primitive), how.pair)
    primitive = event.primitive
    if (arguments, result, meta) != (event.arguments, event.result, _meta_of(primitive)):
        primitive = lifecycle.build_primitive(event.name, arguments, meta, result)
    return lifecycle.Lifecycle(event.name, primitive, arguments, result, comment)


def _meta_of(primitive: lifecycle.Primitive) -> dict[str, str]:
    """The metadata that the primitive took its fields from."""
    match primitive:
        case lifecycle.Start(id=name) | lifecycle.Snapshot(id=name):
            taken: dict[str, str | int | None] = {"id": name}
        case lifecycle.Init(model):
            taken = {"model": model}
        case lifecycle.End(tokens_in=tokens_in, tokens_out=tokens_out):
            taken = {"tokens_in": tokens_in, "tokens_out": tokens_out}
        case _:
            taken = {}
    return {key: str(value) for key, value in taken.items() if value is not None}


def _metrics(metrics: comments.Metrics, how: _Mapping) -> comments.Metrics:
    extra = {key: how.pair(key, value) for key, value in metrics.extra.items()}
    other = {key: how.pair(key, value) for key, value in metrics.other.items()}
    return msgspec.structs.replace(metrics, extra=extra, other=other)


def _comment(event: comments.Comment, how: _Mapping) -> comments.Comment:
    match event:
        case comments.Remark(text):
            return comments.Remark(how.text(text))
        case comments.Note(text):
            return comments.Note(how.text(text))
        case comments.Status(text):
            return comments.Status(how.text(text))
        case comments.RawEvent(source, json):
            return comments.RawEvent(source, how.text(json))
        case comments.Fields(values):
            return comments.Fields({key: _pair(key, value, how) for key, value in values.items()})
        case comments.Metrics():
            return _metrics(event, how)
        case comments.Totals(duration=duration, other=other):
            return msgspec.structs.replace(
                event,
                duration=duration and how.text(duration),
                other={key: how.pair(key, value) for key, value in other.items()},
            )
        case _:
            return _remaining(event, how)


def _remaining(event: comments.Comment, how: _Mapping) -> comments.Comment:
    match event:
        case comments.ModelSwitch(model, reason):
            return comments.ModelSwitch(how.text(model), reason and how.text(reason))
        case comments.Condense(first, last, detail):
            return comments.Condense(first, last, detail and how.text(detail))
        case comments.Anchor(step, reason):
            return comments.Anchor(step, reason and how.text(reason))
        case comments.MemoryStore(store, target):
            return comments.MemoryStore(store and how.text(store), target and how.text(target))
        case comments.QueueOperation(action, message):
            return comments.QueueOperation(how.text(action), message and how.text(message))
        case _:
            # Elapsed time, a budget, the snapshot of a message: numbers and ids alone.
            return event
