"""Exchanges as a recorder keeps them, made of a client's requests and the scripted provider's own answers.

    flight = Flight("messages", chunks=(7, 100))
    flight.turn("Fix the test.", says="I read it.", calls=[("read_file", {"path": "calc.py"})])
    flight.turn(results=["def add(a, b): ..."], says="Done.")
    flight.exchanges

`history` is what the client will send next: a test may edit it as a client would. A turn that fails leaves it as it
is, so the next turn is a retry.
"""

import copy
import datetime as dt
import hashlib
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest import mock
from urllib.parse import parse_qsl

import msgspec

from blackbird.exchange.exchange import (
    Body,
    Chunk,
    Exchange,
    Fault,
    Head,
    Message,
    Provenance,
    Sent,
    Source,
    State,
    Timings,
    WebSocket,
)
from blackbird.provider.dialects import responses
from blackbird.provider.dialects.reply import Ask, Reply, compact
from blackbird.provider.routes import DIALECTS
from blackbird.provider.script import Call, Ids, Turn
from blackbird.trace.ids import request_name
from blackbird.trace.records import Direction
from tests.blackbird.voices import VOICES, Voice

#: 2026-11-16T00:00:00Z
BEGIN = 1_794_787_200_000_000_000
SECOND = 1_000_000_000
HALF_A_SECOND_US = 500_000
TOOLS = ("read_file", "run_command", "edit_file")


@dataclass(slots=True)
class Trace:
    """What flights beside each other share: the clock, the numbers of the records, and the exchanges in order."""

    at: int = BEGIN
    exchanges: list[Exchange] = field(default_factory=list)
    _sequence: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def next_sequence(self) -> int:
        """The number of the next record."""
        return next(self._sequence)

    def tick(self) -> int:
        """Now; the next is a second later."""
        now, self.at = self.at, self.at + SECOND
        return now

    def chunks(self, data: bytes, at_us: int, sizes: Sequence[int]) -> list[Chunk]:
        """A body in records of these sizes, again and again."""
        pieces: list[bytes] = []
        turns = itertools.cycle(sizes)
        start = 0
        while start < len(data):
            size = next(turns)
            pieces.append(data[start : start + size])
            start += size
        return [Chunk(at_us, len(piece), piece, 1, self.next_sequence()) for piece in pieces]


