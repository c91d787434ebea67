"""`blackbox validate`: what is wrong with a log, and what it contains."""

import concurrent.futures
import os
import sys
from collections.abc import Iterator
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn
from rich.text import Text

from blackbox.check.findings import Finding, Findings, Severity
from blackbox.check.rules import all_rules, rule_named
from blackbox.check.statistics import Statistics
from blackbox.check.text import SecretSearch
from blackbox.check.validator import KEPT_PER_RULE, Report, validate_blocks
from blackbox.errors import BlackboxError
from blackbox.redaction.config import load_redactor
from blackbox.session.load import look_beside
from blackbox.terminal import inputs, output
from blackbox.terminal.codes import EXIT_ENVIRONMENT, EXIT_INTEGRITY
from blackbox.vault.presence import look_beside as look_at_blobs

SCHEMA = "blackbox.validate/1"
#: Below this, starting processes costs more than it saves.
_WORTH_PROCESSES = 4 << 20
#: Above this, a single log takes long enough to show how far it is.
_WORTH_PROGRESS = 16 << 20


class Outcome(msgspec.Struct):
    """The report of one log, or why there is none."""

    name: str
    report: Report | None = None
    error_code: str = ""
    message: str = ""
    remedy: str = ""


def command(
    logs: Annotated[
        list[str] | None, typer.Argument(help="Logs, folders or patterns; `-` is standard input.")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show info findings and a table of types.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 on warnings too.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a log (schema blackbox.validate/1).")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Processes to use; 0 means one a core.")] = 0,
) -> None:
    """Check logs and show what they contain.

    Without arguments, all logs below this folder.

    Examples:

      blackbox validate session.bbox

      blackbox validate logs/ --strict --json

      cat session.rlog | blackbox validate -
    """
    names = inputs.find_logs(logs or [])
    outcomes: list[Outcome] = []
    console = output.stdout()
    for outcome in _validate_all(names, jobs):
        outcomes.append(outcome)
        if as_json:
            _write_json(outcome)
        else:
            _show(console, outcome, alone=len(names) == 1, verbose=verbose)
    if not as_json and len(names) > 1:
        _show_summary(console, outcomes)
    raise typer.Exit(_exit_code(outcomes, strict=strict))


