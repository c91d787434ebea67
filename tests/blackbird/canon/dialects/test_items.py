"""Items of the Responses: each becomes turns and parts that stand where they say."""

import hashlib
import json
from typing import Any

import pytest

from blackbird.canon.dialects import responses
from blackbird.canon.model import Media, Part, Refusal, Role, Text, Thinking, ToolCall, ToolResult, Unknown
from blackbird.canon.seen import Slice
from tests.blackbird.canon.dialects.placed import bare, is_placed


def spell(value: object) -> bytes:
    return json.dumps(value).encode()


def read(item: object) -> tuple[Role, list[Part]]:
    """An item of an input, in a body with something before it."""
    body = spell({"note": "Grüße", "input": [item]})
    start = body.index(b"[") + 1
    piece = Slice(body[start:-2], start)
    (turn,) = responses.turns(piece)
    assert (turn.start, turn.end) == (piece.start, piece.end)
    assert body[turn.start : turn.end] == spell(item)
    assert is_placed(turn.parts, body)
    return turn.role, [bare(part) for part in turn.parts]


@pytest.mark.requirement("CANON-06")
@pytest.mark.parametrize(
    ("role", "canonical"),
    [("user", Role.USER), ("assistant", Role.ASSISTANT), ("system", Role.SYSTEM), ("developer", Role.SYSTEM)],
)
def test_messages(role: str, canonical: Role) -> None:
    assert read({"role": role, "content": "Grüße \u2028"}) == (canonical, [Text("Grüße \u2028")])
    blocks = [{"type": "input_text", "text": "a\n"}, {"type": "output_text", "text": "b", "annotations": []}]
    assert read({"type": "message", "role": role, "content": blocks}) == (canonical, [Text("a\n"), Text("b")])


def test_tools_that_are_offered_in_an_item_are_the_systems() -> None:
    role, (part,) = read({"type": "additional_tools", "role": "developer", "tools": []})
    assert role is Role.SYSTEM
    assert isinstance(part, Unknown)


def test_the_id_of_an_item() -> None:
    body = spell({"id": "msg_1", "role": "user", "content": "x"})
    assert responses.turns(Slice(body, 0))[0].id == "msg_1"


def test_media_and_refusals() -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,aGk="}
    linked = {"type": "input_image", "image_url": "https://example.com/a.png"}
    document = {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}
    bare_document = {"type": "input_file", "filename": "b", "file_data": "aGk="}
    kept = {"type": "input_file", "file_id": "file_1"}
    sound = {"type": "input_audio", "input_audio": {"format": "wav", "data": "aGk="}}
    refusal = {"type": "refusal", "refusal": "I cannot."}
    content = [image, linked, document, bare_document, kept, sound, refusal, {"type": "odd", "x": 1}]
    digest = hashlib.sha256(b"hi").hexdigest()
    _, found = read({"role": "user", "content": content})
    assert found[:6] == [
        Media("image", "image/png", 2, digest),
        Media("image", url="https://example.com/a.png"),
        Media("document", "application/pdf", 2, digest, name="a.pdf"),
        Media("document", size=2, sha256=digest, name="b"),
        Media("document", name="file_1"),
        Media("audio", "audio/wav", 2, digest),
    ]
    assert isinstance(found[6], Refusal)
    assert found[6].text == "I cannot."
    assert isinstance(found[7], Unknown)
    assert found[7].kind == "odd"


def test_thoughts() -> None:
    told = {"type": "reasoning", "id": "rs_1", "encrypted_content": "ZmFrZQ==", "content": None}
    summary = [{"type": "summary_text", "text": "first"}, {"type": "summary_text", "text": "second"}]
    assert read({**told, "summary": summary}) == (Role.ASSISTANT, [Thinking("first"), Thinking("second")])
    content = [{"type": "reasoning_text", "text": "whole"}]
    assert read({**told, "summary": [], "content": content})[1] == [Thinking("whole")]
    assert read({**told, "summary": []})[1] == [Thinking("", is_encrypted=True)]
    assert read({"type": "reasoning", "summary": []})[1] == []


