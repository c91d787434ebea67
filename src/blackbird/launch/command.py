"""`blackbird run`: start an agent so that every model call is recorded and it knows what earlier tasks left."""

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from blackbird.launch import orders, telling
from blackbox.errors import UsageError


class RunCommand(TyperCommand):
    """`run` itself: what cannot be read of its own options has an exit code of its own, too."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """The arguments, read."""
        try:
            return super().make_context(*args, **kwargs)
        except typer.TyperException as error:
            told = UsageError(error.format_message(), "blackbird run --help shows how it is used")
            telling.say_error(told, as_json=False)
            raise typer.Exit(orders.EXIT_OWN) from error


#: Options end where the command begins: what follows is the child's, unread.
OPTIONS = {
    "cls": RunCommand,
    "context_settings": {"allow_interspersed_args": False, "ignore_unknown_options": False},
}


def run(  # noqa: PLR0913, PLR0917 - one argument an option
    command: Annotated[list[str], typer.Argument(metavar="[--] COMMAND...", help="The agent and its arguments.")],
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="The session it belongs to.")] = None,
    task: Annotated[str | None, typer.Option("--task", metavar="ID", help="The task it belongs to.")] = None,
    describe: Annotated[str | None, typer.Option("--describe", metavar="TEXT", help="A note on this run.")] = None,
    goal: Annotated[str | None, typer.Option("--goal", metavar="TEXT", help="What the session is for.")] = None,
    upstream: Annotated[
        list[str] | None,
        typer.Option("--upstream", metavar="NAME=URL", help="Send calls to NAME there; can be repeated."),
    ] = None,
    forward: Annotated[bool, typer.Option("--forward", help="Through a proxy, whatever the table says.")] = False,
    reverse: Annotated[bool, typer.Option("--reverse", help="By base URL, whatever the table says.")] = False,
    no_hooks: Annotated[
        bool, typer.Option("--no-hooks", help="Do not have the agent say what its tools did.")
    ] = False,
    no_pack: Annotated[
        bool, typer.Option("--no-pack", help="Record only: neither a context pack nor memory tools.")
    ] = False,
    no_mcp: Annotated[bool, typer.Option("--no-mcp", help="A context pack, but no memory tools.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be set, and start nothing.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing at start and end.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="The last lines, or the dry run, as one JSON object.")
    ] = False,
) -> None:
    """Run an agent; every model call it makes is recorded, and it starts with what earlier tasks left.

    The recorder is started if none runs. The agent gets the terminal, the signals and the environment as they are,
    and what sends its calls through the recorder besides. Claude Code, Codex and opencode are told, too, to say what
    each tool did. What the memory knows of the session or the project is given to it before it starts, and tools to
    look up the rest, as far as it takes them; --no-pack only records. No file of yours is changed. Ids that are not
    given are made up.

    Exit codes: the agent's own; 125 blackbird could not, 126 the agent cannot be executed, 127 it was not found.

    Examples:

      blackbird run -- claude

      blackbird run --session harbour --goal "mend the crane" -- codex exec "run the tests"

      blackbird run --dry-run -- gemini
    """
    words = orders.Words(
        command,
        session=session,
        task=task,
        describe=describe,
        goal=goal,
        upstream=upstream or [],
        forward=forward,
        reverse=reverse,
        no_hooks=no_hooks,
        no_pack=no_pack,
        no_mcp=no_mcp,
        dry_run=dry_run,
        quiet=quiet,
        as_json=as_json,
    )
    raise typer.Exit(orders.perform(words))
