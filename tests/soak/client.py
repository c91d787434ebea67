"""A client for rough times: asks for something, behaves as it is told, and knows what it sent and got."""

import asyncio
import contextlib
import json
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from tests.soak.upstream import Order, block, break_off, chunk

#: How long anything may take; far more than it does.
PATIENCE = 120.0
_READ = 1 << 16
_NAP = 0.02


class Short(Exception):
    """The connection ended before the response did."""


@dataclass(frozen=True)
class Manner:
    """How a client behaves; sizes are in bytes of the response."""

    #: Reads in small pieces with pauses.
    slow: bool = False
    #: Goes away after so much of the body: `close`, `reset`, or `half` for a closed sending side.
    leaves: str = ""
    after: int = 0
    #: Uploads so many pieces of this size, `pause` milliseconds apart.
    pieces: int = 0
    size: int = 0
    pause: int = 0
    chunked: bool = False
    #: Goes away after half of the upload.
    abandons: bool = False


@dataclass
class Seen:
    """What a client did and got."""

    order: Order
    manner: Manner
    #: Handed to the connection, without framing.
    sent: int = 0
    #: What came of the body, without framing: its length, and itself if it is kept.
    got: int = 0
    body: bytearray = field(default_factory=bytearray)
    keeps: bool = False
    connected: bool = False
    status: int = 0
    complete: bool = False
    over: bool = False

    @property
    def taken(self) -> int:
        """How much of the upload the upstream said it had."""
        lines = bytes(self.body).split(b"\n")[:-1]
        return int(json.loads(lines[-1])["taken"]) if lines else 0

    @property
    def events(self) -> bytes:
        """The whole events among what came."""
        end = self.body.rfind(b"\n\n")
        return bytes(self.body[: end + 2]) if end >= 0 else b""


class Call:
    """One request on a connection of its own."""

    def __init__(self, port: int, seen: Seen) -> None:
        self.port = port
        self.seen = seen

    async def run(self) -> None:
        """Ask; whatever breaks is part of what is seen."""
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=_READ)
            self.seen.connected = True
            try:
                async with asyncio.timeout(PATIENCE):
                    await self._converse(reader, writer)
            finally:
                writer.close()
                with contextlib.suppress(ConnectionError):
                    await writer.wait_closed()
        except (ConnectionError, asyncio.IncompleteReadError, Short):
            pass
        finally:
            self.seen.over = True

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upload = asyncio.create_task(self._upload(writer))
        try:
            if self.seen.manner.leaves == "half":
                await upload
                writer.write_eof()
            await self._read(reader, writer)
            if self.seen.status != 413:
                await upload
        finally:
            upload.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await upload

    async def _upload(self, writer: asyncio.StreamWriter) -> None:
        manner, order = self.seen.manner, self.seen.order
        total = manner.pieces * manner.size
        framing = "Transfer-Encoding: chunked" if manner.chunked else f"Content-Length: {total}"
        method = "POST" if manner.pieces else "GET"
        fields = f"Content-Type: application/x-ndjson\r\n{framing}\r\n" if manner.pieces else ""
        writer.write(f"{method} {order.target} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n".encode())
        piece = block(manner.size - 1) + b"\n" if manner.size else b""
        framed = chunk(piece) if manner.chunked else piece
        for number in range(manner.pieces):
            writer.write(framed)
            await writer.drain()
            self.seen.sent += manner.size
            if manner.abandons and number >= manner.pieces // 2:
                writer.transport.abort()
                raise ConnectionAbortedError
            if manner.pause:
                await asyncio.sleep(manner.pause / 1000)
        if manner.pieces and manner.chunked:
            writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        if not head.startswith("http/1.1 "):
            raise Short
        self.seen.status = int(head.split(" ")[1])
        async for piece in self._pieces(reader, head):
            self.seen.got += len(piece)
            if self.seen.keeps:
                self.seen.body += piece
            manner = self.seen.manner
            if manner.leaves and self.seen.got >= manner.after:
                if manner.leaves == "reset":
                    break_off(writer)
                raise Short
            if manner.slow:
                await asyncio.sleep(_NAP)
        self.seen.complete = True

    async def _pieces(self, reader: asyncio.StreamReader, head: str) -> AsyncIterator[bytes]:
        most = 4096 if self.seen.manner.slow else _READ
        if "transfer-encoding: chunked" in head:
            while size := int(await reader.readuntil(b"\n"), 16):
                left = size
                while left:
                    piece = await reader.read(min(left, _READ))
                    if not piece:
                        raise Short
                    left -= len(piece)
                    yield piece
                await reader.readexactly(2)
            await reader.readexactly(2)
            return
        length = next((line.split(": ")[1] for line in head.split("\r\n") if line.startswith("content-length")), None)
        left = int(length) if length is not None else -1
        while left:
            piece = await reader.read(min(left, most) if left > 0 else most)
            if not piece:
                if left > 0:
                    raise Short
                return
            left -= len(piece) if left > 0 else 0
            yield piece


def unpacked(body: bytes) -> bytes:
    """What a compressed body says, as far as it came."""
    return zlib.decompressobj(wbits=31).decompress(body)
