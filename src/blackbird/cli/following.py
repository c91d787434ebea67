"""`blackbird tail --requests` and `sessions`: requests as they pass, and what they belong to."""

import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.text import Text

from blackbird import home as homes
from blackbird.cli import reading
from blackbird.config.units import round_size
from blackbird.exchange import catalog
from blackbird.exchange.catalog import Selection
from blackbird.exchange.clock import to_rfc3339
from blackbird.exchange.view import describe as describe_request
from blackbird.home import Home
from blackbird.sessions import lines, rows, view
from blackbird.sessions.choice import NOTHING_YET
from blackbird.sessions.follow import Follower
from blackbird.sessions.lines import Cell
from blackbird.sessions.live import Ended, Event, Live
from blackbird.sessions.rows import Row
from blackbird.sessions.survey import survey
from blackbird.trace.folder import Trace
from blackbird.trace.records import Record, read_object
from blackbox.terminal import output

_POLL_SECONDS = 0.1
#: A request that takes longer is told when it begins, too.
_PATIENCE_NS = 1_000_000_000
#: A log may come from another system than this.
_SEPARATORS = re.compile(r"[/\\]")


def tail_requests(home: Home, selection: Selection, count: int, *, follow: bool, as_json: bool) -> None:
    """Requests as they end, a line each, until Ctrl-C."""
    show = _Tail(home, selection, as_json=as_json)
    try:
        with Follower.last(home.trace, count, matcher(selection)) as follower:
            shown = show.history(follower, count)
            if not follow:
                show.explain(shown)
                return
            show.explain_waiting()
            while True:
                show.news(follower)
                time.sleep(_POLL_SECONDS)
    except KeyboardInterrupt:
        return


def matcher(selection: Selection) -> Callable[[Record], bool]:
    """Whether the start of a request is one of those that are wanted."""
    wanted = {key: getattr(selection, key) for key in ("session", "task", "run")}

    def matches(record: Record) -> bool:
        fields = read_object(record) or {}
        return all(value in (None, fields.get(key)) for key, value in wanted.items())

    return matches


class _Tail:
    """Shows what happens in a trace."""

    def __init__(self, home: Home, selection: Selection, *, as_json: bool) -> None:
        self._home = home
        self._selection = selection
        self._as_json = as_json
        self._live = Live(lambda request: catalog.load(Trace(home.trace), request, bodies=False))
        self._console = output.stdout()
        self._problems = 0

    def history(self, follower: Follower, count: int) -> int:
        """Show the last so many of those that have ended; how many there were."""
        last: deque[Event] = deque(maxlen=count)
        for sighting in follower.read():
            last.extend(event for event in self._live.take(sighting) if isinstance(event, Ended) and self._has(event))
        self._show(last)
        self._warn(follower)
        return len(last)

    def news(self, follower: Follower) -> None:
        """Show what happened since."""
        for sighting in follower.read():
            self._show(event for event in self._live.take(sighting) if self._has(event))
        if self._console.is_terminal and not self._as_json:
            self._show_slow()
        self._warn(follower)

    def explain(self, shown: int) -> None:
        """Why there is nothing, if there is nothing."""
        if not shown and not self._as_json:
            exists = Trace(self._home.trace).exists()
            told = "No request that has ended is such a one. `blackbird sessions` lists what there is."
            self._console.print(told if exists else NOTHING_YET)

    def explain_waiting(self) -> None:
        """That it waits, and what for; a program that reads this is told nothing."""
        if self._as_json:
            return
        error = output.stderr()
        if reading.recorder_status(self._home) is None:
            starts = "`blackbird run -- AGENT` starts it, and so does `blackbird up`"
            error.print(f"No recorder runs: waiting for one ({starts}). Ctrl-C ends this.")
        elif error.is_terminal:
            error.print("Waiting for requests. Ctrl-C ends this.", style="bright_black")

    def _has(self, event: Event) -> bool:
        return self._selection.has(event.exchange)

    def _show(self, events: Iterable[Event]) -> None:
        for event in events:
            if not self._as_json:
                self._print(lines.of_event(event, self._width()))
            elif isinstance(event, Ended):
                output.write_json(describe_request(event.exchange))
                sys.stdout.flush()

    def _show_slow(self) -> None:
        now = time.time_ns()
        for pending in self._live.pending.values():
            if pending.is_told or not pending.has_start or now - pending.wall < _PATIENCE_NS:
                continue
            pending.is_told = True
            exchange = pending.exchange(is_live=True)
            if pending.talk is None and self._selection.has(exchange):
                self._print(lines.of_start(exchange, pending.agent, self._width()))

    def _print(self, cells: Sequence[Cell]) -> None:
        line = Text("  ").join(Text(output.printable(cell.text), cell.style) for cell in cells)
        line.rstrip()
        self._console.print(line)

    def _width(self) -> int | None:
        return self._console.width if self._console.is_terminal else None

    def _warn(self, follower: Follower) -> None:
        for problem in follower.problems[self._problems :]:
            output.tell_error(problem, as_json=self._as_json)
        self._problems = len(follower.problems)


