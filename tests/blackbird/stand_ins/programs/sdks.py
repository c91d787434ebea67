"""The repair with the official libraries, one after the other; what they send, and when they try again, is theirs."""

import json
from pathlib import Path
from typing import Any

import anthropic
import ollama
import openai
from google import genai

from blackbird.demo.workshop import Workshop
from tests.blackbird.stand_ins.programs.repair import PROMPT, Call, Turn, schema, work

_TOOLS = {"read": ("path",), "bash": ("command",), "edit": ("path", "old_string", "new_string")}
_FUNCTIONS: Any = [
    {"type": "function", "function": {"name": name, "parameters": schema(*names)}} for name, names in _TOOLS.items()
]


class Claude:
    """Messages, streamed."""

    def __init__(self) -> None:
        self._client = anthropic.Anthropic()
        self._messages: list[Any] = [{"role": "user", "content": PROMPT}]
        self._tools: Any = [{"name": name, "input_schema": schema(*names)} for name, names in _TOOLS.items()]

    def ask(self, _: int) -> Turn:
        asked: Any = {"model": "m", "max_tokens": 99, "tools": self._tools, "messages": self._messages}
        with self._client.messages.stream(**asked) as stream:
            content: Any = stream.get_final_message().content
        text = "".join(block.text for block in content if block.type == "text")
        calls = [Call(block.id, block.name, block.input) for block in content if block.type == "tool_use"]
        return Turn(text, calls, content)

    def report(self, turn: Turn, results: list[tuple[Call, str]]) -> None:
        blocks = [{"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in results]
        self._messages += [{"role": "assistant", "content": turn.content}, {"role": "user", "content": blocks}]


class OpenAI:
    """Chat Completions in one piece."""

    def __init__(self) -> None:
        self._client = openai.OpenAI()
        self._messages: list[Any] = [{"role": "user", "content": PROMPT}]

    def ask(self, _: int) -> Turn:
        done = self._client.chat.completions.create(model="m", tools=_FUNCTIONS, messages=self._messages)
        message: Any = done.choices[0].message
        asked = message.tool_calls or []
        calls = [Call(call.id, call.function.name, json.loads(call.function.arguments)) for call in asked]
        return Turn(message.content, calls, message)

    def report(self, turn: Turn, results: list[tuple[Call, str]]) -> None:
        self._messages.append(turn.content)
        self._messages += [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in results]


class Gemini:
    """Content, streamed."""

    def __init__(self) -> None:
        self._client = genai.Client()
        self._contents: list[Any] = [{"role": "user", "parts": [{"text": PROMPT}]}]
        declared = [{"name": name, "parameters": schema(*names)} for name, names in _TOOLS.items()]
        self._config: Any = {"tools": [{"function_declarations": declared}]}

    def ask(self, number: int) -> Turn:
        asked: Any = {"model": "m", "contents": self._contents, "config": self._config}
        chunks: list[Any] = list(self._client.models.generate_content_stream(**asked))
        parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
        asked_for = [part.function_call for part in parts if part.function_call]
        calls = [Call(f"{number}", call.name, call.args) for call in asked_for]
        return Turn("".join(part.text or "" for part in parts), calls, parts)

    def report(self, turn: Turn, results: list[tuple[Call, str]]) -> None:
        given = [{"name": call.name, "response": {"output": text}} for call, text in results]
        self._contents.append({"role": "model", "parts": turn.content})
        self._contents.append({"role": "user", "parts": [{"function_response": result} for result in given]})


class Ollama:
    """Chat, streamed in lines."""

    def __init__(self) -> None:
        self._messages: list[Any] = [{"role": "user", "content": PROMPT}]

    def ask(self, number: int) -> Turn:
        pieces = list(ollama.chat(model="m", messages=self._messages, tools=_FUNCTIONS, stream=True))
        text = "".join(piece.message.content or "" for piece in pieces)
        asked = [call.function for piece in pieces for call in piece.message.tool_calls or ()]
        return Turn(text, [Call(f"{number}", function.name, function.arguments) for function in asked])

    def report(self, turn: Turn, results: list[tuple[Call, str]]) -> None:
        called = [{"function": {"name": call.name, "arguments": call.arguments}} for call in turn.calls]
        self._messages.append({"role": "assistant", "content": turn.text, "tool_calls": called})
        self._messages += [{"role": "tool", "tool_name": call.name, "content": text} for call, text in results]


_AGENTS: dict[str, type[Claude | OpenAI | Gemini | Ollama]] = {
    "anthropic": Claude,
    "openai": OpenAI,
    "gemini": Gemini,
    "ollama": Ollama,
}


def main(words: list[str]) -> int:
    codes = []
    for name in words:
        Workshop(Path.cwd()).furnish()
        agent = _AGENTS[name]()
        codes.append(work(agent.ask, agent.report))
    return sum(codes)
