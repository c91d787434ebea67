"""What `install` adds to a user's own files for a client, and how it goes again: texts before and after. Pure."""

import hashlib
from typing import Any, Literal, NamedTuple

import msgspec

from blackbird.agents import blocks, jsonc, servers
from blackbird.agents.jsonc import NotReadable
from blackbird.agents.merging import merged, spelled
from blackbird.agents.table import Client, Permanent

Format = Literal["json", "toml"]


class Kept(msgspec.Struct, frozen=True):
    """What is known of a file that entries were added to: enough to have it as it was."""

    path: str
    format: Format
    #: Its text before, or nothing if there was no file.
    before: str | None
    #: The digest of its text after.
    after: str
    content: dict[str, Any]


class Restored(NamedTuple):
    """A file as it is to be: its text, or nothing if it is to go; and whether it is just as it was."""

    text: str | None
    is_exact: bool


def content(client: Client, place: Permanent, program: servers.Program, hook: str) -> dict[str, Any]:
    """The entries for one file."""
    tools = servers.tool_names(client.mcp) if client.mcp is not None else []
    made: dict[str, Any] = spelled(place.content, {**program.known(), "hook": hook, "tools": tools})
    return made


def format_of(path: str) -> Format:
    """How a file is written, by its name."""
    return "toml" if path.endswith(".toml") else "json"


def added(text: str | None, entries: dict[str, Any], form: Format) -> str:
    """A text with entries, which says all that it said and them besides. Raises `NotReadable` if that cannot be."""
    before = text or ""
    if form == "toml":
        after = blocks.added(before, entries)
        fits = blocks.parse(after) == _without_empty(merged(blocks.parse(before), entries))
    else:
        after = jsonc.added(before, entries)
        was = jsonc.parse(before).value if before.strip() else {}
        fits = jsonc.parse(after).value == _joined(was, entries)
    if not fits:
        raise NotReadable("it holds entries of that kind already")
    return after


def keep(path: str, before: str | None, after: str, entries: dict[str, Any]) -> Kept:
    """What has to be remembered."""
    return Kept(path, format_of(path), before, digest(after), entries)


def restored(kept: Kept, now: str) -> Restored:
    """How a file is to be after `uninstall`: as it was, or, if somebody changed it since, without our entries."""
    if digest(now) == kept.after:
        return Restored(kept.before, is_exact=True)
    if kept.format == "toml":
        blocks.parse(now)
        return Restored(blocks.removed(now), is_exact=False)
    return Restored(jsonc.removed(now, kept.content, kept.before or ""), is_exact=False)


def digest(text: str) -> str:
    """By which a text is known again."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _joined(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Both; of a list's entries only those that are not in it already."""
    both = dict(first)
    for key, value in second.items():
        before = both.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            both[key] = _joined(before, value)
        elif isinstance(before, list) and isinstance(value, list):
            both[key] = before + [each for each in value if each not in before]
        else:
            both[key] = value
    return both


def _without_empty(table: dict[str, Any]) -> dict[str, Any]:
    """Tables without any entry are not written, so they are not there."""
    found = {key: _without_empty(value) if isinstance(value, dict) else value for key, value in table.items()}
    return {key: value for key, value in found.items() if value != {}}
