"""Feeds readers line by line as an import does, and checks where each text of their entries stands."""

import json
from typing import Any

from hypothesis import strategies as st

from blackbird.canon.model import Evidence, Side, Text, Thinking, ToolCall, ToolResult
from blackbird.canon.natives import Reader
from blackbird.canon.seen import Entry

FIELDS = st.sampled_from(
    [
        *(
            "id",
            "type",
            "content",
            "parts",
            "text",
            "thought",
            "thoughts",
            "toolCalls",
            "result",
            "args",
            "name",
            "status",
        ),
        *(
            "functionCall",
            "functionResponse",
            "response",
            "output",
            "tokens",
            "$set",
            "messages",
            "$rewindTo",
            "sessionId",
        ),
        *(
            "table",
            "data",
            "session_id",
            "message_id",
            "state",
            "input",
            "tool",
            "callID",
            "time",
            "error",
            "summary",
        ),
        *(
            "message",
            "uuid",
            "parentUuid",
            "timestamp",
            "usageMetadata",
            "toolCallResult",
            "systemPayload",
            "metadata",
        ),
    ]
)
WORDS = st.sampled_from(
    [
        *("user", "gemini", "assistant", "tool_result", "system", "text", "tool", "step-finish", "file", "reasoning"),
        *(
            "session",
            "message",
            "part",
            "completed",
            "error",
            "pending",
            "2026-01-02T03:04:05Z",
            "ses_1",
            "msg_1",
            "",
        ),
    ]
)
#: Any JSON, most of it made of the words that logs are made of.
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=6),
    max_leaves=20,
)


def line(value: object) -> str:
    """A line as JavaScript writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def feed(reader: Reader, lines: list[str]) -> list[Entry]:
    """All entries of some lines, each of whose texts is checked to stand where its spans say."""
    entries: list[Entry] = []
    offset = 0
    for text in lines:
        data = text.encode("utf-8", "surrogatepass")
        evidence = Evidence(source="src_1", side=Side.LINE, start=0, end=len(data), file="log", offset=offset)
        entries += reader.line(text, evidence)
        offset += len(data) + 1
    entries += reader.end()
    whole = "\n".join(lines).encode("utf-8", "surrogatepass")
    for entry in entries:
        check(entry, whole)
    return entries


def check(entry: Entry, whole: bytes) -> None:
    """Every text of an entry stands in its line where its spans say, as it is or as the inside of a JSON string."""
    place = entry.evidence
    assert place.offset is not None
    for part in entry.turn.parts if entry.turn else ():
        if not isinstance(part, Text | Thinking | ToolCall | ToolResult) or not part.spans:
            continue
        text = part.raw if isinstance(part, ToolCall) else part.text
        assert [span.first for span in part.spans] == [0, *(span.last for span in part.spans[:-1])]
        assert part.spans[-1].last == len(text)
        for span in part.spans:
            assert place.start <= span.start <= span.end <= place.end
            found = whole[place.offset + span.start : place.offset + span.end]
            assert text[span.first : span.last] in (found.decode(errors="replace"), unquoted(found))


def unquoted(found: bytes) -> Any:
    try:
        return json.loads(b'"' + found + b'"', strict=False)
    except ValueError:
        return None


def texts(entries: list[Entry]) -> list[tuple[str, str]]:
    """What was said, in order: by whom, and the words; calls as `name(arguments)`, results as `= words`."""
    said: list[tuple[str, str]] = []
    for entry in entries:
        for part in entry.turn.parts if entry.turn else ():
            role = entry.turn.role.value if entry.turn else ""
            if isinstance(part, ToolCall):
                said.append((role, f"{part.name}({part.raw}) {part.call_id}"))
            elif isinstance(part, ToolResult):
                said.append((role, f"= {part.text} {part.call_id}"))
            elif isinstance(part, Text | Thinking):
                said.append((role, part.text if isinstance(part, Text) else f"({part.text})"))
    return said
