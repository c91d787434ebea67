"""What clients' logs add to a tool's result, under the same names whoever wrote the log.

`exit_code`, `duration_ms`: of a command. `stdout`, `stderr`: where the log keeps them apart and there is a `stderr`.
`path`, `patch`: the file that was changed and how, as a unified diff (of several files, all of them in one).
`is_interrupted`, `is_rejected`: the user stopped it, or said no. `thread`: the sub-agent that it started.
"""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from blackbird.canon.model import ToolResult

Details = dict[str, Any]

#: The words with which clients begin a command's result. What the command itself printed comes behind them.
_EXIT = re.compile(r"(?:Process exited with code|Exit code:?) (-?\d{1,10})\b")
_HEAD = 400


class Hunk(msgspec.Struct, rename="camel"):
    """One place of a change: the lines there, each behind a space, a plus or a minus."""

    old_start: int = 0
    old_lines: int = 0
    new_start: int = 0
    new_lines: int = 0
    lines: list[str] = []


def exit_code(text: str) -> int | None:
    """The exit code that a result names before the output begins."""
    head = text[:_HEAD].partition("\nOutput:")[0]
    found = _EXIT.match(head) or (_EXIT.search(head) if "\nWall time:" in head else None)
    return None if found is None else int(found[1])


def unified(path: str, hunks: Iterable[Hunk]) -> str:
    """A unified diff of one file."""
    lines = [f"--- {path}", f"+++ {path}"]
    for hunk in hunks:
        lines.append(f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@")
        lines += hunk.lines
    return "\n".join(lines) + "\n"


def streams(stdout: str | None, stderr: str | None) -> Details:
    """Both outputs of a command, if it wrote to the second: the first alone is the result's own text."""
    return {"stdout": stdout or "", "stderr": stderr} if stderr else {}


def add(result: ToolResult, found: Details) -> ToolResult:
    """The result with these details. A command that says how it ended says whether it failed."""
    code = found.get("exit_code")
    error = code != 0 if result.error is None and code is not None else result.error
    if not found:
        return result
    return msgspec.structs.replace(result, details={**result.details, **found}, error=error)
