"""The header of a segment: who wrote it, when, and on what it follows."""

import struct
import zlib
from dataclasses import dataclass

from blackbird.trace.errors import TraceError

MAGIC = b"\x89BBWAL\r\n"
VERSION = 1
ROOT_BYTES = 32
NO_ROOT = bytes(ROOT_BYTES)

_FIXED = struct.Struct("<8sHHIQ16s16s16s32sQqQ16sH")
_CRC = struct.Struct("<I")
SHORTEST = _FIXED.size + _CRC.size


@dataclass(frozen=True, slots=True)
class Header:
    """What a segment says of itself; `raw` are its very bytes, which its root starts with."""

    number: int
    id: bytes
    trace: bytes
    instance: bytes
    previous_root: bytes
    first_sequence: int
    wall: int
    monotonic: int
    boot: bytes
    policy: str
    raw: bytes


def parse(data: bytes | memoryview) -> Header:
    """The header at the start of a segment. Raises `TraceError` if it cannot be read."""
    if len(data) < SHORTEST:
        raise TraceError(f"a header has at least {SHORTEST} bytes, here are {len(data)}", len(data))
    magic, version, flags, length, *about, policy_length = _FIXED.unpack_from(data)
    number, identifier, trace, instance, previous_root, first_sequence, wall, monotonic, boot = about
    if magic != MAGIC:
        raise TraceError("it does not start as a segment does")
    if version != VERSION:
        raise TraceError(f"it has the format version {version}, and this reader knows {VERSION}", 8)
    if flags:
        raise TraceError(f"its header has the flags {flags:#06x}, which this reader does not know", 10)
    if length != SHORTEST + policy_length:
        raise TraceError(f"its header says that it is {length} bytes long, and holds {SHORTEST + policy_length}", 12)
    if length > len(data):
        raise TraceError(f"its header is {length} bytes long, and only {len(data)} are here", len(data))
    raw = bytes(data[:length])
    if _CRC.unpack_from(raw, length - _CRC.size)[0] != zlib.crc32(raw[: -_CRC.size]):
        raise TraceError("the checksum of its header does not fit", length - _CRC.size)
    try:
        policy = raw[_FIXED.size : -_CRC.size].decode()
    except UnicodeDecodeError as error:
        raise TraceError("the policy in its header is no UTF-8", _FIXED.size + error.start) from error
    return Header(
        number, identifier, trace, instance, previous_root, first_sequence, wall, monotonic, boot, policy, raw
    )
