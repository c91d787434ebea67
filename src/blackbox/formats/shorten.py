"""What an .rlog shows of an event: the beginning of each long text, with `...` where it was cut."""

import re

import msgspec

from blackbox.events import calls, comments, lifecycle
from blackbox.events.build import Event
from blackbox.events.messages import Message, Thinking, Todo, Todos
from blackbox.events.rewrite import Call, with_result
from blackbox.formats import outcomes
from blackbox.formats.flight import Entry, Flight, Loss, Losses, plain
from blackbox.formats.logs import join_lines
from blackbox.syntax.results import Result, ResultKind, parse_result
from blackbox.write import spelling

MESSAGE, THINKING, OUTPUT = 200, 150, 100
MARK = "..."
#: A status and where the rest of it is kept: a pointer that is cut leads nowhere.
_POINTER = re.compile(r"\[[^\n]{0,200}\] @blob sha256=[0-9a-f]{6,64}(?: bytes=[0-9]{1,18})?(?: mime=[^\s\]]{1,200})?")


def cut(text: str, limit: int) -> str:
    """The first `limit` characters, and a mark if there are more."""
    return text if len(text) <= limit else text[:limit] + MARK


def shortened(flight: Flight) -> tuple[Flight, list[Loss]]:
    """A session as its .rlog shows it."""
    losses = Losses()
    entries = []
    for entry in flight.entries:
        event = shorten(entry)
        losses.add("cut-texts", count=plain(event) != plain(entry.event))
        entries.append(Entry(event, entry.meta))
    return Flight(flight.header, entries), losses.found


def shorten(entry: Entry) -> Event:
    """The event as the .rlog shows it; one with short texts alone is returned as it is."""
    event = entry.event
    match event:
        case Message(text=text):
            return msgspec.structs.replace(event, text=cut(text, MESSAGE))
        case Thinking(text):
            return Thinking(cut(text, THINKING))
        case Todos(items):
            short = tuple(Todo(item.status, cut(item.text, OUTPUT)) for item in items)
            return event if short == items else spelling.todos_of(short)
        case calls.Mode(name, _, arguments, comment):
            return calls.build_mode(
                name, _arguments(arguments, OUTPUT), None if comment is None else cut(comment, MESSAGE)
            )
        case lifecycle.Lifecycle():
            return _lifecycle(event, entry.meta)
        case comments.Remark(text) | comments.Note(text) | comments.Status(text):
            return event if len(text) <= MESSAGE else type(event)(cut(text, MESSAGE))
        case comments.RawEvent(source, json):
            return comments.RawEvent(source, cut(json, MESSAGE))
        case _:
            return _call(event) if isinstance(event, Call) else event


def _call(event: Call) -> Event:
    is_tool = isinstance(event, calls.ToolCall | calls.McpCall | calls.Observation)
    arguments = _arguments(event.arguments, OUTPUT if is_tool else MESSAGE)
    if isinstance(event, calls.Subagent) and event.summary is not None and event.result is not None:
        return with_result(event, arguments, _reference(event.result))
    limit = MESSAGE if isinstance(event, calls.Question) else OUTPUT
    return with_result(event, arguments, None if event.result is None else _result(event.result, limit))


def _lifecycle(event: lifecycle.Lifecycle, meta: dict[str, str]) -> Event:
    arguments = _arguments(event.arguments, MESSAGE)
    result = None if event.result is None else _result(event.result, MESSAGE)
    comment = None if event.comment is None else cut(event.comment, MESSAGE)
    if (arguments, result, comment) == (event.arguments, event.result, event.comment):
        return event
    primitive = lifecycle.build_primitive(event.name, arguments, meta, result)
    return lifecycle.Lifecycle(event.name, primitive, arguments, result, comment)


def _arguments(arguments: calls.Arguments, limit: int) -> calls.Arguments:
    positional = tuple(
        cut(value, limit) if isinstance(value, str) else tuple(cut(item, OUTPUT) for item in value)
        for value in arguments.positional
    )
    keyword = {
        key: cut(value, OUTPUT) if isinstance(value, str) else tuple(cut(item, OUTPUT) for item in value)
        for key, value in arguments.keyword.items()
    }
    return calls.Arguments(positional, keyword)


def _result(result: Result, limit: int) -> Result:
    if len(result.text) <= limit or _POINTER.fullmatch(result.text):
        return join_lines(result)
    frame, content = outcomes.split(outcomes.encode(result))
    if frame == "raw":
        # Its spelling cannot be cut anywhere, its text can.
        is_text = result.kind is ResultKind.TEXT
        frame, content = ("text", result.text) if is_text else (result.word or "text", result.detail)
    return join_lines(outcomes.decode(outcomes.join(frame, cut(content, limit))))


def _reference(result: Result) -> Result:
    """A sub-agent's result with each field cut for itself, so that a cut summary is still one."""
    mark = f"[{result.word}] " if result.word else ""
    pairs = (
        spelling.pair(key, cut(value, MESSAGE) if isinstance(value, str) else value)
        for key, value in result.fields.items()
    )
    short = parse_result(mark + " ".join(pairs), escaped=True)
    return result if len(short.text) >= len(result.text) else short
