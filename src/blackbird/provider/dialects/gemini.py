"""Gemini generateContent, as JSON, as server-sent events or as a JSON array that grows."""

from typing import Any

from blackbird.provider.dialects.reply import JSON, SSE, Ask, Reply, compact, sse, whole
from blackbird.provider.script import Prompt, Turn, count_tokens, flat_text, next_turn, pieces
from blackbird.provider.tools import Tool

_STATES = {400: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}
_PIECE = 60


def matches(path: str) -> bool:
    """`…:generateContent`, `…:streamGenerateContent` and `…:countTokens`."""
    return path.endswith((":generateContent", ":streamGenerateContent", ":countTokens"))


def error(status: int, message: str) -> dict[str, Any]:
    """The body that tells of an error."""
    return {"error": {"code": status, "message": message, "status": _STATES.get(status, "UNAVAILABLE")}}


def reply(ask: Ask) -> Reply:
    """What the model answers."""
    if ask.path.endswith(":countTokens"):
        return whole({"totalTokens": count_tokens(ask.body.get("contents"))})
    chunks = _chunks(ask, next_turn(prompt(ask.body), ask.ids, ask.folder))
    if ask.path.endswith(":generateContent"):
        parts = [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
        candidate = {**chunks[-1]["candidates"][0], "content": {"role": "model", "parts": parts}}
        return whole({**chunks[-1], "candidates": [candidate]})
    failure = error(503, "scripted error in the stream")
    if ask.query.get("alt") == "sse":
        return Reply(SSE, tuple(sse(chunk) for chunk in chunks), streamed=True, failure=sse(failure))
    array = [(b"[" if number == 0 else b",\r\n") + compact(chunk) for number, chunk in enumerate(chunks)]
    return Reply(JSON, (*array, b"]"), streamed=True, failure=b",\r\n" + compact(failure) + b"]")


def prompt(body: Any) -> Prompt:
    """What a request offers and brings."""
    parts = [part for content in body.get("contents", ()) for part in content.get("parts", ())]
    functions = [entry for tool in body.get("tools") or () for entry in tool.get("functionDeclarations", ())]
    return Prompt(
        tools=tuple(
            Tool(entry["name"], entry.get("parametersJsonSchema") or entry.get("parameters") or {})
            for entry in functions
        ),
        results=tuple(
            flat_text(part["functionResponse"].get("response")) for part in parts if "functionResponse" in part
        ),
        text=flat_text([body.get("systemInstruction"), body.get("contents")]),
        asked=flat_text([part.get("text") for part in parts if not part.get("thought")]),
        schema=(body.get("generationConfig") or {}).get("responseJsonSchema") or {},
    )


def _parts(ask: Ask, turn: Turn) -> list[dict[str, Any]]:
    thoughts = (ask.body.get("generationConfig") or {}).get("thinkingConfig", {}).get("includeThoughts")
    parts: list[dict[str, Any]] = [{"text": turn.thinking, "thought": True}] if thoughts and turn.thinking else []
    parts += [{"text": piece} for piece in pieces(turn.text, _PIECE)]
    parts += [{"functionCall": {"name": call.name, "args": dict(call.arguments)}} for call in turn.calls]
    return parts


def _chunks(ask: Ask, turn: Turn) -> list[dict[str, Any]]:
    parts = _parts(ask, turn)
    prompt = count_tokens(ask.body.get("contents"))
    response_id = ask.ids.new("gen")
    chunks = []
    for number, part in enumerate(parts, 1):
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": [part]}, "index": 0}
        if number == len(parts):
            candidate["finishReason"] = "STOP"
        said = count_tokens(parts[:number])
        chunks.append(
            {
                "candidates": [candidate],
                "modelVersion": ask.path.rpartition("/")[2].partition(":")[0],
                "responseId": response_id,
                "usageMetadata": {
                    "promptTokenCount": prompt,
                    "candidatesTokenCount": said,
                    "totalTokenCount": prompt + said,
                },
            }
        )
    return chunks
