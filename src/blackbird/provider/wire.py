"""Reads requests from a socket and keeps them verbatim: head, framing and body."""

import socket
import ssl
import threading
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

_PIECE = 65536
_MAX_HEAD = 1 << 20


class Gone(Exception):
    """The client closed or reset the connection before it had said all."""


class Malformed(Exception):
    """What came is no HTTP/1 request."""


@dataclass(slots=True)
class Received:
    """One request as it came over the wire."""

    connection: int
    head: bytes  # from the request line to the empty line, both included
    raw: bytes = b""  # what followed the head, framing included
    body: bytes = b""  # the same without transfer coding
    trailers: list[tuple[str, str]] = field(default_factory=list)
    messages: list[bytes] = field(default_factory=list)  # of a WebSocket: what the client sent, decompressed
    complete: bool = False  # all of the body came
    outcome: str = ""  # how the answer went: answered, client gone, or the fault
    over: threading.Event = field(default_factory=threading.Event)  # set with the outcome

    @property
    def lines(self) -> list[bytes]:
        """The lines of the head, without the empty one."""
        return self.head.split(b"\r\n")[:-2]

    @property
    def request_line(self) -> tuple[str, str, str]:
        """Method, target and version."""
        words = self.lines[0].decode("latin-1").split(" ")
        if len(words) != 3:
            raise Malformed(f"request line of {len(words)} words")
        return words[0], words[1], words[2]

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Names and values in their order and case."""
        parts = (line.decode("latin-1").partition(":") for line in self.lines[1:])
        return [(name, value.strip(" \t")) for name, _, value in parts]

    def get(self, name: str, default: str = "") -> str:
        """The first value under a name, in any case."""
        return next((value for key, value in self.fields if key.lower() == name.lower()), default)

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.request_line[1].partition("?")[0]

    @property
    def query(self) -> list[tuple[str, str]]:
        """The parameters of the target, in order."""
        return parse_qsl(self.request_line[1].partition("?")[2], keep_blank_values=True)


class Reader:
    """Takes one request after the other from a connection."""

    def __init__(self, connection: socket.socket, number: int) -> None:
        self._connection = connection
        self._number = number
        self._pending = b""
        self._taken = bytearray()

    def head(self) -> Received | None:
        """The next request, its body not yet read; None if the client closed between requests."""
        while (end := self._pending.find(b"\r\n\r\n")) < 0:
            if len(self._pending) > _MAX_HEAD:
                raise Malformed(f"a head of more than {_MAX_HEAD} bytes")
            if not self._fill():
                if self._pending.strip():
                    raise Gone
                return None
        head, self._pending = self._pending[: end + 4], self._pending[end + 4 :]
        return Received(self._number, head.lstrip(b"\r\n"))

    def body(self, request: Received) -> None:
        """Read the body into the request; what came before the client went is kept."""
        self._taken.clear()
        try:
            if request.get("transfer-encoding").lower() == "chunked":
                self._chunks(request)
            else:
                request.body = self._take(int(request.get("content-length", "0")))
            request.complete = True
        finally:
            request.raw = bytes(self._taken)

    def take(self, size: int) -> bytes:
        """Exactly so many bytes of what follows an upgrade."""
        return self._take(size)

    def _chunks(self, request: Received) -> None:
        pieces: list[bytes] = []
        try:
            while size := int(self._line().split(b";")[0], 16):
                pieces.append(self._take(size))
                self._line()
        finally:
            request.body = b"".join(pieces)
        while line := self._line():
            name, _, value = line.decode("latin-1").partition(":")
            request.trailers.append((name, value.strip(" \t")))

    def _line(self) -> bytes:
        while (end := self._pending.find(b"\r\n")) < 0:
            self._fill_or_raise()
        line, self._pending = self._pending[:end], self._pending[end + 2 :]
        self._taken += line + b"\r\n"
        return line

    def _take(self, size: int) -> bytes:
        parts, missing = [self._pending[:size]], size - len(self._pending)
        self._pending = self._pending[size:]
        self._taken += parts[0]
        while missing > 0:
            part = self._receive(min(missing, _PIECE * 16))
            if not part:
                raise Gone
            parts.append(part)
            self._taken += part
            missing -= len(part)
        return b"".join(parts)

    def _fill_or_raise(self) -> None:
        if not self._fill():
            raise Gone

    def _fill(self) -> bool:
        data = self._receive(_PIECE)
        self._pending += data
        return bool(data)

    def _receive(self, size: int) -> bytes:
        try:
            return self._connection.recv(size)
        except (ConnectionError, ssl.SSLError) as error:
            raise Gone from error
