"""The file `synced`: how far the trace is known to be on the disk."""

import struct
import zlib
from dataclasses import dataclass

from blackbird.trace.errors import TraceError

NAME = "synced"
_FIELDS = struct.Struct("<QQQ")
_CRC = struct.Struct("<I")
BYTES = _FIELDS.size + _CRC.size


@dataclass(frozen=True, slots=True)
class Synced:
    """Everything up to this record survives a power cut."""

    segment: int
    sequence: int
    offset: int


def parse(data: bytes) -> Synced:
    """What the file says. Raises `TraceError` if it is not whole."""
    if len(data) != BYTES:
        raise TraceError(f"`synced` has {BYTES} bytes, here are {len(data)}", len(data))
    if _CRC.unpack_from(data, _FIELDS.size)[0] != zlib.crc32(data[: _FIELDS.size]):
        raise TraceError("its checksum does not fit", _FIELDS.size)
    return Synced(*_FIELDS.unpack_from(data))
