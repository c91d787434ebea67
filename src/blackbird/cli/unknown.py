"""A word that is no command of ours: an error with a suggestion, and never a launch."""

from typing import Any

from typer.core import TyperGroup

from blackbird.agents import table
from blackbox.errors import UsageError


class Commands(TyperGroup):
    """The commands. The name of an agent in place of one is answered with how to run it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is meant, or an error."""
        if args and args[0] not in self.commands and table.find(args[0]) is not None:
            raise UsageError(f"No such command '{args[0]}'.", f"blackbird run -- {args[0]} runs it, recorded")
        return super().resolve_command(ctx, args)
