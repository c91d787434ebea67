"""One end of an HTTP/1 connection that shows every byte: a client, or the upstream of a recorder."""

import contextlib
import socket
import struct
from dataclasses import dataclass
from types import TracebackType
from typing import Self

#: How long a test waits for what must come; far more than anything here takes.
PATIENCE = 30.0


class Ended(Exception):
    """The other side closed the connection before all had come; `data` is what did."""

    def __init__(self, data: bytes, *, reset: bool) -> None:
        super().__init__("reset" if reset else "end")
        self.data = data
        self.reset = reset


@dataclass(frozen=True)
class Head:
    """The head of a request or response, verbatim."""

    raw: bytes

    @property
    def lines(self) -> list[bytes]:
        return self.raw.split(b"\r\n")[:-2]

    @property
    def start(self) -> bytes:
        return self.lines[0]

    @property
    def status(self) -> int:
        return int(self.start.split(b" ")[1])

    @property
    def target(self) -> bytes:
        return self.start.split(b" ")[1]

    @property
    def fields(self) -> list[bytes]:
        return self.lines[1:]

    def get(self, name: bytes) -> bytes | None:
        pairs = (line.partition(b":") for line in self.fields)
        return next((value.strip() for key, _, value in pairs if key.lower() == name.lower()), None)

    def without(self, *names: bytes) -> list[bytes]:
        """The lines but for those of some names."""
        return [line for line in self.fields if line.partition(b":")[0].lower() not in names]


@dataclass(frozen=True)
class Message:
    """A head with its body: as it was framed, and without transfer coding."""

    head: Head
    framed: bytes
    body: bytes
    trailers: tuple[bytes, ...] = ()


class Peer:
    """Reads and writes one connection; nothing is hidden, nothing is mended."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        connection.settimeout(PATIENCE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pending = b""

    @classmethod
    def connect(cls, port: int, host: str = "127.0.0.1") -> Self:
        return cls(socket.create_connection((host, port), timeout=PATIENCE))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def close(self) -> None:
        self.connection.close()

    def finish_sending(self) -> None:
        self.connection.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def fill(self) -> None:
        try:
            data = self.connection.recv(1 << 20)
        except ConnectionResetError as error:
            raise Ended(self.pending, reset=True) from error
        if not data:
            raise Ended(self.pending, reset=False)
        self.pending += data

    def until(self, mark: bytes) -> bytes:
        """All up to and with the mark."""
        while mark not in self.pending:
            self.fill()
        end = self.pending.index(mark) + len(mark)
        taken, self.pending = self.pending[:end], self.pending[end:]
        return taken

    def exactly(self, size: int) -> bytes:
        parts = [self.pending[:size]]
        missing = size - len(parts[0])
        self.pending = self.pending[size:]
        while missing:
            try:
                self.fill()
            except Ended as ended:
                raise Ended(b"".join(parts) + ended.data, reset=ended.reset) from ended
            part, self.pending = self.pending[:missing], self.pending[missing:]
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def rest(self) -> tuple[bytes, bool]:
        """All that still comes, and whether it ended in a reset."""
        parts = [self.pending]
        self.pending = b""
        while True:
            try:
                data = self.connection.recv(1 << 20)
            except ConnectionResetError:
                return b"".join(parts), True
            if not data:
                return b"".join(parts), False
            parts.append(data)

    def head(self) -> Head:
        return Head(self.until(b"\r\n\r\n"))

    def chunk(self) -> tuple[bytes, bytes]:
        """One chunk: as framed, and its data."""
        line = self.until(b"\r\n")
        size = int(line.split(b";")[0], 16)
        if size == 0:
            return line, b""
        data = self.exactly(size)
        return line + data + self.until(b"\r\n"), data

    def _chunks(self) -> tuple[bytes, bytes, tuple[bytes, ...]]:
        framed: list[bytes] = []
        parts: list[bytes] = []
        try:
            while True:
                whole, data = self.chunk()
                framed.append(whole)
                if not data:
                    break
                parts.append(data)
        except Ended as ended:
            raise Ended(b"".join(parts), reset=ended.reset) from ended
        trailers: list[bytes] = []
        while line := self.until(b"\r\n").removesuffix(b"\r\n"):
            trailers.append(line)
        return b"".join(framed), b"".join(parts), tuple(trailers)

    def body_of(self, head: Head, *, response: bool) -> Message:
        if (head.get(b"transfer-encoding") or b"").lower() == b"chunked":
            framed, body, trailers = self._chunks()
            return Message(head, framed, body, trailers)
        length = head.get(b"content-length")
        if length is not None:
            body = self.exactly(int(length))
        elif response:
            body, reset = self.rest()
            if reset:
                raise Ended(body, reset=True)
        else:
            body = b""
        return Message(head, body, body)

    def request(self) -> Message:
        """The next request."""
        return self.body_of(self.head(), response=False)

    def response(self, *, bodiless: bool = False) -> Message:
        """The next response; informational ones are responses too."""
        head = self.head()
        if bodiless or head.status < 200 or head.status in (204, 304):
            return Message(head, b"", b"")
        return self.body_of(head, response=True)

    def ask(self, data: bytes, *, bodiless: bool = False) -> Message:
        self.send(data)
        return self.response(bodiless=bodiless)

    def sees_end(self) -> bool:
        """Whether the other side ends the connection, in whatever way, without another byte."""
        with contextlib.suppress(TimeoutError):
            return self.rest()[0] == b""
        return False
