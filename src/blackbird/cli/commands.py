"""The commands, each loaded when it is asked for."""

import importlib
import os
import sys
from typing import Annotated, Any

import typer

from blackbird.cli import outline
from blackbird.cli.unknown import Commands
from blackbird.errors import NotFound
from blackbox.terminal import output
from blackbox.terminal import program as terminal

EXIT_MISSING = 1
_HELP = ("-h", "--help")

_EPILOG = (
    "Exit codes: 0 done, 1 nothing was found or no recorder runs, 2 wrong usage or configuration, 3 the recorder or "
    "a file would not, 4 the trace is not what was written. run has those of its agent."
)
#: Where each command is, or each group of them, in the order in which help names them. Only the one that is asked for
#: is loaded: whoever types `run` waits for an agent. What a command's module calls OPTIONS is for typer.
COMMANDS = {
    "run": "blackbird.launch.command:run",
    "up": "blackbird.cli.running:up",
    "down": "blackbird.cli.running:down",
    "status": "blackbird.cli.status:command",
    "doctor": "blackbird.cli.machine.doctor:command",
    "env": "blackbird.cli.environment:command",
    "tail": "blackbird.cli.flight.tailing:tail",
    "event": "blackbird.cli.event:command",
    "import": "blackbird.cli.importing.command:command",
    "sessions": "blackbird.cli.following:sessions",
    "session": "blackbird.cli.session:app",
    "task": "blackbird.cli.planning.tasks:app",
    "requests": "blackbird.cli.reading:requests",
    "show": "blackbird.cli.flight.showing:show",
    "export": "blackbird.cli.flight.exporting:command",
    "audit": "blackbird.cli.flight.auditing:command",
    "pack": "blackbird.cli.memory.packing:command",
    "mem": "blackbird.cli.memory.group:app",
    "evidence": "blackbird.cli.memory.evidence:command",
    "derive": "blackbird.cli.memory.deriving:command",
    "artifacts": "blackbird.cli.memory.artifacts:command",
    "bundle": "blackbird.cli.memory.bundling:command",
    "mcp": "blackbird.cli.serving:mcp",
    "tools": "blackbird.cli.serving:tools",
    "stats": "blackbird.cli.memory.stats:command",
    "trace": "blackbird.cli.trace.group:app",
    "config": "blackbird.cli.settings:app",
    "ca": "blackbird.cli.machine.ca:app",
    "demo": "blackbird.demo.command:demo",
    "completion": "blackbird.cli.machine.completion:completion",
    "install": "blackbird.cli.machine.install:command",
    "uninstall": "blackbird.cli.machine.uninstall:uninstall",
    "recorder-path": "blackbird.cli.running:recorder_path",
}


def build(word: str | None = None) -> typer.Typer:
    """The command line: with the command that a word names, or with all of them if it names none."""
    app = _empty()
    for name in [word] if word in COMMANDS else COMMANDS:
        place, _, attribute = COMMANDS[name].partition(":")
        module = importlib.import_module(place)
        found: Any = getattr(module, attribute)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name, **getattr(module, "OPTIONS", {}))(found)
    return app


def outlined() -> typer.Typer:
    """The command line without what its commands do: enough for help on all of them, or for none."""
    app = _empty()
    for name, where in COMMANDS.items():
        place, _, attribute = where.partition(":")
        outline.add(app, name, place, attribute)
    return app


def _empty() -> typer.Typer:
    app = typer.Typer(
        name="blackbird",
        cls=Commands,
        help="Record what agents really sent and received, and look at it.",
        epilog=_EPILOG,
        add_completion=False,  # `blackbird completion` prints the script, and edits no file of a shell
        rich_markup_mode=None,
        context_settings={"help_option_names": list(_HELP)},
        pretty_exceptions_enable=False,  # they print local variables, and those may hold secrets
    )
    app.callback(invoke_without_command=True)(overview)
    return app


def _version(asked: bool) -> None:
    if asked:
        metadata = importlib.import_module("importlib.metadata")
        output.stdout().print(f"blackbird {metadata.version('blackbird')}")
        raise typer.Exit


def overview(
    context: typer.Context,
    _version_asked: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Without a command: what the recorder is doing, and what to type next."""
    if context.invoked_subcommand is None:
        importlib.import_module("blackbird.cli.overview").show()


def main() -> None:
    """Run the command that the arguments name."""
    word = next(iter(sys.argv[1:]), None)
    if "_BLACKBIRD_COMPLETE" in os.environ:
        importlib.import_module("blackbird.cli.machine.completion").prepare()
        app = build(word)
    else:
        app = outlined() if _names_none(word) else build(word)
    terminal.run(app, {NotFound: EXIT_MISSING})


def _names_none(word: str | None) -> bool:
    """Whether no command can come of it; behind another option than that for help, there may be one."""
    return word is None or word in _HELP or not (word in COMMANDS or word.startswith("-"))
