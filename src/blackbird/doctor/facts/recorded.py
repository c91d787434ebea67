"""What the trace has: calls by the ids that agents know them by, jumps of the clock, and how fast it grows."""

import msgspec

from blackbird.exchange import catalog
from blackbird.exchange.catalog import Selection
from blackbird.exchange.exchange import Exchange, State
from blackbird.exchange.payloads import number
from blackbird.trace import ids
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind, read_object
from blackbird.trace.segment import Segment
from blackbox.errors import BlackboxError

#: Less is what a clock that is kept right by the network does.
JUMP_NS = 1_000_000_000
#: How long an exchange whose end is not known may have lasted.
_LONGEST_NS = 3600 * 1_000_000_000
#: What a path has in it, whatever the upstream is called: clients reach their models by gateways of any name.
_APIS = {"/messages": "anthropic", "/responses": "openai", "/completions": "openai", "enerateContent": "gemini"}
_REQUEST_IDS = frozenset({"request-id", "x-request-id"})
_THREAD_IDS = frozenset({"thread-id", "session-id", "session_id", "conversation_id"})


class Call(msgspec.Struct, frozen=True):
    """An exchange as the agent that made it would know it; without heads, only by its API and its time."""

    api: str | None
    begin_ns: int
    end_ns: int
    has_head: bool
    requests: frozenset[str] = frozenset()
    threads: frozenset[str] = frozenset()


class Jump(msgspec.Struct, frozen=True):
    """The wall clock was set: when, by how much, and whether the recorder noticed while it ran."""

    at_ns: int
    seconds: float


class Recorded(msgspec.Struct, frozen=True):
    """The part of the trace since a time; `begins_ns` is when the trace itself begins."""

    begins_ns: int | None = None
    calls: list[Call] = []
    jumps: list[Jump] = []
    bytes: int = 0
    recent_bytes: int = 0
    unreadable: list[str] = []


def gather(trace: Trace, since_ns: int) -> Recorded:
    """What was recorded since then."""
    try:
        places = trace.places()
        opened = [(place, content) for place, content in trace.contents() if not isinstance(content, TraceError)]
        segments = [content for _, content in opened if isinstance(content, Segment)]
        listing = catalog.recent(trace, Selection(since=since_ns))
    except BlackboxError as error:
        return Recorded(unreadable=[error.message])
    recent = {segment.header.number for segment in segments if segment.header.wall >= since_ns}
    unreadable = [problem.message for problem in listing.problems]
    return Recorded(
        begins_ns=segments[0].header.wall if segments else None,
        calls=[describe(exchange) for exchange in listing.exchanges if exchange.started_ns is not None],
        jumps=_jumps([each for each in segments if each.header.number >= min(recent, default=0)], since_ns),
        bytes=sum(place.size for place in places),
        recent_bytes=sum(place.size for place in places if place.number in recent),
        unreadable=unreadable,
    )


def describe(exchange: Exchange) -> Call:
    """The exchange by its ids and times."""
    begin = exchange.started_ns or 0
    total = exchange.timings.total_us
    end = begin + (total * 1000 if total is not None else _LONGEST_NS)
    response = exchange.response.headers if exchange.response is not None else []
    return Call(
        _api(exchange.path or ""),
        begin,
        end if exchange.state is not State.ACTIVE else end + _LONGEST_NS,
        bool(response),
        frozenset(value for name, value in response if name.lower() in _REQUEST_IDS),
        frozenset(value for name, value in exchange.headers if name.lower() in _THREAD_IDS),
    )


def _api(path: str) -> str | None:
    return next((api for part, api in _APIS.items() if part in path), None)


def _jumps(segments: list[Segment], since_ns: int) -> list[Jump]:
    """Where wall time and monotonic time of one boot drifted apart at once."""
    found: list[Jump] = []
    boot, offset = b"", 0
    for segment in segments:
        header = segment.header
        anchors = [(header.wall, header.wall - header.monotonic), *_checkpoints(segment)]
        for wall, shift in anchors:
            if header.boot == boot and abs(shift - offset) > JUMP_NS and wall >= since_ns:
                found.append(Jump(wall, round((shift - offset) / 1e9, 1)))
            boot, offset = header.boot, shift
    return found


def _checkpoints(segment: Segment) -> list[tuple[int, int]]:
    anchors = []
    try:
        for record in segment.pick([ids.ZERO], bodies=False):
            fields = read_object(record) or {} if record.kind == Kind.CHECKPOINT else {}
            wall, monotonic = number(fields, "wall"), number(fields, "monotonic")
            if wall is not None and monotonic is not None:
                anchors.append((wall, wall - monotonic))
    except TraceError:
        return anchors  # `trace verify` tells what cannot be read
    return anchors
