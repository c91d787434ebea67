"""What went wrong: calls that ended in an error, and lines that say so of themselves."""

from collections.abc import Iterable
from typing import NamedTuple

from blackbox.document.line import Line
from blackbox.events.calls import Arguments
from blackbox.session.calls import Call, Status
from blackbox.session.lines import Lines


class Failure(NamedTuple):
    """An error: its message, the line that reports it, and the call that failed, if it was one."""

    message: str
    line: Line
    call: Call | None = None


def failures_of(lines: Lines, calls: Iterable[Call]) -> tuple[Failure, ...]:
    """The errors in order of their lines.

    A call counts by its outcome: one that succeeded in the end is no error, whatever its first attempt was (its
    `attempts` keep that). A `level=error` line of a call that failed is that call's error and not a second one.
    """
    found: list[Failure] = []
    reported: set[Line] = set()
    for call in calls:
        if call.status is Status.ERR:
            found.append(_of_call(call))
            reported.update(call.lines)
    found += [
        Failure(_message(line), line)
        for line in lines.containing("level=")
        if line not in reported and line.meta.level == "error"
    ]
    return tuple(sorted(found, key=lambda failure: lines.positions[failure.line]))


def _message(line: Line) -> str:
    """What a line says, without its metadata."""
    if line.result is not None:
        return line.result.text
    arguments = getattr(line.event, "arguments", None)
    return arguments.words or line.name if isinstance(arguments, Arguments) else line.parts.text


def _of_call(call: Call) -> Failure:
    result = call.result
    message = (result.detail or result.text) if result is not None else ""
    return Failure(message, call.result_line or call.line, call)