CALLS: list[tuple[dict[str, Any], ToolCall]] = [
    (
        {"type": "function_call", "id": "fc", "call_id": "c", "name": "exec", "arguments": '{"cmd": "ls"}'},
        ToolCall("exec", "c", {"cmd": "ls"}, '{"cmd": "ls"}'),
    ),
    (
        {"type": "function_call", "call_id": "c", "name": "find", "namespace": "mcp__notes", "arguments": ""},
        ToolCall("mcp__notes__find", "c", {}, ""),
    ),
    (
        {"type": "function_call", "call_id": "c", "name": "find", "namespace": "mcp__notes__", "arguments": ""},
        ToolCall("mcp__notes__find", "c", {}, ""),
    ),
    (
        {"type": "function_call", "call_id": "c", "name": "find", "arguments": '{"a": '},
        ToolCall("find", "c", None, '{"a": '),
    ),
    (
        {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin\n+x"},
        ToolCall("apply_patch", "c", None, "*** Begin\n+x"),
    ),
    (
        {"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["ls"]}},
        ToolCall("local_shell", "c", {"type": "exec", "command": ["ls"]}, '{"type": "exec", "command": ["ls"]}'),
    ),
    (
        {"type": "web_search_call", "id": "ws", "action": {"query": "x"}},
        ToolCall("web_search", "ws", {"query": "x"}, '{"query": "x"}', is_hosted=True),
    ),
]


@pytest.mark.parametrize(("value", "call"), CALLS)
def test_calls(value: dict[str, Any], call: ToolCall) -> None:
    assert read(value) == (Role.ASSISTANT, [call])


def test_what_the_providers_own_tools_gave() -> None:
    told = {"type": "mcp_call", "id": "m", "server_label": "wiki", "name": "look", "arguments": "{}"}
    call = ToolCall("mcp__wiki__look", "m", {}, "{}", is_hosted=True)
    gave = ToolResult("m", "found", False, "mcp__wiki__look")
    assert read({**told, "output": "found"})[1] == [call, gave]
    assert read({**told, "output": None, "error": "gone"})[1] == [
        call,
        ToolResult("m", "gone", True, "mcp__wiki__look"),
    ]
    code = {"type": "code_interpreter_call", "id": "i", "code": "1+1", "outputs": [{"type": "logs", "logs": "2"}]}
    assert read(code)[1] == [
        ToolCall("code_interpreter", "i", None, "1+1", is_hosted=True),
        ToolResult("i", '[{"type": "logs", "logs": "2"}]', False, "code_interpreter"),
    ]
    picture = {"type": "image_generation_call", "id": "g", "result": "aGk="}
    media = Media("image", size=2, sha256=hashlib.sha256(b"hi").hexdigest())
    assert read(picture)[1][1] == ToolResult("g", "", False, "image_generation", (media,))


RESULTS: list[tuple[dict[str, Any], ToolResult]] = [
    ({"type": "function_call_output", "call_id": "c", "output": "ok\n"}, ToolResult("c", "ok\n")),
    (
        {
            "type": "function_call_output",
            "call_id": "c",
            "output": [
                {"type": "input_text", "text": "a"},
                {"type": "input_text", "text": "b"},
                {"type": "input_image", "image_url": "https://example.com/a.png"},
            ],
        },
        ToolResult("c", "a\nb", media=(Media("image", url="https://example.com/a.png"),)),
    ),
    ({"type": "custom_tool_call_output", "call_id": "c", "output": ""}, ToolResult("c", "")),
    ({"type": "local_shell_call_output", "id": "c", "output": "{}"}, ToolResult("c", "{}")),
    (
        {"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "no"},
        ToolResult("c", "no", error=True),
    ),
    (
        {
            "type": "shell_call_output",
            "call_id": "c",
            "output": [{"stdout": "out\n", "stderr": "err\n", "outcome": {"type": "exit", "exit_code": 2}}],
        },
        ToolResult("c", "out\nerr\n", error=True, details={"exit_code": 2}),
    ),
    (
        {
            "type": "shell_call_output",
            "call_id": "c",
            "output": [{"stdout": "out\n", "outcome": {"type": "timeout"}}],
        },
        ToolResult("c", "out\n", error=True),
    ),
    (
        {
            "type": "function_call_output",
            "call_id": "c",
            "output": "Chunk ID: 1\nWall time: 0 seconds\nProcess exited with code 1\nOutput:\nno",
        },
        ToolResult(
            "c",
            "Chunk ID: 1\nWall time: 0 seconds\nProcess exited with code 1\nOutput:\nno",
            error=True,
            details={"exit_code": 1},
        ),
    ),
    (
        {
            "type": "custom_tool_call_output",
            "call_id": "c",
            "output": [{"type": "input_text", "text": "Exit code: 0\nWall time: 1 seconds"}],
        },
        ToolResult("c", "Exit code: 0\nWall time: 1 seconds", error=False, details={"exit_code": 0}),
    ),
    (
        {
            "type": "computer_call_output",
            "call_id": "c",
            "output": {"type": "computer_screenshot", "image_url": "https://example.com/a.png"},
        },
        ToolResult("c", "", media=(Media("image", url="https://example.com/a.png"),)),
    ),
    ({"type": "odd_output", "call_id": "c", "output": {"a": 1}}, ToolResult("c", '{"a": 1}')),
]


@pytest.mark.parametrize(("value", "result"), RESULTS)
def test_results(value: dict[str, Any], result: ToolResult) -> None:
    assert read(value) == (Role.USER, [result])


def test_items_that_nobody_knows() -> None:
    value = {"type": "compaction", "encrypted_content": "x"}
    (found,) = read(value)[1]
    assert isinstance(found, Unknown)
    assert (found.kind, found.size) == ("compaction", len(spell(value)))
