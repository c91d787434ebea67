"""OpenAI Chat Completions, as JSON or as server-sent events."""

from collections.abc import Iterator
from typing import Any

from blackbird.provider.dialects.reply import CREATED, SSE, Ask, Reply, compact, sse, whole
from blackbird.provider.script import Prompt, Turn, count_tokens, flat_text, next_turn, pieces
from blackbird.provider.tools import Tool


def matches(path: str) -> bool:
    """`…/chat/completions`."""
    return path.endswith("/chat/completions")


def error(status: int, message: str) -> dict[str, Any]:
    """The body that tells of an error."""
    kind = "rate_limit_exceeded" if status == 429 else "server_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


def reply(ask: Ask) -> Reply:
    """What the model answers."""
    completion = _completion(ask, next_turn(prompt(ask.body), ask.ids, ask.folder))
    if not ask.body.get("stream"):
        return whole(completion)
    usage = bool((ask.body.get("stream_options") or {}).get("include_usage"))
    events = tuple(sse(chunk) for chunk in _chunks(completion, usage=usage))
    failure = sse(error(500, "scripted error in the stream"))
    return Reply(SSE, (*events, sse("[DONE]")), streamed=True, failure=failure)


def prompt(body: Any) -> Prompt:
    """What a request offers and brings."""
    functions = [tool["function"] for tool in body.get("tools") or () if "function" in tool]
    results = [message for message in body.get("messages", ()) if message.get("role") == "tool"]
    return Prompt(
        tools=tuple(Tool(function["name"], function.get("parameters", {})) for function in functions),
        results=tuple(flat_text(message.get("content")) for message in results),
        text=flat_text([body.get("messages")]),
        asked=flat_text([each.get("content") for each in body.get("messages", ()) if each.get("role") == "user"]),
    )


def _completion(ask: Ask, turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text, "refusal": None}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": compact(call.arguments).decode()},
            }
            for call in turn.calls
        ]
    spent, said = count_tokens(ask.body.get("messages")), count_tokens(message)
    return {
        "id": ask.ids.new("chatcmpl"),
        "object": "chat.completion",
        "created": CREATED,
        "model": ask.body.get("model", ""),
        "system_fingerprint": "fp_scripted",
        "choices": [
            {
                "index": 0,
                "message": message,
                "logprobs": None,
                "finish_reason": "tool_calls" if turn.calls else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": spent,
            "completion_tokens": said,
            "total_tokens": spent + said,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _chunks(completion: dict[str, Any], *, usage: bool) -> Iterator[dict[str, Any]]:
    base = {key: completion[key] for key in ("id", "created", "model", "system_fingerprint")}
    base["object"] = "chat.completion.chunk"
    choice = completion["choices"][0]
    for delta in _deltas(choice["message"]):
        yield {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    if usage:
        yield {**base, "choices": [], "usage": completion["usage"]}


def _deltas(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for part in pieces(message["content"]):
        yield {"content": part}
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        yield {"tool_calls": [{"index": index, **call, "function": {**function, "arguments": ""}}]}
        for part in pieces(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}
