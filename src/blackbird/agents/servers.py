"""How a client is told of the memory's MCP server: by its arguments or its configuration, for one child. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from blackbird.agents.blocks import inline
from blackbird.agents.hooks import is_at_work
from blackbird.agents.merging import Attached, joined, spelled
from blackbird.agents.table import Client, Server

#: The tools of the server; all of them only read.
TOOLS = ("memory_search", "memory_get", "memory_context_for_task", "memory_related")


class Program(NamedTuple):
    """What is started, and in which environment: clients pass on little of their own."""

    words: list[str]
    environment: dict[str, str]

    def known(self) -> dict[str, Any]:
        """By the names that the table has for it."""
        first, *rest = self.words
        return {"command": first, "arguments": rest, "words": self.words, "environment": self.environment}


def wanted(client: Client, arguments: Sequence[str]) -> Server | None:
    """How this child learns of a server, unless it is started for something else than to work."""
    return client.mcp if is_at_work(client, arguments) else None


def attached(client: Client, arguments: Sequence[str], program: Program, variables: Mapping[str, str]) -> Attached:
    """The server beside those of the user, and leave to use its tools unasked."""
    way = wanted(client, arguments)
    if way is None:
        return Attached(list(arguments))
    content = spelled(way.content, program.known())
    if way.way == "variable":
        return joined(client, way.variable, content, arguments, variables, "memory tools")
    if way.once and any(word.partition("=")[0] == way.option for word in arguments):
        note = f"your {way.option} is the only one that {client.title} takes, so it gets no memory tools"
        return Attached(list(arguments), notes=[note])
    if way.way == "overrides":
        words = [word for key, value in _leaves(content) for word in (way.option, f"{key}={inline(value)}")]
    else:
        # In one word: some take every word behind such an option for one more.
        words = [f"{way.option}={json.dumps(content)}"]
    if way.allow:
        words.append(way.allow.replace("{tools}", ",".join(tool_names(way))))
    return Attached([arguments[0], *words, *arguments[1:]])


def tool_names(way: Server) -> list[str]:
    """What the client calls each tool."""
    return [way.tool.replace("{tool}", name) for name in TOOLS]


def _leaves(content: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The single settings of a server: `a.b.c` and its value; `env` is one, whatever it holds."""
    for key, value in content.items():
        if isinstance(value, dict) and key != "env":
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value
