"""`blackbox blobs`: what is kept beside the logs; listed, verified, extracted, and cleared of what nothing needs."""

import datetime as dt
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from blackbox.disk import write_once
from blackbox.errors import ReadError, UsageError, WriteError
from blackbox.syntax.values import duration
from blackbox.terminal import inputs, output
from blackbox.terminal.codes import EXIT_INTEGRITY
from blackbox.vault.store import FOLDER, BlobStore, State, Verdict, find_stores
from blackbox.vault.survey import Survey, Sweep, Use, survey, sweep

EXIT_MISSING = 1

_SHOWN = 5

app = typer.Typer(
    rich_markup_mode=None,
)

_Where = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="LOG|FOLDER", help="Logs, or folders with logs; without one, this folder and those below."
    ),
]
_Json = Annotated[bool, typer.Option("--json", help="One JSON object a store (its schema names the command).")]


@app.callback(invoke_without_command=True)
def overview(context: typer.Context) -> None:
    """Blobs, the long results kept beside the logs: list, verify, extract, clear away.

    Without a command: the list of those below this folder.

    Examples:

      blackbox blobs list session.bbox

      blackbox blobs verify

      blackbox blobs gc --write
    """
    if context.invoked_subcommand is None:
        list_blobs()


@app.command("list")
def list_blobs(where: _Where = None, as_json: _Json = False) -> None:
    """List blobs and the lines that lead to them.

    Of a log, its blobs alone; of a folder, all that are kept there, those that nothing mentions included.

    Examples:

      blackbox blobs list

      blackbox blobs list session.bbox

      blackbox blobs list logs/ --json
    """
    for found, is_log in _surveys(where):
        rows = _rows(found, only_mentioned=is_log)
        if as_json:
            body = {"schema": "blackbox.blobs-list/1", "store": str(found.store.folder), "blobs": rows}
            output.write_json(body)
        else:
            _show_list(found, rows)


@app.command("verify")
def verify(where: _Where = None, as_json: _Json = False) -> None:
    """Compare every blob with its hash.

    Tells of blobs that a log names and that are not there, too.

    Exit codes: 4 a blob is damaged, 1 one is missing, 0 all are there and whole.

    Examples:

      blackbox blobs verify

      blackbox blobs verify session.bbox
    """
    damaged = missing = False
    for found, is_log in _surveys(where):
        verdicts = found.store.verify()
        if is_log:
            verdicts = [verdict for verdict in verdicts if verdict.name in found.uses]
        damaged = damaged or any(verdict.state is State.DAMAGED for verdict in verdicts)
        missing = missing or bool(found.missing)
        if as_json:
            _write_verdicts(found, verdicts)
        else:
            _show_verdicts(found, verdicts)
    if damaged or missing:
        raise typer.Exit(EXIT_INTEGRITY if damaged else EXIT_MISSING)


@app.command("extract")
def extract(
    name: Annotated[
        str, typer.Argument(metavar="HASH", help="The blob's sha256, or its first digits (six or more).")
    ],
    where: Annotated[
        str | None,
        typer.Argument(metavar="LOG|FOLDER", help="A log or a folder; without one, this folder and those below."),
    ] = None,
    to: Annotated[str | None, typer.Option("--output", "-o", help="A new file; default: standard output.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Tell what was written as JSON (schema blackbox.blobs-extract/1).")
    ] = False,
) -> None:
    """Write the content of a blob.

    It is verified first: nothing comes out of a damaged one.

    Examples:

      blackbox blobs extract 4f2a9c

      blackbox blobs extract 4f2a9c session.bbox --output result.txt
    """
    if as_json and to in (None, inputs.STDIN):
        raise UsageError("--json and the content both need standard output", "add --output FILE")
    if to is not None and os.path.lexists(to) and to != inputs.STDIN:
        raise UsageError(f"{to} is there already", "name a new file")
    store, digits = _holder(name, where)
    data = store.read(digits)
    if to is None or to == inputs.STDIN:
        output.write(data)
        return
    write_once(Path(to), data, sync=False)
    if as_json:
        output.write_json(
            {
                "schema": "blackbox.blobs-extract/1",
                "store": str(store.folder),
                "sha256": digits,
                "bytes": len(data),
                "output": to,
            }
        )
    else:
        output.stderr().print(output.marked("✓", f"{len(data)} bytes written to {output.printable(to)}"))


