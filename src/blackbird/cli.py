"""The `blackbird` command."""

from importlib.metadata import version
from typing import Annotated

import typer

from blackbird import recorder

ENVIRONMENT_ERROR = 3

app = typer.Typer(
    name="blackbird",
    help="Record what agents really sent and received. The recorder itself is not part of this version.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,  # they print local variables, and those may hold secrets
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"blackbird {version('blackbird')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Show the help when no command is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("recorder-path")
def recorder_path() -> None:
    """Print where the recorder program of this installation is."""
    try:
        program = recorder.find()
    except recorder.RecorderMissing as missing:
        typer.echo(f"{missing}. Install blackbird again; on Windows there is no recorder, only blackbox.", err=True)
        raise typer.Exit(ENVIRONMENT_ERROR) from missing
    typer.echo(program)


def main() -> None:
    """Run the command line; the entry point of the console script."""
    app()
