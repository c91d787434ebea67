"""`blackbox apm`: actions per minute, from JSONL logs."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from blackbox.errors import ReadError
from blackbox.report.actions import FileActions, SessionActions, Total, count_actions, total_of
from blackbox.report.companions import Source, find_files, read_actions, usual_sources
from blackbox.terminal import output
from blackbox.terminal.codes import EXIT_ENVIRONMENT

SCHEMA = "blackbox.apm/1"
_UNKNOWN = "unknown"
_DIGITS = 6
_COLUMNS = ("session", "actions", "messages", "tool calls", "minutes", "apm", "source")


def command(
    files: Annotated[list[str] | None, typer.Argument(help="JSONL logs, folders or patterns.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object (schema blackbox.apm/1).")] = False,
) -> None:
    """Count the actions of sessions and how many there were a minute.

    An action is one tool call, or one message of the agent that has text. Each counts once, by its id, however many
    lines of its file repeat it. In another file, such as a resumed session's, only an id that is random by nature or
    has the very same time is taken for a copy. Minutes are those from the first to the last timestamp of the session,
    its sub-agents inside; without two different timestamps they are unknown.

    Read are companions of logs (.jsonl) and the own logs of Claude Code and Codex, never .rlog or .bbox: those may
    have been shortened. Without arguments, docs/logs below this folder and then the agents' own folders; a session
    that is in both counts once, by its companion. Nothing is written there.

    Examples:

      blackbox apm

      blackbox apm docs/logs/20251222/

      blackbox apm ~/.claude/projects --json | jq .total.apm
    """
    sources = [Source("given", tuple(find_files(files)))] if files else _usual()
    read: list[FileActions] = []
    failed = False
    for path in dict.fromkeys(path for source in sources for path in source.paths):
        try:
            read.append(read_actions(path))
        except ReadError as error:
            failed = True
            output.tell_error(error, as_json=as_json)
    sessions = count_actions(read)
    total = total_of(sessions)
    if as_json:
        _write_json(sources, sessions, total, read)
    else:
        console = output.stdout()
        _show(console, sessions, total)
        _tell(sources if not files else [], read, sessions)
    if failed:
        raise typer.Exit(EXIT_ENVIRONMENT)


def _usual() -> list[Source]:
    sources = usual_sources(os.environ, Path.home(), Path())
    if not any(source.paths for source in sources):
        places = ", ".join(source.name for source in sources)
        raise ReadError(f"no JSONL log in {places}", "name a companion (.jsonl) or an agent's own log")
    return sources


def _write_json(
    sources: Sequence[Source], sessions: Sequence[SessionActions], total: Total, read: Sequence[FileActions]
) -> None:
    body = {
        "schema": SCHEMA,
        "sources": [{"name": source.name, "files": len(source.paths)} for source in sources],
        "sessions": [
            {
                "session": session.session,
                "source": session.source,
                "files": session.files,
                "actions": session.actions,
                "messages": session.messages,
                "tool_calls": session.tool_calls,
                "copied": session.copied,
                "minutes": _rounded(session.minutes),
                "apm": _rounded(session.apm),
            }
            for session in sessions
        ],
        "total": msgspec.structs.replace(total, minutes=_rounded(total.minutes), apm=_rounded(total.apm)),
        "bad_lines": {file.path: file.bad_lines for file in read if file.bad_lines},
        "unknown_files": [file.path for file in read if file.form is None],
    }
    output.write_json(body)


def _show(console: Console, sessions: Sequence[SessionActions], total: Total) -> None:
    if not sessions:
        console.print("No session")
        return
    names = Counter(session.session for session in sessions)
    rows = [_COLUMNS, *(_row(session, is_alone=names[session.session] == 1) for session in sessions)]
    if len(sessions) > 1:
        figures = (str(total.actions), str(total.messages), str(total.tool_calls))
        rows.append((f"{total.sessions} sessions", *figures, _figure(total.minutes), _figure(total.apm), ""))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    for index, row in enumerate(rows):
        name, *figures_of, source = row
        shown = "  ".join(cell.rjust(width) for cell, width in zip(figures_of, widths[1:-1], strict=True))
        style = "bright_black" if index == 0 else "bold" if index > len(sessions) else ""
        console.print(f"{name.ljust(widths[0])}  {shown}  {source}".rstrip(), style=style)


def _row(session: SessionActions, *, is_alone: bool) -> tuple[str, ...]:
    counts = (str(session.actions), str(session.messages), str(session.tool_calls))
    # Sessions of two days may have one name: the folder tells them apart.
    name = session.session if is_alone else str(Path(session.files[0]).parent / session.session)
    return (output.printable(name), *counts, _figure(session.minutes), _figure(session.apm), session.source.value)


def _rounded(value: float | None) -> float | None:
    """Without the noise of division."""
    return None if value is None else round(value, _DIGITS)


def _figure(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:,.2f}"


def _tell(sources: Sequence[Source], read: Sequence[FileActions], sessions: Sequence[SessionActions]) -> None:
    """What was read, and what of it could not be used: beside the result, not in it."""
    console = output.stderr()
    for source in sources:
        console.print(f"{output.printable(source.name)}: {_many(len(source.paths), 'file')}", style="bright_black")
    for file in read:
        name = output.printable(file.path)
        if file.form is None:
            told = "empty" if not file.lines else "no line has a form that is known: companion, Claude Code or Codex"
            console.print(output.marked("!", f"{name}: {told}"))
        elif file.bad_lines:
            verb = "is" if file.bad_lines == 1 else "are"
            console.print(output.marked("!", f"{name}: {_many(file.bad_lines, 'line')} {verb} no JSON, left out"))
    used = {path for session in sessions for path in session.files}
    dropped = [file for file in read if file.form is not None and file.path not in used]
    if dropped:
        console.print(Text(f"{_many(len(dropped), 'file')} not counted: a companion has the session", "bright_black"))
    copied = sum(session.copied for session in sessions)
    if copied:
        console.print(
            Text(f"{_many(copied, 'action')} not counted again: copied from another session", "bright_black")
        )


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
