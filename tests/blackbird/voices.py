"""How clients of each dialect spell what was said so far, and their requests with it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blackbird.provider.dialects.reply import compact
from blackbird.provider.script import Call, Turn

Messages = list[dict[str, Any]]
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "command": {"type": "string"}}}
SIGNATURE = "c2NyaXB0ZWQ="


@dataclass(frozen=True, slots=True)
class Voice:
    """One client."""

    path: Callable[[str, str], str]
    #: Model, system prompt, tools, history and way.
    body: Callable[[str, str, Sequence[str], Messages, str], dict[str, Any]]
    user: Callable[[str], dict[str, Any]]
    #: Calls with what came back, and whether they failed.
    results: Callable[[Sequence[tuple[Call, str]], bool], Messages]
    #: What the client sends back of an answer.
    echo: Callable[[Turn], Messages]
    #: Name of the tool, number of the exchange, place in it.
    call_id: Callable[[str, int, int], str]


def _messages_body(model: str, system: str, tools: Sequence[str], history: Messages, way: str) -> dict[str, Any]:
    return {
        "model": model,
        "max_tokens": 32_000,
        "system": [{"type": "text", "text": system}],
        "tools": [{"name": name, "input_schema": SCHEMA} for name in tools],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "messages": history,
        **({} if way == "json" else {"stream": True}),
    }


def _messages_results(pairs: Sequence[tuple[Call, str]], failed: bool) -> Messages:
    flag = {"is_error": True} if failed else {}
    return [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": call.id, "content": text, **flag} for call, text in pairs
            ],
        }
    ]


def _messages_echo(turn: Turn) -> Messages:
    content: Messages = []
    if turn.thinking:
        content.append({"type": "thinking", "thinking": turn.thinking, "signature": SIGNATURE})
    content.append({"type": "text", "text": turn.text})
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)} for call in turn.calls
    ]
    return [{"role": "assistant", "content": content}]


def _chat_body(model: str, system: str, tools: Sequence[str], history: Messages, way: str) -> dict[str, Any]:
    streamed = {} if way == "json" else {"stream": True, "stream_options": {"include_usage": True}}
    return {
        "model": model,
        "messages": [{"role": "system", "content": system}, *history],
        "tools": [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in tools],
        **streamed,
    }


def _chat_echo(turn: Turn) -> Messages:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": compact(call.arguments).decode()},
        }
        for call in turn.calls
    ]
    return [{"role": "assistant", "content": turn.text, **({"tool_calls": calls} if calls else {})}]


def _responses_body(model: str, system: str, tools: Sequence[str], history: Messages, way: str) -> dict[str, Any]:
    return {
        "model": model,
        "instructions": system,
        "input": history,
        "tools": [{"type": "function", "name": name, "parameters": SCHEMA} for name in tools],
        "reasoning": {"effort": "medium"},
        "store": False,
        "stream": way != "json",
    }


def _responses_echo(turn: Turn) -> Messages:
    items: Messages = []
    if turn.thinking:
        summary = [{"type": "summary_text", "text": turn.thinking}]
        items.append({"type": "reasoning", "summary": summary, "encrypted_content": None})
    said = [{"type": "output_text", "text": turn.text}]
    items.append({"type": "message", "role": "assistant", "content": said})
    items += [
        {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": compact(call.arguments).decode(),
        }
        for call in turn.calls
    ]
    return items


def _gemini_path(model: str, way: str) -> str:
    verb = {"json": "generateContent", "array": "streamGenerateContent"}.get(way, "streamGenerateContent?alt=sse")
    return f"/v1beta/models/{model}:{verb}"


def _gemini_body(_model: str, system: str, tools: Sequence[str], history: Messages, _way: str) -> dict[str, Any]:
    return {
        "contents": history,
        "systemInstruction": {"role": "user", "parts": [{"text": system}]},
        "tools": [{"functionDeclarations": [{"name": name, "parametersJsonSchema": SCHEMA} for name in tools]}],
        "generationConfig": {"temperature": 1, "thinkingConfig": {"includeThoughts": True}},
    }


def _gemini_echo(turn: Turn) -> Messages:
    """Thoughts are dropped, and ids made up that no answer had."""
    calls = [
        {"functionCall": {"id": call.id, "name": call.name, "args": dict(call.arguments)}} for call in turn.calls
    ]
    return [{"role": "model", "parts": [{"text": turn.text}, *calls]}]


def _gemini_results(pairs: Sequence[tuple[Call, str]], failed: bool) -> Messages:
    key = "error" if failed else "output"
    return [
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": call.id, "name": call.name, "response": {key: text}}}
                for call, text in pairs
            ],
        }
    ]


def _ollama_body(model: str, system: str, tools: Sequence[str], history: Messages, way: str) -> dict[str, Any]:
    body = _chat_body(model, system, tools, history, "json")
    return {**body, "stream": way != "json", "options": {"temperature": 0.5}}


def _ollama_echo(turn: Turn) -> Messages:
    calls = [{"function": {"name": call.name, "arguments": dict(call.arguments)}} for call in turn.calls]
    return [{"role": "assistant", "content": turn.text, **({"tool_calls": calls} if calls else {})}]


def _user(words: str) -> dict[str, Any]:
    return {"role": "user", "content": words}


VOICES: Mapping[str, Voice] = {
    "messages": Voice(
        path=lambda _model, _way: "/v1/messages",
        body=_messages_body,
        user=_user,
        results=_messages_results,
        echo=_messages_echo,
        call_id=lambda _name, number, index: f"toolu_{number:04}{index}",
    ),
    "chat": Voice(
        path=lambda _model, _way: "/v1/chat/completions",
        body=_chat_body,
        user=_user,
        results=lambda pairs, _failed: [
            {"role": "tool", "tool_call_id": call.id, "content": text} for call, text in pairs
        ],
        echo=_chat_echo,
        call_id=lambda _name, number, index: f"call_{number:04}{index}",
    ),
    "responses": Voice(
        path=lambda _model, _way: "/v1/responses",
        body=_responses_body,
        user=lambda words: {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": words}],
        },
        results=lambda pairs, _failed: [
            {"type": "function_call_output", "call_id": call.id, "output": text} for call, text in pairs
        ],
        echo=_responses_echo,
        call_id=lambda _name, number, index: f"call_{number:04}{index}",
    ),
    "gemini": Voice(
        path=_gemini_path,
        body=_gemini_body,
        user=lambda words: {"role": "user", "parts": [{"text": words}]},
        results=_gemini_results,
        echo=_gemini_echo,
        call_id=lambda name, number, index: f"{name}_17947872{number:05}_{index}",
    ),
    "ollama": Voice(
        path=lambda _model, _way: "/api/chat",
        body=_ollama_body,
        user=_user,
        results=lambda pairs, _failed: [
            {"role": "tool", "tool_name": call.name, "content": text} for call, text in pairs
        ],
        echo=_ollama_echo,
        call_id=lambda name, number, index: f"{name}_{number}_{index}",
    ),
}
