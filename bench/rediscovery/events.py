"""What happened in a transcript, line by line: words, uses of tools, and what those read, changed, ran and met."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bench.rediscovery.project import Project

_HEADING = re.compile(
    r"_\*\*(User|Agent)(?: - sidechain)?(?: \((?:.*? )?(\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ)\))?\*\*_\s*"
)
_TOOL = re.compile(r'<tool-use data-tool-type="[^"]*" data-tool-name="([^"]*)">')
_FENCE = re.compile(r"(`{3,}|~{3,})")
_CHANGED = re.compile(r"(?:The file|File created successfully at:?|File written successfully at:?) (/\S+)")
_CHANGING = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_NAMED = re.compile(r"\s*`([^`]+)`")
_ENDS = {"tool": "</details></tool-use>", "think": "</details></think>"}

_CUES = (
    *("error", "fatal", "panic", "fail", r"E\d{3}", "undefined", "cannot", "invalid", "no such file", "not found"),
    *("command not found", "permission denied", "exceeds maximum", "has not been read", "has been modified"),
    r"Exit code [1-9]",
)
_ERROR = re.compile(rf"(?:^|\s)(?:{'|'.join(_CUES)})\b|--- FAIL|_error>", re.IGNORECASE)
#: Lines of code, of listings and of logs speak of errors, too.
_CODE = re.compile(
    r"(?:slog|fmt|errors)\.|t\.(?:Error|Fatal)|err (?:!=|:=)|return |func |//|\"level\""
    r"|^\s*\d+[\t→:]|^\s*[-+|]\s|^\s*\{"
)
_LOG = re.compile(r"\b(?:WARN|INFO|DEBUG)\b|^\s*-{1,2}[a-z][\w-]*\s|^\s*(?:PASS|ok)\b")
_RUNNERS = re.compile(
    r"(?:go|golangci-lint|gofmt|npm|npx|yarn|pnpm|make|pytest|cargo|docker|\./\S+|specstory|brew|bash|sh|tsc|eslint"
    r"|swift|xcodebuild|\.?/?specstory)\b"
)
#: What an agent's own tools complain of is not of the project.
_HARNESS = re.compile(
    "|".join(
        (
            *("String to replace not found", "matches of the string", "No changes to make", "modified since read"),
            *("File has not been read", "File does not exist", "Path does not exist", "EISDIR", "persisted"),
            *("Sibling tool call", "Cancelled: parallel", "tool use was rejected", "Request interrupted"),
            *("exceeds maximum allowed", "InputValidationError", "^Exit code N$", "No task found"),
        )
    ),
    re.IGNORECASE,
)
_SHORTEST_ERROR, _LONGEST_LINE = 12, 400


class Event(NamedTuple):
    """Something under a heading: `kind` is `text`, `think` or `tool`; `at` is the time of the heading."""

    at: str
    speaker: str
    kind: str
    tool: str
    number: int
    lines: tuple[str, ...]


class Shown(NamedTuple):
    """What the use of a tool shows, and the use in one line."""

    read: str | None = None
    changed: str | None = None
    commands: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    head: str = ""


def events(text: str) -> Iterator[Event]:
    """The events of a document in their order. A heading without a full time is none."""
    at = speaker = fence = ""
    kind, tool, number = "text", "", 0
    lines: list[str] | None = None
    for count, row in enumerate(text.split("\n"), 1):
        heading = _HEADING.fullmatch(row)
        begins = _begins(row) if kind == "text" and not fence else None
        is_heading = heading is not None and heading[2] and (kind != "tool" or not fence)
        is_end = kind != "text" and row.strip().startswith(_ENDS[kind])
        if is_heading or (speaker and (begins or is_end)):
            if lines is not None:
                yield Event(at, speaker, kind, tool, number, tuple(lines))
            lines, fence, kind, tool = None, "", "text", ""
        if is_heading and heading is not None:
            speaker, at = heading[1].lower(), heading[2]
        elif speaker and begins:
            (kind, tool), number, lines = begins, count, []
        elif speaker and not is_end:
            if lines is None:
                number, lines = count, []
            lines.append(row)
            fence = _fenced(row, fence, kind)
    if lines is not None:
        yield Event(at, speaker, kind, tool, number, tuple(lines))


def _begins(row: str) -> tuple[str, str] | None:
    """The kind of block that a line begins, and the name of its tool."""
    if tool := _TOOL.match(row):
        return "tool", tool[1]
    return ("think", "") if row.startswith("<think>") else None


def _fenced(row: str, fence: str, kind: str) -> str:
    """The fence that is open behind a line."""
    found = _FENCE.match(row if kind == "tool" else row.lstrip())
    if found is None:
        return fence
    if not fence:
        return found[1]
    plain = row.strip()
    return "" if plain.startswith(fence) and not plain.strip("`~") else fence


def shown(event: Event, project: Project) -> Shown:
    """What an event shows."""
    if event.kind != "tool":
        return Shown()
    found = _shown(event.tool, event.lines, project)
    told = [line for line in event.lines if "<tool_use_error>" in line]
    errors = [*found.errors, *(project.error(re.sub(r"</?tool_use_error>", "", line)) for line in told)]
    kept = tuple(one for one in errors if len(one) >= _SHORTEST_ERROR and not _HARNESS.search(one))
    return found._replace(errors=kept)


def _shown(tool: str, lines: Sequence[str], project: Project) -> Shown:
    if tool == "Read":
        named = next((found[1] for line in lines[1:4] if (found := _NAMED.match(line))), None)
        path = project.path(named) if named is not None else None
        return Shown(read=path, head=f"Read {path or ''}")
    if tool in _CHANGING:
        named = next((found[1] for line in lines if (found := _CHANGED.search(line))), None)
        path = project.path(named) if named is not None else None
        return Shown(changed=path, head=f"{tool} {path or ''}")
    if tool == "Bash":
        return _ran(lines, project)
    return Shown(head=f"{tool} " + " ".join(line.strip() for line in lines[1:3])[:200])


def _ran(lines: Sequence[str], project: Project) -> Shown:
    line, output = _taken_apart(lines)
    if not line:
        return Shown()
    commands = tuple(project.commands(line))
    head = "Bash " + project.text(line).replace("\n", " ; ")[:300]
    is_run = any(_RUNNERS.match(one) for one in commands)
    errors = [project.error(one) for one in output if _is_error(one)] if is_run else []
    return Shown(commands=commands, errors=tuple(errors), head=head)


def _taken_apart(lines: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The command of a block, between backticks or fenced, and what is behind it."""
    for at, row in enumerate(lines[1:], 1):
        if re.match(r"`.+`\s*$", row) and not row.startswith("```"):
            return row.strip()[1:-1], lines[at + 1 :]
        if row.startswith("```bash"):
            end = next((end for end in range(at + 1, len(lines)) if lines[end].startswith("```")), len(lines))
            return "\n".join(lines[at + 1 : end]), lines[end + 1 :]
    return "", ()


def _is_error(line: str) -> bool:
    is_told = len(line) < _LONGEST_LINE and _ERROR.search(line) is not None and "<tool_use_error>" not in line
    return is_told and not _CODE.search(line) and not _LOG.search(line)
