"""How entries of a log are shown: coloured on a terminal, their very bytes in a pipe, an object as JSON."""

import re
from typing import Any

from rich.text import Text

from blackbox.document.line import Line
from blackbox.report.search import reports_error, step_of
from blackbox.syntax.kinds import Kind
from blackbox.terminal import output

_STYLES: dict[Kind, str] = {
    Kind.USER: "bold cyan",
    Kind.AGENT: "bold green",
    Kind.THINKING: "italic bright_black",
    Kind.TODOS: "magenta",
    Kind.TOOL: "blue",
    Kind.TOOL_START: "blue",
    Kind.TOOL_PROGRESS: "bright_black",
    Kind.OBSERVATION: "blue",
    Kind.MCP: "bright_blue",
    Kind.SUBAGENT: "magenta",
    Kind.SKILL: "magenta",
    Kind.PLAN: "magenta",
    Kind.RECALL: "magenta",
    Kind.QUESTION: "bold yellow",
    Kind.MODE: "yellow",
    Kind.LIFECYCLE: "yellow",
    Kind.PHASE: "yellow",
    Kind.COMMENT: "bright_black",
    Kind.UNKNOWN: "red",
}
_ERROR = "bold red"
_QUIET = "bright_black"
#: Prose keeps the terminal's own colour behind its prefix: it is there to be read.
_PLAIN = frozenset({Kind.USER, Kind.AGENT, Kind.QUESTION})


def styled(line: Line) -> list[Text]:
    """The physical lines of an entry for a terminal: by kind, metadata quiet, errors red."""
    is_error = reports_error(line)
    style = _ERROR if is_error else _STYLES.get(line.kind, "")
    whole = "" if line.kind in _PLAIN else style
    shown = [Text(output.printable(source.removesuffix("\r")), style=whole) for source in line.physical_lines]
    if not line.source.isprintable():
        return shown
    for element in line.elements:
        first = element.span.line == line.number
        start, end = element.span.start - 1, element.span.end - 1
        if first and element.role in ("prefix", "name"):
            shown[0].stylize(style, start, end)
        elif first and element.role == "metadata":
            shown[0].stylize(_QUIET, start, end)
        elif first and element.role == "result" and not is_error:
            shown[0].stylize("default", start, end)
    return shown


def highlight(text: Text, pattern: re.Pattern[str] | None) -> Text:
    """Mark what a pattern found."""
    if pattern is not None:
        for match in pattern.finditer(text.plain):
            text.stylize("bold black on yellow", match.start(), match.end())
    return text


def raw(line: Line) -> bytes:
    """The very bytes of an entry, with a line feed at its end."""
    return ("\n".join(line.physical_lines) + "\n").encode(errors="surrogateescape")


def as_object(schema: str, file: str, line: Line) -> dict[str, Any]:
    """An entry as JSON has it."""
    ts = line.meta.ts if "ts=" in line.source else None
    return {
        "schema": schema,
        "file": file,
        "line": line.number,
        "last_line": line.last_number,
        "type": line.kind,
        "name": line.name or None,
        "id": line.id,
        "step": step_of(line),
        "ts": ts,
        "text": "\n".join(line.physical_lines),
    }
