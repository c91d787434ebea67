"""Whose log a file is, told by its content and never by its name alone."""

import re
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec

from blackbox.formats.recognise import Form
from blackbox.formats.recognise import recognise as recognise_log

#: How much of a file is looked at.
LOOK = 1 << 16
_SQLITE = b"SQLite format 3\0"
_BOM = b"\xef\xbb\xbf"
_FIRST_LINES = 64
_LOGS = (".bbox", ".blackbox", ".rlog")
_CODEX = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_CODEX_TYPE = re.compile(b'"type": ?"(?:%s)"' % b"|".join(name.encode() for name in sorted(_CODEX)))
_SPECSTORY = re.compile(rb"<!-- .*SpecStory|^_\*\*(?:User|Agent|Assistant)\b", re.MULTILINE)
_SPECSTORY_CLIENT = re.compile(r"<!-- (Claude Code|Codex CLI|Gemini CLI|Cursor CLI) Session ")


class Format(NamedTuple):
    """How a log is written, and by whom if that is told; a document is one text and not lines."""

    name: str
    client: str | None = None
    is_document: bool = False


CLAUDE_CODE = Format("claude-code", "Claude Code")
CODEX = Format("codex", "Codex")
GEMINI = Format("gemini-cli", "Gemini CLI")
GEMINI_DOCUMENT = GEMINI._replace(is_document=True)
QWEN = Format("qwen-code", "Qwen Code")
OPENCODE = Format("opencode", "opencode")
COMPANION = Format("companion")
SPECSTORY = Format("specstory", is_document=True)
BBOX = Format("bbox")


def recognise(name: str, head: bytes) -> Format | None:
    """The format of a file that begins so; nothing if it is none of those that are known."""
    if head.startswith(_SQLITE):
        return OPENCODE if PurePath(name).stem.startswith("opencode") else None
    data = head.removeprefix(_BOM)
    if data.lstrip()[:1] == b"{":
        return _json(name, data)
    if _SPECSTORY.search(data):
        client = _SPECSTORY_CLIENT.search(data.decode(errors="replace"))
        return SPECSTORY._replace(client=client[1].removesuffix(" CLI") if client else None)
    # Other texts have lines that begin like those of a log, too.
    is_likely = data.startswith(b"---") or PurePath(name).suffix in _LOGS
    form = recognise_log(data) if is_likely and data.strip() else None
    return BBOX if form in (Form.BBOX, Form.RLOG, Form.COMPACT) else None


def _json(name: str, data: bytes) -> Format | None:
    for line in data.split(b"\n", _FIRST_LINES)[:_FIRST_LINES]:
        found = _of_line(load(line), name)
        if found is not None:
            return found
    if PurePath(name).suffix == ".json" and b'"projectHash"' in data and b'"messages"' in data:
        return GEMINI_DOCUMENT
    return _of_start(name, data) if b"\n" not in data.strip() else None


def _of_start(name: str, data: bytes) -> Format | None:
    """By the keys of a first line that is longer than what is looked at."""
    if b'"projectHash"' in data:
        return GEMINI
    if b'"payload"' in data and _CODEX_TYPE.search(data):
        return CODEX
    if b'"sessionId"' in data or b'"parentUuid"' in data:
        return QWEN if ".qwen" in PurePath(name).parts else CLAUDE_CODE
    return None


def _of_line(value: dict[str, Any], name: str) -> Format | None:
    kind = value.get("type")
    if "projectHash" in value:
        return GEMINI_DOCUMENT if isinstance(value.get("messages"), list) else GEMINI
    if isinstance(value.get("payload"), dict) and kind in _CODEX:
        return CODEX
    if PurePath(name).name.startswith("rollout-") and "instructions" in value and "id" in value:
        return CODEX
    if isinstance(value.get("t"), str) or "bbox" in value:
        return COMPANION
    message = value.get("message")
    is_stated = kind == "system" and isinstance(message, dict) and "subtype" in message
    if is_stated or (kind == "header" and "parent_session" in value):
        return COMPANION
    if "sessionId" in value or "parentUuid" in value or "leafUuid" in value:
        is_parts = isinstance(message, dict) and "parts" in message
        return QWEN if is_parts or ".qwen" in PurePath(name).parts else CLAUDE_CODE
    if isinstance(kind, str) and (isinstance(message, dict) or "subtype" in value or "content" in value):
        return COMPANION
    return None


def load(line: bytes | str) -> dict[str, Any]:
    """An object of a line; an empty one if it is none."""
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
