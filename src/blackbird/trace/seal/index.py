"""The footer and the index of a seal: what lies where, checked against the file before anything is unpacked."""

import struct
import zlib
from typing import Annotated, Any, Literal

import msgspec
import zstandard

from blackbird.trace import ids
from blackbird.trace.errors import TraceError

MAGIC = b"\x89BBSEA\r\n"
VERSION = 1
MAX_FRAME = 32 << 20
#: No zstd frame may ask a reader for a larger window: log 27.
MAX_WINDOW = 1 << 27
#: A hundred thousand requests need a tenth of this.
MAX_INDEX = 256 << 20
#: How much of a frame is unpacked at once where only a part of it is wanted.
_PIECE = 1 << 20
PREFIX = struct.Struct("<8sHHI")

_FOOTER = struct.Struct("<QII32sII8s")
_CRC_AT = 48

_Count = Annotated[int, msgspec.Meta(ge=0)]
Stream = Literal["rows", "other", "request", "response"]
Stretch = list[tuple[_Count, _Count, _Count]]


class Frame(msgspec.Struct, frozen=True):
    """One zstd frame: where it lies in the file, and what it holds."""

    stream: Stream
    offset: _Count
    length: _Count
    raw: Annotated[int, msgspec.Meta(ge=0, le=MAX_FRAME)]
    crc: Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]


class Group(msgspec.Struct, frozen=True):
    """The records of one request, or those that belong to none."""

    id: str
    count: _Count
    rows: Stretch
    other: Stretch = []
    request: Stretch = []
    response: Stretch = []


class Index(msgspec.Struct, frozen=True):
    """What a seal holds."""

    frames: list[Frame]
    unit: Literal[1, 1000]
    records: _Count
    bytes: _Count
    groups: list[Group]
    torn: Stretch = []


_INDEX = msgspec.json.Decoder(Index)


class Footer(msgspec.Struct, frozen=True):
    """The last 64 bytes."""

    offset: int
    length: int
    raw: int
    root: bytes


def read(data: memoryview, first: int) -> tuple[Footer, Index]:
    """Footer and index of a seal whose frames start at `first`. Raises `TraceError` if anything does not fit."""
    footer = _read_footer(data, first)
    at = footer.offset
    raw = unpack(data[at : at + footer.length], footer.raw, at)
    try:
        index = _INDEX.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TraceError(f"its index cannot be read: {error}", at) from error
    free = first
    for number, frame in enumerate(index.frames):
        if frame.offset < free:
            raise TraceError(f"frame {number} starts before the end of what lies before it", frame.offset)
        free = frame.offset + frame.length
        if free > at:
            raise TraceError(f"frame {number} reaches into the index", frame.offset)
    for group in index.groups:
        if group.id and ids.from_text(group.id) is None:
            raise TraceError(f"a group of its index has the id {group.id!r}, which is none", at)
    return footer, index


def unpack(frame: memoryview, raw: int, at: int) -> bytes:
    """The `raw` bytes of one zstd frame; more than that is never made room for."""
    try:
        _check_frame(frame, raw, at)
        unpacker = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW)
        data = unpacker.decompress(frame, max_output_size=raw, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise TraceError(f"a frame cannot be unpacked: {error}", at) from error
    if len(data) != raw:
        raise TraceError(f"a frame holds {len(data)} bytes and not {raw}", at)
    return data


def unpack_part(data: memoryview, frame: Frame, start: int, length: int) -> bytes:
    """A part of what a frame holds. All of it is unpacked and checked, but only the part is kept: twice as fast."""
    part, room = bytearray(), bytearray(_PIECE)
    at = checksum = 0
    try:
        packed = data[frame.offset : frame.offset + frame.length]
        _check_frame(packed, frame.raw, frame.offset)
        with zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).stream_reader(packed) as reader:
            while size := reader.readinto(room):
                piece = memoryview(room)[:size]
                checksum = zlib.crc32(piece, checksum)
                part += piece[max(start - at, 0) : max(start + length - at, 0)]
                at += size
    except zstandard.ZstdError as error:
        raise TraceError(f"a frame cannot be unpacked: {error}", frame.offset) from error
    if at != frame.raw or checksum != frame.crc:
        raise TraceError("the length or the checksum of a frame does not fit", frame.offset)
    return bytes(part)


def _check_frame(frame: memoryview, raw: int, at: int) -> None:
    about: Any = zstandard.get_frame_parameters(frame)
    if about.content_size != raw or about.window_size > MAX_WINDOW:
        raise TraceError("a frame is not as long as the index says, or needs too large a window", at)


def _read_footer(data: memoryview, first: int) -> Footer:
    at = len(data) - _FOOTER.size
    if at < first:
        raise TraceError("it is too short for a seal", len(data))
    offset, length, raw, root, checksum, zeros, magic = _FOOTER.unpack_from(data, at)
    if magic != MAGIC:
        raise TraceError("it does not end as a seal does", at + 56)
    if zeros:
        raise TraceError("its footer has bytes that should be zero", at + 52)
    if offset < first or offset + length != at:
        raise TraceError("its index does not lie between frames and footer", at)
    if raw > MAX_INDEX:
        raise TraceError(f"its index would have {raw} bytes, and at most {MAX_INDEX} are read", at + 12)
    if zlib.crc32(data[at : at + _CRC_AT], zlib.crc32(data[offset:at])) != checksum:
        raise TraceError("the checksum of its index does not fit", at + _CRC_AT)
    return Footer(offset, length, raw, root)
