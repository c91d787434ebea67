"""Tombstones: what is left of a segment that was removed on purpose."""

from typing import Annotated

import msgspec

from blackbird.trace import ids
from blackbird.trace.errors import TraceError

SCHEMA = "tombstone/1"

_Count = Annotated[int, msgspec.Meta(ge=0)]
_Root = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class Tombstone(msgspec.Struct, frozen=True):
    """What a segment was, and why it went."""

    schema: str
    segment: _Count
    id: str
    instance: str
    first_sequence: _Count
    last_sequence: _Count
    previous_root: _Root
    root: _Root
    reason: str
    at: str
    bytes: _Count
    requests: _Count


_LINE = msgspec.json.Decoder(Tombstone)


def parse(data: bytes) -> Tombstone:
    """The one line of JSON. Raises `TraceError` if it is none."""
    try:
        stone = _LINE.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TraceError(f"it is no tombstone: {error}") from error
    if stone.schema != SCHEMA:
        raise TraceError(f"it is no tombstone of this version: its schema is {stone.schema!r}")
    if ids.from_text(stone.id) is None:
        raise TraceError(f"it is no tombstone: {stone.id!r} is no id")
    return stone
