"""What a tool is for, told by its name: todos, questions, plans, skills, memory, sub-agents, MCP methods."""

import enum
import functools
import importlib.resources
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

_BETWEEN = re.compile(r"[^a-z0-9]+")
_MCP = re.compile(r"mcp__(?P<server>.+?)__(?P<method>.+)", re.DOTALL)
_LOOSE_MCP = re.compile(r"mcp_(?P<server>[^_]+)_(?P<method>.+)", re.DOTALL)


class Use(enum.StrEnum):
    """What a call stands for in a log."""

    TOOL = "tool"
    MCP = "mcp"
    TODO = "todo"
    #: One entry is added to the list, or changed.
    TODO_ADD = "todo_add"
    TODO_CHANGE = "todo_change"
    QUESTION = "question"
    PLAN_ENTER = "plan_enter"
    PLAN_EXIT = "plan_exit"
    SKILL = "skill"
    RECALL = "recall"
    SUBAGENT = "subagent"


class Keys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Names of tools of one use, and which of their arguments say what; the first that is there counts."""

    names: tuple[str, ...]
    lists: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    several: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


class Role(msgspec.Struct, frozen=True):
    """The use of one tool; `server` and `method` are those of an MCP tool."""

    use: Use
    server: str = ""
    method: str = ""


@functools.cache
def table() -> dict[str, Keys]:
    """The table of `roles.toml`."""
    text = importlib.resources.files("blackbird.deeds").joinpath("roles.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, Keys])


def keys_of(use: Use) -> Keys:
    """Which arguments of a tool of this use say what."""
    return table()[str(use)]


def role_of(name: str, servers: Iterable[str] = ()) -> Role:
    """What a tool is for. `servers` are the MCP servers that the session is known to have."""
    server, method = _split(name, tuple(servers))
    use = _uses().get(_plain(method or name), Use.TOOL)
    if method and use is not Use.RECALL:
        # A server may call its methods as it likes: of those, memory alone is told apart.
        use = Use.MCP
    return Role(use, server, method)


def first(given: Mapping[str, Any], keys: Iterable[str]) -> Any:
    """The first of these arguments that is there."""
    return next((given[key] for key in keys if given.get(key) is not None), None)


def first_text(given: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """The first of these arguments that is a text with something in it."""
    return next((value for key in keys if isinstance(value := given.get(key), str) and value), None)


@functools.cache
def _uses() -> dict[str, Use]:
    return {name: Use(use) for use, keys in table().items() for name in keys.names}


def _plain(name: str) -> str:
    return _BETWEEN.sub("", name.lower())


def _split(name: str, servers: tuple[str, ...]) -> tuple[str, str]:
    """Server and method of `mcp__server__method`, `mcp_server_method`, or `server_method` of a known server."""
    match = _MCP.fullmatch(name)
    if match is not None:
        return match["server"], match["method"]
    for server in sorted(servers, key=len, reverse=True):
        for start in (f"mcp_{server}_", f"{server}_"):
            if server and name.startswith(start) and len(name) > len(start):
                return server, name[len(start) :]
    match = _LOOSE_MCP.fullmatch(name)
    return (match["server"], match["method"]) if match is not None else ("", "")
