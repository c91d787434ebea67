"""`blackbird mem`: what agents and people ask of the memory."""

import typer

from blackbird.cli.memory import asking, packing, questions
from blackbox.terminal import output

app = typer.Typer(rich_markup_mode=None)
app.command("search")(asking.search)
app.command("get")(asking.get)
app.command("related")(asking.related)
app.command("context")(packing.command)


@app.callback(invoke_without_command=True)
def overview(context: typer.Context) -> None:
    """The memory: what was decided, demanded, done and left open, found again and led back to its evidence.

    The same that agents get as tools. Answers are bounded, and say how many tokens they are. Without a command: how
    much there is.

    Examples:

      blackbird mem search "how are retries counted" --session harbour

      blackbird mem get art_4ucdv2hlmbo2tyhx
    """
    if context.invoked_subcommand is None:
        output.write(questions.overview().data)
