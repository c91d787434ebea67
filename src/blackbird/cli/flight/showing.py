"""`blackbird show`: a session as a replay, or one request whole."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from blackbird import home as homes
from blackbird.canon.model import Item, Thread
from blackbird.cli import reading
from blackbird.cli.flight import session as sessions
from blackbird.cli.reading import RequestView
from blackbird.errors import NotFound
from blackbird.exchange import catalog
from blackbird.exchange.clock import to_rfc3339
from blackbird.flightlog import replay
from blackbird.flightlog.replay import Row, Wish
from blackbird.sessions import rows, survey
from blackbird.timeline.timeline import Timeline
from blackbird.trace import ids
from blackbird.trace.folder import Trace
from blackbox.errors import UsageError
from blackbox.terminal import output

SCHEMA = "item/1"
_STYLES = {
    "user": "bold cyan",
    "agent": "bold green",
    "thinking": "italic bright_black",
    "call": "blue",
    "error": "red",
    "failure": "bold red",
    "change": "yellow",
    "note": "bright_black",
    "turn": "bold magenta",
}
_PLAIN_BODIES = frozenset({"user", "agent"})
_TIME_WIDTH = 9
#: What stands in place of a time where something was there before the session began.
_BEFORE = "before"
_DIM = "bright_black"


def show(  # noqa: PLR0913, PLR0917 - one argument an option
    identifier: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="A session, run or client's own id, or a request's; its start is enough."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="All of long texts, results and bodies.")] = False,
    thinking: Annotated[bool, typer.Option("--thinking", help="Of a session: the agent's thoughts, too.")] = False,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="ID", help="Of a session: this thread or sub-agent alone.")
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Of a request: the bytes of the body alone (the response's, or --request).")
    ] = False,
    request: Annotated[bool, typer.Option("--request", help="Of a request: what was sent alone.")] = False,
    response: Annotated[bool, typer.Option("--response", help="Of a request: what came back alone.")] = False,
    headers: Annotated[bool, typer.Option("--headers", help="Of a request: the heads without the bodies.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="An object an item (schema item/1); of a request, one (exchange/1).")
    ] = False,
) -> None:
    """Show a session as it went, or one request and what came back.

    A session reads like a replay: the time since it began, what was said, → what was called, ← what came back, what
    changed in files, sub-agents indented, failures and further attempts, and the last answer in full. The system
    prompt and the tools are one line. Where another conversation begins, or one goes on from an earlier point, a line
    says so. What is marked `before` was said in an earlier session, or before recording began, and is not counted.
    Without an id, the newest session.

    Of a request: both heads, both bodies, timings, what was redacted and what is missing. Bodies are as recorded:
    decoded, and with secrets replaced. JSON is laid out for reading; --raw changes nothing. Of a WebSocket, its
    messages are shown in their order, → from the client and ← from the provider.

    Examples:

      blackbird show

      blackbird show harbour --thinking --full

      blackbird show req_01JD4Q0000000000000000000A

      blackbird show 01JD4Q --response --raw > answer.txt

      blackbird show harbour --json | jq -r 'select(.type == "call") | .call.name'
    """
    wanted = RequestView(raw=raw, request=request, response=response, headers=headers, full=full, as_json=as_json)
    if identifier is not None and _names_request(identifier, is_particular=wanted.is_particular):
        reading.show_request(identifier, wanted)
        return
    if wanted.is_particular:
        other = f", and {output.printable(identifier)} is a session" if identifier is not None else ""
        raise UsageError(
            f"--raw, --request, --response and --headers are for a request{other}",
            "name one: blackbird requests lists them; blackbird show SESSION --json has all of a session",
        )
    chosen = sessions.choose(identifier)
    timeline = chosen.timeline()
    sessions.tell_problems(timeline, as_json=as_json)
    only = _thread(timeline.threads, thread)
    if as_json:
        for item in timeline.items:
            if only in (None, item.thread):
                output.write_json(describe(item))
        return
    show_session(output.stdout(), chosen.scope.name, timeline, Wish(thinking=thinking, full=full, thread=only))


def describe(item: Item) -> dict[str, Any]:
    """An item as JSON has it: all of it, with its time in text."""
    fields: dict[str, Any] = msgspec.to_builtins(item, enc_hook=output.to_plain)
    time = to_rfc3339(item.at) if item.at is not None else None
    return {"schema": SCHEMA, "time": time, **fields}


def _names_request(text: str, *, is_particular: bool) -> bool:
    """Whether an id is meant to be a request's. A session of that very name comes first."""
    if text.startswith(ids.REQUEST_PREFIX):
        return True
    trace = Trace(homes.find().trace)
    known = survey.survey(trace).rows.rows()
    found = rows.find(known, text)
    if any(text in rows.names_of(row) for row in found):
        return False
    if ids.from_text(text.upper()) is not None or catalog.matching(trace, text.upper()):
        return True
    return not found and (is_particular or (bool(known) and _looks_like_request(text)))


def _looks_like_request(text: str) -> bool:
    """Whether nothing but an id of a request looks like this, so that the right thing is said to be missing."""
    return text[:1].isdigit() and text.isalnum()


def _thread(threads: Sequence[Thread], text: str | None) -> str | None:
    if text is None:
        return None
    for thread in threads:
        if text in (thread.id, thread.native):
            return thread.id
    found = [thread.id for thread in threads if thread.id.startswith(text) or (thread.native or "").startswith(text)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(thread.id for thread in threads)
    raise NotFound(f"there is no thread {output.printable(text)}", f"there are: {output.printable(names)}")


def show_session(console: Console, name: str, timeline: Timeline, wish: Wish) -> None:
    """The head, and the rows below it."""
    console.print(output.printable(name), style="bold")
    for label, text in replay.head(timeline):
        console.print(Text(f"  {label:<8} ").append(output.printable(text)))
    console.print()
    for row in replay.rows(timeline, wish):
        _show_row(console, row)


def _show_row(console: Console, row: Row) -> None:
    if row.kind == "turn":
        console.print()
    since = "" if row.since is None else f"+ {replay.since(row.since)}"
    since = _BEFORE if row.is_inherited else since
    style = _DIM if row.is_inherited else _STYLES.get(row.kind, "")
    indent = " " * (_TIME_WIDTH + 2 + 2 * row.depth)
    head = Text(f"{since:<{_TIME_WIDTH}}  ", "bright_black").append("  " * row.depth)
    has_one_line = len(row.body) == 1 and not row.left_out and row.kind != "change"
    head.append(output.printable(row.text), style)
    if has_one_line:
        head.append(" ").append(_body_line(row, row.body[0]))
    console.print(head)
    if has_one_line:
        return
    for line in row.body:
        console.print(Text(f"{indent}  ").append(_body_line(row, line)))
    if row.left_out:
        console.print(f"{indent}  … {row.left_out} more lines", style="bright_black")


def _body_line(row: Row, line: str) -> Text:
    style = "" if row.kind in _PLAIN_BODIES else _STYLES.get(row.kind, "")
    if row.is_inherited:
        style = _DIM
    elif row.kind == "change":
        style = {"+": "green", "-": "red"}.get(line[:1], "bright_black")
    return Text(output.printable(line), style)
