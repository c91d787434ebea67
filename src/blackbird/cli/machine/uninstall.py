"""`blackbird uninstall`: gone from this machine, recordings excepted."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from blackbird import home as homes
from blackbird.cli.arguments import Json
from blackbird.cli.machine.install import settled
from blackbird.home import Home
from blackbird.launch import installing
from blackbird.recorder import control
from blackbird.service import inventory, removal
from blackbird.service.inventory import Inventory, Item
from blackbox.errors import UsageError
from blackbox.terminal import output

_SENTENCE = "remove my recordings"


def uninstall(
    client: Annotated[
        str | None,
        typer.Argument(metavar="[CLIENT]", help="Take it out of this client alone, see blackbird install."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would go and what would stay.")] = False,
    purge: Annotated[
        bool, typer.Option("--purge", help="Remove the recordings and their key, too, for good.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Remove all that Blackbird has put on this machine, but not what it recorded.

    Stops the recorder, and removes its files, the private CA, the systemd unit, completion scripts and what blackbird
    install added to the settings of agents. Recordings, the key that proves them and your settings stay, and are
    told. Shows what would go, and asks. With the name of a client, only its settings are put back as they were.

    Examples:

      blackbird uninstall --dry-run

      blackbird uninstall

      blackbird uninstall gemini

      blackbird uninstall --purge --yes
    """
    home = homes.find()
    if client is not None:
        _take_out(home, client, dry_run=dry_run, yes=yes, as_json=as_json)
        return
    taken_out = [(each, installing.prepare_uninstall(home, each)) for each in installing.installed(home)]
    names = [each.name for each, _ in taken_out]
    found = inventory.take(home, os.environ, Path.home())
    if dry_run:
        _tell_plan(found, names, purge=purge, as_json=as_json)
        return
    if not yes:
        if as_json or not _is_terminal():
            raise UsageError("nobody can be asked here", "add --yes to remove it, or --dry-run to see what would go")
        _show(output.stdout(), found, purge=purge)
        _ask(purge=purge)
    for each, prepared in taken_out:
        installing.carry_out(home, each, prepared)
    stopped, gone = removal.remove(home, found, purge=purge)
    after = inventory.take(home, os.environ, Path.home())
    if as_json:
        body = {"dry_run": False, "purge": purge, "stopped": stopped, "removed": [str(path) for path in gone]}
        output.write_json({"schema": "uninstall/1", **body, "kept": _kept(after, purge=False), "clients": names})
        return
    for each, _ in taken_out:
        output.stdout().print(output.marked("✓", f"The entries are out of the settings of {each.title}"))
    _tell_end(gone, after, stopped)


def _take_out(home: Home, client: str, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """One client's settings as they were."""
    known = installing.named(client)
    prepared = installing.prepare_uninstall(home, known)
    if settled(prepared, "uninstall-client/1", client, is_new=True, dry_run=dry_run, yes=yes, as_json=as_json):
        installing.carry_out(home, known, prepared)
        if not as_json:
            output.stdout().print(output.marked("✓", f"The entries are out of the settings of {known.title}"))


def _tell_plan(found: Inventory, clients: list[str], *, purge: bool, as_json: bool) -> None:
    if not as_json:
        _show(output.stdout(), found, purge=purge)
        output.stdout().print("  Dry run - nothing was removed")
        return
    running = control.status(homes.find())
    pid = None if running is None else running.get("supervisor_pid") or running.get("pid")
    body = {
        "dry_run": True,
        "purge": purge,
        "stopped": pid,
        "removed": [str(each.path) for each in _going(found, purge)],
    }
    output.write_json({"schema": "uninstall/1", **body, "kept": _kept(found, purge=purge), "clients": clients})


def _going(found: Inventory, purge: bool) -> list[Item]:
    unit = [Item(found.unit, "the systemd unit")] if found.unit is not None else []
    return [*unit, *found.own, *(found.recordings if purge else [])]


def _staying(found: Inventory, *, purge: bool) -> list[Item]:
    return [*([] if purge else found.recordings), *found.configuration, *found.others]


def _kept(found: Inventory, *, purge: bool) -> list[dict[str, Any]]:
    return [{"path": str(each.path), "what": each.what} for each in _staying(found, purge=purge)]


def _show(console: Console, found: Inventory, *, purge: bool) -> None:
    going, staying = _going(found, purge), _staying(found, purge=purge)
    console.print("Would be removed:" if going else "Nothing is there to be removed", style="bold")
    _show_items(console, going)
    if staying:
        console.print("Would stay:", style="bold")
        _show_items(console, staying)


def _show_items(console: Console, items: list[Item]) -> None:
    for each in items:
        console.print(f"  {output.printable(str(each.path))}  ", end="")
        console.print(each.what, style="bright_black")


def _ask(*, purge: bool) -> None:
    if not typer.confirm("Remove it?", default=False):
        raise typer.Exit(1)
    if purge:
        typed = typer.prompt(f"The recordings cannot be had back. Type `{_SENTENCE}` to remove them", default="")
        if typed.strip() != _SENTENCE:
            raise UsageError(
                "that was something else: nothing was removed", "blackbird uninstall keeps the recordings"
            )


def _tell_end(gone: list[Path], after: Inventory, stopped: int | None) -> None:
    console = output.stdout()
    if stopped is not None:
        console.print(output.marked("✓", f"The recorder has stopped (process {stopped})"))
    for path in gone:
        console.print(output.marked("✓", output.printable(f"Removed {path}")))
    staying = _staying(after, purge=False)
    if staying:
        console.print("What stays:", style="bold")
        _show_items(console, staying)
    if after.recordings:
        console.print("  blackbird uninstall --purge removes the recordings, too")
    console.print("  pip uninstall blackbird removes the program itself")


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
