"""`blackbird trace verify`, `status` and `export`: whether the trace is whole, how large it is, and what is in it."""

import contextlib
import enum
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from blackbird import home as homes
from blackbird.cli.arguments import Json
from blackbird.cli.reading import find_request, recorder_status
from blackbird.config.units import counted, round_size
from blackbird.exchange.listing import Wanted, records
from blackbird.exchange.summary import Summary, summarise
from blackbird.launch.ids import check_id
from blackbird.sessions.choice import NOTHING_YET
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.verify.findings import Finding, Report, Severity
from blackbird.trace.verify.verifier import Verifier
from blackbox.disk import create_file, write_error
from blackbox.errors import UsageError
from blackbox.terminal import output
from blackbox.terminal.codes import EXIT_INTEGRITY
from blackbox.terminal.inputs import STDIN

_MARKS = {Severity.ERROR: "✗", Severity.WARNING: "!"}


class Format(enum.StrEnum):
    """What `trace export` writes."""

    JSONL = "jsonl"


def verify(as_json: Json = False) -> None:
    """Check that the trace is what was recorded: every byte, every record, every segment, and how they are chained.

    Reads all of it and changes nothing. Damage, missing and changed parts are errors; a torn tail and recorded losses
    are warnings.

    Exit codes: 0 it is whole, 3 it cannot be read, 4 it is not what was recorded.

    Examples:

      blackbird trace verify

      blackbird trace verify --json | jq '.findings[] | select(.severity == "error")'
    """
    home = homes.find()
    trace = Trace(home.trace)
    status = recorder_status(home)
    if not as_json and not trace.exists():
        output.stdout().print(NOTHING_YET)
        return
    report = check(trace, status.get("segment") if status is not None else None)
    if as_json:
        output.write_json(describe_report(report, trace))
    else:
        _show_report(report)
    if not report.is_intact:
        raise typer.Exit(EXIT_INTEGRITY)


def check(trace: Trace, live: int | None) -> Report:
    """All that is wrong with a trace."""
    verifier = Verifier(trace.synced(), live)
    for place, content in trace.contents():
        verifier.add(place, content)
    return verifier.finish()


def describe_report(report: Report, trace: Trace) -> dict[str, Any]:
    """A report as an object."""
    findings = [{**msgspec.to_builtins(finding), "remedy": finding.remedy} for finding in report.findings]
    return {
        "schema": "trace-verify/1",
        "trace": str(trace.folder),
        "intact": report.is_intact,
        "findings": findings,
        "statistics": msgspec.to_builtins(report.statistics),
    }


def _show_report(report: Report) -> None:
    console = output.stdout()
    for finding in report.findings:
        _show_finding(finding)
    about = report.statistics
    synced = "unknown" if about.synced_sequence is None else str(about.synced_sequence)
    size = f"{round_size(about.bytes)} on disk, {round_size(about.raw_bytes)} raw"
    console.print(f"  segments   {about.segments} ({about.sealed} sealed), {about.gone} removed; {size}")
    console.print(f"  records    {about.records}; requests {about.requests}")
    console.print(f"  sequences  up to {about.last_sequence}; synced up to {synced}")
    console.print(f"  policies   {output.printable(', '.join(about.policies)) or '-'}")
    if report.is_intact:
        console.print(output.marked("✓", "The trace is whole."))
    else:
        errors = sum(finding.severity is Severity.ERROR for finding in report.findings)
        console.print(output.marked("✗", f"The trace is not what was recorded: {errors} error(s)."))


def _show_finding(finding: Finding) -> None:
    place = f"segment {finding.segment}" if finding.segment is not None else "trace"
    place += f", byte {finding.offset}" if finding.offset is not None else ""
    text = output.printable(f"{finding.code.value} ({place}): {finding.message}")
    console = output.stdout()
    mark = _MARKS.get(finding.severity)
    console.print(output.marked(mark, text) if mark is not None else f"  {text}")
    if finding.severity is not Severity.INFO:
        console.print(f"    {finding.remedy}", style="bright_black")


