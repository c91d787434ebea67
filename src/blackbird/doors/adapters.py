"""The tools as the APIs of providers want to be told of them. Whatever a model calls, one dispatcher answers."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any

from blackbird.doors import opening, schema
from blackbird.doors.dispatch import Dispatcher
from blackbird.doors.schema import Tool

#: What the oldest of the APIs understands of a JSON schema.
_PLAIN = ("type", "description", "enum", "items", "properties", "required")


def memory() -> AbstractContextManager[Dispatcher]:
    """The memory of this user, for a program that gives tools to a model: `call(name, arguments)` answers a call."""
    return opening.dispatcher("tool", has_one_asker=True)


def chat(tool: Tool) -> dict[str, Any]:
    """For Chat Completions."""
    return {"type": "function", "function": _named(tool, "parameters", tool.schema)}


def responses(tool: Tool) -> dict[str, Any]:
    """For the Responses API, which takes arguments for required unless it is told otherwise."""
    return {"type": "function", **_named(tool, "parameters", tool.schema), "strict": False}


def messages(tool: Tool) -> dict[str, Any]:
    """For the Messages API."""
    return _named(tool, "input_schema", tool.schema)


def declaration(tool: Tool) -> dict[str, Any]:
    """For generateContent, below `functionDeclarations`."""
    return _named(tool, "parameters", _plain(tool.schema))


#: By the name of the API: what makes an entry of its list of tools.
FORMATS: Mapping[str, Callable[[Tool], dict[str, Any]]] = MappingProxyType(
    {"openai-chat": chat, "openai-responses": responses, "anthropic": messages, "gemini": declaration}
)


def tools(api: str) -> list[dict[str, Any]]:
    """What belongs below `tools` of a request to an API."""
    told = [FORMATS[api](tool) for tool in schema.TOOLS]
    return [{"functionDeclarations": told}] if FORMATS[api] is declaration else told


def _named(tool: Tool, key: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, key: arguments}


def _plain(part: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in part.items() if key in _PLAIN and value != []}
    if "properties" in kept:
        kept["properties"] = {name: _plain(each) for name, each in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = _plain(kept["items"])
    return kept
