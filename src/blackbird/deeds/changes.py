"""What a call changed in a file: from what the tool was given, or from the patch that the client's own log has."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from blackbird.canon.model import ToolCall, ToolResult
from blackbird.deeds import roles
from blackbox.events import tools
from blackbox.events.tools import MODIFYING

_PATCHES = ("structuredPatch", "patch", "diff", "unified_diff")
_NO_LINE = ("+++", "---", "@@", "***", "diff ", "index ", "\\")


class Change(msgspec.Struct, frozen=True):
    """A file, how many lines came and went, and those lines with `+`, `-` or a space in front."""

    path: str
    added: int
    removed: int
    lines: tuple[str, ...]


def change_of(call: ToolCall, result: ToolResult | None = None) -> Change | None:
    """What an edit changed; None if the call is no edit, or does not say."""
    given = call.arguments or {}
    if tools.access_of(call.name, given) not in MODIFYING:
        return None
    lines = _patch_lines(result.details) if result is not None else []
    lines = lines or _given_lines(given) or _body(call.raw.split("\n") if call.arguments is None else ())
    if not lines:
        return None
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return Change(_path(call), added, removed, tuple(lines))


def _patch_lines(details: Mapping[str, Any]) -> list[str]:
    patch = roles.first(details, _PATCHES)
    if isinstance(patch, str):
        return _body(patch.split("\n"))
    if not isinstance(patch, list):
        return []
    hunks = [hunk["lines"] for hunk in patch if isinstance(hunk, dict) and isinstance(hunk.get("lines"), list)]
    return _body([line for hunk in hunks for line in hunk if isinstance(line, str)])


def _given_lines(given: Mapping[str, Any]) -> list[str]:
    edits = given.get("edits")
    if isinstance(edits, list):
        every = [edit for edit in edits if isinstance(edit, dict)]
        return [line for edit in every for line in _given_lines(edit)]
    keys = tools.keys()
    before, after = (next(tools.named(given, wanted), None) for wanted in (keys.before, keys.after))
    if isinstance(after, str):
        old = before.split("\n") if isinstance(before, str) and before else []
        return [line for line in difflib.ndiff(old, after.split("\n")) if not line.startswith("?")]
    patch = tools.first_text(given, keys.patches)
    return _body(patch.split("\n")) if patch is not None else []


def _body(lines: Sequence[str]) -> list[str]:
    """The lines of a patch that are lines of the file."""
    return [line for line in lines if line[:1] in ("+", "-", " ") and not line.startswith(_NO_LINE)]


def _path(call: ToolCall) -> str:
    """The file that it is given, or the first that its patch names."""
    given = call.arguments or {}
    path = tools.first_text(given, tools.keys().paths)
    patch = tools.first_text(given, tools.keys().patches) or call.raw
    return path or next((path for _, path in tools.patched_in(patch)), "")