def sessions(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many of the newest to show.")] = 30,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only what happened since then: 1h, 2d or RFC 3339.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a session (schema session-summary/1).")
    ] = False,
) -> None:
    """List the sessions that were recorded, newest first: whose, for what, and how much passed.

    A session is known by a run that was registered, or else by the client's own id; ids that nobody registered are
    marked so. What says nothing of whose it is has the row `unattributed`, and is never filed under a guess. Of an
    imported session nothing passed here: `messages` says how many of the user and of agents its logs have. Times
    are UTC.

    Examples:

      blackbird sessions

      blackbird sessions --since 1d --json | jq -r 'select(.errors > 0) | .session'
    """
    home = homes.find()
    found = survey(Trace(home.trace), reading.read_since(since))
    for problem in found.problems:
        output.tell_error(problem, as_json=as_json)
    known = found.rows.rows()
    if as_json:
        for row in known[:limit]:
            output.write_json(view.describe_row(row))
        return
    console = output.stdout()
    if not known:
        none_since = f"Nothing was recorded since {since}. `blackbird sessions` lists all."
        console.print(none_since if since is not None and Trace(home.trace).exists() else NOTHING_YET)
        return
    _show_rows(console, known[:limit])
    console.print()
    if len(known) > limit:
        console.print(f"{len(known) - limit} older ones: --limit {len(known)}", style="bright_black")
    console.print(
        "blackbird show ID tells what was said and done, blackbird session show ID more of one.", style="bright_black"
    )


class _Column(NamedTuple):
    name: str
    #: On a narrow terminal, those with the highest number go first.
    rank: int
    is_number: bool = False
    #: What a terminal shows of a longer cell; the start of an id is as good as all of it.
    most: int = 40
    #: Left out if no session has it.
    is_extra: bool = False


_GOAL = _Column("goal", 4, most=20)
_COLUMNS = (
    _Column("session", 0, most=16),
    _Column("known by", 0),
    _Column("began", 5),
    _Column("last", 1),
    _Column("agents", 2, most=16),
    _Column("tasks", 7, is_number=True),
    _Column("runs", 6, is_number=True),
    _Column("requests", 0, is_number=True),
    _Column("messages", 1, is_number=True, is_extra=True),
    _Column("bytes", 3, is_number=True),
    _Column("errors", 1, is_number=True),
    _Column("folder", 4, most=16, is_extra=True),
    _GOAL,
)


def _show_rows(console: Console, found: Sequence[Row]) -> None:
    table = [_row_cells(row, is_short=console.is_terminal) for row in found]
    widths = {column: max(len(cells[at]) for cells in table) for at, column in enumerate(_COLUMNS)}
    widths = {column: max(len(column.name), width) for column, width in widths.items()}
    is_used = {column: any(cells[at] != "-" for cells in table) for at, column in enumerate(_COLUMNS)}
    shown = [column for column in _COLUMNS if is_used[column] or not column.is_extra]
    if console.is_terminal:
        shown, widths = _fit(shown, widths, console.width)
    console.print(_row_line([column.name for column in _COLUMNS], shown, widths), style="bright_black")
    for row, cells in zip(found, table, strict=True):
        style = "yellow" if row.filing == rows.UNATTRIBUTED else ""
        console.print(_row_line(cells, shown, widths), style=style)


def _fit(shown: list[_Column], widths: dict[_Column, int], room: int) -> tuple[list[_Column], dict[_Column, int]]:
    """The columns that a terminal has room for, and their widths there; what is left over goes to the last."""
    least = {column: min(width, column.most) for column, width in widths.items()}
    while sum(least[column] + 2 for column in shown) - 2 > room:
        worst = max(shown, key=lambda column: column.rank)
        if not worst.rank:
            break
        shown.remove(worst)
    spare = max(0, room + 2 - sum(least[column] + 2 for column in shown))
    for column in shown:
        more = min(spare, widths[column] - least[column])
        least[column] += more
        spare -= more
    return shown, least


def _row_line(cells: Sequence[str], shown: Sequence[_Column], widths: dict[_Column, int]) -> str:
    parts = []
    for column, cell in zip(_COLUMNS, cells, strict=True):
        if column in shown:
            width = widths[column]
            cut = cell if len(cell) <= width else cell[: width - 1] + "…"
            parts.append(cut.rjust(width) if column.is_number else cut.ljust(width))
    return "  ".join(parts).rstrip()


def _row_cells(row: Row, *, is_short: bool) -> list[str]:
    tally = row.tally
    known_by = "run" if row.filing.attribution == rows.REGISTERED else view.MARKS.get(row.filing.attribution, "-")
    counts = [str(len(row.tasks)), str(len(row.runs)), str(tally.calls)]
    size = round_size(tally.request_bytes + tally.response_bytes)
    if row.filing.attribution == rows.IMPORTED:
        # None of these was recorded, which is not the same as that there was none.
        counts, size = ["-"] * len(counts), "-"
    cells = [
        view.name_of(row),
        known_by,
        _minute(row.began, is_short=is_short),
        _minute(row.last, is_short=is_short),
        ", ".join(row.agents) or "-",
        *counts,
        str(view.messages_of(row) or "-"),
        size,
        str(tally.failures or "-"),
        _last_part(view.folder_of(row)),
        (row.goal or row.title or "").partition("\n")[0],
    ]
    return [output.printable(cell) for cell in cells]


def _last_part(folder: str | None) -> str:
    return _SEPARATORS.split((folder or "").rstrip("/\\"))[-1] or "-"


def _minute(wall: int | None, *, is_short: bool) -> str:
    text = to_rfc3339(wall) if wall is not None else None
    return (text or "?")[5 if is_short else 0 : 16].replace("T", " ")
