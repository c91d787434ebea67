"""What a user chose of what an agent asked, from the words in which the client tells the agent."""

import re
from typing import Any

import msgspec

from blackbird.canon.model import ToolResult
from blackbird.flightlog.entries import answers
from blackbird.flightlog.entries.calls import Asked
from blackbox.syntax.results import Result
from blackbox.write import results, scalars


def answer_of(asked: Asked, result: ToolResult, *, is_only: bool) -> Result:
    """The answer to one question. A client that answers several in one text is taken by the options it names."""
    if answers.is_error(result):
        return answers.result_of(result)
    given = _structured(asked, result)
    if given is not None:
        return _told(asked, given)
    text = answers.text_of(result)
    quoted = re.search(rf'"{re.escape(asked.text)}"\s*=\s*"((?:[^"\\]|\\.)*)"', text)
    if quoted is not None:
        return _told(asked, quoted[1])
    named = [option for option in asked.options if option in text]
    if named and (asked.several or len(named) == 1):
        return results.selected(*named)
    if is_only and text in asked.options:
        return results.selected(text)
    return results.answer(text)


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


def _told(asked: Asked, given: Any) -> Result:
    chosen = [scalars.text_of(one) for one in (given if isinstance(given, list) else [given])]
    if not asked.options:
        return results.answer(", ".join(chosen))
    if len(chosen) == 1 and chosen[0] not in asked.options:
        parts = [part.strip() for part in chosen[0].split(",")]
        chosen = parts if asked.several and all(part in asked.options for part in parts) else chosen
    return (
        results.selected(*chosen)
        if all(one in asked.options for one in chosen)
        else results.answer(", ".join(chosen))
    )


def _json(text: str) -> Any:
    if not text.startswith("{"):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