def _validate_all(names: list[str], jobs: int) -> Iterator[Outcome]:
    workers = min(jobs or os.cpu_count() or 1, len(names))
    if workers > 1 and inputs.STDIN not in names and inputs.total_size(names) >= _WORTH_PROCESSES:
        with concurrent.futures.ProcessPoolExecutor(workers) as pool:
            yield from pool.map(validate_one, names, chunksize=max(1, len(names) // (workers * 8)))
    else:
        alone = len(names) == 1
        yield from (validate_one(name, alone=alone, jobs=jobs) for name in names)


def validate_one(name: str, *, alone: bool = False, jobs: int = 1) -> Outcome:
    """The outcome for one log; what the environment refuses is a value here, so that other logs go on."""
    try:
        size = inputs.total_size([name])
        blocks = inputs.read_blocks(name)
        if alone and size >= _WORTH_PROGRESS and sys.stderr.isatty():
            blocks = _with_progress(blocks, size)
        if name == inputs.STDIN:
            return Outcome(name, validate_blocks(blocks, redactor=load_redactor()))
        look_up, look_at = look_beside(name), look_at_blobs(name)
        if jobs == 1 or size < _WORTH_PROCESSES:
            report = validate_blocks(blocks, look_up=look_up, look_at=look_at, redactor=load_redactor())
            return Outcome(name, report)
        # The search for secrets takes as long as a fifth of all other checks: it has a process of its own.
        with concurrent.futures.ProcessPoolExecutor(1) as pool:
            secrets = pool.submit(search_secrets, name)
            report = validate_blocks(blocks, look_up=look_up, look_at=look_at)
            return Outcome(name, report.joined(secrets.result()))
    except BlackboxError as error:
        return Outcome(name, None, error.code, error.message, error.remedy)


def search_secrets(name: str) -> Findings:
    """The secrets left in the clear in one log."""
    search = SecretSearch(load_redactor(), KEPT_PER_RULE)
    for block in inputs.read_blocks(name):
        search.feed(block)
    return search.finish()


def _with_progress(blocks: Iterator[bytes], size: int) -> Iterator[bytes]:
    columns = (TextColumn("validating"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=output.stderr(), transient=True) as progress:
        task = progress.add_task("", total=size)
        for block in blocks:
            yield block
            progress.advance(task, len(block))


def _exit_code(outcomes: list[Outcome], *, strict: bool) -> int:
    if any(outcome.report is None for outcome in outcomes):
        return EXIT_ENVIRONMENT
    damaged = rule_named("blob-damaged").id
    if any(finding.rule == damaged for o in outcomes if o.report for finding in o.report.findings):
        return EXIT_INTEGRITY
    counted = (Severity.ERROR, Severity.WARNING) if strict else (Severity.ERROR,)
    found = any(o.report.count(severity) for o in outcomes if o.report for severity in counted)
    return 1 if found else 0


def _write_json(outcome: Outcome) -> None:
    report = outcome.report
    if report is None:
        _tell(outcome, as_json=True)
        return
    names = {rule.id: rule.name for rule in all_rules().values()}
    body = {
        "schema": SCHEMA,
        "file": outcome.name,
        "valid": report.count(Severity.ERROR) == 0,
        "errors": report.count(Severity.ERROR),
        "warnings": report.count(Severity.WARNING),
        "infos": report.count(Severity.INFO),
        "findings": [{"name": names[f.rule], **msgspec.to_builtins(f)} for f in report.findings],
        "findings_left_out": report.left_out,
        "statistics": report.statistics,
        "header": report.header,
    }
    output.write_json(body)


def _tell(outcome: Outcome, *, as_json: bool) -> None:
    error = BlackboxError(outcome.message, outcome.remedy)
    error.code = outcome.error_code
    output.tell_error(error, as_json=as_json)


def _show(console: Console, outcome: Outcome, *, alone: bool, verbose: bool) -> None:
    if outcome.report is None:
        _tell(outcome, as_json=False)
        return
    show_report(console, inputs.shown(outcome.name), outcome.report, alone=alone, verbose=verbose)


def show_report(console: Console, name: str, report: Report, *, alone: bool = True, verbose: bool = False) -> None:
    """One log's report: with its statistics if it is the only one, or on request."""
    is_valid = report.count(Severity.ERROR) == 0
    console.print(output.marked("✓" if is_valid else "✗", output.printable(name)))
    if alone or verbose:
        console.print()
        _show_statistics(console, report.statistics)
        console.print()
    shown = [f for f in report.findings if verbose or f.severity is not Severity.INFO]
    for finding in shown:
        console.print(_finding_line(finding))
    for rule, count in report.left_out.items():
        if verbose or all_rules()[rule].severity is not Severity.INFO:
            console.print(f"  … and {count} more of {rule}")
    if shown:
        console.print()
    if verbose:
        _show_types(console, report.statistics)
    if alone:
        console.print(_verdict(report, is_valid=is_valid))
        _show_hints(console, report, verbose=verbose)


def _finding_line(finding: Finding) -> str:
    rule = all_rules()[finding.rule]
    place = f"{finding.line}:{finding.column}" if finding.column else f"{finding.line}"
    message = output.printable(finding.message)
    return f"  line {place}: {finding.severity.value} {finding.rule} {rule.name}: {message}"


def _verdict(report: Report, *, is_valid: bool) -> Text:
    if is_valid:
        warnings = report.count(Severity.WARNING)
        counted = f", {warnings} warning{'s' if warnings != 1 else ''}" if warnings else ""
        return _indented("✓", f"Valid BlackBox file{counted}")
    count = report.count(Severity.ERROR)
    return _indented("✗", f"Not a valid BlackBox file: {count} error{'s' if count != 1 else ''}")


def _indented(mark: str, text: str) -> Text:
    line = output.marked(mark, text)
    line.pad_left(2)
    return line


def _show_hints(console: Console, report: Report, *, verbose: bool) -> None:
    infos = report.count(Severity.INFO)
    if infos and not verbose:
        console.print(f"    {infos} info finding{'s' if infos != 1 else ''}: --verbose shows them")
    shown = [f for f in report.findings if verbose or f.severity is not Severity.INFO]
    if shown:
        worst = min(shown, key=lambda finding: list(Severity).index(finding.severity))
        console.print(f"    What to do: blackbox explain {worst.rule}")


def _show_statistics(console: Console, statistics: Statistics) -> None:
    console.print("  Statistics:")
    rows: list[tuple[str, object]] = [
        ("Lines", statistics.lines),
        ("User msgs", statistics.user_messages),
        ("Agent msgs", statistics.agent_messages),
        ("Tool calls", statistics.tool_calls),
        ("Observations", statistics.observations),
        ("Subagents", statistics.subagents),
        ("MCP calls", statistics.mcp_calls),
        ("Call IDs", statistics.call_ids),
        ("Max step", statistics.max_step if statistics.max_step is not None else "-"),
        ("Timestamps", "yes" if statistics.timestamps else "no"),
        ("Blobs", statistics.blobs),
        ("Redacted", statistics.redacted),
    ]
    for label, value in rows:
        console.print(f"    {label + ':':13} {value}")


def _show_types(console: Console, statistics: Statistics) -> None:
    console.print("  Line types:")
    for name, count in sorted(statistics.line_types.items(), key=lambda item: -item[1]):
        console.print(f"    {name + ':':17} {count}")
    console.print()


def _show_summary(console: Console, outcomes: list[Outcome]) -> None:
    reports = [outcome.report for outcome in outcomes if outcome.report is not None]
    invalid = sum(report.count(Severity.ERROR) > 0 for report in reports)
    warnings = sum(report.count(Severity.WARNING) for report in reports)
    unread = len(outcomes) - len(reports)
    parts = [f"{len(reports) - invalid} valid", f"{invalid} invalid"]
    if unread:
        parts.append(f"{unread} unreadable")
    lines = sum(report.statistics.lines for report in reports)
    console.print(f"\n{len(outcomes)} logs, {lines} lines: {', '.join(parts)}; {warnings} warnings")
