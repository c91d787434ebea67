"""Records: what one is, what its type and flags mean, and how it is spelled in a segment."""

import enum
import struct
from typing import Any

import msgspec

VERSION = 1
HEADER_BYTES = 44
MAX_PAYLOAD = 16 << 20

#: Length, version, type, flags, sequence, monotonic time, request: what lies between the CRC and the payload.
FIELDS = struct.Struct("<IBBHQQ16s")
_OBJECT = msgspec.json.Decoder(dict[str, Any])
#: Where `FIELDS` starts: behind the CRC.
FIELDS_AT = 4


class Kind(enum.IntEnum):
    """The types that this version knows; others are handed on as numbers."""

    REQUEST_START = 1
    REQUEST_BODY = 2
    RESPONSE_START = 3
    RESPONSE_BODY = 4
    RESPONSE_END = 5
    ERROR = 6
    WS_FRAME = 7
    GAP = 8
    TOOL_EVENT = 9
    NATIVE_LINE = 10
    HARNESS_EVENT = 11
    ENRICHMENT = 12
    CHECKPOINT = 13


NAMES = {
    Kind.REQUEST_START: "request.start",
    Kind.REQUEST_BODY: "request.body.chunk",
    Kind.RESPONSE_START: "response.start",
    Kind.RESPONSE_BODY: "response.body.chunk",
    Kind.RESPONSE_END: "response.end",
    Kind.ERROR: "error",
    Kind.WS_FRAME: "ws.frame",
    Kind.GAP: "gap",
    Kind.TOOL_EVENT: "tool.event",
    Kind.NATIVE_LINE: "native.line",
    Kind.HARNESS_EVENT: "harness.event",
    Kind.ENRICHMENT: "enrichment",
    Kind.CHECKPOINT: "checkpoint",
}
#: Types whose payload is a JSON object.
JSON_KINDS = frozenset(NAMES) - {Kind.REQUEST_BODY, Kind.RESPONSE_BODY, Kind.WS_FRAME, Kind.NATIVE_LINE}


class Flag(enum.IntFlag):
    """The flags that this version knows; others are kept."""

    REDACTED = 1
    DECODED = 2
    FROM_CLIENT = 4
    ENCRYPTED = 8
    BINARY = 16
    CONTINUES = 32


class Direction(enum.StrEnum):
    """Which body the bytes of a record belong to."""

    REQUEST = "request"
    RESPONSE = "response"


class Record(msgspec.Struct, frozen=True, gc=False):
    """One record. `payload` is left out where bodies were not asked for; `length` is its length either way."""

    version: int
    kind: int
    flags: int
    sequence: int
    monotonic: int
    request: bytes
    length: int
    payload: bytes | None

    @property
    def name(self) -> str:
        """The type in words; of one that this version does not know, its number."""
        return NAMES[Kind(self.kind)] if self.kind in NAMES else f"type.{self.kind}"

    @property
    def direction(self) -> Direction | None:
        """Which body this is a piece of, if of any. What another version means by its type is not known."""
        return body_direction(self.kind, self.flags) if self.version == VERSION else None


#: Plain numbers: to look up members of an enumeration takes longer than all the rest, and each record is asked.
_WS_FRAME, _FROM_CLIENT = int(Kind.WS_FRAME), int(Flag.FROM_CLIENT)
_BODIES = {int(Kind.REQUEST_BODY): Direction.REQUEST, int(Kind.RESPONSE_BODY): Direction.RESPONSE}
_LONG = frozenset({*_BODIES, _WS_FRAME, int(Kind.NATIVE_LINE)})


def body_direction(kind: int, flags: int) -> Direction | None:
    """Which body a record of this type belongs to; in a seal, which stream its payload lies in."""
    if kind == _WS_FRAME:
        return Direction.REQUEST if flags & _FROM_CLIENT else Direction.RESPONSE
    return _BODIES.get(kind)


def is_body(kind: int) -> bool:
    """Whether the payload is content, which a reader that only counts and lists leaves out."""
    return kind in _LONG


def spell(record: Record) -> bytes:
    """A record as a segment has it, from offset 4 on: all that counts for its root."""
    return spell_fields(record) + (record.payload or b"")


def spell_fields(record: Record) -> bytes:
    """The part of it that lies before the payload."""
    return FIELDS.pack(
        record.length,
        record.version,
        record.kind,
        record.flags,
        record.sequence,
        record.monotonic,
        record.request,
    )


def read_object(record: Record) -> dict[str, Any] | None:
    """The payload of a record of a JSON type, or nothing if it is no JSON object or of another version."""
    if record.payload is None or record.version != VERSION:
        return None
    try:
        return _OBJECT.decode(record.payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
