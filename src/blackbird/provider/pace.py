"""Time between the pieces of an answer: durations in words, and waits that end when the client goes."""

import re
import select
import socket
import threading
import time

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s|)", re.ASCII)
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0}
_SLICE = 0.05


def parse_duration(text: str) -> float:
    """Seconds in `20ms`, `1.5s`, `500us` or `2`; anything else is a ValueError."""
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no duration: write 20ms, 1.5s, 500us or a number of seconds")
    return float(found[1]) * _SECONDS[found[2]]


class Pace:
    """Waits on behalf of one connection."""

    def __init__(self, connection: socket.socket, stopping: threading.Event) -> None:
        self._connection = connection
        self._stopping = stopping

    def wait(self, seconds: float) -> bool:
        """Let the time pass; False if meanwhile the client went or the provider stops."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self._stopping.wait(min(left, _SLICE)) or self.client_went():
                return False
        return True

    def wait_for_end(self) -> None:
        """Wait until the client goes or the provider stops."""
        while not self.client_went():
            if self._stopping.wait(_SLICE):
                return

    def client_went(self) -> bool:
        """Whether the client closed or reset the connection; bytes that it sent are left for the reader."""
        readable, _, _ = select.select([self._connection], [], [], 0)
        if not readable:
            return False
        try:
            # Beneath TLS, which has no way to look ahead.
            return socket.socket.recv(self._connection, 1, socket.MSG_PEEK) == b""
        except OSError:
            return True
