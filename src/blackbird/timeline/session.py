"""One session, record by record in the order of the trace: from exchanges and imported lines to its timeline."""

import itertools
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
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
from blackbird.imports.facts import is_broken
from blackbird.imports.kept import Joiner
from blackbird.imports.line import Line
from blackbird.imports.sources import Source
from blackbird.timeline import spending, tools
from blackbird.timeline.about import Facts
from blackbird.timeline.copies import NOTHING, Before
from blackbird.timeline.forms import Form, Known
from blackbird.timeline.order import settle
from blackbird.timeline.prices import Pricer
from blackbird.timeline.timeline import Stated, Timeline
from blackbird.timeline.tools import Told
from blackbird.timeline.weaver import Weaver
from blackbird.timeline.weaving.threads import MAIN
from blackbird.trace.header import Header
from blackbird.trace.records import Kind, Record, read_object

#: The records with which an exchange is over.
ENDS = frozenset({Kind.RESPONSE_END, Kind.ERROR})
#: What a mistake in a reader, or in what it reads, comes to. It costs one exchange or line, and never the rest.
FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    msgspec.MsgspecError,
)
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


class Fault(msgspec.Struct, frozen=True):
    """An exchange or a line that could not be understood, and where it stands. Nothing of its content is told."""

    source: str
    message: str
    segment: int | None = None
    sequence: int | None = None


