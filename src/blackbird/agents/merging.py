"""Settings of ours and of a user's, joined so that neither is forgotten. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from blackbird.agents.table import Client


class Attached(msgspec.Struct, frozen=True):
    """What the child gets: its arguments and variables; and what has to be in `file` then, if anything."""

    arguments: list[str]
    variables: dict[str, str] = {}
    file: bytes | None = None
    notes: list[str] = []


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Both, the second before the first; lists of both, since entries of one are no reason to forget the other's."""
    both = dict(first)
    for key, value in second.items():
        before = both.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            both[key] = merged(before, value)
        elif isinstance(before, list) and isinstance(value, list):
            both[key] = before + value
        else:
            both[key] = value
    return both


def spelled(content: Any, known: Mapping[str, Any]) -> Any:
    """The table with what is known in the place of `{name}`: a text that is but a name becomes its value."""
    if isinstance(content, dict):
        return {key: spelled(value, known) for key, value in content.items()}
    if isinstance(content, list):
        return [spelled(value, known) for value in content]
    if isinstance(content, str):
        return known.get(content[1:-1], content) if content.startswith("{") else content
    return content


def joined(
    client: Client,
    variable: str,
    content: Mapping[str, Any],
    arguments: Sequence[str],
    variables: Mapping[str, str],
    what: str,
) -> Attached:
    """The configuration that a variable holds with ours in it; as it is, and a note, if it cannot be read."""
    try:
        theirs = json.loads(variables.get(variable) or "{}")
    except ValueError:
        theirs = None
    if not isinstance(theirs, dict) or not _fits(theirs, content):
        return Attached(list(arguments), notes=[f"your {variable} cannot be read, so {client.title} gets no {what}"])
    return Attached(list(arguments), {variable: json.dumps(merged(theirs, content))})


def _fits(theirs: Mapping[str, Any], content: Mapping[str, Any]) -> bool:
    """Whether what is there can be added to: nothing of the user's is put aside."""
    for key, value in content.items():
        before = theirs.get(key)
        if isinstance(value, dict):
            if before is not None and not (isinstance(before, dict) and _fits(before, value)):
                return False
        elif isinstance(value, list) and before is not None and not isinstance(before, list):
            return False
    return True
