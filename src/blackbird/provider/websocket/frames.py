"""Frames of a WebSocket (RFC 6455): how one is spelled, and messages read from a connection."""

import enum
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_SHORT = 126
_LONG = 127
_MIDDLE_LIMIT = 1 << 16


class Opcode(enum.IntEnum):
    """What a frame is."""

    CONTINUATION = 0
    TEXT = 1
    BINARY = 2
    CLOSE = 8
    PING = 9
    PONG = 10


class Broken(Exception):
    """What came is no frame that may come here."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame without its mask; `packed` is the first reserved bit."""

    opcode: Opcode
    payload: bytes
    last: bool = True
    packed: bool = False


def spell(frame: Frame, mask: bytes | None = None) -> bytes:
    """The bytes of a frame; clients mask theirs."""
    first = frame.opcode | (0x80 if frame.last else 0) | (0x40 if frame.packed else 0)
    masked, size = 0x80 if mask else 0, len(frame.payload)
    if size < _SHORT:
        head = bytes((first, masked | size))
    elif size < _MIDDLE_LIMIT:
        head = bytes((first, masked | _SHORT)) + struct.pack(">H", size)
    else:
        head = bytes((first, masked | _LONG)) + struct.pack(">Q", size)
    return head + (mask + apply(mask, frame.payload) if mask else frame.payload)


def apply(mask: bytes, data: bytes) -> bytes:
    """Put a mask of four bytes on, or take it off."""
    pattern = (mask * (len(data) // 4 + 1))[: len(data)]
    return (int.from_bytes(data, "big") ^ int.from_bytes(pattern, "big")).to_bytes(len(data), "big")


def read(take: Callable[[int], bytes]) -> Frame:
    """The next frame; `take` gives exactly so many bytes."""
    first, second = take(2)
    size = second & 0x7F
    if size == _SHORT:
        size = int.from_bytes(take(2), "big")
    elif size == _LONG:
        size = int.from_bytes(take(8), "big")
    mask = take(4) if second & 0x80 else b""
    payload = take(size)
    try:
        opcode = Opcode(first & 0x0F)
    except ValueError as error:
        raise Broken(f"there is no opcode {first & 0x0F}") from error
    return Frame(opcode, apply(mask, payload) if mask else payload, bool(first & 0x80), bool(first & 0x40))


def messages(take: Callable[[int], bytes]) -> Iterator[Frame]:
    """Whole messages, their fragments joined, and control frames as they come."""
    begun: list[Frame] = []
    while True:
        frame = read(take)
        if frame.opcode >= Opcode.CLOSE:
            yield frame
            continue
        if (frame.opcode is Opcode.CONTINUATION) != bool(begun):
            raise Broken("a fragment stands where none may")
        begun.append(frame)
        if frame.last:
            payload = b"".join(part.payload for part in begun)
            yield Frame(begun[0].opcode, payload, packed=begun[0].packed)
            begun.clear()


def close(code: int, reason: str = "") -> Frame:
    """The frame that ends what a side says."""
    return Frame(Opcode.CLOSE, struct.pack(">H", code) + reason.encode())


def close_code(payload: bytes) -> int:
    """The code in a close frame; 1005 stands for none."""
    return int.from_bytes(payload[:2], "big") if len(payload) >= 2 else 1005
