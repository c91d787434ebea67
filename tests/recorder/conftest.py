"""A recorder before an upstream whose bytes each test decides."""

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.clients.peer import Message, Peer
from tests.clients.upstream import Handler, Upstream
from tests.recorder.harness import Recorder, until
from tests.recorder.trace_view import Exchange, exchanges

Start = Callable[..., Recorder]


class Wire:
    """A recorder, its upstream, and both ways to the latter: through the recorder and directly."""

    def __init__(self, recorder: Recorder, upstream: Upstream) -> None:
        self.recorder = recorder
        self.upstream = upstream
        self.before = 0

    def answer_with(self, handler: Handler) -> None:
        self.upstream.handler = handler

    def host(self) -> bytes:
        """What both ways accept as Host, so that requests can be the very same bytes."""
        return b"127.0.0.1:%d" % self.upstream.port

    def through(self) -> Peer:
        return self.recorder.client()

    def direct(self) -> Peer:
        return Peer.connect(self.upstream.port)

    def ask_both(self, request: bytes, *, bodiless: bool = False) -> tuple[Message, Message]:
        """The same request directly and through the recorder."""
        with self.direct() as client:
            expected = client.ask(request, bodiless=bodiless)
        with self.through() as client:
            return expected, client.ask(request, bodiless=bodiless)

    def recorded(self, count: int = 1) -> list[Exchange]:
        """The exchanges of this test, once they are over."""
        return self.recorder.exchanges(count, after=self.before)

    def only(self) -> Exchange:
        """The one exchange of this test."""
        return self.recorded()[0]

    def holds(self, needle: bytes) -> list[str]:
        """The files of the home in which some bytes occur, once all that passed so far is written."""
        self.settle()
        return self.recorder.holds(needle)

    def settle(self) -> None:
        """Wait until nothing is under way, and all that passed is written."""
        until(lambda: self.recorder.control("status")["active_requests"] == 0, "the end of all requests")
        self.recorder.control("append", type="tool.event", payload="{}")  # answered when all before it is written


Wired = Callable[..., Wire]


def _refuse(peer: Peer) -> None:
    raise AssertionError("no request was expected upstream")


@pytest.fixture(scope="session")
def _shared_wires() -> Iterator[Wired]:
    """One recorder for each set of settings: they start in no time only when they are compiled for release."""
    wires: dict[str, Wire] = {}
    with ExitStack() as stack:

        def find(**settings: Any) -> Wire:
            key = json.dumps(settings, sort_keys=True)
            if key not in wires:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bb"))
                upstream = stack.enter_context(Upstream(_refuse))
                routes = {"upstreams": {"up": upstream.url}, "default_upstream": upstream.url}
                recorder = stack.enter_context(Recorder(Path(folder) / "home", **routes, **settings))
                wires[key] = Wire(recorder, upstream)
            return wires[key]

        yield find


@pytest.fixture
def wired(_shared_wires: Wired) -> Wired:
    """Finds the recorder of some settings; what earlier tests recorded is out of sight."""

    def find(**settings: Any) -> Wire:
        wire = _shared_wires(**settings)
        wire.settle()
        wire.before = len(exchanges(wire.recorder.trace))
        wire.answer_with(_refuse)
        wire.upstream.connections = 0
        return wire

    return find


@pytest.fixture
def wire(wired: Wired) -> Wire:
    """The recorder of the usual settings."""
    return wired()


@pytest.fixture
def home() -> Iterator[Path]:
    """Where a home can be made; a short name, since sockets take no long ones."""
    with tempfile.TemporaryDirectory(prefix="bb") as folder:
        yield Path(folder) / "home"


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts recorders of a test's own, each in its own home."""
    with ExitStack() as stack:

        def begin(**settings: Any) -> Recorder:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bb"))
            return stack.enter_context(Recorder(Path(folder) / "home", **settings))

        yield begin
