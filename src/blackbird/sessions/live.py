"""Requests as they go on, from records as they are written: when one ended, and what passes over a WebSocket."""

from collections.abc import Callable, Iterator

import msgspec

from blackbird.exchange import payloads
from blackbird.exchange.assemble import Part, assemble
from blackbird.exchange.exchange import Exchange, State
from blackbird.sessions.follow import Sighting
from blackbird.sessions.links import Agent, sender_of
from blackbird.sessions.tally import Tally, model_of
from blackbird.trace import ids
from blackbird.trace.records import Direction, Flag, Kind, Record, read_object

_UPGRADED = 101
_FAILED_STATUS = 400
#: Messages that say that an answer is complete; any other answer ends with the client's next message.
_LAST_TYPES = frozenset({"response.completed", "response.failed", "response.incomplete", "response.done", "error"})

#: Finds a request whose start was written before this began to follow.
Lookup = Callable[[bytes], Exchange | None]


class Ended(msgspec.Struct, frozen=True):
    """A request that is over. `attempt` counts how often the same body was sent again after a failure."""

    exchange: Exchange
    agent: Agent | None
    model: str | None
    masked: int
    attempt: int


class Opened(msgspec.Struct, frozen=True):
    """A WebSocket connection that was agreed to."""

    exchange: Exchange
    agent: Agent | None


class Message(msgspec.Struct, frozen=True):
    """What passed over a WebSocket: one message of the client, or all messages of an answer with the time it took."""

    exchange: Exchange
    agent: Agent | None
    wall: int
    direction: Direction
    number: int
    messages: int
    bytes: int
    model: str | None
    duration_us: int | None


Event = Ended | Opened | Message


class _Typed(msgspec.Struct):
    type: str | None = None


_TYPE = msgspec.json.Decoder(_Typed)


class _Talk(msgspec.Struct):
    """A WebSocket connection: the message that is coming in, and the answer that is."""

    exchange: Exchange
    sent: int = 0
    coming: list[bytes] = []
    coming_bytes: int = 0
    answers: int = 0
    answer_bytes: int = 0
    asked_at: int | None = None


class Pending:
    """A request that has no end yet."""

    def __init__(self, sighting: Sighting) -> None:
        fields = read_object(sighting.record) or {}
        self.parts: list[Part] = []
        self._records: list[Record] = []
        self.agent = sender_of(fields).agent
        self.has_start = sighting.record.kind == Kind.REQUEST_START
        self.wall = sighting.wall
        self.tally = Tally()
        self.talk: _Talk | None = None
        #: For whoever shows it: whether it was told that this is under way.
        self.is_told = False
        self.tally.begin(sighting.record.request, fields if self.has_start else {})

    @property
    def instance(self) -> bytes:
        """The recorder that wrote its last record."""
        return self.parts[-1].header.instance

    def add(self, sighting: Sighting) -> None:
        """One more record of it; of bodies, only the lengths are kept."""
        record = sighting.record
        if record.kind != Kind.REQUEST_START:
            self.tally.take(record)
        if not self.parts or self.parts[-1].header is not sighting.header:
            self._records = []
            self.parts.append(Part(sighting.header, sighting.clock, self._records))
        bare = record if record.direction is None else msgspec.structs.replace(record, payload=None)
        self._records.append(bare)

    def exchange(self, *, is_live: bool) -> Exchange:
        """What is known of it so far."""
        return assemble(self.parts, self.instance if is_live else None)