@app.command("gc")
def gc(
    where: _Where = None,
    older_than: Annotated[
        str, typer.Option("--older-than", help="Keep what was written less than this ago, such as 30m or 7d.")
    ] = "1h",
    write: Annotated[bool, typer.Option("--write", "-w", help="Remove them (default: only show).")] = False,
    as_json: _Json = False,
) -> None:
    """Clear away blobs that no log mentions.

    Shows what would go, leftovers of stopped writers included; --write removes it.

    Read are all logs and JSON files in and below the folder that holds the store. A blob stays if one of them names
    its hash, or the first digits of it, in any form. A log kept elsewhere is not seen.

    Examples:

      blackbox blobs gc

      blackbox blobs gc logs/ --older-than 7d --write
    """
    seconds = duration(older_than)
    if seconds is None:
        raise UsageError(f"--older-than {older_than!r} is no length of time", "write it as 1h, 30m, 7d or 0s")
    before = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=seconds)
    for store in dict.fromkeys(store.folder for store in _stores(where)):
        _clear(BlobStore(store), before, older_than, write=write, as_json=as_json)


def _clear(store: BlobStore, before: dt.datetime, older_than: str, *, write: bool, as_json: bool) -> None:
    found = sweep(store, before=before)
    failures: list[WriteError] = []
    if write:
        found, failures = _remove(store, found)
    if found.blobs or found.leftovers or not failures:
        _tell_swept(store, found, older_than, write=write, as_json=as_json)
    if failures:
        more = f" ({len(failures)} could not be removed)" if len(failures) > 1 else ""
        raise WriteError(failures[0].message + more, failures[0].remedy) from failures[0]


def _remove(store: BlobStore, found: Sweep) -> tuple[Sweep, list[WriteError]]:
    """What did go, and what kept the others."""
    gone: set[str] = set()
    failures: list[WriteError] = []
    for entry in (*found.blobs, *found.leftovers):
        try:
            store.remove(entry.name)
        except WriteError as error:
            failures.append(error)
        else:
            gone.add(entry.name)
    blobs, leftovers = ([entry for entry in part if entry.name in gone] for part in (found.blobs, found.leftovers))
    return found._replace(blobs=blobs, leftovers=leftovers), failures


def _tell_swept(store: BlobStore, found: Sweep, older_than: str, *, write: bool, as_json: bool) -> None:
    going = [*found.blobs, *found.leftovers]
    size = sum(entry.bytes for entry in going)
    if as_json:
        body = {
            "schema": "blackbox.blobs-gc/1",
            "store": str(store.folder),
            "blobs": [{"sha256": entry.name, "bytes": entry.bytes} for entry in found.blobs],
            "leftovers": [{"file": entry.name, "bytes": entry.bytes} for entry in found.leftovers],
            "bytes": size,
            "kept_mentioned": found.mentioned,
            "kept_recent": found.recent,
            "removed": write,
        }
        output.write_json(body)
        return
    console = output.stdout()
    console.print(f"{output.printable(str(store.folder))}\n")
    for entry in going:
        console.print(f"  {entry.name}  {entry.bytes} bytes")
    kept = f"{found.mentioned} mentioned and {found.recent} younger than {older_than} kept"
    if not going:
        console.print(f"  Nothing to remove; {kept}\n")
        return
    what = f"{_count(len(found.blobs), 'blob')} and {_count(len(found.leftovers), 'leftover')}, {size} bytes; {kept}"
    mark, verb = ("✓", "Removed") if write else ("!", "Dry run - use --write to remove")
    console.print(Text("\n  ").append_text(output.marked(mark, f"{verb} {what}\n")))


def _stores(where: list[str] | None) -> list[BlobStore]:
    """The stores that the arguments name; a log names the one beside it."""
    found: list[BlobStore] = []
    for argument in where or ["."]:
        path = Path(argument)
        if path.is_dir():
            stores = find_stores(path)
            if not stores:
                place = argument if where else "this folder"
                raise ReadError(
                    f"{place}: there is no {FOLDER} folder in or below it", "name a log or another folder"
                )
            found += stores
        elif path.exists():
            found.append(BlobStore.beside(path))
        else:
            raise ReadError(f"{argument}: no such file or folder", "check the path")
    return found


def _surveys(where: list[str] | None) -> list[tuple[Survey, bool]]:
    """Each store with what is said of it: by one log, if a log was named, else by all around it."""
    found: list[tuple[Survey, bool]] = []
    for argument in where or ["."]:
        is_log = Path(argument).is_file()
        files = [Path(argument)] if is_log else None
        stores = _stores([argument] if where else None)
        found += [(survey(store, files), is_log) for store in stores]
    return found


