"""The table of clients as values, from `clients.toml`."""

import functools
import importlib.resources
import tomllib
from pathlib import PurePath
from typing import Any, Literal

import msgspec

Mode = Literal["reverse", "forward"]
#: The entry for programs that are in none.
OTHER = "other"


class Variable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A variable that holds a base URL, and what belongs into it."""

    upstream: str
    path: str = ""
    port: int | None = None
    only_set: bool = False


class Trust(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A variable that names certificates, and whether they are then the only ones."""

    name: str
    replaces: bool


class Inline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A variable that holds a whole configuration as JSON."""

    variable: str
    content: dict[str, Any]


class Setting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A base URL in a file of the user's, which this run's would stand in for."""

    path: str
    key: str
    upstream: str
    folder: str | None = None


class Extra(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A variable that goes with a base URL, if the upstream behind it is this host."""

    name: str
    value: str
    upstream: str
    host: str


class SessionOption(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The option by which a client takes its session id, and when it does not."""

    option: str
    unless: list[str]
    commands: list[str]


class Hooks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a client is made to say what its tools did."""

    way: Literal["settings", "overrides", "plugin"]
    option: str = ""
    events: list[str] = []
    variable: str = ""
    plugin: str = ""


class Briefing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a client is given the context pack before it starts."""

    way: Literal["hook", "option", "variable", "prompt"]
    event: str = ""
    option: str = ""
    variable: str = ""
    content: dict[str, Any] = {}
    options: list[str] = []
    #: Options that take a value, so that the value is not taken for a prompt.
    valued: list[str] = []
    positional: bool = False
    escape: str = ""
    commands: list[str] = []


class Server(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a client is told of the memory's MCP server, for one child."""

    way: Literal["option", "overrides", "variable"]
    content: dict[str, Any]
    option: str = ""
    variable: str = ""
    allow: str = ""
    tool: str = ""
    once: bool = False


class Permanent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of the user's that `install` adds entries to; of several `paths` the first that is there."""

    paths: list[str]
    content: dict[str, Any]
    folder: str | None = None


class Client(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One client: how it is recognised, and how it is sent through the recorder."""

    name: str
    title: str
    programs: list[str]
    mode: Mode
    why: str
    variables: list[str]
    version: list[str]
    arguments: list[str] = []
    overrides: list[str] = []
    inline: Inline | None = None
    extras: list[Extra] = []
    files: list[Setting] = []
    dotenv: list[str] = []
    session: SessionOption | None = None
    hooks: Hooks | None = None
    pack: Briefing | None = None
    mcp: Server | None = None
    install: list[Permanent] = []


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that is known."""

    client: list[Client]
    variable: dict[str, Variable]
    trust: list[Trust]
    proxies: list[str]


@functools.cache
def table() -> Table:
    """The table; read once."""
    text = importlib.resources.files("blackbird.agents").joinpath("clients.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Table)


def clients() -> list[Client]:
    """Every client, the entry for all other programs last."""
    return table().client


def find(program: str) -> Client | None:
    """The client that a program is, by its name with or without a folder."""
    name = PurePath(program).name
    return next((client for client in clients() if name in client.programs), None)


def other() -> Client:
    """The entry for programs that are in none."""
    return next(client for client in clients() if client.name == OTHER)
