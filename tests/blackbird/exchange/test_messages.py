"""The messages of a WebSocket, joined from records in any order and with anything missing."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.exchange import messages, view
from blackbird.exchange.assemble import Part, assemble
from blackbird.exchange.clock import Clock
from blackbird.exchange.exchange import Close, Exchange, Message, Sent, State
from blackbird.trace import header as headers
from blackbird.trace.records import Direction, Flag, Kind, Record
from blackbird.trace.segment import Segment
from tests.blackbird.trace.encoder import START, Tracer, identifier, make_record

CORPUS = Path(__file__).parents[3] / "fixtures" / "wal"
REQUEST = identifier(1)
SWITCHED = {
    "status": 101,
    "reason": "Switching Protocols",
    "version": "HTTP/1.1",
    "headers": [["Upgrade", "websocket"]],
}


def read_back(name: str) -> Exchange:
    segment = Segment((CORPUS / name).read_bytes(), is_sealed=name.endswith(".seal"))
    records = [record for record in segment.records(bodies=True) if record.request != bytes(16)]
    return assemble([Part(segment.header, Clock(segment.header), records)], None)


@pytest.mark.parametrize("name", ["messages.wal", "messages.seal"])
def test_a_socket_of_the_corpus(name: str) -> None:
    found = read_back(name)
    assert (found.status, found.state, found.interim) == (101, State.COMPLETE, [])
    told = [(each.direction.value, each.at_us, each.binary, each.complete, each.data) for each in found.messages]
    assert told == [
        ("request", 2000, False, True, b'{"key":"[redacted:github_token]"}'),
        ("response", 3000, False, True, b'{"type":"answer"}'),
        ("request", 4000, True, True, b"\x00\xff\xfe"),
        ("response", 7000, False, True, b""),
        ("response", 8000, False, False, b"never to be read whole: "),
        ("request", 11000, False, True, b"bye"),
        ("response", 13000, True, False, b"broke off"),
    ]
    assert found.websocket is not None
    assert found.websocket.client == Sent(3, 0, 1, Close(1000, "done"))
    assert found.websocket.server == Sent(3, 1, 0, Close(1000, ""))


def test_a_socket_that_goes_on_is_answered_and_counts_what_it_has() -> None:
    tracer = Tracer()
    tracer.add(Kind.REQUEST_START, REQUEST, START)
    tracer.add(Kind.RESPONSE_START, REQUEST, SWITCHED)
    found = _assembled(tracer)
    assert (found.status, found.messages) == (101, [])
    assert found.websocket is not None
    assert found.websocket.client == Sent(0)
    tracer.add(Kind.WS_FRAME, REQUEST, b"asked", flags=Flag.FROM_CLIENT)
    found = _assembled(tracer)
    assert found.websocket is not None
    assert (found.websocket.client, found.websocket.server) == (Sent(1), Sent(0))


def test_an_exchange_of_another_kind_has_no_messages() -> None:
    tracer = Tracer()
    tracer.exchange(1)
    found = _assembled(tracer)
    assert (found.websocket, found.messages) == (None, [])
    assert "messages" not in view.describe(found)
    assert "websocket" not in view.describe_whole(found, list(Direction), bodies=True)


def test_what_programs_are_told() -> None:
    whole = view.describe_whole(read_back("messages.wal"), list(Direction), bodies=True)
    assert whole["messages"] == {"client": 3, "server": 3}
    assert whole["websocket"]["client"] == {
        "messages": 3,
        "pings": 0,
        "pongs": 1,
        "close": {"code": 1000, "reason": "done"},
    }
    first, _, binary, *_ = whole["websocket"]["messages"]
    assert first == {
        "at_us": 2000,
        "from": "client",
        "bytes": 33,
        "binary": False,
        "complete": True,
        "text": '{"key":"[redacted:github_token]"}',
    }
    assert (binary["binary"], binary["base64"]) == (True, "AP/+")
    assert "body" not in whole["request"]
    assert "body" not in whole["response"]


def test_one_side_alone_and_heads_alone() -> None:
    whole = view.describe_whole(read_back("messages.wal"), [Direction.REQUEST], bodies=False)
    assert [each["from"] for each in whole["websocket"]["messages"]] == ["client"] * 3
    assert all("text" not in each for each in whole["websocket"]["messages"])


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (Message(Direction.REQUEST, 1500, 4, False, True, b"ping"), "→ 1.5 ms  text, 4 bytes"),
        (Message(Direction.RESPONSE, 0, 1, True, False, b"\x00"), "← 0.0 ms  binary, 1 bytes, not complete"),
    ],
)
def test_the_line_above_a_message(message: Message, line: str) -> None:
    assert view.message_line(message) == line


def test_the_summary_tells_counts_and_closes() -> None:
    found = read_back("messages.wal").websocket
    assert found is not None
    assert view.messages_summary(found) == "→ 3 messages, closed 1000 done; ← 3 messages, closed 1000"


def _assembled(tracer: Tracer) -> Exchange:
    [segment] = tracer.segments
    header = headers.parse(segment.header)
    return assemble([Part(header, Clock(header), segment.records)], None)


_PIECES = st.lists(st.binary(max_size=5), min_size=1, max_size=4)


@given(st.lists(st.tuples(st.sampled_from(list(Direction)), st.booleans(), _PIECES), max_size=6), st.randoms())
def test_pieces_of_both_sides_interleaved_are_joined(
    sent: list[tuple[Direction, bool, list[bytes]]], chance: Any
) -> None:
    ways: dict[Direction, list[tuple[int, bytes]]] = {direction: [] for direction in Direction}
    for direction, binary, pieces in sent:
        side = Flag.FROM_CLIENT if direction is Direction.REQUEST else Flag(0)
        kind = side | (Flag.BINARY if binary else Flag(0))
        ways[direction] += [(kind | Flag.CONTINUES, piece) for piece in pieces[:-1]] + [(int(kind), pieces[-1])]
    records: list[Record] = []
    while any(ways.values()):
        way = ways[chance.choice([direction for direction in Direction if ways[direction]])]
        flags, piece = way.pop(0)
        records.append(make_record(Kind.WS_FRAME, len(records) + 1, REQUEST, piece, flags=flags))
    for direction in Direction:
        joined = [
            (each.binary, each.complete, each.data) for each in messages.join(records) if each.direction is direction
        ]
        assert joined == [(binary, True, b"".join(pieces)) for way, binary, pieces in sent if way is direction]


@given(st.lists(st.tuples(st.sampled_from([3, 4, 7, 8]), st.integers(0, 63), st.binary(max_size=4)), max_size=12))
def test_any_records_give_messages(found: list[tuple[int, int, bytes]]) -> None:
    records = [
        make_record(Kind(kind), number, REQUEST, data, flags=flags)
        for number, (kind, flags, data) in enumerate(found, 1)
    ]
    joined = messages.join(records)
    frames = [record for record in records if record.kind == Kind.WS_FRAME]
    assert sum(each.length for each in joined) == sum(record.length for record in frames)
