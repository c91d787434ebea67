"""`blackbox stats`: everything counted, by type and by tool."""

from typing import Annotated

import typer
from rich.console import Console

from blackbox.check.statistics import Statistics, sum_up
from blackbox.check.validator import Report, validate_blocks
from blackbox.terminal import inputs, output

SCHEMA = "blackbox.stats/1"
_HEADER_FIELDS = ("format", "id", "mode", "model", "repo", "repo_sha", "branch", "budget", "duration")


def command(
    logs: Annotated[
        list[str] | None, typer.Argument(help="Logs, folders or patterns; `-` is standard input.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a log (schema blackbox.stats/1).")] = False,
) -> None:
    """Show what logs contain: header, lines by type, metadata, tools.

    Without arguments, all logs below this folder.

    Examples:

      blackbox stats session.bbox

      blackbox stats logs/ --json | jq .statistics.tool_calls
    """
    names = inputs.find_logs(logs or [])
    console = output.stdout()
    counted: list[Statistics] = []

    def show(name: str) -> None:
        report = validate_blocks(inputs.read_blocks(name), kept_per_rule=0)
        if as_json:
            body = {"schema": SCHEMA, "file": name, "header": report.header, "statistics": report.statistics}
            output.write_json(body)
        else:
            if counted:
                console.print()
            show_report(console, name, report)
        counted.append(report.statistics)

    try:
        inputs.each_log(names, show, as_json=as_json)
    finally:
        if len(counted) > 1 and not as_json:
            console.print(f"\nTotal: {len(counted)} logs")
            _show_figures(console, sum_up(counted))


def show_report(console: Console, log: str, report: Report) -> None:
    """All figures of one log."""
    console.print(f"File: {output.printable(inputs.shown(log))}")
    console.print("\nHeader:")
    for key in _HEADER_FIELDS:
        if report.header.get(key):
            console.print(f"  {key}: {output.printable(str(report.header[key]))}")
    _show_figures(console, report.statistics)


def _show_figures(console: Console, statistics: Statistics) -> None:
    console.print("\nStatistics:")
    for block in _blocks(statistics):
        for label, value in block:
            console.print(f"  {label + ':':17} {value}")
        console.print()
    console.print("Metadata:")
    first, last = statistics.first_step, statistics.max_step
    timestamps = f"yes ({statistics.timestamps} with ts=)" if statistics.timestamps else "no"
    rows: list[tuple[str, object]] = [
        ("Call IDs", f"{statistics.call_ids} unique"),
        ("Step range", "-" if first is None else f"{first}-{last}"),
        ("Timestamps", timestamps),
        ("Blob references", statistics.blobs),
        ("Redacted values", statistics.redacted),
    ]
    for name, shown in rows:
        console.print(f"  {name + ':':17} {shown}")
    if statistics.tools:
        console.print("\nTools used:")
        _show_tools(console, statistics.tools)


def _blocks(s: Statistics) -> list[list[tuple[str, int]]]:
    events = [
        ("User messages", s.user_messages),
        ("Agent messages", s.agent_messages),
        ("Tool calls", s.tool_calls),
        ("Observations", s.observations),
        ("MCP calls", s.mcp_calls),
        ("Subagents", s.subagents),
        ("Skills", s.skills),
        ("Plans", s.plans),
        ("Mode changes", s.mode_changes),
        ("Lifecycle", s.lifecycle),
        ("Memory recalls", s.recalls),
    ]
    rare = [
        ("Questions", s.questions),
        ("Phases", s.phases),
        ("Thinking", s.thinking),
        ("Todo lists", s.todo_lists),
        ("Unknown lines", s.unknown_lines),
    ]
    lines = [
        ("Total lines", s.lines),
        ("Content lines", s.content_lines),
        ("Blank lines", s.blank_lines),
        ("Comment lines", s.comment_lines),
    ]
    return [lines, events + [row for row in rare if row[1]]]


def _show_tools(console: Console, tools: dict[str, int]) -> None:
    width = max(len(name) for name in tools) + 1
    digits = max(len(str(count)) for count in tools.values())
    for name, count in tools.items():
        plural = "call" if count == 1 else "calls"
        console.print(f"  {output.printable(name) + ':':{width}} {count:>{digits}} {plural}")
