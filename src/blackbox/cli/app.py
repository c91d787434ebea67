"""The entry point: the commands."""

import importlib.metadata
from typing import Annotated

import typer

from blackbox.cli import explain, fix, parse, stats, tour, validate
from blackbox.keeping import blobs, export, redact
from blackbox.reading import apm, audit, cost, grep, tail
from blackbox.terminal import output, program
from blackbox.terminal.inputs import nearby_logs

_EPILOG = (
    "Exit codes: 0 done, 1 a log has errors (with --strict: warnings too) or nothing was found, 2 wrong usage, "
    "3 a file could not be read or written, 4 what was kept does not match its hash."
)

app = typer.Typer(
    name="blackbox",
    help="Read, check, search, audit, convert and mend flight logs of agent sessions (.bbox, .blackbox, .rlog).",
    epilog=_EPILOG,
    rich_markup_mode=None,
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
app.command("validate")(validate.command)
app.command("stats")(stats.command)
app.command("parse")(parse.command)
app.command("tail")(tail.command)
app.command("grep")(grep.command)
app.command("audit")(audit.command)
app.command("cost")(cost.command)
app.command("apm")(apm.command)
app.command("fix")(fix.command)
app.command("redact")(redact.command)
app.command("export")(export.command)
app.add_typer(blobs.app, name="blobs")
app.command("explain")(explain.command)
app.command("tour")(tour.command)


def _version(asked: bool) -> None:
    if asked:
        output.stdout().print(f"blackbox {importlib.metadata.version('blackbird')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def overview(
    context: typer.Context,
    _version_asked: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Without a command: this help, and the logs in this folder and right below it."""
    if context.invoked_subcommand is not None:
        return
    console = output.stdout()
    console.print(context.get_help())
    logs = nearby_logs()
    if logs:
        console.print(f"\n{len(logs)} log(s) nearby. Try: blackbox validate {output.printable(logs[0])}")
    else:
        console.print("\nNo log is nearby. Try: blackbox tour")


def main() -> None:
    """Run the command; the entry point of the console script."""
    program.run(app)
