"""`blackbird trace`: its commands, and what it says without one."""

import typer

from blackbird.cli.trace import keeping, looking

app = typer.Typer(rich_markup_mode=None)
app.command("status")(looking.status)
app.command("verify")(looking.verify)
app.command("export")(looking.export)
app.command("clean")(keeping.clean)
app.command("pin")(keeping.pin)
app.command("unpin")(keeping.unpin)
app.command("seal")(keeping.seal)


@app.callback(invoke_without_command=True)
def overview(context: typer.Context) -> None:
    """The trace: what is kept, for how long, and whether it is whole.

    Without a command: how large it is, and from when to when it goes.

    Examples:

      blackbird trace verify

      blackbird trace clean --days 30
    """
    if context.invoked_subcommand is None:
        looking.status()
