"""OpenAI Responses: as JSON, as server-sent events, or as messages of a WebSocket."""

import itertools
from collections.abc import Iterator
from typing import Any

from blackbird.provider.dialects.reply import CREATED, SSE, Ask, Reply, compact, sse, whole
from blackbird.provider.script import Call, Prompt, Turn, count_tokens, flat_text, next_turn, pieces
from blackbird.provider.tools import SCRIPT, Tool

#: What an item lacks when a stream first names it.
_HOLLOW: dict[str, dict[str, Any]] = {
    "reasoning": {"summary": []},
    "message": {"content": []},
    "function_call": {"arguments": ""},
    "custom_tool_call": {"input": ""},
    "tool_search_call": {},
}
#: The tool of Codex that takes JavaScript, which in turn calls its other tools.
_SCRIPTED = "exec"
#: Its tool that finds others, and what it found.
_FINDER, _FOUND = "tool_search", "tool_search_output"


def matches(path: str) -> bool:
    """`…/responses`."""
    return path.endswith("/responses")


def error(status: int, message: str) -> dict[str, Any]:
    """The body that tells of an error."""
    kind = "rate_limit_exceeded" if status == 429 else "server_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


def reply(ask: Ask) -> Reply:
    """What the model answers."""
    if not ask.body.get("stream"):
        return whole(_answer(ask))
    streamed = tuple(sse(event, event["type"]) for event in events(ask))
    broken = failure("scripted error in the stream", len(streamed))
    return Reply(SSE, streamed, streamed=True, failure=sse(broken, "error"))


def events(ask: Ask) -> list[dict[str, Any]]:
    """The same answer event by event."""
    return _numbered(_events(_answer(ask)))


def warm_up(ask: Ask) -> list[dict[str, Any]]:
    """The events for a request that wants no answer yet."""
    return _numbered(_events({**_answer(ask), "output": []}))


def failure(message: str, number: int) -> dict[str, Any]:
    """The event that tells of an error."""
    kind = {"type": "error", "code": "server_error", "message": message, "param": None}
    return {**kind, "sequence_number": number}


def _numbered(told: Iterator[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    return [{"type": kind, "sequence_number": number, **rest} for number, (kind, rest) in enumerate(told)]


def _answer(ask: Ask) -> dict[str, Any]:
    return _response(ask, next_turn(prompt(ask.body), ask.ids, ask.folder))


def prompt(body: Any) -> Prompt:
    """What a request offers and brings; some clients offer their tools in an item of the input."""
    items = body.get("input") or []
    items = [] if isinstance(items, str) else items
    added = [item.get("tools") or () for item in items if item.get("type") in ("additional_tools", _FOUND)]
    offered = itertools.chain(body.get("tools") or (), *added)
    grouped = [(tool, tool.get("tools", ()) if tool.get("type") == "namespace" else (tool,)) for tool in offered]
    tools = [
        Tool(tool["name"], tool.get("parameters") or {}, tool["name"] == _SCRIPTED, _namespace(group))
        for group, members in grouped
        for tool in members
        if tool.get("type") in ("function", "custom")
    ]
    if any(tool.get("type") == _FINDER for tool, _ in grouped):
        tools.append(Tool(_FINDER, finds_tools=True))
    asked = body.get("input") if isinstance(body.get("input"), str) else ""
    asked = asked or flat_text([item.get("content") for item in items if item.get("role") == "user"])
    results = [item for item in items if str(item.get("type", "")).endswith("_output") and item["type"] != _FOUND]
    return Prompt(
        tools=tuple(tools),
        results=tuple(flat_text(item.get("output")) for item in results),
        text=flat_text([body.get("instructions"), body.get("input")]),
        asked=asked,
    )


def _namespace(group: Any) -> str:
    """What a call has to name besides the tool; not the group of tools that come with the client."""
    name = str(group.get("name", "")) if group.get("type") == "namespace" else ""
    return name if name.startswith("mcp__") else ""


def _output(ask: Ask, turn: Turn) -> list[dict[str, Any]]:
    output: list[dict[str, Any]] = []
    if turn.thinking and ask.body.get("reasoning"):
        summary = [{"type": "summary_text", "text": turn.thinking}]
        output.append({"type": "reasoning", "id": ask.ids.new("rs"), "summary": summary})
    content = [{"type": "output_text", "text": turn.text, "annotations": [], "logprobs": []}]
    message = {"type": "message", "id": ask.ids.new("msg"), "role": "assistant", "status": "completed"}
    output.append({**message, "content": content})
    return [*output, *(_call(ask, call) for call in turn.calls)]


def _call(ask: Ask, call: Call) -> dict[str, Any]:
    known = {"call_id": call.id, "status": "completed", "name": call.name}
    if call.namespace:
        known["namespace"] = call.namespace
    if call.name == _FINDER:
        found = {"call_id": call.id, "status": "completed", "execution": "client"}
        return {"type": "tool_search_call", "id": ask.ids.new("tsc"), **found, "arguments": dict(call.arguments)}
    if SCRIPT in call.arguments:
        return {"type": "custom_tool_call", "id": ask.ids.new("ctc"), **known, "input": call.arguments[SCRIPT]}
    arguments = compact(call.arguments).decode()
    return {"type": "function_call", "id": ask.ids.new("fc"), **known, "arguments": arguments}


def _response(ask: Ask, turn: Turn) -> dict[str, Any]:
    output = _output(ask, turn)
    spent, said = count_tokens(ask.body.get("input")), count_tokens(output)
    return {
        "id": ask.ids.new("resp"),
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "model": ask.body.get("model", ""),
        "output": output,
        "usage": {
            "input_tokens": spent,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": said,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": spent + said,
        },
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "temperature": 1.0,
        "top_p": 1.0,
        "previous_response_id": ask.body.get("previous_response_id"),
    }


def _events(response: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    early = {**response, "status": "in_progress", "output": [], "usage": None}
    yield "response.created", {"response": early}
    yield "response.in_progress", {"response": early}
    for index, item in enumerate(response["output"]):
        hollow = _HOLLOW[item["type"]]
        status = {"status": "in_progress"} if "status" in item else {}
        yield "response.output_item.added", {"output_index": index, "item": {**item, **hollow, **status}}
        yield from _item_events({"item_id": item["id"], "output_index": index}, item)
        yield "response.output_item.done", {"output_index": index, "item": item}
    yield "response.completed", {"response": response}


def _item_events(place: dict[str, Any], item: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    extra: dict[str, Any] = {}
    if item["type"] == "function_call":
        for piece in pieces(item["arguments"]):
            yield "response.function_call_arguments.delta", {**place, "delta": piece}
        done = {"arguments": item["arguments"], "name": item["name"]}
        yield "response.function_call_arguments.done", {**place, **done}
        return
    if item["type"] == "custom_tool_call":
        for piece in pieces(item["input"]):
            yield "response.custom_tool_call_input.delta", {**place, "delta": piece}
        yield "response.custom_tool_call_input.done", {**place, "input": item["input"]}
        return
    if item["type"] == "tool_search_call":
        return
    if item["type"] == "message":
        part, stem, frame = item["content"][0], "response.output_text", "response.content_part"
        place, extra = {**place, "content_index": 0}, {"logprobs": []}
    else:
        part, stem, frame = item["summary"][0], "response.reasoning_summary_text", "response.reasoning_summary_part"
        place = {**place, "summary_index": 0}
    yield f"{frame}.added", {**place, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
        yield f"{stem}.delta", {**place, "delta": piece, **extra}
    yield f"{stem}.done", {**place, "text": part["text"], **extra}
    yield f"{frame}.done", {**place, "part": part}
