"""Ollama's chat and generate, as JSON or as JSON lines."""

from typing import Any

from blackbird.provider.dialects.reply import NDJSON, Ask, Reply, compact, whole
from blackbird.provider.script import Prompt, Turn, count_tokens, flat_text, next_turn, pieces
from blackbird.provider.tools import Tool

_CREATED = "2026-01-01T00:00:00Z"


def matches(path: str) -> bool:
    """`…/api/chat` and `…/api/generate`."""
    return path.endswith(("/api/chat", "/api/generate"))


def error(_status: int, message: str) -> dict[str, Any]:
    """The body that tells of an error."""
    return {"error": message}


def reply(ask: Ask) -> Reply:
    """What the model answers; unlike elsewhere, a stream unless it is declined."""
    turn = next_turn(prompt(ask.body), ask.ids, ask.folder)
    chat = ask.path.endswith("/api/chat")
    if not ask.body.get("stream", True):
        said = _spoken(turn.text, turn) if chat else {"response": turn.text}
        return whole({**_base(ask), **said, **_end(ask, turn)})
    lines = [{**_base(ask), **(_spoken(piece) if chat else {"response": piece})} for piece in pieces(turn.text)]
    if chat and turn.calls:
        lines.append({**_base(ask), **_spoken("", turn)})
    lines.append({**_base(ask), **(_spoken("") if chat else {"response": ""}), **_end(ask, turn)})
    failure = compact(error(500, "scripted error in the stream")) + b"\n"
    return Reply(NDJSON, tuple(compact(line) + b"\n" for line in lines), streamed=True, failure=failure)


def prompt(body: Any) -> Prompt:
    """What a request offers and brings."""
    functions = [tool["function"] for tool in body.get("tools") or ()]
    results = [message for message in body.get("messages", ()) if message.get("role") == "tool"]
    return Prompt(
        tools=tuple(Tool(function["name"], function.get("parameters") or {}) for function in functions),
        results=tuple(flat_text(message.get("content")) for message in results),
        text=flat_text([body.get("messages")]),
        asked=flat_text([each.get("content") for each in body.get("messages", ()) if each.get("role") == "user"]),
    )


def _base(ask: Ask) -> dict[str, Any]:
    return {"model": ask.body.get("model", ""), "created_at": _CREATED, "done": False}


def _spoken(text: str, turn: Turn | None = None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if turn is not None and turn.calls:
        message["tool_calls"] = [
            {"function": {"name": call.name, "arguments": dict(call.arguments)}} for call in turn.calls
        ]
    return {"message": message}


def _end(ask: Ask, turn: Turn) -> dict[str, Any]:
    return {
        "done": True,
        "done_reason": "stop",
        "total_duration": 1000,
        "load_duration": 10,
        "prompt_eval_count": count_tokens(ask.body.get("messages", ask.body.get("prompt"))),
        "prompt_eval_duration": 10,
        "eval_count": count_tokens(turn.text),
        "eval_duration": 10,
    }