def describe(error: BaseException) -> str:
    """A mistake in a few words: what kind, and in which line of the program. Its own words may hold what was said."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    place = f" at {Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}" if last is not None else ""
    return f"it could not be understood ({type(error).__name__}{place})"


class Session:
    """What the records of a session come to. Holds the exchanges that are under way, and no text of those that ended.

    `redact` takes secrets out of texts that were put together: rules for bytes do not see what a stream cut in two.
    `live` is the instance of the recorder that runs, if one does; `names` is all that the session is called. `before`
    knows by file which lines of its logs happened in another session of the client, and were only copied; `share` is
    the part of the logs that is its own. `forms` are other forms of its logs: they are read last, for what no other
    has.
    """

    def __init__(
        self,
        name: str,
        redact: Callable[[str], str],
        *,
        live: bytes | None = None,
        names: Container[str] = (),
        before: Mapping[str, Before] | None = None,
        share: Share = WHOLE,
        forms: Iterable[Source] = (),
        pricer: Pricer | None = None,
    ) -> None:
        self.facts = Facts(name)
        self._live = live
        self._names = names
        self._before = before or {}
        self._share = share
        self._held: dict[str, list[tuple[Source, Line]]] = {source.id: [] for source in forms}
        self._weaver = Weaver(prices=pricer if pricer is not None else Pricer())
        self._redact = redact
        self._open: dict[bytes, list[Part]] = {}
        self._files: dict[str, natives.Reader] = {}
        self._joiners: dict[bytes, Joiner] = {}
        self._times: dict[str, int] = {}
        self._stated: list[Stated] = []
        self._events: list[Told] = []
        #: What could not be understood.
        self.faults: list[Fault] = []
        #: Of each source, how many lines were read, and where the next begins.
        self._reached: dict[str, tuple[int, int]] = {}
        self._broken: list[str] = []

    def record(self, header: Header, clock: Clock, record: Record) -> News:
        """A record of one of its requests; with the last, the exchange is handed on."""
        parts = self._open.setdefault(record.request, [])
        if not parts or parts[-1].header.number != header.number:
            parts.append(Part(header, clock, []))
        known = parts[-1].records
        if isinstance(known, list):
            known.append(record)
        if record.kind not in ENDS:
            return []
        return self.exchange(assemble(self._open.pop(record.request), self._live))

    def exchange(self, exchange: Exchange) -> News:
        """A request and its answer, complete or cut off."""
        self.facts.exchange(exchange)
        news: News = []
        try:
            for seen in read(exchange, self._redact):
                agent = seen.agent
                name, version = (agent.name, agent.version) if agent is not None else (None, None)
                self.facts.sender(name, version, seen.links.session)
                news += self._weaver.exchange(seen)
        except FAULTS as error:
            place = exchange.provenance
            segment = place.segments[0].number if place.segments else None
            self.faults.append(Fault(exchange.request_id, describe(error), segment, place.first_sequence))
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
        self._look_at(source, line)
        if source.id in self._held:
            self._held[source.id].append((source, line))
            return []
        try:
            return self._entries(self._reader(source).line(line.text, _place_of(source, line)))
        except FAULTS as error:
            self.faults.append(Fault(source.id, describe(error), line.segment, line.sequence))
            return []

    def interrupted(self, instance: bytes | None) -> News:
        """The exchanges that never ended since another recorder took over, in the order in which they began."""
        gone = [key for key, parts in self._open.items() if parts[-1].header.instance != instance]
        return self._hand_on(gone)

    def rest(self, before: Sequence[Item | Amend] = ()) -> News:
        """What is still under way, in the order in which it began: exchanges without an end, lines that waited.

        `before` is what was handed out until now, if other forms are to be compared with it.
        """
        news = self._hand_on(list(self._open))
        return news + self.waiting([*before, *news])

    def waiting(self, before: Sequence[Item | Amend] = ()) -> News:
        """What lines wait for others, as if none came any more, and what other forms have that nothing else has."""
        news: News = []
        for name, reader in self._files.items():
            try:
                news += self._entries(reader.end())
            except FAULTS as error:
                self.faults.append(Fault(name, describe(error)))
        return news + self._rest_of_forms([*before, *news])

    def _hand_on(self, requests: Iterable[bytes]) -> News:
        news: News = []
        under_way = [self._open.pop(request) for request in requests]
        for parts in sorted(under_way, key=lambda parts: parts[0].records[0].sequence):
            news += self.exchange(assemble(parts, self._live))
        return news

    def _rest_of_forms(self, before: News) -> News:
        """What other forms have that nothing else has."""
        held, self._held = [lines for lines in self._held.values() if lines], {}
        known = Known(settle(before) if held else ())
        found: News = []
        for lines in held:
            try:
                news = self._rest_of_form(lines, known)
            except FAULTS as error:
                self.faults.append(Fault(lines[0][0].id, describe(error)))
                continue
            known.add(settle(news))
            found += self._noted(news)
        return found

    def _rest_of_form(self, lines: list[tuple[Source, Line]], known: Known) -> News:
        source, form, news = lines[0][0], Form(known), News()
        reader = natives.READERS[source.format](source.id, source.path)
        told = (entry for _, line in lines for entry in reader.line(line.text, _place_of(source, line)))
        for entry in itertools.chain(told, _ending(reader)):
            self.facts.know(entry.about, entry.session)
            if entry.at is not None:
                self.facts.touch(entry.at)
            more = form.take(entry)
            if more is not None and self._share.has_yet(more[0].moment):
                news += self._weaver.entry(more[0], behind=more[1])
        return news

    def timeline(self, news: Iterable[Item | Amend], problems: Iterable[str] = ()) -> Timeline:
        """All of it as a timeline; `news` is what was handed out so far."""
        news, threads = list(news), self._weaver.threads
        items = settle(news)
        if self._events:
            items = settle([*news, *self._joined(items, threads)])
        if not threads and items:
            threads = (Thread(id=MAIN),)
        return Timeline(
            about=self.facts.about(),
            threads=threads,
            items=items,
            spent=spending.spent(items),
            stated=tuple(self._stated),
            by_model=spending.by_model(items),
            problems=tuple(problems),
            unread=tuple(self._broken),
        )

    def _joined(self, items: Sequence[Item], threads: Sequence[Thread]) -> News:
        """What tools told of a conversation; nothing if that cannot be understood."""
        try:
            return tools.joined(items, self._events, threads)
        except FAULTS as error:
            fault = Fault("tool.event", describe(error))
            self.faults += [fault] if fault not in self.faults else []
            return []

    def _reader(self, source: Source) -> natives.Reader:
        reader = self._files.get(source.id)
        if reader is None:
            reader = self._files[source.id] = natives.READERS[source.format](source.id, source.path)
        return reader

    def _look_at(self, source: Source, line: Line) -> None:
        """Notes a line that cannot be read; those without a byte are not kept, and count all the same."""
        if not line.length:
            return
        count, end = self._reached.get(source.id, (0, 0))
        count += 1 + line.offset - end
        self._reached[source.id] = (count, line.offset + line.length + 1)
        if not source.is_document and is_broken(source.format, line.text):
            self._broken.append(f"{source.path}:{count}: this line is no JSON, and what it said is missing")

    def _timed(self, entry: Entry) -> Entry:
        """What stands in a log without a time happened near what the line before it tells of."""
        source = entry.evidence.source
        if entry.at is None:
            return msgspec.structs.replace(entry, near=self._times.get(source))
        self._times[source] = entry.at
        return entry

    def _entries(self, entries: Iterable[Entry]) -> News:
        """All that a line says; if any of it was another session's, the line was.

        Of sessions of a client that are one here, what was copied is the same line once more.
        """
        news: News = []
        entries = [self._timed(entry) for entry in entries]
        owners = {entry.evidence: owner for entry in entries if (owner := self._owner(entry)) is not None}
        for entry in entries:
            self.facts.know(entry.about, entry.session)
            if not self._share.has_yet(entry.moment):
                continue
            owner = owners.get(entry.evidence)
            is_ours = owner is not None and owner in self._names
            woven = self._weaver.entry(msgspec.structs.replace(entry, session=owner) if is_ours else entry)
            is_inherited = (owner is not None and not is_ours) or self._share.inherits(entry.moment)
            news += [_inherited(thing) for thing in woven] if is_inherited else woven
        return self._noted(news)

    def _owner(self, entry: Entry) -> str | None:
        return self._before.get(entry.evidence.source, NOTHING).owner(entry)

    def _noted(self, news: News) -> News:
        for item in news:
            if not isinstance(item, Amend):
                self.facts.item(item)
        return news


def _place_of(source: Source, line: Line) -> Evidence:
    """Where a line of an agent's own log stands."""
    return Evidence(
        source=source.id,
        side=Side.LINE,
        start=0,
        end=len(line.text.encode()),
        segment=line.segment,
        sequence=line.sequence,
        file=source.path,
        offset=line.offset,
    )


def _ending(reader: natives.Reader) -> Iterator[Entry]:
    """What a reader tells at the end, asked when all lines were read."""
    yield from reader.end()


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
