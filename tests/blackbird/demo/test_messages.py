"""A message is the same whether it comes whole or in a stream."""

import json
from typing import Any

import pytest

from blackbird.demo.messages import BrokenStream, assemble
from blackbird.demo.workshop import TOOLS
from blackbird.provider.dialects import anthropic
from blackbird.provider.dialects.reply import Ask, Reply
from blackbird.provider.script import Ids


def reply(*, stream: bool) -> Reply:
    body: dict[str, Any] = {"model": "m", "tools": TOOLS, "messages": [], "stream": stream}
    return anthropic.reply(Ask("/v1/messages", {}, body, Ids(b"seed"), ""))


def test_a_stream_gives_the_whole_message() -> None:
    whole = json.loads(b"".join(reply(stream=False).pieces))
    message = assemble(b"".join(reply(stream=True).pieces).splitlines(keepends=True))
    assert message.content == whole["content"]
    assert message.stop_reason == "tool_use"
    assert [call["input"] for call in message.calls] == [{"path": "calc.py"}, {"path": "test_calc.py"}]
    assert message.text == "Step 1: read calc.py."


def test_a_stream_that_ends_early_is_no_message() -> None:
    lines = b"".join(reply(stream=True).pieces[:-1]).splitlines(keepends=True)
    with pytest.raises(BrokenStream, match="in the middle"):
        assemble(lines)


def test_an_error_in_the_stream_is_told() -> None:
    answer = reply(stream=True)
    with pytest.raises(BrokenStream, match="scripted error"):
        assemble(b"".join((*answer.pieces[:3], answer.failure)).splitlines(keepends=True))


def test_braces_in_arguments() -> None:
    block = {"type": "tool_use", "id": "t", "name": "n", "input": {}}
    parts = ['{"a": "{x}', '", "b": 1}', ""]
    events = [
        {"type": "content_block_start", "index": 0, "content_block": block},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": part}}
            for part in parts
        ),
        {"type": "message_stop"},
    ]
    message = assemble(b"data: " + json.dumps(event).encode() + b"\n" for event in events)
    assert message.calls[0]["input"] == {"a": "{x}", "b": 1}
