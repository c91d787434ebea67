"""How a command ended, seen on the wire and in the client's own log: both say the same."""

import json
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import pytest

from blackbird.canon.dialects import gemini, messages, responses
from blackbird.canon.model import ToolResult, Turn
from blackbird.canon.natives import READERS
from blackbird.canon.seen import Slice
from tests.blackbird.canon.natives.reading import read

SHELL = {"type": "tool_result", "tool_use_id": "c"}
PRINTED = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code {}\nOutput:\nno\n"
FRAMED = "<untrusted_context>\nOutput: no\n{}Process Group PGID: 7\n</untrusted_context>"


def on_the_wire(dialect: ModuleType, message: object) -> list[ToolResult]:
    return results(dialect.turns(Slice(json.dumps(message).encode(), 0)))


def in_the_log(form: str, *lines: dict[str, Any]) -> list[ToolResult]:
    assert form in READERS
    return results(entry.turn for entry in read(form, "session.jsonl", lines, is_checked=False) if entry.turn)


def results(turns: Iterable[Turn]) -> list[ToolResult]:
    return [part for turn in turns for part in turn.parts if isinstance(part, ToolResult)]


def claude(content: str, **more: bool) -> tuple[list[ToolResult], list[ToolResult]]:
    message = {"role": "user", "content": [SHELL | {"content": content} | more]}
    return on_the_wire(messages, message), in_the_log(
        "claude-code", {"type": "user", "uuid": "u", "message": message}
    )


def codex(output: str) -> tuple[list[ToolResult], list[ToolResult]]:
    item = {"type": "function_call_output", "call_id": "c", "output": output}
    return on_the_wire(responses, item), in_the_log("codex", {"type": "response_item", "payload": item})


def gemini_cli(output: str) -> tuple[list[ToolResult], list[ToolResult]]:
    answer = {"functionResponse": {"id": "c", "name": "run_shell_command", "response": {"output": output}}}
    call = {"id": "c", "name": "run_shell_command", "args": {}, "status": "success", "result": [answer]}
    log = {"id": "m", "type": "gemini", "content": "", "toolCalls": [call]}
    return on_the_wire(gemini, {"role": "user", "parts": [answer]}), in_the_log("gemini-cli", {"sessionId": "s"}, log)


@pytest.mark.parametrize(
    ("seen", "error", "code"),
    [
        (claude("Exit code 1\nno", is_error=True), True, 1),
        (claude("String to replace not found", is_error=True), True, None),
        (claude("fine", is_error=False), False, None),
        (claude("fine"), False, None),
        (codex(PRINTED.format(1)), True, 1),
        (codex(PRINTED.format(0)), False, 0),
        (codex("unsupported call"), None, None),
        (gemini_cli(FRAMED.format("Exit Code: 1\n")), True, 1),
        (gemini_cli(FRAMED.format("")), False, None),
    ],
)
def test_wire_and_log_agree(
    seen: tuple[list[ToolResult], list[ToolResult]], error: bool | None, code: int | None
) -> None:
    found = [[(result.error, result.details.get("exit_code")) for result in results] for results in seen]
    assert found == [[(error, code)]] * 2
