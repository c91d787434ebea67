"""The provider as a server: listens on loopback, serves each connection in a thread, keeps what it received."""

import contextlib
import itertools
import socket
import ssl
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from blackbird.provider.connection import Connection, Manners
from blackbird.provider.manner import Manner
from blackbird.provider.wire import Received

_BACKLOG = 256


class Provider:
    """A scripted provider on 127.0.0.1, for the time of a `with` block.

    `manner` is how it answers unless a request asks otherwise; `turns` names other manners for single requests, by
    their number from 1, and `steps` for steps of the job, by their number: the first request that asks for a step is
    answered so, its repetition as usual. `folder` is where the files of the scripted job are, if the client wants
    absolute paths; `context` lets it speak TLS.
    """

    def __init__(
        self,
        port: int = 0,
        manner: Manner | None = None,
        turns: Mapping[int, Manner] | None = None,
        folder: str = "",
        *,
        steps: Mapping[int, Manner] | None = None,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._manner = manner or Manner()
        self._turns = dict(turns or {})
        self._steps = dict(steps or {})
        self._context = context
        self._folder = folder
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._received: list[Received] = []
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._numbers = itertools.count(1)
        self._listener = socket.create_server(("127.0.0.1", port), backlog=_BACKLOG)
        self._acceptor = threading.Thread(target=self._accept, name="provider", daemon=True)

    @property
    def port(self) -> int:
        """The port it listens on."""
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """Its base URL, without a slash at the end."""
        return f"{'http' if self._context is None else 'https'}://127.0.0.1:{self.port}"

    @property
    def received(self) -> list[Received]:
        """All requests so far, in the order in which their heads came."""
        with self._changed:
            return list(self._received)

    def wait_for(self, count: int, timeout: float = 10.0) -> list[Received]:
        """All requests, once there are `count` of them; TimeoutError if they do not come."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._received) >= count, timeout):
                raise TimeoutError(f"{len(self._received)} of {count} requests came within {timeout} s")
            return list(self._received)

    def start(self) -> Self:
        """Begin to accept connections."""
        self._acceptor.start()
        return self

    def stop(self) -> None:
        """Close every connection and end every thread."""
        self._stopping.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes accept()
        self._listener.close()
        with self._changed:
            connections, threads = list(self._open), list(self._threads)
        for connection in connections:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)  # of TLS too, whose own has no end in good order
        for thread in (self._acceptor, *threads):
            thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._context is not None:
                connection = self._context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
            thread = threading.Thread(target=self._serve, args=(connection,), name="provider client", daemon=True)
            with self._changed:
                self._open.add(connection)
                self._threads = [entry for entry in self._threads if entry.is_alive()] + [thread]
                thread.start()

    def _serve(self, connection: socket.socket) -> None:
        number = next(self._numbers)
        try:
            if isinstance(connection, ssl.SSLSocket):
                connection.do_handshake()
            manners = Manners(self._manner_of, self._manner_of_step)
            Connection(connection, number, self._stopping, manners, self._keep, self._folder).serve()
        except OSError:  # no handshake; all else the connection takes upon itself
            connection.close()
        finally:
            with self._changed:
                self._open.discard(connection)

    def _keep(self, request: Received) -> None:
        with self._changed:
            self._received.append(request)
            self._changed.notify_all()

    def _manner_of(self, request: Received) -> Manner:
        with self._changed:
            number = next(at for at, entry in enumerate(self._received, 1) if entry is request)
        return self._turns.get(number, self._manner)

    def _manner_of_step(self, step: int, usual: Manner) -> Manner:
        with self._changed:
            return self._steps.pop(step, usual)
