"""The rounds of a WebSocket: each message in which a client asks for a response, and the messages that answer it."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from blackbird.canon.seen import Slice
from blackbird.exchange.exchange import Exchange
from blackbird.trace.records import Direction

_STARTS = frozenset({"response.create", "response.append"})
_ENDS = frozenset({"response.completed", "response.failed", "response.incomplete", "error"})


class Round(NamedTuple):
    """One question and its answer; offsets count in all messages of their side, joined.

    Times are microseconds since the exchange began. `is_cut`: the answer did not come to its end.
    """

    request: Slice
    pieces: tuple[Slice, ...]
    is_cut: bool
    at_us: int
    first_us: int | None
    last_us: int | None


class _Response(msgspec.Struct):
    id: str | None = None


class _Head(msgspec.Struct):
    type: str | None = None
    response: _Response | None = None


@dataclass(slots=True)
class _Open:
    """A round of which more may come."""

    request: Slice
    at_us: int
    pieces: list[Slice] = field(default_factory=list)
    first_us: int | None = None
    last_us: int | None = None
    is_ended: bool = False

    def take(self, piece: Slice, at_us: int) -> None:
        self.pieces.append(piece)
        self.first_us = at_us if self.first_us is None else self.first_us
        self.last_us = at_us

    def round(self) -> Round:
        pieces = tuple(self.pieces)
        return Round(self.request, pieces, not self.is_ended, self.at_us, self.first_us, self.last_us)


_HEADS = msgspec.json.Decoder(_Head)


def rounds(exchange: Exchange) -> list[Round]:
    """All rounds, in the order in which they were asked for.

    A server answers in the order of the questions. What it says while no question is open, and what a client says
    beside its questions, belongs to no round.
    """
    asked: list[_Open] = []
    waiting: deque[_Open] = deque()
    by_id: dict[str, _Open] = {}
    offsets = dict.fromkeys(Direction, 0)
    for message in exchange.messages:
        piece = Slice(message.data or b"", offsets[message.direction])
        offsets[message.direction] = piece.end
        head = _read(piece.data)
        if message.direction is Direction.RESPONSE:
            _answer(waiting, by_id, piece, head, message.at_us)
        elif head.type in _STARTS:
            asked.append(_Open(piece, message.at_us))
            waiting.append(asked[-1])
    return [each.round() for each in asked]


def _answer(waiting: deque[_Open], by_id: dict[str, _Open], piece: Slice, head: _Head, at_us: int) -> None:
    """Give a server's message to the round that it names, which may be over by an `error`, or to the oldest."""
    response_id = head.response.id if head.response is not None else None
    target = by_id.get(response_id) if response_id is not None else None
    if target is None:
        if not waiting:
            return
        target = waiting[0]
    target.take(piece, at_us)
    if response_id is not None:
        by_id[response_id] = target
    if head.type in _ENDS and not target.is_ended:
        target.is_ended = True
        waiting.remove(target)


def _read(data: bytes) -> _Head:
    try:
        return _HEADS.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Head()