@dataclass(slots=True)
class Flight:
    """One conversation of a client with a model."""

    dialect: str
    session: str | None = "s1"
    run: str | None = "run_1"
    headers: Sequence[tuple[str, str]] = ()
    model: str = "scripted-1"
    system: str = "You repair."
    tools: Sequence[str] = TOOLS
    #: Sizes of the records of a body, again and again.
    chunks: Sequence[int] = (65_536,)
    #: `json`, or the way in which the dialect streams; of Gemini also `array`.
    way: str = "stream"
    trace: Trace = field(default_factory=Trace)
    history: list[dict[str, Any]] = field(default_factory=list)
    #: What the last answer called for.
    calls: tuple[Call, ...] = ()

    @property
    def exchanges(self) -> list[Exchange]:
        """All exchanges so far, those of flights beside this one too."""
        return self.trace.exchanges

    @property
    def voice(self) -> Voice:
        """How its client spells a history."""
        return VOICES[self.dialect]

    def beside(self, **changes: Any) -> "Flight":
        """Another conversation in the same trace, with nothing said yet."""
        return self._copy(history=[], calls=(), **changes)

    def fork(self, **changes: Any) -> "Flight":
        """Another conversation that starts with what was said in this one."""
        return self._copy(history=copy.deepcopy(self.history), **changes)

    def _copy(self, **changes: Any) -> "Flight":
        return type(self)(**{name: getattr(self, name) for name in Flight.__slots__} | changes)

    def hear(self, words: str | None, results: Sequence[str], *, failed: bool = False) -> None:
        """Put a user's words, or the results of what the last answer called for, to the history."""
        if results:
            pairs = list(zip(self.calls, results, strict=True))
            self.history += self.voice.results(pairs, failed)
        if words is not None:
            self.history.append(self.voice.user(words))

    def turn(
        self,
        words: str | None = None,
        *,
        results: Sequence[str] = (),
        failed: bool = False,
        says: str = "",
        thinks: str = "",
        calls: Sequence[tuple[str, dict[str, Any]]] = (),
        usage: dict[str, Any] | None = None,
        status: int = 200,
        cut: int | None = None,
        error: int | None = None,
        way: str | None = None,
        **fields: Any,
    ) -> Exchange:
        """A request with these words or results, and its answer.

        `usage` stands in for what the provider counts, in its own words. `cut` and `error`: the stream ends, or tells
        of an error, after so many of its pieces; an answer of fewer pieces is cut in its middle. `fields` are more
        fields of the request's body.
        """
        self.hear(words, results, failed=failed)
        turn = self._turn(says, thinks, calls)
        way = way or self.way
        path = self.voice.path(self.model, way)
        body = {**self.voice.body(self.model, self.system, self.tools, self.history, way), **fields}
        request = compact(body)
        if status == 200:
            reply = self._reply(path, body, request, turn)
        else:
            reply = Reply("application/json", (compact(self._module(path).error(status, f"scripted {status}")),))
        pieces = reply.pieces[:cut] if error is None else (*reply.pieces[:error], reply.failure)
        data = b"".join(_with_usage(piece, usage) if usage else piece for piece in pieces)
        if cut is not None and cut >= len(reply.pieces):
            data = data[: len(data) // 2]
        if status == 200 and cut is None and error is None:
            self.calls = turn.calls
            self.history += self.voice.echo(turn)
        head = Head(status, "", "HTTP/1.1", [("content-type", reply.media_type), ("request-id", f"req_{status}")])
        return self._keep(path, request, data, head, is_cut=cut is not None)

    def _turn(self, says: str, thinks: str, calls: Sequence[tuple[str, dict[str, Any]]]) -> Turn:
        number = len(self.exchanges)
        made = tuple(
            Call(self.voice.call_id(name, number, index), name, arguments)
            for index, (name, arguments) in enumerate(calls)
        )
        return Turn(says, thinks, made)

    def _module(self, path: str) -> Any:
        return next(entry for entry in DIALECTS if entry.matches(path.partition("?")[0]))

    def _reply(self, path: str, body: dict[str, Any], request: bytes, turn: Turn) -> Reply:
        target, _, query = path.partition("?")
        with playing(self._module(path), turn):
            asked = Ask(target, dict(parse_qsl(query)), body, Ids(_seed(request, self.trace.at)), "")
            reply: Reply = self._module(path).reply(asked)
        return reply

    def _keep(self, path: str, request: bytes, response: bytes, head: Head, *, is_cut: bool) -> Exchange:
        began, first = self.trace.tick(), self.trace.next_sequence()
        up = self.trace.chunks(request, 0, self.chunks)
        down = self.trace.chunks(response, HALF_A_SECOND_US, self.chunks)
        exchange = Exchange(
            request_id=_request_id(began),
            state=State.ERROR if is_cut else State.COMPLETE,
            provenance=Provenance([Source(1, "0" * 26)], first, self.trace.next_sequence()),
            session=self.session,
            run=self.run,
            method="POST",
            path=path,
            version="HTTP/1.1",
            headers=list(self.headers),
            started=_rfc3339(began),
            started_ns=began,
            response=head,
            request_body=Body(up, len(request), len(request), None, complete=True),
            response_body=Body(down, len(response), len(response), None, complete=not is_cut),
            timings=Timings(100, 200, HALF_A_SECOND_US // 2, HALF_A_SECOND_US),
            error=Fault("response", "upstream_disconnected", "the stream was cut") if is_cut else None,
        )
        self.exchanges.append(exchange)
        return exchange


@dataclass(slots=True)
class Socket(Flight):
    """A conversation over one WebSocket: an `ask` is a round that says what is new, `land` makes the exchange."""

    messages: list[Message] = field(default_factory=list)
    #: The last response, and how much of the history the provider has by it.
    previous: str | None = None
    known: int = 0

    def ask(
        self,
        words: str | None = None,
        *,
        results: Sequence[str] = (),
        says: str = "",
        thinks: str = "",
        calls: Sequence[tuple[str, dict[str, Any]]] = (),
        is_idle: bool = False,
    ) -> None:
        """One round; `is_idle`: a warm-up, which wants no answer."""
        self.hear(words, results)
        turn = self._turn(says, thinks, calls)
        body = self.voice.body(self.model, self.system, self.tools, self.history[self.known :], "stream")
        body = {"type": "response.create", **body, "previous_response_id": self.previous, "generate": not is_idle}
        payload = compact({key: value for key, value in body.items() if value is not None})
        self._say(Direction.REQUEST, payload)
        with playing(responses, turn):
            asked = Ask("", {}, body, Ids(_seed(payload, len(self.messages))), "")
            events = responses.warm_up(asked) if is_idle else responses.events(asked)
        for event in events:
            self._say(Direction.RESPONSE, compact(event))
        self.previous = events[-1]["response"]["id"]
        if not is_idle:
            self.calls = turn.calls
            self.history += self.voice.echo(turn)
        self.known = len(self.history)

    def land(self) -> Exchange:
        """The exchange that all rounds together are."""
        exchange = self._keep("/v1/responses", b"", b"", Head(101, "", "HTTP/1.1", []), is_cut=False)
        sides = {side: [each for each in self.messages if each.direction is side] for side in Direction}
        bodies = {
            side: Body([Chunk(m.at_us, m.length, m.data, 1, self.trace.next_sequence()) for m in told], complete=True)
            for side, told in sides.items()
        }
        told = WebSocket(Sent(len(sides[Direction.REQUEST])), Sent(len(sides[Direction.RESPONSE])), self.messages)
        self.exchanges[-1] = msgspec.structs.replace(
            exchange,
            method="GET",
            request_body=bodies[Direction.REQUEST],
            response_body=bodies[Direction.RESPONSE],
            websocket=told,
        )
        return self.exchanges[-1]

    def _say(self, direction: Direction, payload: bytes) -> None:
        at_us = len(self.messages) * 1000
        self.messages.append(Message(direction, at_us, len(payload), binary=False, complete=True, data=payload))


def playing(module: Any, turn: Turn) -> Any:
    """The provider's dialect says this turn in place of its script's."""
    return mock.patch.object(module, "next_turn", return_value=turn)


def repair(flight: Flight) -> list[Exchange]:
    """A short flight: two reads at once, a command that fails, and the end."""
    flight.turn(
        "Fix the failing test.",
        says="I read both files.",
        thinks="Two files — “calc” first.",
        calls=[("read_file", {"path": "calc.py"}), ("read_file", {"path": "test_calc.py"})],
    )
    flight.turn(
        results=["def add(a, b):\n    return a - b\n", "assert add(2, 3) == 5\n"],
        says="Now the test.",
        calls=[("run_command", {"command": 'python3 -c "é\\n"'})],
    )
    flight.turn(results=["FAILED (failures=1)\n"], failed=True, says="It is blocked. 🚧\n")
    return flight.exchanges


def _with_usage(piece: bytes, usage: dict[str, Any]) -> bytes:
    """A piece of an answer with other counts, wherever it has any."""
    start, end = piece.find(b"{"), piece.rfind(b"}") + 1
    if start < 0:
        return piece
    value = json.loads(piece[start:end])
    for counts in _counts(value):
        counts.update(usage)
    return piece[:start] + compact(value) + piece[end:]


def _counts(value: Any) -> Iterator[dict[str, Any]]:
    found = [value.get(key) for key in ("usage", "usageMetadata")] + [
        value.get(key, {}).get("usage") for key in ("message", "response") if isinstance(value.get(key), dict)
    ]
    if value.get("done") is True:
        found.append(value)
    yield from (counts for counts in found if isinstance(counts, dict))


def _seed(request: bytes, at: int) -> bytes:
    """Ids of an answer follow from its request, and a retry has others."""
    return hashlib.sha256(request + str(at).encode()).digest()


def _request_id(began: int) -> str:
    random = hashlib.sha256(str(began).encode()).digest()[:10]
    return request_name((began // 1_000_000).to_bytes(6, "big") + random)


def _rfc3339(wall: int) -> str:
    at = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=wall // 1000)
    return at.isoformat(timespec="microseconds")[:-6] + "Z"
