"""`blackbox fix`: mend a log, or show what mending it would change."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from blackbox.disk import replace_file
from blackbox.document.document import Document, parse
from blackbox.errors import UsageError
from blackbox.repair.edits import Change, changes_between
from blackbox.repair.fixers import FIXERS, Repair, repair
from blackbox.terminal import inputs, output

SCHEMA = "blackbox.fix/1"
_SHOWN = 10
_WIDTH = 100


def command(  # noqa: PLR0913, PLR0917 - one argument an option
    logs: Annotated[
        list[str] | None, typer.Argument(help="Logs, folders or patterns; `-` is standard input.")
    ] = None,
    renumber_steps: Annotated[bool, typer.Option("--renumber-steps", help=FIXERS[3].help + ".")] = False,
    add_end: Annotated[bool, typer.Option("--add-end", help=FIXERS[4].help + ".")] = False,
    arrows: Annotated[bool, typer.Option("--arrows", help=FIXERS[1].help + ".")] = False,
    call_ids: Annotated[bool, typer.Option("--call-ids", help=FIXERS[2].help + ".")] = False,
    line_ends: Annotated[bool, typer.Option("--line-ends", help=FIXERS[0].help + ".")] = False,
    everything: Annotated[bool, typer.Option("--all", help="All of the above.")] = False,
    write: Annotated[bool, typer.Option("--write", "-w", help="Change the logs (default: only show).")] = False,
    to: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the result here; `-` is standard output.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a log (schema blackbox.fix/1).")] = False,
) -> None:
    """Mend logs. Shows what would change; --write changes them, --output writes elsewhere.

    Without arguments, all logs below this folder.

    Everything that is not mended keeps its very bytes.

    Examples:

      blackbox fix session.bbox --renumber-steps

      blackbox fix session.bbox --all --write

      blackbox fix session.bbox --arrows --output fixed.bbox
    """
    asked = {
        "renumber-steps": renumber_steps,
        "add-end": add_end,
        "arrows": arrows,
        "call-ids": call_ids,
        "line-ends": line_ends,
    }
    chosen = [fixer.name for fixer in FIXERS if asked[fixer.name] or everything]
    names = inputs.find_logs(logs or [])
    _refuse_contradictions(names, chosen, write=write, to=to)
    if as_json and to == inputs.STDIN:
        raise UsageError("--json and --output - both need standard output", "choose one")

    def mend(name: str) -> None:
        document = parse(inputs.read_all(name))
        # Without a choice, show what each fixer could do.
        done = repair(document, chosen or [fixer.name for fixer in FIXERS])
        _deliver(name, document, done, write=write, to=to)
        if as_json:
            _write_json(name, document, done, written=_is_written(done, write=write, to=to))
        else:
            _show(name, document, done, chosen=bool(chosen), write=write, to=to)

    inputs.each_log(names, mend, as_json=as_json)


def _refuse_contradictions(names: list[str], chosen: list[str], *, write: bool, to: str | None) -> None:
    if (write or to is not None) and not chosen:
        options = ", ".join(f"--{fixer.name}" for fixer in FIXERS)
        raise UsageError("nothing to mend was chosen", f"add --all or some of {options}")
    inputs.check_target(names, write=write, to=to, one_by_one="mend them one by one")


def _deliver(name: str, document: Document, done: Repair, *, write: bool, to: str | None) -> None:
    if to == inputs.STDIN:
        output.write(done.document.emit())
    elif to is not None:
        replace_file(Path(to), done.document.emit())
    elif write and done.document.emit() != document.emit():
        replace_file(Path(name), done.document.emit())


def _is_written(done: Repair, *, write: bool, to: str | None) -> bool:
    return to is not None or (write and done.total > 0)


def _write_json(name: str, document: Document, done: Repair, *, written: bool) -> None:
    body = {
        "schema": SCHEMA,
        "file": name,
        "fixes": done.counts,
        "total": done.total,
        "written": written,
        "changes": changes_between(document, done.document),
    }
    output.write_json(body)


def _show(name: str, document: Document, done: Repair, *, chosen: bool, write: bool, to: str | None) -> None:
    # With the result on standard output, the report goes where it does not mix with it.
    console = output.stderr() if to == inputs.STDIN else output.stdout()
    console.print(f"Fixing {output.printable(inputs.shown(name))}\n")
    for fixer in FIXERS:
        count = done.counts.get(fixer.name)
        if count:
            option = "" if chosen else f"  (--{fixer.name})"
            console.print(Text("  ").append_text(output.marked("✓", fixer.told(count) + option)))
    if not done.total:
        console.print("  Nothing to change\n")
        return
    console.print(f"\n  Total changes: {done.total}\n")
    _show_changes(console, changes_between(document, done.document))
    if to is not None and to != inputs.STDIN:
        console.print(Text("  ").append_text(output.marked("✓", f"Written to {output.printable(to)}")))
    elif write:
        console.print(Text("  ").append_text(output.marked("✓", f"Written to {output.printable(name)}")))
    elif to is None:
        hint = "use --write to apply changes" if chosen else "choose fixers and use --write to apply changes"
        console.print(Text("  ").append_text(output.marked("!", f"Dry run - {hint}")))


def _show_changes(console: Console, changes: list[Change]) -> None:
    for change in changes[:_SHOWN]:
        console.print(f"  Line {change.line}:")
        start = _first_difference(change)
        if change.before is not None:
            console.print(Text(f"    - {_short(change.before, start)}", style="red"))
        console.print(Text(f"    + {_short(change.after, start)}", style="green"))
        console.print()
    more = len(changes) - _SHOWN
    if more > 0:
        console.print(f"  ... and {more} more changed line{'s' if more != 1 else ''}\n")


def _first_difference(change: Change) -> int:
    before = change.before or ""
    differing = (at for at, (old, new) in enumerate(zip(before, change.after, strict=False)) if old != new)
    return next(differing, min(len(before), len(change.after)))


def _short(text: str, start: int) -> str:
    """As much of a line as fits, with the place where it was changed in sight."""
    cut = max(0, start - _WIDTH // 2) if start > _WIDTH - 20 else 0
    text = output.printable(text[cut:])
    text = f"...{text}" if cut else text
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."
