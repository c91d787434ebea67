"""`blackbird tail`: running agents as the lines of a flight log, or their requests."""

import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Annotated, TypeVar

import typer

from blackbird import home as homes
from blackbird.canon.model import Amend
from blackbird.cli import following, reading
from blackbird.cli.flight import session as sessions
from blackbird.cli.flight.showing import describe
from blackbird.errors import NotFound
from blackbird.exchange import payloads
from blackbird.exchange.catalog import Selection
from blackbird.flightlog.entries.line import Line
from blackbird.flightlog.live import LiveEntries, Speller
from blackbird.home import Home
from blackbird.launch.ids import check_id
from blackbird.sessions import rows
from blackbird.sessions.choice import NOTHING_YET
from blackbird.sessions.follow import Follower, Sighting
from blackbird.sessions.links import sender_of
from blackbird.timeline.gather import Following
from blackbird.trace import ids
from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind, read_object
from blackbox.document.line import Line as LogLine
from blackbox.reading import entries
from blackbox.redaction.config import load_redactor
from blackbox.syntax.kinds import classify
from blackbox.terminal import output

_T = TypeVar("_T")
_POLL_SECONDS = 0.2


def tail(
    count: Annotated[int, typer.Option("--lines", "-n", min=0, help="How many of the last to show first.")] = 10,
    session: Annotated[str | None, typer.Option("--session", help="Only this session.")] = None,
    task: Annotated[str | None, typer.Option("--task", help="Only this task.")] = None,
    run: Annotated[str | None, typer.Option("--run", help="Only this run.")] = None,
    follow: Annotated[bool, typer.Option("--follow/--no-follow", help="Wait for more.")] = True,
    full: Annotated[bool, typer.Option("--full", help="All of long texts.")] = False,
    requests: Annotated[bool, typer.Option("--requests", help="Requests as they end, a line each.")] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="One JSON object an item (item/1), or with --requests a request (request/1)."),
    ] = False,
) -> None:
    """Show running agents as the lines of a flight log: what is said, called and answered, until Ctrl-C.

    First come the last lines of the newest session, then those of each session that goes on or begins; a comment says
    where another session's lines begin. Long texts are cut as in an .rlog. A call without its result yet is a `t!:`
    line. What nobody can be named for has no session: --requests shows that, too.

    With --requests, a line has the time (UTC), session and run, client, request and model, status, bytes sent and
    received, duration, and what is to be noticed: another attempt, an error, secrets that were masked. On a terminal,
    a request that takes longer than a second has a line when it begins, too. Of a WebSocket, each message of the
    client and the end of each answer has one. Works without a recorder, and goes on when that is started anew.

    Examples:

      blackbird tail

      blackbird tail -n 50 --session harbour --no-follow

      blackbird tail --requests -n 0 --json | jq -r 'select(.status >= 400) | .request_id'
    """
    selection = Selection(check_id("--session", session), check_id("--task", task), check_id("--run", run))
    home = homes.find()
    if requests:
        following.tail_requests(home, selection, count, follow=follow, as_json=as_json)
        return
    view = _View(full=full, as_json=as_json)
    try:
        _Agents(home, selection, view).show(count, follow=follow)
    except KeyboardInterrupt:
        return


class _View:
    """Shows entries on a terminal, in a pipe or as JSON."""

    def __init__(self, *, full: bool, as_json: bool) -> None:
        self._speller = Speller(load_redactor(), full=full)
        self._console = output.stdout()
        self._session: str | None = None
        self.as_json = as_json

    def show(self, name: str, lines: Iterable[Line]) -> None:
        """Entries of a session."""
        for line in lines:
            if self._session != name:
                self._session = name
                self._print(f"# session={output.printable(name)}")
            self._print(self._speller.text(line))
        sys.stdout.flush()

    def _print(self, text: str) -> None:
        if not self._console.is_terminal:
            output.write_text(text + "\n")
            return
        first, *more = text.split("\n")
        for shown in entries.styled(LogLine(classify(first), 1, first, True, more or None)):
            self._console.print(shown)


class _Followed:
    """One session, and the entries of it."""

    def __init__(self, home: Home, name: str, live: bytes | None, segment: int) -> None:
        self.name = name
        self.source = Following(home.trace, name, live=live, segment=segment)
        self.entries = LiveEntries(self.source)

    def items(self) -> Iterator[dict[str, object]]:
        """What is new, as JSON has it."""
        return (describe(item) for item in self.source.poll() if not isinstance(item, Amend))


class _Agents:
    """The sessions that are shown, and the trace in which more may begin."""

    def __init__(self, home: Home, selection: Selection, view: _View) -> None:
        self._home = home
        self._selection = selection
        self._view = view
        self._followed: dict[str, _Followed] = {}
        self._live = reading.live_instance(reading.recorder_status(home))

    def show(self, count: int, *, follow: bool) -> None:
        """The last so many lines, and what comes then."""
        with Follower.now(self._home.trace, bodies=False) as watch:
            has_history = self._history(count)
            if not follow:
                if not has_history and not self._view.as_json:
                    output.stdout().print(self._why_nothing())
                return
            self._explain()
            while True:
                for sighting in watch.read():
                    self._notice(sighting)
                for followed in self._followed.values():
                    self._news(followed)
                time.sleep(_POLL_SECONDS)

    def _history(self, count: int) -> bool:
        """Show the end of the session that is meant, or of the newest; whether there is one."""
        try:
            chosen = sessions.choose(self._selection.run or self._selection.session)
        except NotFound:
            # It may be about to begin.
            return False
        segment = sessions.first_segment(chosen.trace, chosen.scope.row.began)
        followed = _Followed(self._home, chosen.scope.name, self._live, segment)
        self._followed[followed.name] = followed
        self._news(followed, count)
        return True

    def _news(self, followed: _Followed, last: int | None = None) -> None:
        if self._view.as_json:
            for item in _end_of(followed.items(), last):
                output.write_json(item)
            sys.stdout.flush()
        else:
            self._view.show(followed.name, _end_of(followed.entries.look(), last))

    def _notice(self, sighting: Sighting) -> None:
        """Follow the session of a request that began, if it is wanted and is not followed yet."""
        record = sighting.record
        if record.request == ids.ZERO or record.kind != Kind.REQUEST_START:
            return
        fields = read_object(record) or {}
        if not following.matcher(self._selection)(record):
            return
        links = sender_of(fields).links
        filing = rows.file_under(fields, links)
        name = filing.session or links.session or payloads.text(fields, "run")
        if name is not None and name not in self._followed:
            self._followed[name] = _Followed(self._home, name, self._live, sighting.header.number)

    def _why_nothing(self) -> str:
        told = "No such session is recorded. `blackbird sessions` lists what there is."
        return told if Trace(self._home.trace).exists() else NOTHING_YET

    def _explain(self) -> None:
        """That it waits, and what for; a program that reads this is told nothing."""
        if self._view.as_json:
            return
        error = output.stderr()
        if not Trace(self._home.trace).exists():
            error.print(NOTHING_YET)
        if reading.recorder_status(self._home) is None:
            starts = "`blackbird run -- AGENT` starts it, and so does `blackbird up`"
            error.print(f"No recorder runs: waiting for one ({starts}). Ctrl-C ends this.")
        elif error.is_terminal:
            error.print("Waiting for agents. Ctrl-C ends this.", style="bright_black")


def _end_of(found: Iterable[_T], count: int | None) -> Iterable[_T]:
    return found if count is None else deque(found, maxlen=count)
