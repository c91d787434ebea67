"""`blackbird doctor`: what silently goes wrong, with its remedy."""

from typing import Annotated

import typer

from blackbird import home as homes
from blackbird.authority.problems import Level
from blackbird.cli.arguments import Json
from blackbird.doctor import diagnosis
from blackbird.doctor.findings import Finding
from blackbox.terminal import output

EXIT_ERROR = 1
_LISTED = (Level.ERROR, Level.WARNING, Level.NOTE)
_MARKS = {Level.OK: "✓", Level.WARNING: "!", Level.ERROR: "✗"}


def command(
    days: Annotated[int, typer.Option("--days", min=1, max=3650, help="How far back logs and trace are read.")] = 7,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Leave out what is well.")] = False,
    as_json: Json = False,
) -> None:
    """Look for what silently goes wrong, and say what to do about it.

    Looks at the recorder, the trace, the private CA, file modes, room on the disk, base URLs and proxies that are
    set, and at the own logs of Claude, Codex and Gemini: calls that are in them and not in the trace passed the
    recorder by. Of those logs only ids and times are used. Nothing is changed.

    Exit codes: 0 no error was found, 1 at least one was.

    Examples:

      blackbird doctor

      blackbird doctor --days 30 --quiet

      blackbird doctor --json | jq '.findings[] | select(.level != "ok")'
    """
    found = diagnosis.diagnose(diagnosis.gather(homes.find(), days))
    counts = {level: sum(each.level is level for each in found) for level in Level}
    shown = [each for each in found if not (quiet and each.level is Level.OK)]
    if as_json:
        totals = {f"{level.value}s" if level is not Level.OK else "ok": counts[level] for level in Level}
        output.write_json({"schema": "doctor/1", "days": days, **totals, "findings": shown})
    else:
        _show(shown, counts)
    if counts[Level.ERROR]:
        raise typer.Exit(EXIT_ERROR)


def _show(found: list[Finding], counts: dict[Level, int]) -> None:
    console = output.stdout()
    for each in found:
        text = output.printable(each.what[:1].upper() + each.what[1:])
        mark = _MARKS.get(each.level)
        console.print(output.marked(mark, text) if mark is not None else f"· {text}")
        if each.level is Level.OK:
            continue
        if each.evidence:
            console.print(f"    {output.printable(each.evidence)}", style="bright_black")
        if each.remedy:
            console.print(f"    → {output.printable(each.remedy)}")
    told = [f"{counts[level]} {level.value}{'s' if counts[level] != 1 else ''}" for level in _LISTED if counts[level]]
    console.print(", ".join(told) or "Nothing is wrong", style="bold")
