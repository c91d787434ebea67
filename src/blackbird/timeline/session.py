"""One session, record by record in the order of the trace: from exchanges and imported lines to its timeline."""

from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

import msgspec

from blackbird.canon import natives
from blackbird.canon.model import Amend, Evidence, Generation, Item, Side, Thread
from blackbird.canon.reading import read
from blackbird.canon.seen import Entry
from blackbird.exchange import payloads
from blackbird.exchange.assemble import Part, assemble
from blackbird.exchange.clock import Clock
from blackbird.exchange.exchange import Exchange
from blackbird.imports.kept import Joiner
from blackbird.imports.line import Line
from blackbird.imports.sources import Source
from blackbird.timeline import spending, tools
from blackbird.timeline.about import Facts
from blackbird.timeline.order import settle
from blackbird.timeline.prices import Pricer
from blackbird.timeline.timeline import Stated, Timeline
from blackbird.timeline.tools import Told
from blackbird.timeline.weaver import Weaver
from blackbird.trace.header import Header
from blackbird.trace.records import Kind, Record, read_object

_ENDS = frozenset({Kind.RESPONSE_END, Kind.ERROR})
News = list[Item | Amend]


class Share(NamedTuple):
    """The part of a log that is one session's, if a client went on with it in another: nanoseconds since 1970."""

    since: int | None = None
    until: int | None = None

    def has_yet(self, at: int | None) -> bool:
        """Whether what happened then is no later session's."""
        return self.until is None or at is None or at < self.until

    def inherits(self, at: int | None) -> bool:
        """Whether what happened then was an earlier session's."""
        return self.since is not None and at is not None and at < self.since


WHOLE = Share()


