"""The entry point: the commands."""

import importlib.metadata
from typing import Annotated

import typer

from blackbird import home as homes
from blackbird.cli import environment, keeping, reading, running, settings, status, tracing
from blackbird.demo import command as demo
from blackbird.errors import NotFound
from blackbird.recorder import control, program
from blackbox.terminal import output
from blackbox.terminal import program as terminal

EXIT_MISSING = 1

_EPILOG = (
    "Exit codes: 0 done, 1 nothing was found or no recorder runs, 2 wrong usage or configuration, 3 the recorder or "
    "a file would not, 4 the trace is not what was written."
)

app = typer.Typer(
    name="blackbird",
    help="Record what agents really sent and received, and look at it.",
    epilog=_EPILOG,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,  # they print local variables, and those may hold secrets
)
trace = typer.Typer(rich_markup_mode=None)
app.command("up")(running.up)
app.command("down")(running.down)
app.command("status")(status.command)
app.command("env")(environment.command)
app.command("requests")(reading.requests)
app.command("show")(reading.show)
app.add_typer(trace, name="trace")
app.add_typer(settings.app, name="config")
app.command("demo")(demo.demo)
trace.command("status")(tracing.status)
trace.command("verify")(tracing.verify)
trace.command("export")(tracing.export)
trace.command("clean")(keeping.clean)
trace.command("pin")(keeping.pin)
trace.command("unpin")(keeping.unpin)
trace.command("seal")(keeping.seal)


def _version(asked: bool) -> None:
    if asked:
        output.stdout().print(f"blackbird {importlib.metadata.version('blackbird')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def overview(
    context: typer.Context,
    _version_asked: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Without a command: what the recorder is doing, and what to type next."""
    if context.invoked_subcommand is not None:
        return
    console = output.stdout()
    home = homes.find()
    now = control.status(home)
    status.show(console, home, now)
    console.print()
    steps = (
        [
            "blackbird up                         start recording",
            "blackbird demo                       see it at work, offline",
        ]
        if now is None
        else [
            'eval "$(blackbird env)"              send the agents of this shell through the recorder',
            "blackbird requests                   what was recorded",
            "blackbird down                       stop recording",
        ]
    )
    for step in (*steps, "blackbird --help                     all commands"):
        console.print(f"  {step}")


@trace.callback(invoke_without_command=True)
def trace_overview(context: typer.Context) -> None:
    """The trace: what is kept, for how long, and whether it is whole.

    Without a command: how large it is, and from when to when it goes.

    Examples:

      blackbird trace verify

      blackbird trace clean --days 30
    """
    if context.invoked_subcommand is None:
        tracing.status()


@app.command("recorder-path")
def recorder_path() -> None:
    """Print where the recorder program of this installation is.

    Example:

      blackbird recorder-path
    """
    output.write_text(f"{program.find()}\n")


def main() -> None:
    """Run the command; the entry point of the console script."""
    terminal.run(app, {NotFound: EXIT_MISSING})
