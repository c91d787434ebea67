"""`blackbox export`: a session in another form, without its secrets."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from blackbox.errors import UsageError
from blackbox.formats import convert, files
from blackbox.formats.convert import Written
from blackbox.formats.files import Source
from blackbox.formats.flight import merge
from blackbox.formats.recognise import Form
from blackbox.redaction.config import load_redactor
from blackbox.terminal import inputs, output
from blackbox.vault.guard import Guard

SCHEMA = "blackbox.export/1"
_SLASHES = tuple({"/", os.sep})
_FORMATS = ", ".join(form.value for form in convert.WRITTEN)


def command(
    logs: Annotated[
        list[str], typer.Argument(help="Sessions in any form, folders or patterns; `-` is standard input.")
    ],
    form: Annotated[str, typer.Option("--format", "-f", help=f"The form to write: {_FORMATS}.")],
    to: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Write here; a folder if it ends in / or there are several sessions."),
    ] = None,
    no_redact: Annotated[bool, typer.Option("--no-redact", help="Leave secrets as they are.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there already.")] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Report as JSON (schema blackbox.export/1): on standard error without --output."),
    ] = False,
) -> None:
    """Write sessions in another form. What that form cannot carry is named on standard error.

    Reads logs (.bbox, .blackbox, .rlog), compact logs, JSON lines and companions, told apart by their content. An
    .rlog with its .jsonl beside it is read from that. Secrets are hidden unless --no-redact says otherwise.

    rlog is two files, X.rlog to read and X.jsonl with everything, and needs --output X.

    Examples:

      blackbox export session.bbox --format jsonl > session.jsonl

      blackbox export session.jsonl --format bbox --output session.bbox

      blackbox export logs/ --format compact --output small/
    """
    wanted = _form(form)
    names = inputs.find_logs(logs)
    target = None if to in (None, inputs.STDIN) else Path(str(to))
    is_folder = len(names) > 1 or (to is not None and to.endswith(_SLASHES))
    if wanted is Form.RLOG and target is None:
        raise UsageError("rlog is two files, X.rlog and X.jsonl", "add --output X")
    if len(names) > 1 and (target is None or target.is_file()):
        raise UsageError(f"{len(names)} sessions cannot go into one place", "add --output FOLDER")
    guard = None if no_redact else Guard(load_redactor())
    taken: dict[Path, str] = {}

    def export(name: str) -> None:
        source = _read(name)
        flight, hidden = convert.clean(source.reading.flight, guard) if guard else (source.reading.flight, {})
        written = convert.write(flight, wanted)
        paths: list[Path] = []
        if target is None:
            output.write(next(iter(written.texts.values())).encode())
        else:
            place = _place(target, name, written, is_folder=is_folder)
            texts = files.targets(written, place)
            _claim(list(texts), name, taken)
            files.check_targets(list(texts), force=force, sources=[Path(name), source.path])
            files.write_files(texts)
            paths = list(texts)
        report = _report(name, source, wanted, written, paths, hidden, len(flight.entries))
        _tell(report, as_json=as_json, is_piped=target is None)

    inputs.each_log(names, export, as_json=as_json)


def _form(name: str) -> Form:
    if name not in {form.value for form in convert.WRITTEN}:
        raise UsageError(f"there is no form {name!r}", f"use one of {_FORMATS}")
    return Form(name)


def _read(name: str) -> Source:
    if name == inputs.STDIN:
        form, reading = convert.read(inputs.read_all(name), inputs.shown(name))
        return Source(form, reading, Path(name))
    return files.read_session(Path(name))


def _place(target: Path, name: str, written: Written, *, is_folder: bool) -> Path:
    if not is_folder and not target.is_dir():
        return target
    stem = "session" if name == inputs.STDIN else Path(name).stem
    return target / (stem + next(iter(written.texts)))


def _claim(paths: list[Path], name: str, taken: dict[Path, str]) -> None:
    """Two sessions of one name in different folders would become one file."""
    for path in paths:
        if taken.setdefault(path, name) != name:
            raise UsageError(f"{name} and {taken[path]} would both be written to {path}", "export them one by one")


def _report(
    name: str, source: Source, form: Form, written: Written, paths: list[Path], hidden: dict[str, int], events: int
) -> dict[str, Any]:
    losses = merge(source.reading.losses, written.losses)
    return {
        "schema": SCHEMA,
        "file": name,
        "read_from": str(source.path),
        "read_as": source.form.value,
        "format": form.value,
        "events": events,
        "written": [str(path) for path in paths],
        "losses": [
            {"what": loss.what, "count": loss.count, "lines": loss.lines, "told": loss.told} for loss in losses
        ],
        "redactions": hidden,
    }


def _tell(report: dict[str, Any], *, as_json: bool, is_piped: bool) -> None:
    console = output.stderr()
    if as_json:
        if is_piped:
            console.print(output.to_json(report))
        else:
            output.write_json(report)
        return
    name = output.printable(inputs.shown(report["file"]))
    if report["losses"]:
        told = "; ".join(loss["told"] for loss in report["losses"])
        read = report["read_from"]
        # Its are the line numbers.
        source = name if Path(report["file"]) == Path(read) else f"{name}, read from {output.printable(read)}"
        console.print(output.marked("!", f"{source}: not carried over: {told}"))
    if report["redactions"]:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(report["redactions"].items()))
        console.print(output.marked("!", f"{name}: secrets hidden: {output.printable(kinds)}"))
    for path in report["written"]:
        console.print(output.marked("✓", f"{name} → {output.printable(path)}"))
