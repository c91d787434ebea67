"""The messages of a WebSocket, joined from the records that hold their pieces."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from blackbird.exchange import payloads
from blackbird.exchange.exchange import Message
from blackbird.trace.records import Direction, Flag, Kind, Record, read_object


@dataclass(slots=True)
class _Draft:
    """A message of which more may come."""

    direction: Direction
    at_us: int
    binary: bool
    length: int = 0
    pieces: list[bytes | None] = field(default_factory=list)
    ended: bool = False
    torn: bool = False

    def message(self) -> Message:
        known = [piece for piece in self.pieces if piece is not None]
        data = b"".join(known) if len(known) == len(self.pieces) else None
        complete = self.ended and not self.torn
        return Message(self.direction, self.at_us, self.length, self.binary, complete, data)


def join(records: Sequence[Record]) -> list[Message]:
    """All messages among the records of an exchange, in the order in which they began."""
    drafts: list[_Draft] = []
    under_way: dict[Direction, _Draft] = {}
    for record in records:
        if record.kind == Kind.GAP:
            _tear(record, under_way)
        direction = record.direction
        if record.kind != Kind.WS_FRAME or direction is None:
            continue
        draft = under_way.get(direction)
        if draft is None:
            at = (record.monotonic - records[0].monotonic) // 1000
            draft = under_way[direction] = _Draft(direction, at, bool(record.flags & Flag.BINARY))
            drafts.append(draft)
        draft.length += record.length
        draft.pieces.append(record.payload)
        if not record.flags & Flag.CONTINUES:
            draft.ended = True
            del under_way[direction]
    return [draft.message() for draft in drafts]


def _tear(gap: Record, under_way: dict[Direction, _Draft]) -> None:
    """A gap within a message: something of it is missing, whatever follows."""
    where = payloads.gap(read_object(gap) or {}).direction
    for direction, draft in under_way.items():
        if where in (direction.value, None):
            draft.torn = True
