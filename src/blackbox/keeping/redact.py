"""`blackbox redact`: hide the secrets of a log, or show what would be hidden."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from blackbox.disk import replace_file
from blackbox.document.files import EXTENSIONS
from blackbox.errors import ReadError, UsageError
from blackbox.redaction.config import load_redactor
from blackbox.redaction.files import CleanFile, is_text, redact_file
from blackbox.redaction.redactor import Redactor
from blackbox.terminal import inputs, output

SCHEMA = "blackbox.redact/1"
RULES_SCHEMA = "blackbox.redaction-rules/1"
_SHOWN = 20


def command(
    logs: Annotated[
        list[str] | None, typer.Argument(help="Logs, other text files, folders or patterns; `-` is standard input.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", "-w", help="Change the files (default: only show).")] = False,
    to: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the result here; `-` is standard output.")
    ] = None,
    off: Annotated[
        list[str] | None, typer.Option("--off", metavar="CLASS", help="Leave a class of rules out; may be repeated.")
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="List the classes and rules that are in force.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a file (schema blackbox.redact/1).")
    ] = False,
) -> None:
    """Hide secrets. Shows what would be hidden; --write changes the files, --output writes elsewhere.

    Without arguments, all logs below this folder.

    A secret becomes [redacted:KIND], and is never printed. Everything else keeps its very bytes. In a log, a secret
    is found inside of one entry; in JSON Lines, inside of one line. A secret that was broken up by line breaks is
    not found, unless it is a private key.

    Examples:

      blackbox redact session.bbox

      blackbox redact session.rlog session.jsonl --write

      blackbox redact - --output - < build.log

      blackbox redact --rules
    """
    redactor = _chosen(load_redactor(), off or [])
    if rules:
        _show_rules(redactor, as_json=as_json)
        return
    names = inputs.find_logs(logs or [])
    _refuse_contradictions(names, write=write, to=to, as_json=as_json)

    def clean(name: str) -> None:
        data = inputs.read_all(name)
        if not is_text(data):
            where = inputs.shown(name)
            raise ReadError(f"{where}: no UTF-8 text, and not searched", "convert it first: iconv -f UTF-16 -t UTF-8")
        done = redact_file(redactor, data, "log" if name.endswith(EXTENSIONS) else None)
        _deliver(name, done, write=write, to=to)
        written = to is not None or (write and bool(done.places))
        if as_json:
            _write_json(name, redactor, done, written=written)
        else:
            _show(name, done, write=write, to=to)

    inputs.each_log(names, clean, as_json=as_json)


def _chosen(redactor: Redactor, off: list[str]) -> Redactor:
    known = {entry.name for entry in redactor.classes} | {item.class_name for item in redactor.items}
    for name in off:
        if name not in known:
            raise UsageError(f"no class of rules is called {name}", f"the classes are {', '.join(sorted(known))}")
    return redactor.without(off) if off else redactor


def _refuse_contradictions(names: list[str], *, write: bool, to: str | None, as_json: bool) -> None:
    inputs.check_target(names, write=write, to=to, one_by_one="redact them one by one")
    if as_json and to == inputs.STDIN:
        raise UsageError("--json and --output - both need standard output", "choose one")


def _deliver(name: str, done: CleanFile, *, write: bool, to: str | None) -> None:
    if to == inputs.STDIN:
        output.write(done.data)
    elif to is not None:
        replace_file(Path(to), done.data)
    elif write and done.places:
        replace_file(Path(name), done.data)


def _write_json(name: str, redactor: Redactor, done: CleanFile, *, written: bool) -> None:
    output.write_json(
        {
            "schema": SCHEMA,
            "file": name,
            "rules_version": redactor.version,
            "total": len(done.places),
            "counts": done.counts,
            "written": written,
            "found": [{"line": line, "kind": kind} for line, kind in done.places],
        }
    )


def _show(name: str, done: CleanFile, *, write: bool, to: str | None) -> None:
    # With the result on standard output, the report goes where it does not mix with it.
    console = output.stderr() if to == inputs.STDIN else output.stdout()
    console.print(f"Redacting {output.printable(inputs.shown(name))}\n")
    if not done.places:
        console.print("  No secret found\n")
    else:
        _show_places(console, done)
    if to is not None and to != inputs.STDIN:
        console.print(Text("  ").append_text(output.marked("✓", f"Written to {output.printable(to)}")))
    elif write and done.places:
        console.print(Text("  ").append_text(output.marked("✓", f"Written to {output.printable(name)}")))
    elif to is None and done.places:
        console.print(Text("  ").append_text(output.marked("!", "Dry run - use --write to hide them")))


def _show_places(console: Console, done: CleanFile) -> None:
    for kind, number in sorted(done.counts.items()):
        console.print(Text("  ").append_text(output.marked("✓", f"{number} × {kind}")))
    console.print(f"\n  Total secrets: {len(done.places)}\n")
    lines = Counter(done.places)
    for (line, kind), number in list(lines.items())[:_SHOWN]:
        console.print(f"  Line {line}: {kind}" + (f" × {number}" if number > 1 else ""))
    if len(lines) > _SHOWN:
        console.print(f"  ... and {len(lines) - _SHOWN} more")
    console.print()


def _show_rules(redactor: Redactor, *, as_json: bool) -> None:
    if as_json:
        output.write_json(
            {
                "schema": RULES_SCHEMA,
                "rules_version": redactor.version,
                "classes": [{"name": entry.name, "on": entry.on, "help": entry.help} for entry in redactor.classes],
                "rules": [{"id": item.id, "class": item.class_name, "kind": item.kind} for item in redactor.items],
            }
        )
        return
    console = output.stdout()
    console.print(f"Redaction rules {redactor.version}\n")
    names = dict.fromkeys(
        [*(entry.name for entry in redactor.classes), *(item.class_name for item in redactor.items)]
    )
    told = {entry.name: entry for entry in redactor.classes}
    for name in names:
        state = "on " if name not in told or told[name].on else "off"
        console.print(f"  {state} {name}: {told[name].help if name in told else 'Your own rules.'}")
        for item in redactor.items:
            if item.class_name == name:
                console.print(output.printable(f"        {item.id} → [redacted:{item.kind}]"))
    console.print(
        "\nYour own rules and switches: the table [redaction] of config.toml, see docs/formats/redaction-1.md"
    )
