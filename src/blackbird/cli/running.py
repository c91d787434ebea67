"""`blackbird up` and `blackbird down`: start and stop the recorder."""

import os
from pathlib import Path
from typing import Annotated

import typer

from blackbird import home as homes
from blackbird.cli.arguments import Json
from blackbird.config.load import load
from blackbird.config.resolve import Config
from blackbird.errors import ConfigError, RecorderFailed
from blackbird.home import Home
from blackbird.recorder import control, process, program, users
from blackbird.service import systemd, unit
from blackbox.errors import UsageError
from blackbox.terminal import output

_START = f"systemctl --user daemon-reload && systemctl --user enable --now {unit.NAME}"


def up(  # noqa: PLR0913, PLR0917 - the options of a command
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
    as_unit: Annotated[
        bool, typer.Option("--systemd", help="Write a unit that starts it whenever you log in, and start nothing.")
    ] = False,
    now: Annotated[bool, typer.Option("--now", help="With --systemd: have it started, too.")] = False,
    force: Annotated[bool, typer.Option("--force", help="With --systemd: replace a unit of somebody else.")] = False,
    as_json: Json = False,
) -> None:
    """Start the recorder; one that runs already is left alone.

    Examples:

      blackbird up

      blackbird up --port 5151 --upstream local=http://127.0.0.1:8000

      blackbird up --mode privacy

      blackbird up --systemd --now
    """
    _check(listen, port, as_unit=as_unit, foreground=foreground, for_unit=now or force)
    home = homes.find()
    options = _options(listen, port, upstream or [], upstream_url, mode)
    config = load(home, options)
    if as_unit:
        _write_unit(home, config, options, now=now, force=force, as_json=as_json)
        return
    if foreground:
        process.run_in_foreground(home, config)
    started = process.up(home, config)
    if as_json:
        output.write_json({"schema": "up/1", **started._asdict()})
        return
    _tell(started, is_otherwise=config["proxy.listen"] != started.listen or bool(upstream or upstream_url or mode))


def _check(listen: str | None, port: int | None, *, as_unit: bool, foreground: bool, for_unit: bool) -> None:
    """Refuse options that exclude each other."""
    if listen is not None and port is not None:
        raise UsageError("--listen and --port exclude each other", "choose one")
    if as_unit and foreground:
        raise UsageError("--systemd and --foreground exclude each other", "choose one")
    if for_unit and not as_unit:
        raise UsageError("--now and --force are for --systemd", "add --systemd")


def _tell(started: process.Started, *, is_otherwise: bool) -> None:
    """Say that it runs; one that ran before may have other settings than were asked for."""
    console = output.stdout()
    if started.was_running:
        told = f"A recorder runs already on http://{started.listen} (process {started.pid})"
        console.print(output.marked("!", told))
        if is_otherwise:
            console.print("  It keeps its settings; blackbird down and blackbird up give it new ones.")
        return
    console.print(output.marked("✓", f"Recording on http://{started.listen} (process {started.pid})"))
    console.print('  Point agents at it: eval "$(blackbird env)"')


def _write_unit(
    home: Home, config: Config, options: list[tuple[str, str, str]], *, now: bool, force: bool, as_json: bool
) -> None:
    """Write the unit that starts a recorder with these options, and have it started with `now`."""
    running = control.status(home)
    is_ours = systemd.is_active()
    if now and running is not None and not is_ours:
        message = f"a recorder runs already, on {running['listen']}, and not by systemd"
        raise RecorderFailed(message, "blackbird down stops it; then type this again")
    missed = _secrets_of_this_shell(home, options)
    words = [word for option, name, text in options for word in _words(option, name, text)]
    text = systemd.compose(home, words, os.environ, config["proxy.drain_seconds"])
    written = systemd.write(systemd.unit_path(os.environ, Path.home()), text, force=force)
    if now:
        systemd.enable()
    if as_json:
        body = {"unit": str(written.path), "state": written.state, "started": now}
        output.write_json(
            {"schema": "up-systemd/1", **body, "command": None if now else _START, "left_out": list(missed)}
        )
        return
    console = output.stdout()
    told = "is as it should be" if written.state == "unchanged" else f"is {written.state}"
    console.print(output.marked("✓", output.printable(f"{written.path} {told}")))
    for variable, name in missed.items():
        console.print(output.marked("!", f"{variable} is a secret, and not in the unit"))
        console.print(output.printable(f"  put {name} into {home.config_file}, or the recorder starts without it"))
    if now:
        console.print(output.marked("✓", "systemd runs the recorder, now and whenever you log in"))
        if is_ours and written.state != "unchanged":
            console.print(f"  systemctl --user restart {unit.NAME} gives it the new settings")
        return
    if running is not None and not is_ours:
        console.print(output.marked("!", f"A recorder runs already on {running['listen']}: first blackbird down"))
    console.print(f"  Start it: {_START}")


def _secrets_of_this_shell(home: Home, options: list[tuple[str, str, str]]) -> dict[str, str]:
    """The variables whose settings the recorder of a unit would not have, as no unit holds secrets."""
    secrets = {each.origin.where: each for each in systemd.secrets(os.environ)}
    others = {name: text for name, text in os.environ.items() if name not in secrets}
    try:
        config = load(home, options, variables=others)
    except ConfigError as error:
        names = ", ".join(secrets)
        message = f"{names} is a secret that no unit may hold, and without it: {error.message}"
        settings = ", ".join(each.setting.name for each in secrets.values())
        raise ConfigError(message, f"put {settings} into {home.config_file}, and type this again") from error
    return {name: each.setting.name for name, each in secrets.items() if config[each.setting.name] != each.value}


def _words(option: str, name: str, text: str) -> list[str]:
    """An option as it is typed."""
    if option == "--port":
        return ["--listen", text]
    return [option, f"{name.partition('.')[2]}={text}" if option == "--upstream" else text]


def down(as_json: Json = False) -> None:
    """Stop the recorder: requests under way may end first.

    Agents that still run through it are named: their calls fail until it is up again.

    Example:

      blackbird down
    """
    home = homes.find()
    using = users.users(home)
    for user in using:
        said = f"{user.program} (process {user.pid}, session {user.session}) still runs through the recorder"
        output.stderr().print(output.marked("!", output.printable(f"{said}; blackbird up lets it go on")))
    pid = process.down(home)
    if as_json:
        runs = [user.run for user in using]
        output.write_json({"schema": "down/1", "stopped": pid is not None, "pid": pid, "runs": runs})
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


def recorder_path() -> None:
    """Print where the recorder program of this installation is.

    Example:

      blackbird recorder-path
    """
    output.write_text(f"{program.find()}\n")