class Live:
    """Takes each new record, and gives what there is to tell."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._failed: dict[tuple[str | None, str | None, str | None], tuple[str, int]] = {}
        self.pending: dict[bytes, Pending] = {}

    def take(self, sighting: Sighting) -> Iterator[Event]:
        """In the order of the trace."""
        yield from self._leave_behind(sighting.header.instance)
        record = sighting.record
        if record.request == ids.ZERO or record.kind == Kind.NATIVE_LINE:
            return
        pending = self.pending.get(record.request)
        if pending is None:
            pending = self.pending[record.request] = Pending(sighting)
        pending.add(sighting)
        if record.kind in (Kind.RESPONSE_END, Kind.ERROR):
            del self.pending[record.request]
            if pending.talk is not None:
                yield from _answer(pending, pending.talk, sighting)
            yield self._end(pending, record)
        elif record.kind == Kind.RESPONSE_START and _is_upgrade(record):
            pending.talk = _Talk(pending.exchange(is_live=True))
            yield Opened(pending.talk.exchange, pending.agent)
        elif record.kind == Kind.WS_FRAME and pending.talk is not None:
            yield from _listen(pending, pending.talk, sighting)

    def _leave_behind(self, instance: bytes) -> Iterator[Event]:
        """What a recorder that is gone had open never ends."""
        for request in [request for request, pending in self.pending.items() if pending.instance != instance]:
            yield self._end(self.pending.pop(request), None)

    def _end(self, pending: Pending, closing: Record | None) -> Ended:
        exchange, agent = pending.exchange(is_live=False), pending.agent
        if not pending.has_start:
            exchange = self._lookup(pending.parts[0].records[0].request) or exchange
            agent = sender_of({"client": exchange.client, "headers": [list(pair) for pair in exchange.headers]}).agent
        fields = (read_object(closing) or {}) if closing is not None else {}
        model = next(iter(pending.tally.models), None)
        attempt = self._attempt(exchange, payloads.text(payloads.inner(fields, "request"), "hmac"))
        return Ended(exchange, agent, model, pending.tally.redactions.total(), attempt)

    def _attempt(self, exchange: Exchange, fingerprint: str | None) -> int:
        """Clients do not say that they try again: the same body after a failure does."""
        place = (exchange.session, exchange.run, exchange.path)
        known, attempts = self._failed.pop(place, ("", 0))
        attempt = attempts + 1 if fingerprint is not None and fingerprint == known else 1
        has_failed = exchange.state is not State.COMPLETE or (exchange.status or 0) >= _FAILED_STATUS
        if has_failed and fingerprint is not None:
            self._failed[place] = (fingerprint, attempt)
        return attempt


def _is_upgrade(record: Record) -> bool:
    return payloads.number(read_object(record) or {}, "status") == _UPGRADED


def _listen(pending: Pending, talk: _Talk, sighting: Sighting) -> Iterator[Message]:
    record = sighting.record
    is_whole = not record.flags & Flag.CONTINUES
    if record.direction is Direction.RESPONSE:
        talk.answers += is_whole
        talk.answer_bytes += record.length
        if is_whole and _type(record) in _LAST_TYPES:
            yield from _answer(pending, talk, sighting)
        return
    if not talk.coming:
        yield from _answer(pending, talk, sighting)
    talk.coming.append(record.payload or b"")
    talk.coming_bytes += record.length
    if is_whole:
        talk.sent += 1
        talk.asked_at = record.monotonic
        data, size = b"".join(talk.coming), talk.coming_bytes
        talk.coming, talk.coming_bytes = [], 0
        yield Message(
            talk.exchange,
            pending.agent,
            sighting.wall,
            Direction.REQUEST,
            talk.sent,
            1,
            size,
            model_of(None, data),
            None,
        )


def _answer(pending: Pending, talk: _Talk, sighting: Sighting) -> Iterator[Message]:
    """The answer that ends here, if there is one."""
    if not talk.answers and not talk.answer_bytes:
        return
    took = (sighting.record.monotonic - talk.asked_at) // 1000 if talk.asked_at is not None else None
    answers, size = talk.answers, talk.answer_bytes
    talk.answers = talk.answer_bytes = 0
    yield Message(
        talk.exchange, pending.agent, sighting.wall, Direction.RESPONSE, talk.sent, answers, size, None, took
    )


def _type(record: Record) -> str | None:
    try:
        return _TYPE.decode(record.payload or b"").type
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
