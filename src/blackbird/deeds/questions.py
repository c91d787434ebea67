"""What an agent asked its user, and what was chosen, from the words in which the client tells the agent."""

import re
from typing import Any, NamedTuple

import msgspec

from blackbird.canon.model import ToolCall, ToolResult
from blackbird.deeds import roles
from blackbird.deeds.roles import Use


class Asked(NamedTuple):
    """A question to the user, and what may be chosen."""

    text: str
    options: tuple[str, ...]
    several: bool
    #: What it is about, in a word or two.
    header: str | None = None


class Answer(NamedTuple):
    """What the user said: some of the options, or words of their own."""

    selected: tuple[str, ...]
    text: str


def questions_of(call: ToolCall) -> list[Asked]:
    """What the user was asked; empty if the call has another form."""
    keys = roles.keys_of(Use.QUESTION)
    given = call.arguments or {}
    listed = roles.first(given, keys.lists)
    every = listed if isinstance(listed, list) else [given]
    found = []
    for one in every:
        if not isinstance(one, dict):
            continue
        text = roles.first_text(one, keys.texts)
        if text:
            options = _labels(roles.first(one, keys.options))
            header = roles.first_text(one, ("header",))
            found.append(Asked(text, options, roles.first(one, keys.several) is True, header))
    return found


def answer_to(asked: Asked, result: ToolResult, text: str, *, is_only: bool) -> Answer:
    """The answer to one question; `text` is all that came back.

    A client that answers several in one text is taken by the options it names.
    """
    given = _structured(asked, result)
    if given is not None:
        return _told(asked, given)
    quoted = re.search(rf'"{re.escape(asked.text)}"\s*=\s*"((?:[^"\\]|\\.)*)"', text)
    if quoted is not None:
        return _told(asked, quoted[1])
    named = tuple(option for option in asked.options if option in text)
    if named and (asked.several or len(named) == 1):
        return Answer(named, "")
    if is_only and text in asked.options:
        return Answer((text,), "")
    return Answer((), text)


def _structured(asked: Asked, result: ToolResult) -> Any:
    """The answer where the client's log, or the result itself, has it by question."""
    for source in (result.details, _json(result.text)):
        found = source.get("answers") if isinstance(source, dict) else None
        if isinstance(found, dict):
            given = found.get(asked.text, next(iter(found.values()), None) if len(found) == 1 else None)
            if isinstance(given, dict):
                given = given.get("answers", given)
            if given is not None:
                return given
    return None


def _told(asked: Asked, given: Any) -> Answer:
    chosen = tuple(_words(one) for one in (given if isinstance(given, list) else [given]))
    if len(chosen) == 1 and chosen[0] not in asked.options:
        parts = tuple(part.strip() for part in chosen[0].split(","))
        chosen = parts if asked.several and all(part in asked.options for part in parts) else chosen
    is_listed = bool(asked.options) and all(one in asked.options for one in chosen)
    return Answer(chosen, "") if is_listed else Answer((), ", ".join(chosen))


def _words(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _labels(options: Any) -> tuple[str, ...]:
    if not isinstance(options, list):
        return ()
    keys = roles.keys_of(Use.QUESTION).labels
    labels = (
        option if isinstance(option, str) else roles.first_text(option, keys) if isinstance(option, dict) else None
        for option in options
    )
    return tuple(label for label in labels if label)


def _json(text: str) -> Any:
    if not text.startswith("{"):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
