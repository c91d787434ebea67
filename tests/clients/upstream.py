"""An upstream whose every byte a test decides: a handler for each connection that comes."""

import contextlib
import queue
import socket
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from tests.clients.peer import PATIENCE, Ended, Head, Message, Peer

Handler = Callable[[Peer], None]


class Upstream:
    """Listens on loopback; `handler` serves each connection in a thread of its own.

    What a handler raises fails the test that uses it, when the `with` block ends. A connection that the other side
    ends is no failure.
    """

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.connections = 0
        self.heads: queue.Queue[Head] = queue.Queue()
        self.requests: queue.Queue[Message] = queue.Queue()
        self._errors: list[BaseException] = []
        self._peers: list[Peer] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._acceptor = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Self:
        self._acceptor.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for peer in self._peers:
            with contextlib.suppress(OSError):
                peer.connection.shutdown(socket.SHUT_RDWR)
        for thread in (self._acceptor, *self._threads):
            thread.join(PATIENCE)
        if kind is None and self._errors:
            raise self._errors[0]

    def next_request(self) -> Message:
        """The next request that a handler put aside."""
        return self.requests.get(timeout=PATIENCE)

    def next_head(self) -> Head:
        return self.heads.get(timeout=PATIENCE)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            peer = Peer(connection)
            thread = threading.Thread(target=self._serve, args=(peer,), daemon=True)
            self._peers.append(peer)
            self._threads.append(thread)
            thread.start()

    def _serve(self, peer: Peer) -> None:
        try:
            self.handler(peer)
        except (Ended, ConnectionError):
            pass
        except (AssertionError, OSError, ValueError) as error:
            self._errors.append(error)
        finally:
            peer.close()


def answering(upstream_answer: bytes, keep: "list[Message] | None" = None) -> Handler:
    """A handler that reads whole requests and answers each with the same bytes."""

    def handle(peer: Peer) -> None:
        while True:
            message = peer.request()
            if keep is not None:
                keep.append(message)
            peer.send(upstream_answer)

    return handle


def chunked(*pieces: bytes) -> bytes:
    """A whole body in chunks, one for each piece."""
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
