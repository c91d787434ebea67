"""`blackbird mcp` and `blackbird tools`: the memory for agents, as a server and as tools of a provider's API."""

import importlib
import json
from enum import Enum
from typing import Annotated

import typer

from blackbird import home as homes
from blackbird.config.load import load
from blackbird.config.resolve import Config
from blackbird.doors import stdio
from blackbird.doors.guard import Guard
from blackbird.doors.token import token
from blackbird.errors import ConfigError
from blackbird.home import Home
from blackbox.errors import UsageError
from blackbox.terminal import output


def mcp(
    http: Annotated[
        bool, typer.Option("--http", help="Serve HTTP on this machine instead of stdin and stdout.")
    ] = False,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="With --http: the port; 0 picks a free one.")
    ] = None,
    show_token: Annotated[
        bool, typer.Option("--show-token", help="Print the token that clients of --http must show, and exit.")
    ] = False,
) -> None:
    """Serve the memory to agents as an MCP server.

    Without options it speaks over standard input and output, as clients start it. With --http it listens on
    mcp.listen (127.0.0.1:4142) below /mcp, and answers whoever shows the token; /metrics has figures for Prometheus
    and /health says whether it is there.

    Examples:

      claude mcp add blackbird -- blackbird mcp

      codex mcp add blackbird -- blackbird mcp

      blackbird mcp --http
    """
    if not http and port is not None:
        raise UsageError("--port is of no use without --http", "add --http")
    if not http and not show_token:
        raise typer.Exit(stdio.main())
    home = homes.find()
    config = load(home)
    if show_token:
        output.write_text(token(home, config) + "\n")
        return
    _serve(home, config, port)


def _serve(home: Home, config: Config, port: int | None) -> None:
    try:
        door = importlib.import_module("blackbird.doors.http")
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"blackbird mcp --http needs what is not installed ({error.name})",
            "pip install 'blackbird[mcp]'; blackbird mcp without --http needs nothing more",
        ) from error
    opening = importlib.import_module("blackbird.doors.opening")
    figures = importlib.import_module("blackbird.stats.collecting").prometheus
    host, _, usual = config["mcp.listen"].rpartition(":")
    host = host.strip("[]")
    try:
        where = door.listen(host, int(usual) if port is None else port)
    except OSError as error:
        raise ConfigError(
            f"{host}:{usual if port is None else port}: {error.strerror}", "choose another --port"
        ) from error
    guard = Guard(host, where.getsockname()[1], token(home, config))
    kept = "mcp.token" if config["mcp.token"] is not None else home.mcp_token
    output.stderr().print(f"The memory answers at http://{guard.name}{door.PATH}; its token is in {kept}")
    with opening.dispatcher("http", has_one_asker=False) as dispatcher:
        door.serve(door.application(dispatcher, guard, lambda: str(figures(home))), where)


class Api(Enum):
    """Whose list of tools is meant."""

    CHAT = "openai-chat"
    RESPONSES = "openai-responses"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


def tools(
    api: Annotated[Api, typer.Option("--format", help="The API that the list is for.")] = Api.CHAT,
) -> None:
    """Print the memory's tools as the API of a provider wants them, as JSON.

    The list belongs below `tools` of a request. What the model calls is answered by
    blackbird.doors.adapters.memory(), or by blackbird mem.

    Examples:

      blackbird tools --format anthropic > tools.json
    """
    adapters = importlib.import_module("blackbird.doors.adapters")
    output.write_text(json.dumps(adapters.tools(api.value), indent=2, ensure_ascii=False) + "\n")