class Session:
    """What the records of a session come to. Holds the exchanges that are under way, and no text of those that ended.

    `redact` takes secrets out of texts that were put together: rules for bytes do not see what a stream cut in two.
    `live` is the instance of the recorder that runs, if one does; `told` has the client's ids of lines that another
    session told already, and that were only copied into this one's log. `share` is the part of the logs that is its
    own.
    """

    def __init__(
        self,
        name: str,
        redact: Callable[[str], str],
        *,
        live: bytes | None = None,
        told: Container[str] = (),
        share: Share = WHOLE,
        pricer: Pricer | None = None,
    ) -> None:
        self.facts = Facts(name)
        self._live = live
        self._told = told
        self._share = share
        self._weaver = Weaver(prices=pricer if pricer is not None else Pricer())
        self._redact = redact
        self._open: dict[bytes, list[Part]] = {}
        self._files: dict[str, natives.Reader] = {}
        self._joiners: dict[bytes, Joiner] = {}
        self._times: dict[str, int] = {}
        self._stated: list[Stated] = []
        self._events: list[Told] = []

    def record(self, header: Header, clock: Clock, record: Record) -> News:
        """A record of one of its requests; with the last, the exchange is handed on."""
        parts = self._open.setdefault(record.request, [])
        if not parts or parts[-1].header.number != header.number:
            parts.append(Part(header, clock, []))
        known = parts[-1].records
        if isinstance(known, list):
            known.append(record)
        if record.kind not in _ENDS:
            return []
        return self.exchange(assemble(self._open.pop(record.request), self._live))

    def exchange(self, exchange: Exchange) -> News:
        """A request and its answer, complete or cut off."""
        self.facts.exchange(exchange)
        news: News = []
        for seen in read(exchange, self._redact):
            agent = seen.agent
            name, version = (agent.name, agent.version) if agent is not None else (None, None)
            self.facts.sender(name, version, seen.links.session)
            news += self._weaver.exchange(seen)
        return self._noted(news)

    def statement(self, header: Header, record: Record, wall: int) -> None:
        """What a harness or a user stated of this session."""
        fields = read_object(record) or {}
        self.facts.state(fields, wall)
        self._stated.append(
            Stated(
                event=payloads.text(fields, "event") or "",
                at=wall,
                evidence=_evidence_of(header, record),
                task=payloads.text(fields, "task"),
                run=payloads.text(fields, "run"),
                data=dict(payloads.inner(fields, "data")),
            )
        )

    def tool_event(self, header: Header, record: Record, wall: int) -> None:
        """What a tool of this session did; it is joined to the conversation when that is put in order."""
        fields = read_object(record) or {}
        at = payloads.number(fields, "at") or wall
        self.facts.touch(at)
        self._events.append(Told(fields, at, _evidence_of(header, record)))

    def line(self, source: Source, header: Header, record: Record) -> News:
        """A line of an agent's own log, or a piece of one."""
        line = self._joiners.setdefault(record.request, Joiner()).take(record, header.number)
        return self.imported(source, line) if line is not None else []

    def imported(self, source: Source, line: Line) -> News:
        """A whole line of an agent's own log; without a place in the trace, one that was left outside."""
        reader = self._files.get(source.id)
        if reader is None:
            reader = self._files[source.id] = natives.READERS[source.format](source.id, source.path)
        evidence = Evidence(
            source=source.id,
            side=Side.LINE,
            start=0,
            end=len(line.text.encode()),
            segment=line.segment,
            sequence=line.sequence,
            file=source.path,
            offset=line.offset,
        )
        return self._entries(self._timed(source, reader.line(line.text, evidence)))

    def rest(self) -> News:
        """What is still under way, in the order in which it began: exchanges without an end, lines that waited."""
        news: News = []
        under_way = sorted(self._open.values(), key=lambda parts: parts[0].records[0].sequence)
        self._open = {}
        for parts in under_way:
            news += self.exchange(assemble(parts, self._live))
        for reader in self._files.values():
            news += self._entries(reader.end())
        return news

    def timeline(self, news: Iterable[Item | Amend], problems: Iterable[str] = ()) -> Timeline:
        """All of it as a timeline; `news` is what was handed out so far."""
        news, threads = list(news), self._weaver.threads
        items = settle(news)
        if self._events:
            items = settle([*news, *tools.joined(items, self._events, threads)])
        if not threads and items:
            threads = (Thread(id=tools.MAIN),)
        return Timeline(
            about=self.facts.about(),
            threads=threads,
            items=items,
            spent=spending.spent(items),
            stated=tuple(self._stated),
            by_model=spending.by_model(items),
            problems=tuple(problems),
        )

    def _timed(self, source: Source, entries: Iterable[Entry]) -> Iterator[Entry]:
        """What stands in a log without a time happened when the line before it did, as far as anyone knows."""
        for entry in entries:
            if entry.at is not None:
                self._times[source.id] = entry.at
                yield entry
            else:
                yield msgspec.structs.replace(entry, at=self._times.get(source.id))

    def _entries(self, entries: Iterable[Entry]) -> News:
        news: News = []
        for entry in entries:
            self.facts.know(entry.about, entry.session)
            if not self._share.has_yet(entry.at):
                continue
            woven = self._weaver.entry(entry)
            is_inherited = entry.key in self._told or self._share.inherits(entry.at)
            news += [_inherited(thing) for thing in woven] if is_inherited else woven
        return self._noted(news)

    def _noted(self, news: News) -> News:
        for item in news:
            if not isinstance(item, Amend):
                self.facts.item(item)
        return news


def _evidence_of(header: Header, record: Record) -> Evidence:
    """Where a statement stands: its record is all there is of it."""
    return Evidence(
        source=Side.EVENT,
        side=Side.EVENT,
        start=0,
        end=len(record.payload or b""),
        segment=header.number,
        sequence=record.sequence,
    )


def _inherited(thing: Item | Amend) -> Item | Amend:
    """What another session told already: it is part of the conversation, and was paid for there."""
    if isinstance(thing, Amend):
        return msgspec.structs.replace(thing, usage=None, cost=None)
    if isinstance(thing, Generation):
        return msgspec.structs.replace(thing, is_inherited=True, usage=None, cost=None, reported_cost=None)
    return msgspec.structs.replace(thing, is_inherited=True)
