"""What a line of a log cannot hold as it is: long texts go beside it, and names must not be secrets."""

from collections.abc import Callable
from typing import Any

import msgspec

from blackbird.flightlog.entries.line import name_of
from blackbox.events import calls, comments
from blackbox.events.build import Event
from blackbox.events.messages import Message, Thinking
from blackbox.events.rewrite import Call, with_result
from blackbox.syntax.tokens import Value

#: From a text to the pointer to where it is kept.
Keep = Callable[[str], str]

#: Longer arguments and notes are kept beside the log, as long results are.
LONG = 1024
_LONG_EVENT = 4096
#: A line of more than a MiB is a warning of the checker; escapes may make a line longer than its text.
_LONG_LINE = 200_000
_SHOWN = 2000
_NOTE_START = 80
#: The fields that are written behind a prefix.
_NAMES: dict[type, tuple[str, ...]] = {
    calls.ToolCall: ("name",),
    calls.McpCall: ("server", "method"),
    calls.Skill: ("name",),
    calls.Subagent: ("agent_type",),
    calls.Mode: ("name",),
}


def fit(event: Event, keep: Keep) -> Event:
    """The event with its long texts kept elsewhere. Messages stay, but for a line that no editor could show."""
    match event:
        case Message(text=text):
            return msgspec.structs.replace(event, text=_message(text, keep))
        case Thinking(text):
            return Thinking(_message(text, keep))
        case comments.Note(text) if len(text) > LONG:
            return comments.Note(f"{_start(text)} {keep(text)}")
        case comments.RawEvent(source, json) if len(json) > LONG:
            kind = event.value.get("type") if isinstance(event.value, dict) else None
            return comments.RawEvent(source, _encode({"type": kind, "line": keep(json)}))
        case calls.Plan() | calls.Question() | calls.Observation():
            return event
        case _:
            return with_result(event, _arguments(event, keep), event.result) if isinstance(event, Call) else event


def without_secret_names(event: Event, clean: Callable[[str], str]) -> Event:
    """The event with other names where one holds a secret: names are not searched by whoever writes the log."""
    fields = _NAMES.get(type(event), ())
    named = {field: getattr(event, field) for field in fields}
    cleaned = {field: clean(name) for field, name in named.items()}
    if cleaned == named:
        return event
    plain = {field: name_of(name, "redacted").replace(".", "-") for field, name in cleaned.items()}
    changed: Event = msgspec.structs.replace(event, **plain)
    return changed


def _message(text: str, keep: Keep) -> str:
    if len(text) <= _LONG_LINE or max(map(len, text.split("\n"))) <= _LONG_LINE:
        return text
    return f"{text[:_SHOWN]}…\n{keep(text)}"


def _start(text: str) -> str:
    """What a note is about: its words up to the first colon, or the first of them."""
    head, colon, _ = text[:_NOTE_START].partition(":")
    return f"{head}:" if colon else head


def _arguments(event: Call, keep: Keep) -> calls.Arguments:
    if isinstance(event, calls.Subagent):
        # The task is what people read; all else as with tools.
        positional = tuple(_value(value, keep, _LONG_EVENT) for value in event.arguments.positional)
    else:
        positional = tuple(_value(value, keep, LONG) for value in event.arguments.positional)
    keyword = {key: _value(value, keep, LONG) for key, value in event.arguments.keyword.items()}
    return calls.Arguments(positional, keyword)


def _value(value: Value, keep: Keep, limit: int) -> Value:
    if isinstance(value, str):
        return keep(value) if len(value) > limit else value
    return value if sum(map(len, value)) <= limit else keep(_encode(list(value)))


def _encode(value: Any) -> str:
    return msgspec.json.encode(value).decode()
