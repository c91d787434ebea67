"""An upstream for rough times: what it answers, and how badly it behaves, stands in what it is asked for.

/soak/KIND/ID/COUNT/SIZE/PAUSE: COUNT pieces of about SIZE bytes, PAUSE milliseconds apart. What it says is the same
each time, so that whoever knows the target knows the body.
"""

import asyncio
import contextlib
import gzip
import socket
import struct
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

_WORDS = b"gull tern crane heron plover curlew avocet dunlin "
_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
_TEXT = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
#: How long a stalled answer waits for its client to go.
_STALL_SECONDS = 30.0
#: Larger than a read, smaller than what a connection is allowed to hold.
_BLOCK = 1 << 18


@dataclass(frozen=True)
class Order:
    """What a request asks for."""

    kind: str
    id: str
    count: int
    size: int
    pause: int

    @classmethod
    def parse(cls, target: str) -> "Order":
        _, place, kind, name, count, size, pause = target.split("/")
        assert place == "soak"
        return cls(kind, name, int(count), int(size), int(pause))

    @property
    def target(self) -> str:
        return f"/soak/{self.kind}/{self.id}/{self.count}/{self.size}/{self.pause}"


def event(order: Order, number: int) -> bytes:
    """One event of a stream."""
    text = (_WORDS * (order.size // len(_WORDS) + 1))[: order.size]
    return b'data: {"stream":"%b","n":%d,"text":"%b"}\n\n' % (order.id.encode(), number, text)


def block(size: int) -> bytes:
    """Plain text of a size."""
    line = _WORDS[:-1] + b"\n"
    return (line * (size // len(line) + 1))[:size]


def events(order: Order) -> bytes:
    """All that a stream says, if it comes to its end."""
    return b"".join(event(order, number) for number in range(order.count))


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def break_off(writer: asyncio.StreamWriter) -> None:
    """End a connection with a reset."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class Talk:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def run(self) -> None:
        while True:
            try:
                head = await self.reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return
            lines = head.decode("latin-1").split("\r\n")
            order = Order.parse(lines[0].split(" ")[1])
            if not await self.answer(order, dict(_field(line) for line in lines[1:] if line)):
                return

    async def answer(self, order: Order, fields: dict[str, str]) -> bool:
        """Answer; whether the connection can go on."""
        if order.kind == "take":
            await self._take(fields)
            return True
        if order.kind == "early":
            await self.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 6\r\nConnection: close\r\n\r\nenough")
            return False
        await self._body(fields)
        if order.kind == "stream":
            await self._stream(order)
        elif order.kind == "packed":
            await self._packed(order)
        elif order.kind == "plain":
            await self._plain(order, framed=True)
        elif order.kind == "unframed":
            await self._plain(order, framed=False)
        else:
            await self._misbehave(order)
            return False
        return order.kind != "unframed"

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def _body(self, fields: dict[str, str]) -> int:
        """Read a request's body; its length."""
        total = 0
        async for piece in self._pieces(fields):
            total += len(piece)
        return total

    async def _pieces(self, fields: dict[str, str]) -> AsyncIterator[bytes]:
        if fields.get("transfer-encoding") == "chunked":
            while size := int(await self.reader.readuntil(b"\n"), 16):
                yield await self.reader.readexactly(size)
                await self.reader.readexactly(2)
            await self.reader.readexactly(2)
            return
        left = int(fields.get("content-length", "0"))
        while left:
            piece = await self.reader.read(min(left, _BLOCK))
            if not piece:
                raise asyncio.IncompleteReadError(b"", left)
            left -= len(piece)
            yield piece

    async def _take(self, fields: dict[str, str]) -> None:
        """Say after each piece how much came so far."""
        await self.send(_STREAM.replace(b"text/event-stream", b"application/x-ndjson") + b"\r\n")
        total = 0
        async for piece in self._pieces(fields):
            total += len(piece)
            await self.send(chunk(b'{"taken":%d}\n' % total))
        await self.send(b"0\r\n\r\n")

    async def _stream(self, order: Order) -> None:
        await self.send(_STREAM + b"\r\n")
        for number in range(order.count):
            await self.send(chunk(event(order, number)))
            if order.pause:
                await asyncio.sleep(order.pause / 1000)
        await self.send(b"0\r\n\r\n")

    async def _packed(self, order: Order) -> None:
        await self.send(_STREAM + b"Content-Encoding: gzip\r\n\r\n")
        packer = zlib.compressobj(wbits=31)
        for number in range(order.count):
            packed = packer.compress(event(order, number)) + packer.flush(zlib.Z_SYNC_FLUSH)
            await self.send(chunk(packed))
            if order.pause:
                await asyncio.sleep(order.pause / 1000)
        await self.send(chunk(packer.flush()) + b"0\r\n\r\n")

    async def _plain(self, order: Order, *, framed: bool) -> None:
        length = b"Content-Length: %d\r\n" % (order.count * order.size) if framed else b"Connection: close\r\n"
        await self.send(_TEXT + length + b"\r\n")
        piece = block(order.size)
        for _ in range(order.count):
            await self.send(piece)
            if order.pause:
                await asyncio.sleep(order.pause / 1000)

    async def _misbehave(self, order: Order) -> None:
        if order.kind == "garbage":
            await self.send(b"\x00\x01 no HTTP at all\r\n\r\n")
            return
        if order.kind == "badgzip":
            await self.send(_TEXT + b"Content-Encoding: gzip\r\nContent-Length: 64\r\n\r\n")
            await self.send(gzip.compress(b"x" * 10)[:10] + b"\xff" * 54)
            return
        await self.send(_STREAM + b"\r\n" + chunk(event(order, 0)))
        if order.kind == "stall":
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.reader.read(1), _STALL_SECONDS)
        elif order.kind == "reset":
            break_off(self.writer)
        else:
            assert order.kind == "cut", order


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.lower(), value.strip()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        await Talk(reader, writer).run()
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


async def listen() -> asyncio.Server:
    """Start to serve on a free port of loopback."""
    return await asyncio.start_server(_serve, "127.0.0.1", 0, backlog=1024, limit=_BLOCK)


def port_of(server: asyncio.Server) -> int:
    port: int = server.sockets[0].getsockname()[1]
    return port


async def _forever() -> None:
    server = await listen()
    print(port_of(server), flush=True)  # noqa: T201 - whoever started us waits for it
    await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_forever())
