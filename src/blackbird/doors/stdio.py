"""MCP over standard input and output, a line a message: ready before an agent's first turn, whatever it is sent."""

import importlib
import os
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from blackbird.doors import protocol
from blackbird.doors.answer import Answer, failed
from blackbird.doors.protocol import Fault, Request
from blackbox.errors import BlackboxError

if TYPE_CHECKING:
    from blackbird.doors.dispatch import Dispatcher

Opener = Callable[[], AbstractContextManager["Dispatcher"]]
#: A longer line is no call of these tools.
LONGEST_LINE = 1 << 20
#: Calls that may wait; a client that sends more gets an error for each.
MOST_WAITING = 64


class Server:
    """Answers messages. Calls of tools wait for each other in a thread; all else is answered at once."""

    def __init__(self, write: Callable[[bytes], object], opener: Opener) -> None:
        self._write = write
        self._opener = opener
        self._opened = ExitStack()
        self._dispatcher: Dispatcher | None = None
        self._desk = ThreadPoolExecutor(1, "call")
        self._waiting: dict[protocol.Id | None, Future[bytes]] = {}
        self._unwanted: set[protocol.Id | None] = set()
        self._lock = threading.Lock()
        self._is_warm = False

    def take(self, line: bytes) -> None:
        """Answer a line, or have it answered."""
        if not line.strip():
            return
        try:
            request = protocol.read(line)
            if request is not None:
                self._handle(request)
        except Fault as fault:
            self._send(fault.line())
        self._warm_up()

    def finish(self) -> None:
        """Answer what waits, and close the memory."""
        self._desk.shutdown()
        self._opened.close()

    def _handle(self, request: Request) -> None:
        if request.id is None:
            if request.method == "notifications/cancelled":
                self._cancel(request.params.get("requestId"))
        elif request.method == "tools/call":
            self._call(request)
        else:
            self._send(protocol.line(request, protocol.respond(request)))

    def _call(self, request: Request) -> None:
        protocol.called(request)
        with self._lock:
            is_taken, is_full = request.id in self._waiting, len(self._waiting) >= MOST_WAITING
        if is_taken:
            raise Fault(
                protocol.INVALID_REQUEST, "Invalid request: this id waits for its answer already", to=request.id
            )
        if is_full:
            busy = failed("busy", f"{MOST_WAITING} calls wait already", "wait for their answers")
            self._send(protocol.line(request, protocol.result(request, busy)))
            return
        future = self._desk.submit(self._answer, request)
        with self._lock:
            self._waiting[request.id] = future
        future.add_done_callback(partial(self._done, request))

    def _answer(self, request: Request) -> bytes:
        name, arguments = protocol.called(request)
        try:
            answer = self._desk_dispatcher().call(name, arguments, request.meta)
        except BlackboxError as error:
            answer = failed(error.code, error.message, error.remedy)
        return _line(request, answer)

    def _done(self, request: Request, future: "Future[bytes]") -> None:
        """Send what became of a call, unless the client no longer wants it. Whatever went wrong, it hears of it."""
        with self._lock:
            self._waiting.pop(request.id, None)
            is_unwanted = request.id in self._unwanted
            self._unwanted.discard(request.id)
        if is_unwanted or future.cancelled():
            return
        error = future.exception()
        if error is None:
            self._send(future.result())
            return
        traceback.print_exception(error, limit=-5, file=sys.stderr)
        kind = f"Internal error: {type(error).__name__}"
        self._send(Fault(protocol.INTERNAL_ERROR, kind, to=request.id).line())

    def _cancel(self, identifier: object) -> None:
        if not isinstance(identifier, int | str):
            return
        with self._lock:
            future = self._waiting.get(identifier)
            if future is not None:
                self._unwanted.add(identifier)
        if future is not None:
            future.cancel()

    def _warm_up(self) -> None:
        """Open the memory while the client thinks about what it was told."""
        if not self._is_warm:
            self._is_warm = True
            self._desk.submit(self._desk_dispatcher)

    def _desk_dispatcher(self) -> "Dispatcher":
        if self._dispatcher is None:
            self._dispatcher = self._opened.enter_context(self._opener())
        return self._dispatcher

    def _send(self, line: bytes) -> None:
        # A client that has gone reads nothing; that its input has ended is what ends this program.
        with self._lock, suppress(BrokenPipeError):
            self._write(line)


def serve(stream: BinaryIO, server: Server) -> None:
    """Take lines until there are no more."""
    try:
        while line := stream.readline(LONGEST_LINE):
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                while (rest := stream.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                    pass
                line = b'"too long"'
            server.take(line)
    finally:
        server.finish()


def main(opener: Opener | None = None) -> int:
    """Serve standard input. Standard output is the protocol's alone: what else is printed goes to standard error."""
    out = os.dup(1)
    os.dup2(2, 1)
    with suppress(KeyboardInterrupt):
        serve(sys.stdin.buffer, Server(partial(_write_all, out), opener or _memory))
    return 0


def _memory() -> AbstractContextManager["Dispatcher"]:
    # Loaded after the first answer: it takes longer than all else together.
    opening = importlib.import_module("blackbird.doors.opening")
    found: AbstractContextManager[Dispatcher] = opening.dispatcher("mcp", has_one_asker=True)
    return found


def _line(request: Request, answer: Answer) -> bytes:
    try:
        return protocol.line(request, protocol.result(request, answer))
    except Fault as fault:
        return fault.line()


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    sys.exit(main())
