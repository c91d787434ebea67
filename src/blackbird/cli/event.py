"""`blackbird event`: say what a tool did."""

import json
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from blackbird.home import working_folder
from blackbird.launch.ids import check_id
from blackbird.recorder import events
from blackbird.recorder.events import ToolEvent
from blackbox.errors import ReadError, UsageError
from blackbox.terminal import output

_LONGEST_PATCH = 4 << 20


class When(Enum):
    """When it is said."""

    START = "start"
    END = "end"
    WHOLE = "whole"


def command(  # noqa: PLR0913, PLR0917 - one argument an option
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The tool that was used.")],
    when: Annotated[When, typer.Option("--when", help="As it starts, at its end, or once for all.")] = When.WHOLE,
    call_id: Annotated[
        str | None,
        typer.Option("--call-id", metavar="ID", help="The call: joins a start, an end and the model's call."),
    ] = None,
    ran: Annotated[str | None, typer.Option("--command", metavar="TEXT", help="The command that it ran.")] = None,
    given: Annotated[
        str | None, typer.Option("--input", metavar="JSON", help="What it was given: an object.")
    ] = None,
    exit_code: Annotated[int | None, typer.Option("--exit-code", metavar="NUMBER", help="How it ended.")] = None,
    duration: Annotated[float | None, typer.Option("--duration-ms", metavar="MS", help="How long it took.")] = None,
    failed: Annotated[bool | None, typer.Option("--failed/--succeeded", help="Whether it failed.")] = None,
    error: Annotated[str | None, typer.Option("--error", metavar="TEXT", help="What went wrong.")] = None,
    printed: Annotated[str | None, typer.Option("--output", metavar="TEXT", help="What it put out.")] = None,
    read: Annotated[list[str] | None, typer.Option("--read", metavar="FILE", help="A file that it read.")] = None,
    wrote: Annotated[list[str] | None, typer.Option("--wrote", metavar="FILE", help="A file that it wrote.")] = None,
    patch: Annotated[
        Path | None, typer.Option("--patch", metavar="FILE", help="A file with what it changed, as a unified diff.")
    ] = None,
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="The session it belongs to.")] = None,
    task: Annotated[str | None, typer.Option("--task", metavar="ID", help="The task it belongs to.")] = None,
    run: Annotated[str | None, typer.Option("--run", metavar="ID", help="The run it belongs to.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object (schema tool-event/1).")] = False,
) -> None:
    """Say what a tool did; it becomes part of the timeline.

    For harnesses and scripts of your own: what clients say by their hooks needs none of this. Without --session,
    --task and --run it belongs to the run that this is started in (BLACKBIRD_RUN and its like). If no recorder runs,
    it waits in the spool, redacted, until one does.

    Examples:

      blackbird event deploy --command "make deploy" --exit-code 0 --wrote dist/lamp.tar

      blackbird event test --when start --call-id t1

      blackbird event test --when end --call-id t1 --exit-code 1 --error "2 tests failed"
    """
    event = ToolEvent(
        tool=tool,
        event=when.value,
        call_id=call_id,
        input=_object(given),
        command=ran,
        cwd=working_folder(),
        exit_code=exit_code,
        duration_ms=duration,
        failed=failed,
        error=error,
        output=printed,
        reads=read or [],
        writes=wrote or [],
        patch=_read(patch) if patch is not None else None,
        session=check_id("--session", session),
        task=check_id("--task", task),
        run=check_id("--run", run),
    )
    kept = events.tell(event)
    if as_json:
        output.write_json({"schema": "tool-event/1", "tool": tool, "when": when.value, "kept": kept})
    elif kept == "spool":
        output.stderr().print(
            output.marked("!", "No recorder took it: it waits in the spool. blackbird up takes it in")
        )


def _object(text: str | None) -> dict[str, Any]:
    try:
        found = json.loads(text) if text is not None else {}
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise UsageError("--input is no JSON object", """write it as in --input '{"path": "lamp.py"}'""")
    return found


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST_PATCH).decode(errors="replace")
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}", "name a file that can be read") from error
