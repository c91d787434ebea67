"""Weaves a session's exchanges and log lines into items: each message, call and result once, in one tree."""

from blackbird.canon.model import Amend, Item, Thread
from blackbird.canon.seen import Entry, Exchanged
from blackbird.timeline.prices import Pricer
from blackbird.timeline.weaving.exchanges import Exchanges
from blackbird.timeline.weaving.logs import Logs
from blackbird.timeline.weaving.loom import Loom


class Weaver:
    """Takes a session in the order of its trace; holds digests and ids, no text."""

    def __init__(self, *, prices: Pricer | None = None) -> None:
        self._loom = Loom()
        self._exchanges = Exchanges(self._loom, prices)
        self._logs = Logs(self._loom, prices)

    def exchange(self, seen: Exchanged) -> list[Item | Amend]:
        """What an exchange adds, and what it tells of items that were handed out before."""
        self._exchanges.take(seen)
        return self._loom.take()

    def entry(self, entry: Entry, *, behind: Item | None = None) -> list[Item | Amend]:
        """What a line of an agent's own log adds, and what it tells of items that were handed out before.

        A log of which only a part is told says which item that part stands `behind`.
        """
        self._logs.take(entry, behind)
        return self._loom.take()

    @property
    def threads(self) -> tuple[Thread, ...]:
        """The conversations of the session, as far as it is known."""
        return tuple(strand.thread for strand in self._loom.threads.strands.values())
