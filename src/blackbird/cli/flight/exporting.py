"""`blackbird export`: a session as a flight log."""

import os
import sys
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from blackbird.cli.flight import session as sessions
from blackbird.cli.flight.session import Chosen
from blackbird.flightlog import files
from blackbird.flightlog.entries.line import name_of
from blackbird.flightlog.files import FlightLog, SessionClock, Written
from blackbird.flightlog.header import header_of
from blackbird.flightlog.live import LiveLog
from blackbird.timeline.gather import Following
from blackbird.timeline.timeline import Timeline
from blackbox import disk
from blackbox.errors import UsageError
from blackbox.terminal import output

SCHEMA = "export/1"
_POLL_SECONDS = 0.2
_STANDARD_OUTPUT = "-"


class Format(StrEnum):
    """What a session is written as."""

    BBOX = "bbox"
    RLOG = "rlog"


def command(
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="SESSION", help="A session, a run or a client's own id, or its start; else the newest."
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="A file, a folder, or - for standard output (bbox)."),
    ] = None,
    wanted: Annotated[
        Format | None,
        typer.Option(
            "--format", help="One .bbox, or .rlog with .jsonl companions; else as FILE ends, and bbox without."
        ),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Write as it goes, until the run ends or Ctrl-C (bbox).")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object when done (schema export/1).")] = False,
) -> None:
    """Write a session as a flight log, which `blackbox` reads: one .bbox, or an .rlog with its .jsonl companions.

    Without -o the files go to this folder and are called like the session. A .bbox keeps long results in
    `.bbox-blobs/` beside it; a .jsonl has everything in full, and each sub-agent has one of its own. Secrets are
    hidden. The same session always gives the same bytes.

    With --follow the .bbox of a running agent grows as it works. It differs from one that is written later: a call is
    two lines if its result was not there yet, the header has no totals, and an attempt that is given up is told where
    it was given up. Of an imported session nothing is under way: it is written once.

    Examples:

      blackbird export

      blackbird export harbour -o logs/ --format rlog

      blackbird export harbour -o - | blackbox audit -
    """
    form = wanted or _form_of(target)
    _check(target, form, follow=follow, as_json=as_json)
    chosen = sessions.choose(session)
    if target == _STANDARD_OUTPUT:
        _to_output(chosen, follow=follow and not chosen.is_imported)
        return
    path = _path(target, chosen.scope.name, form)
    if follow and not chosen.is_imported:
        written = _follow_to_file(chosen, path, force=force)
    else:
        timeline = chosen.timeline()
        sessions.tell_problems(timeline, as_json=as_json)
        write = files.write_bbox if form is Format.BBOX else files.write_rlog
        written = write(timeline, path, force=force)
    _tell(chosen, written, form, as_json=as_json)


def _form_of(target: str | None) -> Format:
    """What the name of a file says that it is to hold."""
    is_rlog = target is not None and Path(target).suffix == f".{Format.RLOG.value}"
    return Format.RLOG if is_rlog else Format.BBOX


def _check(target: str | None, form: Format, *, follow: bool, as_json: bool) -> None:
    if form is Format.RLOG and target == _STANDARD_OUTPUT:
        raise UsageError("an .rlog comes with its .jsonl", "give -o a folder, or --format bbox")
    if form is Format.RLOG and follow:
        raise UsageError("--follow writes one file", "write a .bbox; blackbox export makes an .rlog of it")
    if as_json and target == _STANDARD_OUTPUT:
        raise UsageError("standard output is where the log goes", "leave out --json, or give -o a file")


def _path(target: str | None, name: str, form: Format) -> Path:
    file = f"{name_of(name, 'session').replace('/', '-').replace(':', '-')}.{form.value}"
    if target is None:
        return Path(file)
    path = Path(target)
    return path / file if target.endswith(os.sep) or path.is_dir() else path


def _tell(chosen: Chosen, written: Written, form: Format, *, as_json: bool) -> None:
    if as_json:
        output.write_json(
            {
                "schema": SCHEMA,
                "session": chosen.scope.name,
                "format": form.value,
                "files": [str(path) for path in written.files],
                "entries": written.entries,
                "redactions": written.redactions,
            }
        )
        return
    hidden = sum(written.redactions.values())
    told = f"{written.entries} entries" + (f", {hidden} secret{'s' if hidden != 1 else ''} hidden" if hidden else "")
    console = output.stdout()
    for path in written.files:
        console.print(output.printable(str(path)))
    console.print(
        f"  {told}; blackbox validate {output.printable(str(written.files[0]))} checks it", style="bright_black"
    )


class _OutputStream:
    """Standard output as a log is written to it."""

    def write(self, data: bytes, /) -> int:
        output.write(data)
        return len(data)

    def flush(self) -> None:
        sys.stdout.flush()


def _to_output(chosen: Chosen, *, follow: bool) -> None:
    if not follow:
        timeline = chosen.timeline()
        sessions.tell_problems(timeline, as_json=False)
        output.write(files.bbox_bytes(timeline))
        return

    def create(timeline: Timeline, clock: SessionClock) -> FlightLog:
        return FlightLog.to_stream(_OutputStream(), header_of(timeline, form="bbox", is_whole=False), clock)

    _follow(chosen, create)


def _follow_to_file(chosen: Chosen, path: Path, *, force: bool) -> Written:
    files.check_free([path], force=force)
    disk.make_folder(path.parent)
    if force:
        path.unlink(missing_ok=True)

    def create(timeline: Timeline, clock: SessionClock) -> FlightLog:
        return FlightLog.create(path, header_of(timeline, form="bbox", is_whole=False), clock)

    console = output.stderr()
    if console.is_terminal:
        console.print(f"Writing {output.printable(str(path))} as it goes. Ctrl-C ends this.", style="bright_black")
    log = _follow(chosen, create)
    return Written((path,), log.entries, log.redactions)


def _follow(chosen: Chosen, create: Callable[[Timeline, SessionClock], FlightLog]) -> FlightLog:
    segment = sessions.first_segment(chosen.trace, chosen.scope.row.began)
    with Following(chosen.home.trace, chosen.scope.name, live=chosen.live, segment=segment) as source:
        live = LiveLog(source, create)
        try:
            while live.look() or not live.is_over:
                time.sleep(_POLL_SECONDS)
        except KeyboardInterrupt:
            # What was written so far gets its end.
            pass
        return live.end()
