"""`blackbird install`: the memory in every session of a client, by the client's own settings."""

import os
import sys
from typing import Annotated, Any

import typer

from blackbird import home as homes
from blackbird.cli.arguments import Json
from blackbird.launch import installing
from blackbird.launch.installing import Change, Prepared
from blackbox.errors import UsageError
from blackbox.terminal import output

Client = Annotated[str, typer.Argument(metavar="CLIENT", help="claude, codex, gemini or opencode.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be different.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def command(client: Client, dry_run: DryRun = False, yes: Yes = False, as_json: Json = False) -> None:
    """Have every session of a client begin with a context pack, and offer it the memory's tools.

    Adds entries to the client's own settings: shows the difference first, and asks. What was there is kept, so that
    blackbird uninstall CLIENT puts it back. Without it, blackbird run does the same for one child, and no file
    changes.

    Examples:

      blackbird install gemini

      blackbird install claude --dry-run
    """
    known = installing.named(client)
    home = homes.find()
    prepared = installing.prepare_install(home, known, os.environ)
    is_new = any(change.before != change.after for change in prepared.changes)
    if settled(prepared, "install/1", client, is_new=is_new, dry_run=dry_run, yes=yes, as_json=as_json):
        installing.carry_out(home, known, prepared)
        if not as_json:
            told = "The entries are in its settings" if is_new else "It has the entries already"
            output.stdout().print(output.marked("✓", f"{told}; blackbird uninstall {client} takes them out again"))


def settled(
    prepared: Prepared, schema: str, client: str, *, is_new: bool, dry_run: bool, yes: bool, as_json: bool
) -> bool:
    """Whether it is to be done: what would be different is shown first, and whoever sits there is asked."""
    if as_json:
        if not (yes or dry_run):
            raise UsageError("nobody can be asked here", "add --yes to do it, or --dry-run to see what would change")
        output.write_json({"schema": schema, "client": client, "dry_run": dry_run, "files": _files(prepared)})
        return not dry_run
    _show(prepared.changes)
    if dry_run:
        output.stdout().print("  Dry run - nothing was changed")
        return False
    if yes or not is_new:
        return True
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("nobody can be asked here", "add --yes to do it, or --dry-run to see what would change")
    if not typer.confirm("Change it?", default=False):
        raise typer.Exit(1)
    return True


def _show(changes: list[Change]) -> None:
    console = output.stdout()
    styles = {"+": "green", "-": "red", "@": "bright_black"}
    for change in changes:
        for line in change.diff():
            console.print(output.printable(line), style=styles.get(line[:1], ""), markup=False, highlight=False)
        if not change.is_exact:
            note = f"{change.path} was changed since: only the entries are taken out, all else stays"
            console.print(output.marked("!", output.printable(note)))


def _files(prepared: Prepared) -> list[dict[str, Any]]:
    return [
        {
            "path": str(change.path),
            "existed": change.before is not None,
            "exists": change.after is not None,
            "exact": change.is_exact,
            "diff": change.diff(),
        }
        for change in prepared.changes
    ]
