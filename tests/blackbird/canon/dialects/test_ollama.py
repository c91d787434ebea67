"""Ollama's chat and generate in canonical words."""

import base64
import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon import streams
from blackbird.canon.dialects import ollama
from blackbird.canon.model import (
    Failure,
    Media,
    Outcome,
    Reply,
    Role,
    Settings,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from blackbird.canon.seen import Slice
from tests.blackbird.canon import bodies
from tests.blackbird.canon.bodies import compact, indented, is_beginning, lines, spaced

PIXEL = b"\x89PNG not really"
ENCODED = base64.b64encode(PIXEL).decode()
PICTURE = Media("image", size=len(PIXEL), sha256=hashlib.sha256(PIXEL).hexdigest())
END = {"done": True, "done_reason": "stop", "prompt_eval_count": 13, "eval_count": 5, "total_duration": 99}


def line(done: bool = False, **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": "", **message}
    return {
        "model": "m-1",
        "created_at": "2026-01-01T00:00:00Z",
        "message": said,
        **(END if done else {"done": False}),
    }


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}}


STREAM = [
    line(thinking="I "),
    line(thinking="think"),
    line(content="done"),
    line(content=' "done": ä😀\n'),
    line(tool_calls=[call("read", {"path": "ä"}), call("read", {"path": "b"})]),
    line(tool_calls=[call("now", {})]),
    line(done=True),
]


@pytest.mark.requirement("CANON-07")
@pytest.mark.parametrize("spell", [compact, spaced])
def test_a_stream(spell: bodies.Spell) -> None:
    found = bodies.reply(ollama, lines(STREAM, spell))
    thought, text, *calls = found.parts
    assert (type(thought), bodies.words(thought)) == (Thinking, "I think")
    assert (type(text), bodies.words(text)) == (Text, 'done "done": ä😀\n')
    assert [(part.name, part.call_id, part.arguments) for part in calls if isinstance(part, ToolCall)] == [
        ("read", None, {"path": "ä"}),
        ("read", None, {"path": "b"}),
        ("now", None, {}),
    ]
    assert (found.outcome, found.model, found.stop_reason) == (Outcome.COMPLETE, "m-1", "stop")
    assert found.usage == Usage(input=13, output=5)


@pytest.mark.parametrize("spell", [compact, spaced, indented])
def test_one_document(spell: bodies.Spell) -> None:
    value = line(done=True, content="ok", thinking="T", tool_calls=[{"id": "c1", **call("f", {"a": 1})}])
    found = bodies.reply(ollama, spell(value))
    assert [bodies.words(part) for part in found.parts[:2]] == ["T", "ok"]
    part = found.parts[2]
    assert isinstance(part, ToolCall)
    assert (part.call_id, part.arguments) == ("c1", {"a": 1})
    assert found.usage == Usage(input=13, output=5)


def test_generate() -> None:
    value = {
        "model": "m-1",
        "prompt": "prompt",
        "system": "Be brief.",
        "images": [ENCODED],
        "options": {"num_predict": 3},
    }
    system, user = bodies.turns(ollama, value)
    assert (system.role, bodies.words(system.parts[0])) == (Role.SYSTEM, "Be brief.")
    assert (user.role, bodies.words(user.parts[0])) == (Role.USER, "prompt")
    assert user.parts[1:] == (PICTURE,)
    assert bodies.ask(ollama, value).settings == Settings(model="m-1", max_tokens=3)
    answer = [
        {"model": "m-1", "response": "He", "done": False},
        {"model": "m-1", "response": "y", "context": [1], **END},
    ]
    found = bodies.reply(ollama, lines(answer))
    assert [bodies.words(part) for part in found.parts] == ["Hey"]
    assert (found.outcome, found.usage) == (Outcome.COMPLETE, Usage(input=13, output=5))


