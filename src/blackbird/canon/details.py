"""What is known of a tool's result beside its text, under the same names whoever says so.

`exit_code`, `duration_ms`: of a command; the former also by the client's own words around what the command printed.
`stdout`, `stderr`: where the log keeps them apart and there is a `stderr`.
`path`, `patch`: the file that was changed and how, as a unified diff (of several files, all of them in one).
`is_interrupted`, `is_rejected`: the user stopped it, or said no. `thread`: the sub-agent that it started.
"""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from blackbird.canon import places
from blackbird.canon.model import ToolResult
from blackbird.exchange import payloads

Details = dict[str, Any]

#: The words with which clients begin a command's result. What the command itself printed comes behind them.
_BEGUN = re.compile(r"(?:Process exited with code|Exit code:?) (-?\d{1,10})\b|<returncode>(-?\d{1,10})</returncode>")
#: The words with which others end it.
_ENDED = re.compile(
    r"(?:\A|\n\n)Command exited with code (-?\d{1,10})\Z|(?:\A|\n)<exited with exit code (-?\d{1,10})>\Z"
)
#: Few texts end like these: the others need no search.
_LAST = (*"0123456789", ">")
#: A result in named pieces: those behind what was printed say how the command ended.
_PIECES = re.compile(r"(?:<untrusted_context>\s*)?(?:Command|Output|Stdout): ")
_PIECE = re.compile(
    r"^Exit Code: (-?\d{1,10})(?:\n(?:Signal|Background PIDs|Process Group PGID): [^\n]*)*"
    r"\s*(?:</untrusted_context>)?\Z",
    re.MULTILINE,
)
#: How far from its ends the client's own words may stand.
_NEAR = 400
#: How clients tell an agent that its user did not let a call happen.
_REFUSALS = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "[Request interrupted by user",
)
#: A result that wraps its output in JSON is cut by the client long before this.
_LONGEST_WRAPPED = 1 << 20


class Hunk(msgspec.Struct, rename="camel"):
    """One place of a change: the lines there, each behind a space, a plus or a minus."""

    old_start: int = 0
    old_lines: int = 0
    new_start: int = 0
    new_lines: int = 0
    lines: list[str] = []


def says_refused(text: str) -> bool:
    """Whether a result says that the user did not let the call happen."""
    return text.lstrip().startswith(_REFUSALS)


def exit_code(text: str) -> int | None:
    """The exit code that the client's own words name, before or behind what the command printed."""
    head, tail = text[:_NEAR].partition("\nOutput:")[0], text[-_NEAR:].rstrip()
    found = _BEGUN.match(head) or (_BEGUN.search(head) if "\nWall time:" in head else None)
    if found is None and tail.endswith(_LAST):
        found = _ENDED.search(tail)
    if found is None and _PIECES.match(text):
        found = _PIECE.search(tail)
    if found is None:
        return _wrapped_code(text)
    return int(next(digits for digits in found.groups() if digits is not None))


def _wrapped_code(text: str) -> int | None:
    if not text.startswith('{"output":') or len(text) > _LONGEST_WRAPPED:
        return None
    code = payloads.inner(places.read_object(text.encode(errors="replace")), "metadata").get("exit_code")
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def ended(result: ToolResult) -> ToolResult:
    """A result with the exit code that its own words name. What the protocol says of it counts more than they do."""
    code = exit_code(result.text)
    if code is None or (result.error is False and code != 0):
        return result
    return add(result, {"exit_code": code})


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
