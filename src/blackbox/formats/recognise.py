"""Which form of a session some bytes are, told by their content and never by a name."""

import enum

from blackbox.document.document import Document, parse
from blackbox.formats import shortkeys
from blackbox.formats.jsonlines import load
from blackbox.syntax.kinds import PREFIXES, SILENT, Kind

_BOM = b"\xef\xbb\xbf"
#: How much of a file is looked at.
_LOOK = 1 << 18
#: How many lines of JSON are.
_FIRST = 64
_CODEX = frozenset({"session_meta", "response_item", "event_msg", "turn_context"})
_SPACED = tuple(PREFIXES[kind] for kind in (Kind.USER, Kind.AGENT, Kind.THINKING, Kind.TODOS, Kind.OBSERVATION))
_CALLS = frozenset(PREFIXES) - SILENT - {Kind.USER, Kind.AGENT, Kind.THINKING, Kind.TODOS}


class Form(enum.StrEnum):
    """A form that a session may have in a file."""

    BBOX = "bbox"
    RLOG = "rlog"
    COMPACT = "compact"
    JSONL = "jsonl"
    COMPANION = "companion"


def recognise(data: bytes) -> Form | None:
    """The form of a file, or None if it is none of ours."""
    head = data[:_LOOK].removeprefix(_BOM).lstrip()
    if head.startswith(b"{"):
        return _json_form(data.removeprefix(_BOM))
    if len(data) > _LOOK:
        # The last line may be cut, and is left out.
        head = head.rpartition(b"\n")[0] or head
    document = parse(head)
    if not _is_log(document):
        return None
    if _is_compact(document):
        return Form.COMPACT
    name = document.header.format_name if document.header is not None else None
    return Form.RLOG if name == "rlog" else Form.BBOX


def name_foreign(data: bytes) -> str:
    """Whose JSON lines these look like, of which no line is known here."""
    for line in data.removeprefix(_BOM).split(b"\n", _FIRST)[:_FIRST]:
        value = load(line.strip()) or {}
        if value.get("type") in _CODEX and isinstance(value.get("payload"), dict):
            return "a Codex rollout"
        if "projectHash" in value or value.get("type") == "gemini":
            return "a Gemini log"
    return "some other program's JSON lines"


def _json_form(data: bytes) -> Form | None:
    """By the first line that is an object: a torn or foreign line may stand before it."""
    for line in data.split(b"\n", _FIRST)[:_FIRST]:
        value = load(line.strip()) if line.strip() else None
        if value is None:
            continue
        kind = value.get("t")
        if isinstance(kind, str) and (kind in shortkeys.TYPES or kind == shortkeys.HEADER):
            return Form.JSONL
        if isinstance(value.get("type"), str):
            return Form.COMPANION
    return None


def _is_log(document: Document) -> bool:
    if document.header is not None:
        return True
    known = sum(line.kind not in SILENT for line in document.lines)
    # Text in which a few lines happen to begin like an event is no log.
    unknown = sum(line.kind is Kind.UNKNOWN for line in document.lines)
    return known > unknown or (not unknown and any(line.kind is Kind.COMMENT for line in document.lines))


def _is_compact(document: Document) -> bool:
    """Whether prefixes and arrows stand without spaces, wherever one of them tells."""
    tight = 0
    for line in document.lines:
        if line.more or line.kind is Kind.BLANK:
            return False
        source = line.source
        prefix = next((prefix for prefix in _SPACED if source.startswith(prefix)), None)
        if prefix is not None and len(source) > len(prefix):
            if source[len(prefix)] in " \t":
                return False
            tight += 1
        if line.kind in _CALLS and line.parts.result_start >= 0:
            arrow = source.rindex("→", 0, line.parts.result_start)
            if source[arrow - 1] == " " or source[arrow + 1 : arrow + 2] == " ":
                return False
            tight += 1
    return tight > 0
