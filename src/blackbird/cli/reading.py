"""`blackbird requests`, and `show` of one: what agents sent and received, request by request."""

import datetime as dt
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console

from blackbird import home as homes
from blackbird.config.units import round_size
from blackbird.errors import NotFound, RecorderError
from blackbird.exchange import catalog, view
from blackbird.exchange.catalog import Selection
from blackbird.exchange.exchange import Body, Exchange, Message, State
from blackbird.home import Home
from blackbird.launch.ids import check_id
from blackbird.recorder import control
from blackbird.sessions.choice import NOTHING_YET
from blackbird.trace import ids
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.records import Direction
from blackbox.errors import UsageError
from blackbox.syntax import values
from blackbox.terminal import output

_COLUMNS = (
    "time",
    "id",
    "session",
    "request",
    "upstream",
    "status",
    "sent",
    "received",
    "first byte",
    "total",
    "state",
)
_RIGHT = frozenset({"status", "sent", "received", "first byte", "total"})
_STYLES = {State.ACTIVE: "cyan", State.INTERRUPTED: "yellow", State.ERROR: "red"}
_LONGEST_PATH = 48
_HINTS = 5
#: How many lines of a body a terminal shows without --full, and how much of a line.
_SHOWN_LINES = 40
_SHOWN_COLUMNS = 400

_Session = Annotated[str | None, typer.Option("--session", help="Only this session.")]
_Run = Annotated[str | None, typer.Option("--run", help="Only this run.")]


def requests(
    session: _Session = None,
    task: Annotated[str | None, typer.Option("--task", help="Only this task.")] = None,
    run: _Run = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many of the newest to show.")] = 50,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only those since then: 1h, 30m, 2d or RFC 3339.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a request (schema request/1).")] = False,
) -> None:
    """List the requests that were recorded, newest last.

    Sizes are those of the bodies on the wire; as long as a request is under way, what is recorded of them. A request
    is active while its recorder runs, and interrupted if that recorder is gone and no end was recorded.

    Examples:

      blackbird requests

      blackbird requests --session harbour --since 1h

      blackbird requests --json | jq -r 'select(.state == "error") | .request_id'
    """
    selection = Selection(
        check_id("--session", session), check_id("--task", task), check_id("--run", run), read_since(since), limit
    )
    home = homes.find()
    listing = catalog.recent(Trace(home.trace), selection, live_instance(recorder_status(home)))
    for problem in listing.problems:
        output.tell_error(problem, as_json=as_json)
    if as_json:
        for exchange in listing.exchanges:
            output.write_json(view.describe(exchange))
    elif listing.exchanges:
        _show_table(output.stdout(), listing.exchanges)
    elif Trace(home.trace).exists():
        output.stdout().print("No request that was recorded is such a one.")
    else:
        output.stdout().print(NOTHING_YET)


class RequestView(NamedTuple):
    """What of a request is to be shown, and how."""

    raw: bool = False
    request: bool = False
    response: bool = False
    headers: bool = False
    full: bool = False
    as_json: bool = False

    @property
    def is_particular(self) -> bool:
        """Whether this is asked of requests alone."""
        return self.raw or self.request or self.response or self.headers


def show_request(identifier: str, wanted: RequestView) -> None:
    """One request and what came back."""
    if wanted.raw and (wanted.as_json or wanted.headers or (wanted.request and wanted.response)):
        raise UsageError("--raw writes one body and nothing else", "leave the other options out")
    home = homes.find()
    exchange = _load(Trace(home.trace), identifier, live_instance(recorder_status(home)))
    sides = _sides(request=wanted.request, response=wanted.response)
    if wanted.raw:
        output.write(exchange.body(Direction.REQUEST if wanted.request else Direction.RESPONSE).data)
    elif wanted.as_json:
        output.write_json(view.describe_whole(exchange, sides, bodies=not wanted.headers))
    else:
        _show_exchange(output.stdout(), exchange, sides, bodies=not wanted.headers, full=wanted.full)


def recorder_status(home: Home) -> dict[str, Any] | None:
    """What the running recorder says of itself. One that does not answer must not keep anybody from reading."""
    try:
        return control.status(home)
    except RecorderError as error:
        output.stderr().print(
            output.marked("!", output.printable(f"{error.message}; open requests look interrupted"))
        )
        return None