def _holder(name: str, where: str | None) -> tuple[BlobStore, str]:
    """The store that has a blob, and its whole hash."""
    stores = _stores([where] if where is not None else None)
    found: dict[str, BlobStore] = {}
    missing: ReadError | None = None
    for store in stores:
        try:
            found.setdefault(store.find(name), store)
        except ReadError as error:
            missing = error
    if len(found) > 1:
        raise UsageError(f"{name} stands for {len(found)} blobs in {len(stores)} stores", "give more of its digits")
    if not found:
        if missing is not None and len(stores) == 1:
            raise missing
        raise ReadError(f"there is no blob {name} in {len(stores)} stores", "`blackbox blobs list` shows them")
    digits, store = next(iter(found.items()))
    return store, digits


def _rows(found: Survey, *, only_mentioned: bool) -> list[dict[str, Any]]:
    present = [
        _row(entry.name, entry.bytes, "kept" if entry.name in found.uses else "unreferenced", found.uses)
        for entry in found.store.entries()
        if entry.name in found.uses or not only_mentioned
    ]
    return present + [_row(digits, None, "missing", found.missing) for digits in found.missing]


def _row(name: str, size: int | None, state: str, uses: dict[str, list[Use]]) -> dict[str, Any]:
    lines = uses.get(name, [])
    told = [use.mention for use in lines]
    return {
        "sha256": name,
        "bytes": size if size is not None else next((m.bytes for m in told if m.bytes is not None), None),
        "mime": next((mention.mime for mention in told if mention.mime is not None), None),
        "state": state,
        "lines": [{"file": use.file, "line": use.line} for use in lines],
    }


def _show_list(found: Survey, rows: list[dict[str, Any]]) -> None:
    console = output.stdout()
    kept = [row for row in rows if row["state"] != "missing"]
    size = sum(row["bytes"] for row in kept)
    console.print(f"{output.printable(str(found.store.folder))}: {_count(len(kept), 'blob')}, {size} bytes\n")
    for row in rows:
        mark = {"missing": "✗", "unreferenced": "!"}.get(row["state"], "✓")
        about = "  ".join(str(part) for part in (_size(row["bytes"]), output.printable(row["mime"] or "-")))
        note = f"  {row['state']}" if row["state"] != "kept" else ""
        line = f"{row['sha256']}  {about}{note}  {_places(row['lines'])}".rstrip()
        console.print(Text("  ").append_text(output.marked(mark, line)))
    if rows:
        console.print()


def _places(lines: list[dict[str, Any]]) -> str:
    shown = [f"{output.printable(place['file'])}:{place['line']}" for place in lines[:_SHOWN]]
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return ", ".join([*shown, *more])


def _write_verdicts(found: Survey, verdicts: list[Verdict]) -> None:
    body = {
        "schema": "blackbox.blobs-verify/1",
        "store": str(found.store.folder),
        "whole": sum(verdict.state is State.OK for verdict in verdicts),
        "damaged": [
            {"sha256": verdict.name, "bytes": verdict.bytes, "found": verdict.found}
            for verdict in verdicts
            if verdict.state is State.DAMAGED
        ],
        "missing": [_row(digits, None, "missing", found.missing) for digits in found.missing],
        "foreign": [verdict.name for verdict in verdicts if verdict.state is State.FOREIGN],
    }
    output.write_json(body)


def _show_verdicts(found: Survey, verdicts: list[Verdict]) -> None:
    console = output.stdout()
    console.print(f"{output.printable(str(found.store.folder))}\n")
    for verdict in verdicts:
        if verdict.state is State.DAMAGED:
            text = f"{verdict.name} is damaged: its content has the sha256 {verdict.found}"
            console.print(Text("  ").append_text(output.marked("✗", text)))
        elif verdict.state is State.FOREIGN:
            text = f"{output.printable(verdict.name)} is no blob; it was put here by someone else"
            console.print(Text("  ").append_text(output.marked("!", text)))
    for digits in found.missing:
        places = _places(_row(digits, None, "missing", found.missing)["lines"])
        console.print(Text("  ").append_text(output.marked("✗", f"{digits} is missing: {places}")))
    whole = sum(verdict.state is State.OK for verdict in verdicts)
    console.print(Text("  ").append_text(output.marked("✓", f"{_count(whole, 'blob')} whole\n")))


def _size(size: int | None) -> str:
    return "? bytes" if size is None else _count(size, "byte")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