@pytest.mark.requirement("CANON-11")
def test_errors() -> None:
    assert bodies.reply(ollama, b'{"error":"model not found"}', 404) == Reply(
        outcome=Outcome.ERROR, failure=Failure("404", "model not found")
    )
    found = bodies.reply(ollama, lines([line(content="so far"), {"error": "out of memory"}]))
    assert (found.outcome, found.failure) == (Outcome.ERROR, Failure("error", "out of memory"))
    assert [bodies.words(part) for part in found.parts] == ["so far"]


@pytest.mark.requirement("CANON-11")
@given(st.integers(0, len(lines(STREAM))))
def test_a_cut_answer_is_the_beginning_of_the_whole(size: int) -> None:
    body = lines(STREAM)
    whole, cut = bodies.reply(ollama, body), bodies.reply(ollama, body[:size])
    assert is_beginning(cut.parts, whole.parts)
    assert cut.outcome is (Outcome.COMPLETE if size >= len(body) - 1 else Outcome.CUT)


@given(st.binary(), st.sampled_from([None, 200, 500]))
def test_any_bytes(body: bytes, status: int | None) -> None:
    found = streams.split(body, None)
    ollama.reply(found.pieces, status=status, is_cut=found.is_cut)
    ollama.ask(body, "")
    ollama.turns(Slice(body, 0))


KEYS = ["message", "content", "thinking", "tool_calls", "function", "arguments", "name", "done", "images", "role"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from([*KEYS, "assistant", "tool"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=15,
)


@given(VALUES, VALUES)
def test_any_json(first: Any, second: Any) -> None:
    bodies.reply(ollama, lines([first, line(tool_calls=first, content=second), second]))
    for role in ("user", "assistant", "tool"):
        message = {"role": role, "content": second, "tool_calls": first, "images": second}
        bodies.turns(ollama, {"messages": [first, message], "system": "S"})
    ollama.ask(compact(first), "")


def test_what_a_request_asks() -> None:
    value = {
        "model": "m-1",
        "stream": True,
        "think": "high",
        "options": {"temperature": 0.5, "top_p": 1},
        "format": {"type": "object", "properties": {"title": {}}},
        "tools": [{"type": "function", "function": {"name": "bash"}}],
        "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}],
    }
    found = bodies.ask(ollama, value)
    assert found.settings == Settings(model="m-1", temperature=0.5, top_p=1.0, effort="high", stream=True)
    assert (found.tools, found.hints) == (("bash",), {"schema": ["title"]})
    assert [len(found.system), len(found.history)] == [1, 1]


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"messages": {}}', b'{"prompt": 1}', b"x"])
def test_what_is_no_request(body: bytes) -> None:
    assert ollama.ask(body, "") is None


@pytest.mark.requirement("CANON-08")
@pytest.mark.parametrize("spell", [compact, spaced, indented])
def test_a_history(spell: bodies.Spell) -> None:
    value = {
        "messages": [
            {"role": "user", "content": "Look", "images": [ENCODED]},
            {"role": "assistant", "content": "", "thinking": "Hm", "tool_calls": [call("read", {"path": "a"})]},
            {"role": "tool", "content": "text", "tool_name": "read"},
            {"role": "tool", "content": "<returncode>1</returncode>", "tool_name": "bash"},
        ]
    }
    user, assistant, result, failed = bodies.turns(ollama, value, spell)
    assert [user.role, assistant.role, result.role] == [Role.USER, Role.ASSISTANT, Role.USER]
    assert (bodies.words(user.parts[0]), user.parts[1:]) == ("Look", (PICTURE,))
    thought, made = assistant.parts
    assert bodies.words(thought) == "Hm"
    assert isinstance(made, ToolCall)
    assert (made.name, made.call_id, made.arguments) == ("read", None, {"path": "a"})
    (part,) = result.parts
    assert isinstance(part, ToolResult)
    assert (part.call_id, part.name, part.text, part.error) == (None, "read", "text", None)
    (part,) = failed.parts
    assert isinstance(part, ToolResult)
    assert (part.error, part.details) == (True, {"exit_code": 1})