def live_instance(status: dict[str, Any] | None) -> bytes | None:
    """The id of the recorder that runs."""
    name = status.get("instance") if status is not None else None
    return ids.from_text(name) if isinstance(name, str) else None


def _load(trace: Trace, text: str, live: bytes | None) -> Exchange:
    """One request; a whole id is not looked up first, which would read the trace twice."""
    whole = ids.from_text(_bare(text))
    found = catalog.load(trace, whole, live) if whole is not None else None
    found = found or catalog.load(trace, find_request(trace, text), live)
    if found is None:
        raise NotFound(f"{output.printable(text)} was removed a moment ago", "blackbird requests lists the rest")
    return found


def _bare(text: str) -> str:
    return text.removeprefix(ids.REQUEST_PREFIX).upper()


def find_request(trace: Trace, text: str) -> bytes:
    """The one request that an id, or the start of one, names."""
    prefix = _bare(text)
    found = catalog.matching(trace, prefix) if prefix else []
    if len(found) == 1:
        return found[0]
    if found:
        names = [ids.request_name(request) for request in found]
        more = f" and {len(names) - _HINTS} more" if len(names) > _HINTS else ""
        message = f"{output.printable(text)} stands for {len(names)} requests: {', '.join(names[:_HINTS])}{more}"
        raise UsageError(message, "give more of its characters")
    raise NotFound(f"there is no request {output.printable(text)}", _hint(trace, prefix))


def _hint(trace: Trace, prefix: str) -> str:
    """Why it may be missing; requests whose ids start alike; without such, the newest."""
    if any(isinstance(segment, TraceError) for segment in trace.segments()):
        return "a segment cannot be read: `blackbird trace verify` tells which"
    for length in range(len(prefix) - 1, 3, -1):
        alike = catalog.matching(trace, prefix[:length])
        if alike:
            names = ", ".join(ids.request_name(request) for request in alike[-_HINTS:])
            return f"near it: {names}"
    newest = catalog.recent(trace, Selection(limit=_HINTS)).exchanges
    names = ", ".join(exchange.request_id for exchange in newest)
    return f"the newest are {names}" if names else NOTHING_YET


def read_since(text: str | None) -> int | None:
    """What `--since` says, in nanoseconds since 1970."""
    if text is None:
        return None
    seconds, instant = values.duration(text), values.timestamp(text)
    if seconds is not None:
        instant = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=seconds)
    if instant is None:
        message = f"--since: `{output.printable(text)}` is no time"
        raise UsageError(message, "write it as 1h, 30m, 2d or 2026-11-16T12:00:00Z")
    return int(instant.timestamp()) * 1_000_000_000


def _sides(*, request: bool, response: bool) -> list[Direction]:
    chosen = [Direction.REQUEST] if request else []
    chosen += [Direction.RESPONSE] if response else []
    return chosen or list(Direction)


def _show_table(console: Console, exchanges: Sequence[Exchange]) -> None:
    rows = [_cells(exchange) for exchange in exchanges]
    widths = [max(len(line[at]) for line in (_COLUMNS, *rows)) for at in range(len(_COLUMNS))]
    console.print(_aligned(_COLUMNS, widths), style="bright_black")
    for exchange, row in zip(exchanges, rows, strict=True):
        style = "" if exchange.is_left else _STYLES.get(exchange.state, "")
        console.print(_aligned(row, widths), style=style)


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (
        cell.rjust(width) if column in _RIGHT else cell.ljust(width)
        for column, cell, width in zip(_COLUMNS, cells, widths, strict=True)
    )
    return "  ".join(padded).rstrip()


def _cells(exchange: Exchange) -> tuple[str, ...]:
    path = exchange.path or "?"
    if len(path) > _LONGEST_PATH:
        path = path[: _LONGEST_PATH - 1] + "…"
    state = exchange.state.value
    if exchange.error is not None:
        state = "left by the client" if exchange.is_left else f"{state} ({exchange.error.code})"
    if exchange.websocket is not None:
        state += f", {exchange.websocket.client.messages} → {exchange.websocket.server.messages} ←"
    cells = (
        (exchange.started or "?")[:19].replace("T", " "),
        exchange.request_id,
        exchange.session or "-",
        f"{exchange.method or '?'} {path}",
        exchange.upstream or "-",
        str(exchange.status or "-"),
        round_size(exchange.request_body.size),
        round_size(exchange.response_body.size),
        view.milliseconds(exchange.timings.first_byte_us),
        view.milliseconds(exchange.timings.total_us),
        state,
    )
    return tuple(output.printable(cell) for cell in cells)