def status(as_json: Json = False) -> None:
    """Show how large the trace is, from when to when it goes, what is pinned, and whether a recorder writes to it.

    Examples:

      blackbird trace status

      blackbird trace status --json | jq .ratio
    """
    home = homes.find()
    trace = Trace(home.trace)
    is_running = recorder_status(home) is not None
    about = summarise(trace)
    if as_json:
        fields = msgspec.to_builtins(about)
        more = {"trace": str(trace.folder), "running": is_running, "ratio": about.ratio}
        output.write_json({"schema": "trace-status/1", **more, **fields})
        return
    console = output.stdout()
    if not trace.exists():
        console.print(NOTHING_YET)
        return
    for name, text in _status_rows(about, trace, is_running=is_running):
        console.print(f"  {name:<10} {output.printable(text)}")
    for problem in about.unreadable:
        console.print(output.marked("✗", output.printable(problem)))


def _status_rows(about: Summary, trace: Trace, *, is_running: bool) -> list[tuple[str, str]]:
    ratio = f", {about.ratio} times smaller" if about.ratio is not None else ""
    return [
        ("trace", str(trace.folder)),
        ("segments", f"{about.segments} ({about.sealed} sealed), {about.gone} removed"),
        ("written", round_size(about.written_bytes)),
        ("sealed", f"{round_size(about.sealed_bytes)} for {round_size(about.sealed_raw_bytes)}{ratio}"),
        ("from", about.oldest or "-"),
        ("to", about.newest or "-"),
        ("pins", ", ".join(about.pins) or "none"),
        ("disk free", round_size(about.free_bytes) if about.free_bytes is not None else "unknown"),
        ("recorder", "running" if is_running else "not running"),
    ]


def export(
    to: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="A new file; `-` is standard output.")],
    session: Annotated[str | None, typer.Option("--session", help="Only this session.")] = None,
    run: Annotated[str | None, typer.Option("--run", help="Only this run.")] = None,
    request: Annotated[str | None, typer.Option("--request", metavar="ID", help="Only this request.")] = None,
    _form: Annotated[Format, typer.Option("--format", help="What to write.")] = Format.JSONL,
) -> None:
    """Write records of the trace to a file: one JSON object a record (schema trace-record/1), in order.

    Payloads are objects (`data`) or text (`text`); what is no UTF-8 is in `base64`, too. The file is for your eyes
    alone, and one that is there already stays. What cannot be read is told, and the rest is written.

    Exit codes: 0 all of it was written, 3 the file could not be written, 4 some of the trace could not be read.

    Examples:

      blackbird trace export --output trace.jsonl

      blackbird trace export --session harbour --output - | jq -r .type
    """
    if sum(option is not None for option in (session, run, request)) > 1:
        raise UsageError("--session, --run and --request exclude each other", "choose one")
    trace = Trace(homes.find().trace)
    wanted = Wanted(
        find_request(trace, request) if request is not None else None,
        check_id("--session", session),
        check_id("--run", run),
    )
    lines = _Lines(trace, wanted)
    if to == STDIN:
        for line in lines:
            output.write(line)
    else:
        _write_new(Path(to), lines)
        told = f"{counted(lines.count, 'record')} written to {output.printable(to)}"
        output.stderr().print(output.marked("✓", told))
    if lines.is_damaged:
        raise typer.Exit(EXIT_INTEGRITY)


class _Lines:
    """The lines of an export. What cannot be read is told at once, and the rest goes on."""

    def __init__(self, trace: Trace, wanted: Wanted) -> None:
        self._records = records(trace, wanted)
        self.count = 0
        self.is_damaged = False

    def __iter__(self) -> Iterator[bytes]:
        for record in self._records:
            if isinstance(record, TraceError):
                self.is_damaged = True
                output.tell_error(record, as_json=False)
                continue
            self.count += 1
            yield output.to_json(record).encode() + b"\n"


def _write_new(path: Path, lines: _Lines) -> None:
    """All of it, or no file: half an export would pass for a whole one."""
    try:
        file = create_file(path)
    except FileExistsError as error:
        raise UsageError(f"{output.printable(str(path))} is there already", "name a new file") from error
    except OSError as error:
        raise write_error(path, error) from error
    with contextlib.ExitStack() as undo:
        undo.callback(path.unlink, missing_ok=True)
        try:
            with io.BufferedWriter(file) as out:
                out.writelines(lines)
        except OSError as error:
            raise write_error(path, error) from error
        undo.pop_all()
