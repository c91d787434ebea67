"""Anthropic Messages, as JSON or as server-sent events, and the counting of tokens."""

from collections.abc import Iterator
from typing import Any

from blackbird.provider.dialects.reply import SSE, Ask, Reply, sse, whole
from blackbird.provider.script import Prompt, Turn, count_tokens, flat_text, next_turn, pieces
from blackbird.provider.tools import Tool

_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def matches(path: str) -> bool:
    """`…/messages` and `…/messages/count_tokens`."""
    return path.endswith(("/messages", "/count_tokens"))


def error(status: int, message: str) -> dict[str, Any]:
    """The body that tells of an error."""
    return {"type": "error", "error": {"type": _ERRORS.get(status, "api_error"), "message": message}}


def reply(ask: Ask) -> Reply:
    """What the model answers."""
    if ask.path.endswith("/count_tokens"):
        return whole({"input_tokens": count_tokens(ask.body.get("messages"))})
    message = _message(ask, next_turn(prompt(ask.body), ask.ids, ask.folder))
    if not ask.body.get("stream"):
        return whole(message)
    events = tuple(sse(event, event["type"]) for event in _events(message))
    return Reply(SSE, events, streamed=True, failure=sse(error(529, "scripted error in the stream"), "error"))


def prompt(body: Any) -> Prompt:
    """What a request offers and brings."""
    contents = [message.get("content") for message in body.get("messages", ())]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return Prompt(
        tools=tuple(Tool(tool["name"], tool.get("input_schema", {})) for tool in body.get("tools") or ()),
        results=tuple(flat_text(block.get("content")) for block in blocks if block.get("type") == "tool_result"),
        text=flat_text([body.get("system"), body.get("messages")]),
        asked="\n".join(_asked(message) for message in body.get("messages", ()) if message.get("role") == "user"),
    )


def _asked(message: Any) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else flat_text([block.get("text") for block in content or ()])


def _message(ask: Ask, turn: Turn) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if turn.thinking and (ask.body.get("thinking") or {}).get("type") in ("enabled", "adaptive"):
        content.append({"type": "thinking", "thinking": turn.thinking, "signature": "c2NyaXB0ZWQ="})
    content.append({"type": "text", "text": turn.text})
    content += [
        {"type": "tool_use", "id": call.id.replace("call", "toolu"), "name": call.name, "input": dict(call.arguments)}
        for call in turn.calls
    ]
    return {
        "id": ask.ids.new("msg"),
        "type": "message",
        "role": "assistant",
        "model": ask.body.get("model", ""),
        "content": content,
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": count_tokens(ask.body.get("messages")),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": count_tokens(ask.body.get("system")),
            "output_tokens": count_tokens(content),
        },
    }


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    usage = {**message["usage"], "output_tokens": 1}
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "usage": usage}}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _block_events(index: int, block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    start, deltas = _streamed(block)
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _streamed(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The hollow block that a stream begins with, and what fills it."""
    kind = block["type"]
    if kind == "tool_use":
        text = whole(block["input"]).pieces[0].decode()
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": part} for part in pieces(text)]
    deltas = [{"type": f"{kind}_delta", kind: part} for part in pieces(block[kind])]
    if kind == "thinking":
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {**block, "thinking": "", "signature": ""}, deltas
    return {**block, "text": ""}, deltas