def _show_exchange(
    console: Console, exchange: Exchange, sides: Sequence[Direction], *, bodies: bool, full: bool
) -> None:
    _show_summary(console, exchange)
    is_cut = console.is_terminal and not full
    with_bodies = bodies and exchange.websocket is None
    if Direction.REQUEST in sides:
        _show_head(console, ">", view.request_head(exchange))
        if with_bodies:
            _show_body(console, exchange.request_body.data, is_cut=is_cut)
    if Direction.RESPONSE in sides:
        for head in view.response_heads(exchange):
            _show_head(console, "<", head)
        if with_bodies:
            _show_body(console, exchange.response_body.data, is_cut=is_cut)
    if bodies:
        for message in exchange.messages:
            if message.direction in sides:
                _show_message(console, message, is_cut=is_cut)


def _show_summary(console: Console, exchange: Exchange) -> None:
    segments = ", ".join(str(source.number) for source in exchange.provenance.segments)
    place = exchange.provenance
    timings = exchange.timings
    rows = [
        ("state", exchange.state.value),
        ("session", f"{exchange.session or '-'}  task {exchange.task or '-'}  run {exchange.run or '-'}"),
        ("attributed", exchange.attribution or "none"),
        ("upstream", f"{exchange.upstream or '-'}  {exchange.url or ''}".rstrip()),
        ("started", exchange.started or "?"),
        (
            "timings",
            f"first byte {view.milliseconds(timings.first_byte_us)}, total {view.milliseconds(timings.total_us)}",
        ),
        ("request", _sizes(exchange.request_body)),
        ("response", _sizes(exchange.response_body)),
        ("trace", f"segment {segments}, sequences {place.first_sequence} to {place.last_sequence}"),
    ]
    if exchange.websocket is not None:
        rows.insert(-1, ("messages", view.messages_summary(exchange.websocket)))
    console.print(output.printable(exchange.request_id), style="bold")
    for name, text in rows:
        console.print(f"  {name:<10} {output.printable(text)}")
    if exchange.error is not None:
        error = exchange.error
        console.print(output.marked("✗", output.printable(f"{error.code} ({error.where}): {error.message}")))
    for gap in exchange.gaps:
        text = f"{gap.bytes} bytes of the {gap.direction or 'exchange'} are not recorded: {gap.reason}"
        console.print(output.marked("!", output.printable(text)))


def _sizes(body: Body) -> str:
    wire = "?" if body.wire is None else str(body.wire)
    encoding = f", {body.encoding}" if body.encoding else ""
    redacted = sum(body.redactions.values())
    hidden = f", {redacted} redacted" if redacted else ""
    end = "" if body.complete else ", not complete"
    return f"{wire} bytes on the wire{encoding}, {body.stored} recorded{hidden}{end}"


def _show_head(console: Console, mark: str, lines: Sequence[str]) -> None:
    console.print()
    for line in lines:
        console.print(f"{mark} {output.printable(line)}", style="bright_black" if line is not lines[0] else "bold")


def _show_message(console: Console, message: Message, *, is_cut: bool) -> None:
    console.print()
    console.print(view.message_line(message), style="bold")
    _show_body(console, message.data or b"", is_cut=is_cut)


def _show_body(console: Console, data: bytes, *, is_cut: bool) -> None:
    lines = view.body_lines(data)
    if not lines:
        return
    console.print()
    for line in lines[:_SHOWN_LINES] if is_cut else lines:
        text = output.printable(line.removesuffix("\r"))
        if is_cut and len(text) > _SHOWN_COLUMNS:
            text = f"{text[:_SHOWN_COLUMNS]}… ({len(text) - _SHOWN_COLUMNS} more characters: --full)"
        console.print(text)
    if is_cut and len(lines) > _SHOWN_LINES:
        console.print(f"… {len(lines) - _SHOWN_LINES} more lines: --full", style="bright_black")
