"""Reads what a recorder wrote, by the page wal/1 and by nothing of the product, so that it can disagree with it."""

import json
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_RECORD = struct.Struct("<IIBBHQQ16s")
_NO_REQUEST = bytes(16)
REQUEST_START, REQUEST_BODY, RESPONSE_START, RESPONSE_BODY, RESPONSE_END, ERROR = range(1, 7)
WS_FRAME, GAP, NATIVE_LINE, HARNESS_EVENT, CHECKPOINT = 7, 8, 10, 11, 13
FROM_CLIENT, BINARY, CONTINUES = 4, 16, 32


@dataclass(frozen=True)
class Record:
    """One record of the trace."""

    kind: int
    flags: int
    sequence: int
    monotonic: int
    request: bytes
    payload: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.payload)


@dataclass
class Message:
    """A message of a WebSocket, joined from its records."""

    sender: str
    binary: bool
    data: bytes = b""
    whole: bool = False


@dataclass
class Exchange:
    """All records of one request."""

    id: bytes
    start: Any = None
    request: bytes = b""
    heads: list[Any] = field(default_factory=list)
    response: bytes = b""
    end: Any = None
    error: Any = None
    gaps: list[Any] = field(default_factory=list)
    sequences: list[int] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)

    def sent_by(self, sender: str) -> list[bytes]:
        """The whole messages of a side."""
        return [message.data for message in self.messages if message.sender == sender and message.whole]

    @property
    def is_over(self) -> bool:
        return self.end is not None or self.error is not None

    @property
    def over(self) -> Any:
        """The record that ended it."""
        return self.end if self.end is not None else self.error

    @property
    def head(self) -> Any:
        """The final response head."""
        return self.heads[-1]

    def field(self, name: str) -> str | None:
        """A field of the request as it was recorded."""
        return next((value for key, value in self.start["headers"] if key.lower() == name.lower()), None)


def segment_records(data: bytes) -> list[Record]:
    """The records of one segment up to the first that is not whole."""
    length = int.from_bytes(data[12:16], "little")
    segment, offset, records = data[24:40], length, []
    while offset + _RECORD.size <= len(data):
        crc, size, _, kind, flags, sequence, monotonic, request = _RECORD.unpack_from(data, offset)
        end = offset + _RECORD.size + size
        if end > len(data) or crc != zlib.crc32(data[offset + 4 : end], zlib.crc32(segment)):
            break
        payload = data[offset + _RECORD.size : end]
        records.append(Record(kind, flags, sequence, monotonic, request, payload))
        offset = end
    return records


def records(trace: Path) -> list[Record]:
    """All records of unsealed segments, in order."""
    segments = sorted(trace.glob("*.wal"), key=lambda path: int(path.stem))
    return [record for path in segments for record in segment_records(path.read_bytes())]


def exchanges(trace: Path) -> list[Exchange]:
    """All exchanges, in the order of their first records."""
    found: dict[bytes, Exchange] = {}
    for record in records(trace):
        if record.request == _NO_REQUEST or record.kind == NATIVE_LINE:
            continue
        exchange = found.setdefault(record.request, Exchange(record.request))
        exchange.sequences.append(record.sequence)
        _add(exchange, record)
    return list(found.values())


def _add(exchange: Exchange, record: Record) -> None:
    if record.kind == REQUEST_START:
        exchange.start = record.json
    elif record.kind == REQUEST_BODY:
        exchange.request += record.payload
    elif record.kind == RESPONSE_START:
        exchange.heads.append(record.json)
    elif record.kind == RESPONSE_BODY:
        exchange.response += record.payload
    elif record.kind == RESPONSE_END:
        exchange.end = record.json
    elif record.kind == ERROR:
        exchange.error = record.json
    elif record.kind == GAP:
        exchange.gaps.append(record.json)
    elif record.kind == WS_FRAME:
        _add_piece(exchange.messages, record)


def _add_piece(messages: list[Message], record: Record) -> None:
    sender = "client" if record.flags & FROM_CLIENT else "server"
    begun = [message for message in messages if message.sender == sender and not message.whole]
    message = begun[0] if begun else Message(sender, bool(record.flags & BINARY))
    if not begun:
        messages.append(message)
    message.data += record.payload
    message.whole = not record.flags & CONTINUES
