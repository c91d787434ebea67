"""One request and what came back: what is known of it, as values."""

import enum
from typing import Any

import msgspec

from blackbird.trace.records import Direction


class State(enum.StrEnum):
    """How far an exchange came."""

    COMPLETE = "complete"
    ACTIVE = "active"
    INTERRUPTED = "interrupted"
    ERROR = "error"


class Chunk(msgspec.Struct, frozen=True):
    """A piece of a body, when it arrived and in which record it stands.

    `data` is left out where bodies were not asked for.
    """

    at_us: int
    length: int
    data: bytes | None
    segment: int = 0
    sequence: int = 0


class Body(msgspec.Struct, frozen=True):
    """A body: what passed (`wire`, known once the exchange is over) and what of it is recorded."""

    chunks: list[Chunk] = []
    wire: int | None = None
    decoded: int | None = None
    encoding: str | None = None
    complete: bool = False
    redactions: dict[str, int] = {}

    @property
    def stored(self) -> int:
        """How many bytes are in records."""
        return sum(chunk.length for chunk in self.chunks)

    @property
    def size(self) -> int:
        """How many bytes passed; as long as that is not known, how many are recorded."""
        return self.stored if self.wire is None else self.wire

    @property
    def data(self) -> bytes:
        """What is recorded, as one."""
        return b"".join(chunk.data or b"" for chunk in self.chunks)


class Head(msgspec.Struct, frozen=True):
    """The head of a response."""

    status: int | None
    reason: str
    version: str
    headers: list[tuple[str, str]]


class Timings(msgspec.Struct, frozen=True):
    """Microseconds since the first byte of the request arrived; what was not reached is missing."""

    connected_us: int | None = None
    request_sent_us: int | None = None
    first_byte_us: int | None = None
    total_us: int | None = None


class Fault(msgspec.Struct, frozen=True):
    """Why an exchange ended before its time."""

    where: str | None
    code: str
    message: str


class Gap(msgspec.Struct, frozen=True):
    """What of it is missing, and why."""

    reason: str
    direction: str | None
    bytes: int
    records: int


class Message(msgspec.Struct, frozen=True):
    """A message of a WebSocket, and when it began; `data` is left out where bodies were not asked for."""

    direction: Direction
    at_us: int
    length: int
    binary: bool
    complete: bool
    data: bytes | None


class Close(msgspec.Struct, frozen=True):
    """How a side of a WebSocket said that it has said all."""

    code: int | None
    reason: str | None


class Sent(msgspec.Struct, frozen=True):
    """What a side of a WebSocket sent. Pings, pongs and the close are known once the exchange is over."""

    messages: int
    pings: int | None = None
    pongs: int | None = None
    close: Close | None = None


class WebSocket(msgspec.Struct, frozen=True):
    """What passed after an exchange became a WebSocket: messages in the order in which they began."""

    client: Sent
    server: Sent
    messages: list[Message]


class Source(msgspec.Struct, frozen=True):
    """A segment that has records of it."""

    number: int
    id: str


class Provenance(msgspec.Struct, frozen=True):
    """Where in the trace it stands."""

    segments: list[Source]
    first_sequence: int
    last_sequence: int


class Exchange(msgspec.Struct, frozen=True):
    """One request and what came back."""

    request_id: str
    state: State
    provenance: Provenance
    session: str | None = None
    task: str | None = None
    run: str | None = None
    attribution: str | None = None
    #: The ids that the client itself sent, by the recorder's names for them.
    client: dict[str, str] = {}
    #: How it came to the recorder if not as to a server: `forward` or `tunnel`.
    via: str | None = None
    method: str | None = None
    path: str | None = None
    version: str | None = None
    headers: list[tuple[str, str]] = []
    upstream: str | None = None
    url: str | None = None
    mode: str | None = None
    policy: str | None = None
    started: str | None = None
    started_ns: int | None = None
    response: Head | None = None
    interim: list[Head] = []
    request_body: Body = Body()
    response_body: Body = Body()
    timings: Timings = Timings()
    error: Fault | None = None
    gaps: list[Gap] = []
    websocket: WebSocket | None = None
    #: What passthrough mode keeps of each body in its stead, by side.
    kept: dict[str, dict[str, Any]] = {}

    @property
    def status(self) -> int | None:
        """The status of the response, once it is there."""
        return self.response.status if self.response is not None else None

    @property
    def complete(self) -> bool:
        """Whether all of both bodies passed."""
        return self.state is State.COMPLETE and self.request_body.complete and self.response_body.complete

    @property
    def is_left(self) -> bool:
        """Whether no more happened than that the client left its WebSocket without a word, as some do when done."""
        return self.websocket is not None and self.error is not None and self.error.code == "client_disconnected"

    @property
    def messages(self) -> list[Message]:
        """The messages of a WebSocket; none of any other exchange."""
        return self.websocket.messages if self.websocket is not None else []

    def body(self, direction: Direction) -> Body:
        """The body that went this way."""
        return self.request_body if direction is Direction.REQUEST else self.response_body
