"""Each dialect says the same turn whole and in a stream."""

import json
from typing import Any

import pytest

from blackbird.provider.dialects.reply import Ask, Reply
from blackbird.provider.jobs import DONE
from blackbird.provider.routes import DIALECTS
from blackbird.provider.script import Ids

SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TITLE = "Fix the add function"


def reply(path: str, body: dict[str, Any], query: dict[str, str] | None = None) -> Reply:
    dialect = next(entry for entry in DIALECTS if entry.matches(path))
    return dialect.reply(Ask(path, query or {}, body, Ids(b"seed"), ""))


def value(answer: Reply) -> Any:
    return json.loads(b"".join(answer.pieces))


def events(answer: Reply) -> list[Any]:
    assert answer.streamed
    lines = [piece.decode().strip().split("\n")[-1].removeprefix("data: ") for piece in answer.pieces]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def test_no_path_belongs_to_two_dialects() -> None:
    for path in (
        "/v1/messages",
        "/x/v1/messages/count_tokens",
        "/v1/chat/completions",
        "/v1/responses",
        "/v1beta/models/m:generateContent",
        "/v1beta/models/m:streamGenerateContent",
        "/api/chat",
        "/api/generate",
    ):
        assert sum(dialect.matches(path) for dialect in DIALECTS) == 1


def test_anthropic() -> None:
    messages: list[Any] = [{"role": "user", "content": "fix it"}]
    body: dict[str, Any] = {"model": "m", "messages": messages, "tools": [{"name": "Bash", "input_schema": SCHEMA}]}
    body["thinking"] = {"type": "enabled"}
    whole = value(reply("/v1/messages", body))
    assert [block["type"] for block in whole["content"]] == ["thinking", "text", "tool_use", "tool_use"]
    assert whole["content"][2]["input"] == {"command": "cat calc.py"}
    assert whole["stop_reason"] == "tool_use"
    streamed = events(reply("/v1/messages", {**body, "stream": True}))
    deltas = [event["delta"] for event in streamed if event["type"] == "content_block_delta"]
    assert "".join(delta.get("text", "") for delta in deltas) == whole["content"][1]["text"]
    arguments = "".join(
        event["delta"]["partial_json"]
        for event in streamed
        if event["type"] == "content_block_delta" and event["index"] == 2
    )
    assert json.loads(arguments) == {"command": "cat calc.py"}
    assert [event["type"] for event in streamed][-2:] == ["message_delta", "message_stop"]
    results = [{"type": "tool_result", "tool_use_id": str(number), "content": "ok"} for number in range(5)]
    done = value(reply("/v1/messages", {**body, "messages": [*messages, {"role": "user", "content": results}]}))
    assert done["content"][-1]["text"] == DONE
    assert value(reply("/v1/messages/count_tokens", body)) == {"input_tokens": 2}


def test_chat_completions() -> None:
    function = {"name": "bash", "parameters": SCHEMA}
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "fix it"}, *[{"role": "tool", "content": "x"}] * 2],
        "tools": [{"type": "function", "function": function}],
    }
    whole = value(reply("/v1/chat/completions", body))["choices"][0]
    assert whole["finish_reason"] == "tool_calls"
    call = whole["message"]["tool_calls"][0]
    streamed = events(
        reply("/v1/chat/completions", {**body, "stream": True, "stream_options": {"include_usage": True}})
    )
    deltas = [event["choices"][0]["delta"] for event in streamed if event["choices"]]
    assert "".join(delta.get("content") or "" for delta in deltas) == whole["message"]["content"]
    parts = [delta["tool_calls"][0]["function"]["arguments"] for delta in deltas if "tool_calls" in delta]
    assert "".join(parts) == call["function"]["arguments"]
    assert streamed[-1]["usage"]["total_tokens"] > 0
    assert reply("/v1/chat/completions", {**body, "stream": True}).pieces[-1] == b"data: [DONE]\n\n"


