"""`blackbird up` and `blackbird down`: start and stop the recorder."""

from typing import Annotated

import typer

from blackbird import home as homes
from blackbird.cli.arguments import Json
from blackbird.config.load import load
from blackbird.recorder import process
from blackbox.errors import UsageError
from blackbox.terminal import output


def up(
    listen: Annotated[
        str | None, typer.Option("--listen", metavar="ADDRESS:PORT", help="Listen here (proxy.listen).")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="Listen on this port of this machine; 0 is any.")
    ] = None,
    upstream: Annotated[
        list[str] | None,
        typer.Option("--upstream", metavar="NAME=URL", help="Send requests under /NAME/ there; can be repeated."),
    ] = None,
    upstream_url: Annotated[
        str | None, typer.Option("--upstream-url", metavar="URL", help="Send all other requests there.")
    ] = None,
    mode: Annotated[str | None, typer.Option("--mode", help="full, privacy or passthrough (proxy.mode).")] = None,
    foreground: Annotated[
        bool, typer.Option("--foreground", help="Stay: end with Ctrl-C, and pass its exit code on.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Start the recorder; one that runs already is left alone.

    Examples:

      blackbird up

      blackbird up --port 5151 --upstream local=http://127.0.0.1:8000

      blackbird up --mode privacy
    """
    if listen is not None and port is not None:
        raise UsageError("--listen and --port exclude each other", "choose one")
    home = homes.find()
    config = load(home, _options(listen, port, upstream or [], upstream_url, mode))
    if foreground:
        process.run_in_foreground(home, config)
    started = process.up(home, config)
    if as_json:
        output.write_json({"schema": "up/1", **started._asdict()})
        return
    console = output.stdout()
    if started.was_running:
        told = f"A recorder runs already on http://{started.listen} (process {started.pid})"
        console.print(output.marked("!", told))
        if config["proxy.listen"] != started.listen or upstream or upstream_url or mode:
            console.print("  It keeps its settings; blackbird down and blackbird up give it new ones.")
        return
    console.print(output.marked("✓", f"Recording on http://{started.listen} (process {started.pid})"))
    console.print('  Point agents at it: eval "$(blackbird env)"')


def down(as_json: Json = False) -> None:
    """Stop the recorder: requests under way may end first.

    Example:

      blackbird down
    """
    pid = process.down(homes.find())
    if as_json:
        output.write_json({"schema": "down/1", "stopped": pid is not None, "pid": pid})
    elif pid is None:
        output.stdout().print("No recorder was running")
    else:
        output.stdout().print(output.marked("✓", f"The recorder has stopped (process {pid})"))


def _options(
    listen: str | None, port: int | None, upstreams: list[str], upstream_url: str | None, mode: str | None
) -> list[tuple[str, str, str]]:
    """The options as settings: the option, the setting and its text."""
    given = [
        ("--listen", "proxy.listen", listen),
        ("--port", "proxy.listen", f"127.0.0.1:{port}" if port is not None else None),
        ("--upstream-url", "proxy.upstream_url", upstream_url),
        ("--mode", "proxy.mode", mode),
    ]
    options = [(option, name, text) for option, name, text in given if text is not None]
    for word in upstreams:
        name, equals, url = word.partition("=")
        if not equals:
            raise UsageError(
                f"--upstream: `{output.printable(word)}` has no `=`",
                "write NAME=URL: --upstream local=http://127.0.0.1:8000",
            )
        options.append(("--upstream", f"upstreams.{name}", url))
    return options
