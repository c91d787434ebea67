"""Both ends of a WebSocket whose every byte a test decides, with a recorder between them."""

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from blackbird.provider.websocket import frames
from blackbird.provider.websocket.frames import Frame, Opcode
from tests.clients.peer import PATIENCE, Head, Peer
from tests.recorder.conftest import Wire

KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
MASK = b"\x37\xfa\x21\x3d"
DEFLATE = b"Sec-WebSocket-Extensions: permessage-deflate"


def upgrade(host: bytes, *fields: bytes, target: bytes = b"/v1/responses") -> bytes:
    """The head with which a client asks for a WebSocket."""
    lines = [
        b"GET " + target + b" HTTP/1.1",
        b"Host: " + host,
        b"Connection: Upgrade",
        b"Upgrade: websocket",
        b"Sec-WebSocket-Version: 13",
        b"Sec-WebSocket-Key: " + KEY,
        *fields,
    ]
    return b"\r\n".join([*lines, b"", b""])


def agreement(*fields: bytes) -> bytes:
    """The head with which a server agrees."""
    lines = [
        b"HTTP/1.1 101 Switching Protocols",
        b"Upgrade: WebSocket",
        b"Connection: Upgrade",
        b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK9xOo=",
        *fields,
    ]
    return b"\r\n".join([*lines, b"", b""])


@dataclass(frozen=True)
class Pair:
    """A client and a server that agreed."""

    client: Peer
    server: Peer
    asked: Head
    agreed: Head

    def ask(self, data: bytes, **about: bool) -> bytes:
        """Have the client send a message of text, and see it arrive as it was sent."""
        return self.pass_on(self.client, self.server, frames.spell(Frame(Opcode.TEXT, data, **about), MASK))

    def tell(self, data: bytes, **about: bool) -> bytes:
        """Have the server send one."""
        return self.pass_on(self.server, self.client, frames.spell(Frame(Opcode.TEXT, data, **about)))

    def pass_on(self, sender: Peer, receiver: Peer, data: bytes) -> bytes:
        """Send bytes of either side, and see them arrive unchanged."""
        sending = threading.Thread(target=sender.send, args=(data,), daemon=True)
        sending.start()
        arrived = receiver.exactly(len(data))
        sending.join(PATIENCE)
        assert arrived == data
        return data

    def close(self, code: int = 1000) -> None:
        """Close in good order: the client first, then the server, which ends the connection."""
        self.pass_on(self.client, self.server, frames.spell(frames.close(code, "bye"), MASK))
        self.pass_on(self.server, self.client, frames.spell(frames.close(code)))
        self.server.finish_sending()
        assert self.client.sees_end()
        self.client.close()


@contextmanager
def opened(wire: Wire, *fields: bytes, early: bytes = b"", first: bytes = b"", agreed: bytes = b"") -> Iterator[Pair]:
    """A WebSocket through the recorder; `early` goes out with the upgrade, `first` with the answer to it."""
    arrived: queue.Queue[tuple[Head, Peer]] = queue.Queue()
    over = threading.Event()

    def handle(peer: Peer) -> None:
        head = peer.head()
        peer.send(agreement(*([agreed] if agreed else [])) + first)
        arrived.put((head, peer))
        over.wait(PATIENCE)

    wire.answer_with(handle)
    with wire.through() as client:
        client.send(upgrade(wire.host(), *fields) + early)
        answer = client.head()
        asked, server = arrived.get(timeout=PATIENCE)
        try:
            yield Pair(client, server, asked, answer)
        finally:
            over.set()