def test_responses() -> None:
    tools = [
        {"type": "namespace", "name": "box", "tools": [{"type": "function", "name": "shell", "parameters": SCHEMA}]}
    ]
    body: dict[str, Any] = {"model": "m", "input": "fix it", "tools": tools, "reasoning": {"effort": "low"}}
    whole = value(reply("/v1/responses", body))
    assert [item["type"] for item in whole["output"]] == ["reasoning", "message", "function_call", "function_call"]
    streamed = events(reply("/v1/responses", {**body, "stream": True}))
    assert [event["sequence_number"] for event in streamed] == list(range(len(streamed)))
    assert streamed[-1]["response"]["output"] == whole["output"]
    text = "".join(event["delta"] for event in streamed if event["type"] == "response.output_text.delta")
    assert text == whole["output"][1]["content"][0]["text"]
    results = [{"type": "function_call_output", "call_id": "c", "output": "ok"}] * 5
    done = value(reply("/v1/responses", {**body, "input": results}))
    assert done["output"][1]["content"][0]["text"] == DONE


def test_responses_with_a_tool_that_takes_scripts() -> None:
    tools = [{"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}]
    items = [{"type": "additional_tools", "role": "developer", "tools": tools}]
    body: dict[str, Any] = {"model": "m", "input": items, "stream": True}
    streamed = events(reply("/v1/responses", body))
    calls = [item for item in streamed[-1]["response"]["output"] if item["type"] == "custom_tool_call"]
    assert [call["name"] for call in calls] == ["exec", "exec"]
    deltas = [event for event in streamed if event["type"] == "response.custom_tool_call_input.delta"]
    assert "".join(event["delta"] for event in deltas) == "".join(call["input"] for call in calls)
    result = {"type": "custom_tool_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "OK"}]}
    done = value(reply("/v1/responses", {"model": "m", "input": [*items, *[result] * 5]}))
    assert done["output"][-1]["content"][0]["text"] == DONE


def test_gemini() -> None:
    functions = [{"name": "run_shell_command", "parametersJsonSchema": SCHEMA}]
    body = {
        "contents": [{"role": "user", "parts": [{"text": "fix it"}]}],
        "tools": [{"functionDeclarations": functions}],
    }
    path = "/v1beta/models/scripted-1"
    whole = value(reply(f"{path}:generateContent", body))
    parts = whole["candidates"][0]["content"]["parts"]
    assert [next(iter(part)) for part in parts] == ["text", "functionCall", "functionCall"]
    assert whole["modelVersion"] == "scripted-1"
    streamed = events(reply(f"{path}:streamGenerateContent", body, {"alt": "sse"}))
    assert [part for event in streamed for part in event["candidates"][0]["content"]["parts"]] == parts
    array = reply(f"{path}:streamGenerateContent", body)
    assert array.media_type == "application/json"
    assert value(array) == streamed
    assert json.loads(b"".join(array.pieces[:1]) + array.failure)[-1]["error"]["code"] == 503
    results = [{"functionResponse": {"name": "x", "response": {"output": "ok"}}}] * 5
    done = value(reply(f"{path}:generateContent", {**body, "contents": [{"parts": results}]}))
    assert "".join(part["text"] for part in done["candidates"][0]["content"]["parts"]) == DONE
    assert value(reply(f"{path}:countTokens", body)) == {"totalTokens": 2}


def test_ollama() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "fix it"}]}
    tools = [{"function": {"name": "shell", "parameters": SCHEMA}}]
    whole = value(reply("/api/chat", {**body, "tools": tools, "stream": False}))
    assert [call["function"]["name"] for call in whole["message"]["tool_calls"]] == ["shell", "shell"]
    assert whole["done"] is True
    lines = [json.loads(piece) for piece in reply("/api/chat", {**body, "tools": tools}).pieces]
    assert "".join(line["message"]["content"] for line in lines) == whole["message"]["content"]
    assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
    assert value(reply("/api/generate", {"model": "m", "prompt": "x", "stream": False}))["response"] == TITLE
    generated = [json.loads(piece) for piece in reply("/api/generate", {"model": "m", "prompt": "x"}).pieces]
    assert "".join(line["response"] for line in generated) == TITLE


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda module: str(module.__name__).rpartition(".")[2])
def test_every_dialect_words_an_error(dialect: Any) -> None:
    assert "scripted 429" in json.dumps(dialect.error(429, "scripted 429"))
