"""One round of an import: which logs are meant, and what is new of them on its way into the trace."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import msgspec
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from blackbird.config.resolve import Config
from blackbird.home import Home
from blackbird.imports import databases
from blackbird.imports.finding import Candidate, Search, State
from blackbird.imports.ledger import Ledger
from blackbird.imports.recognise import OPENCODE
from blackbird.imports.taking import Outcome, Taker
from blackbird.recorder.feed import Feed
from blackbox.errors import ReadError
from blackbox.terminal import output


class Wish(msgspec.Struct, frozen=True):
    """What is asked for: clients, paths or, without both, all that the machine has."""

    clients: tuple[str, ...] = ()
    paths: tuple[Path, ...] = ()
    only: str | None = None
    since: int | None = None
    keep: bool = True


class Found(msgspec.Struct, frozen=True):
    """The logs that were found, and what was not looked at."""

    candidates: list[Candidate]
    unreadable: list[str]
    unknown: list[Path]
    #: What was named and has no log, and why.
    barren: dict[Path, str]
    #: The clients that were named and keep nothing here, and where was looked for it.
    absent: dict[str, list[Path]]


class Interrupt:
    """Ctrl-C, taken note of: what was sent is answered first. A second one breaks off at once."""

    def __init__(self) -> None:
        self.is_set = False

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """For the time of a `with` block."""
        before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        if self.is_set:
            raise KeyboardInterrupt
        self.is_set = True


def find(wish: Wish, ledger: Ledger) -> Found:
    """The logs that are meant, each once."""
    search = Search(ledger, keep=wish.keep, since=wish.since)
    found: dict[Path, Candidate] = {}
    everything = not wish.paths and not wish.clients
    looks = [search.at(wish.paths)]
    if wish.clients or everything:
        looks.append(search.on_machine(os.environ, Path.home(), Path.cwd(), wish.clients))
    for candidates in looks:
        for candidate in candidates:
            if wish.only is None or wish.only in (candidate.format.name, candidate.client):
                found.setdefault(candidate.file.path, candidate)
    absent = {client: folders for client, folders in search.absent.items() if client in wish.clients}
    return Found(list(found.values()), search.unreadable, search.unknown, search.barren, absent)


def take(
    home: Home,
    config: Config,
    ledger: Ledger,
    found: Found,
    wish: Wish,
    interrupt: Interrupt,
    *,
    feed: Feed | None = None,
) -> Outcome:
    """Take in what is new. A log that cannot be read is named in `found.unreadable`, and the others go on.

    A `feed` that is open already stays so.
    """
    due = [candidate for candidate in found.candidates if candidate.state is not State.TAKEN]
    done = Outcome(is_kept=wish.keep)
    for candidate in found.candidates:
        if candidate.state is State.TAKEN:
            ledger.see(candidate.known, candidate.file)
    if not due:
        if ledger.is_new:
            ledger.save(is_open=False)
        return done
    ledger.save(is_open=True)
    try:
        with contextlib.ExitStack() as stack:
            advance = stack.enter_context(_progress(sum(candidate.rest for candidate in due)))
            to = feed if feed is not None else stack.enter_context(Feed(home, config))
            taker = Taker(to, ledger, keep=wish.keep, stop=lambda: interrupt.is_set, advance=advance)
            for candidate in due:
                if interrupt.is_set:
                    break
                _take_one(taker, candidate, found, done)
    finally:
        ledger.save(is_open=False)
    return done


def _take_one(taker: Taker, candidate: Candidate, found: Found, done: Outcome) -> None:
    try:
        is_database = candidate.format == OPENCODE
        outcome = databases.take(taker, candidate) if is_database else taker.take(candidate)
    except ReadError as error:
        found.unreadable.append(error.message)
        return
    if outcome.lines or not outcome.is_kept:
        done.add(outcome)


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    console = output.stderr()
    if not console.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn("importing"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=total)
        yield lambda size: progress.advance(task, size)
