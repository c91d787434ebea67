"""Writes an answer to a socket in the manner asked for."""

import socket
import struct
from dataclasses import dataclass, field
from http import HTTPStatus

from blackbird.provider import encoding
from blackbird.provider.manner import Fault, Framing, Manner
from blackbird.provider.pace import Pace

_WITHOUT_BODY = (204, 304)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said: the pieces of a body, and the piece that tells of an error in its midst."""

    media_type: str
    pieces: tuple[bytes, ...]
    streamed: bool = False
    failure: bytes = b""
    status: int = 200
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Sender:
    """Sends answers over one connection; `keep` tells afterwards whether it can carry another."""

    connection: socket.socket
    pace: Pace
    keep: bool = True
    _framing: Framing = field(default=Framing.LENGTH)

    def inform(self, status: int, fields: tuple[tuple[str, str], ...] = ()) -> None:
        """Send an informational answer."""
        self.connection.sendall(head_bytes(status, fields))

    def send(self, answer: Answer, manner: Manner, *, method: str, version: str) -> str:
        """Send the answer; the outcome in a word."""
        if manner.fault is Fault.RESET_BEFORE_HEAD:
            return self._reset(manner.fault)
        self._framing = self._choose_framing(answer, manner, version)
        bodiless = method == "HEAD" or answer.status in _WITHOUT_BODY
        pieces = self._encoded(answer, manner)
        if self._framing is Framing.CLOSE:
            self.keep = False
        self.connection.sendall(head_bytes(answer.status, self._fields(answer, manner, pieces)))
        if manner.fault is Fault.RESET_AFTER_HEAD:
            return self._reset(manner.fault)
        if bodiless:
            return "answered"
        outcome = self._body(pieces, manner)
        if outcome == "answered" and self._framing is Framing.CHUNKED:
            trailers = "".join(f"{name}: {value}\r\n" for name, value in manner.trailer)
            self.connection.sendall(f"0\r\n{trailers}\r\n".encode("latin-1"))
        return outcome

    def _choose_framing(self, answer: Answer, manner: Manner, version: str) -> Framing:
        framing = manner.framing or (Framing.CHUNKED if answer.streamed else Framing.LENGTH)
        return Framing.CLOSE if framing is Framing.CHUNKED and version == "HTTP/1.0" else framing

    def _encoded(self, answer: Answer, manner: Manner) -> list[bytes]:
        plain = list(answer.pieces)
        if manner.fault is Fault.ERROR and answer.streamed:
            plain = [*plain[: manner.after], answer.failure]
        encoder = encoding.encoder(manner.encoding)
        return [*(encoder.add(piece) for piece in plain), encoder.finish()]

    def _fields(self, answer: Answer, manner: Manner, pieces: list[bytes]) -> tuple[tuple[str, str], ...]:
        fields = [("content-type", answer.media_type), *answer.fields, *manner.field]
        if manner.encoding != "identity":
            fields.append(("content-encoding", manner.encoding))
        if manner.trailer and self._framing is Framing.CHUNKED:
            fields.append(("trailer", ", ".join(name for name, _ in manner.trailer)))
        if answer.status in _WITHOUT_BODY:
            return tuple(fields)
        framing = {
            Framing.CHUNKED: ("transfer-encoding", "chunked"),
            Framing.LENGTH: ("content-length", str(sum(map(len, pieces)))),
            Framing.CLOSE: ("connection", "close"),
        }
        return (*fields, framing[self._framing])

    def _body(self, pieces: list[bytes], manner: Manner) -> str:
        for number, piece in enumerate(pieces):
            if number and not self.pace.wait(manner.gap):
                self.keep = False
                return "client gone"
            if manner.fault is not None and number == manner.after:
                outcome = self._fail(manner.fault)
                if outcome:
                    return outcome
            if piece:
                self.connection.sendall(self._framed(piece))
        return "answered"

    def _framed(self, piece: bytes) -> bytes:
        return b"%x\r\n%b\r\n" % (len(piece), piece) if self._framing is Framing.CHUNKED else piece

    def _fail(self, fault: Fault) -> str:
        """Let the fault happen; nothing is returned if the answer goes on."""
        if fault is Fault.RESET:
            return self._reset(fault)
        if fault is Fault.CUT:
            self.keep = False
            self.connection.shutdown(socket.SHUT_WR)
            return fault.value
        if fault is Fault.STALL:
            self.pace.wait_for_end()
            self.keep = False
            return fault.value
        return ""

    def _reset(self, fault: Fault) -> str:
        self.keep = False
        # With no time to linger, close() sends a reset in place of an orderly end.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return fault.value


def head_bytes(status: int, fields: tuple[tuple[str, str], ...]) -> bytes:
    """Status line and fields up to the empty line."""
    known = {entry.value: entry.phrase for entry in HTTPStatus}
    reason = known.get(status, "Overloaded" if status == 529 else "")
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in fields), "", ""]
    return "\r\n".join(lines).encode("latin-1")
