"""Whether the texts of parts stand where their spans say."""

import json
from collections.abc import Sequence

from blackbird.canon.model import Part, Span, Text, Thinking, ToolCall, ToolResult


def words(parts: Sequence[Part]) -> str:
    """All texts of some parts, one behind the other."""
    return "".join(text_of(part) for part in parts)


def text_of(part: Part) -> str:
    """What a part's spans are about."""
    return part.raw if isinstance(part, ToolCall) else getattr(part, "text", "")


def is_placed(parts: Sequence[Part], body: bytes) -> bool:
    """Whether each text is told by its spans from its start to its end; only line ends between two may be added."""
    return all(_is_covered(text_of(part), getattr(part, "spans", ()), body) for part in parts)


def _is_covered(text: str, spans: Sequence[Span], body: bytes) -> bool:
    last = 0
    for span in spans:
        if text[last : span.first] not in ("", "\n") or not _is_spelled(text, span, body):
            return False
        last = span.last
    return last == len(text)


def _is_spelled(text: str, span: Span, body: bytes) -> bool:
    spelled = body[span.start : span.end]
    if spelled.decode() == text[span.first : span.last]:
        return True
    return bool(json.loads(b'"' + spelled + b'"') == text[span.first : span.last])


def bare(part: Part) -> Part:
    """A part without its places."""
    if isinstance(part, Text):
        return Text(part.text)
    if isinstance(part, Thinking):
        return Thinking(part.text, part.signature, part.is_encrypted)
    if isinstance(part, ToolCall):
        return ToolCall(part.name, part.call_id, part.arguments, part.raw, part.is_hosted)
    if isinstance(part, ToolResult):
        return ToolResult(part.call_id, part.text, part.error, part.name, part.media, part.details)
    return part
