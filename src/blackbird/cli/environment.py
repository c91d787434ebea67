"""`blackbird env`: the variables that send agents through the recorder."""

import shlex
from enum import Enum
from typing import Annotated, Any

import typer

from blackbird import home as homes
from blackbird.agents import environment
from blackbird.config.load import load
from blackbird.launch.ids import check_id
from blackbird.recorder import control
from blackbox.terminal import output


class Shell(Enum):
    """In whose words the variables are told."""

    SH = "sh"
    FISH = "fish"
    JSON = "json"


def command(
    session: Annotated[str | None, typer.Option("--session", help="The session the run belongs to.")] = None,
    task: Annotated[str | None, typer.Option("--task", help="The task the run belongs to.")] = None,
    run_new: Annotated[
        bool, typer.Option("--run-new", help="Begin a run; with --session or --task one begins anyway.")
    ] = False,
    shell: Annotated[Shell, typer.Option("--shell", help="The shell that reads it, or json.")] = Shell.SH,
) -> None:
    """Print the variables that send agents through the recorder.

    With a session or a task, a run begins: the recorder notes it, and all that is sent with these variables belongs
    to it. Ids that are not given are made up. If proxy.token is set, the addresses contain it.

    Examples:

      eval "$(blackbird env)"

      eval "$(blackbird env --session harbour --task crane)"

      blackbird env --shell fish | source
    """
    named = {"session": check_id("--session", session), "task": check_id("--task", task)}
    home = homes.find()
    config = load(home)
    run: dict[str, Any] = {}
    if run_new or any(named.values()):
        run = control.request(home, {"op": "register", **named, "run": None, "data": {}})
    running = control.status(home)
    if running is None:
        warning = "No recorder runs: agents with these variables reach nobody. blackbird up starts it"
        output.stderr().print(output.marked("!", warning))
    listen = config["proxy.listen"] if running is None else running["listen"]
    _print(shell, environment.variables(listen, config["proxy.token"], config.upstreams, run), run)


def _print(shell: Shell, found: dict[str, str], run: dict[str, Any]) -> None:
    if shell is Shell.JSON:
        ids = {key: run.get(key) for key in ("session", "task", "run")}
        output.write_json({"schema": "env/1", **ids, "variables": found})
        return
    line = "set -gx {} {}\n" if shell is Shell.FISH else "export {}={}\n"
    output.write_text("".join(line.format(name, shlex.quote(value)) for name, value in found.items()))
