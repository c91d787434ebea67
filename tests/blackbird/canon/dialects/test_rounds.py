"""The rounds of a WebSocket, with their places in all that each side said."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon.dialects import responses
from blackbird.canon.dialects.rounds import Round, rounds
from blackbird.canon.model import Outcome
from blackbird.canon.seen import Slice
from blackbird.exchange.exchange import Exchange, Message, Provenance, Sent, State, WebSocket
from blackbird.provider.dialects import responses as scripted
from blackbird.provider.dialects.reply import Ask
from blackbird.provider.script import Ids
from blackbird.trace.records import Direction
from tests.blackbird.canon.dialects.placed import is_placed

CLIENT, SERVER = Direction.REQUEST, Direction.RESPONSE


def spell(value: object) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def socket(*said: tuple[Direction, object]) -> Exchange:
    """A socket on which a message passes each microsecond."""
    messages = [
        Message(direction, at, len(spell(value)), binary=False, complete=True, data=spell(value))
        for at, (direction, value) in enumerate(said)
    ]
    told = WebSocket(Sent(0), Sent(0), messages)
    return Exchange("req_1", State.COMPLETE, Provenance([], 0, 0), websocket=told)


def joined(exchange: Exchange, direction: Direction) -> bytes:
    return b"".join(message.data or b"" for message in exchange.messages if message.direction is direction)


def create(text: str) -> dict[str, Any]:
    return {"type": "response.create", "input": text}


def event(kind: str, response_id: str | None = None) -> dict[str, Any]:
    return {"type": kind, **({"response": {"id": response_id}} if response_id else {})}


def told(found: Round) -> tuple[str, list[str], bool]:
    kinds = [json.loads(piece.data)["type"].removeprefix("response.") for piece in found.pieces]
    return json.loads(found.request.data)["input"], kinds, found.is_cut


def test_rounds_one_after_the_other() -> None:
    exchange = socket(
        (SERVER, {"type": "hello"}),
        (CLIENT, create("a")),
        (SERVER, event("response.created", "r1")),
        (SERVER, event("response.completed", "r1")),
        (SERVER, {"type": "between"}),
        (CLIENT, {"type": "response.processed"}),
        (CLIENT, create("b")),
        (SERVER, event("response.created", "r2")),
        (SERVER, event("response.incomplete", "r2")),
    )
    found = rounds(exchange)
    assert [told(each) for each in found] == [
        ("a", ["created", "completed"], False),
        ("b", ["created", "incomplete"], False),
    ]
    assert [(each.at_us, each.first_us, each.last_us) for each in found] == [(1, 2, 3), (6, 7, 8)]
    sent, heard = joined(exchange, CLIENT), joined(exchange, SERVER)
    for each in found:
        assert sent[each.request.start : each.request.end] == each.request.data
        assert all(heard[piece.start : piece.end] == piece.data for piece in each.pieces)


def test_questions_asked_at_once_are_answered_in_order() -> None:
    found = rounds(
        socket(
            (CLIENT, create("a")),
            (CLIENT, create("b")),
            (SERVER, event("response.created", "r1")),
            (SERVER, event("response.failed", "r1")),
            (SERVER, event("response.created", "r2")),
        )
    )
    assert [told(each) for each in found] == [("a", ["created", "failed"], False), ("b", ["created"], True)]


def test_a_failure_that_is_told_twice_stays_with_its_round() -> None:
    found = rounds(
        socket(
            (CLIENT, create("a")),
            (SERVER, event("response.created", "r1")),
            (SERVER, event("error")),
            (CLIENT, create("b")),
            (SERVER, event("response.failed", "r1")),
            (SERVER, event("response.created", "r2")),
            (SERVER, event("response.completed", "r2")),
        )
    )
    assert [told(each) for each in found] == [
        ("a", ["created", "error", "failed"], False),
        ("b", ["created", "completed"], False),
    ]


def test_what_is_no_json_does_no_harm() -> None:
    exchange = socket((CLIENT, b"\xff"), (CLIENT, create("a")), (SERVER, b"{"), (SERVER, event("error")))
    (found,) = rounds(exchange)
    assert [piece.data for piece in found.pieces] == [b"{", spell(event("error"))]
    assert found.request == Slice(spell(create("a")), 1)
    assert rounds(Exchange("req_1", State.COMPLETE, Provenance([], 0, 0))) == []


def scripted_socket() -> Exchange:
    """A warm-up, and a turn that goes on from it."""
    warm = {"type": "response.create", "model": "m", "input": [], "generate": False}
    turn = {"type": "response.create", "model": "m", "previous_response_id": "r", "input": "Grüße", "stream": True}
    warmed = scripted.warm_up(Ask("/v1/responses", {}, warm, Ids(b"a"), ""))
    answered = scripted.events(Ask("/v1/responses", {}, turn, Ids(b"b"), ""))
    return socket(
        (CLIENT, warm),
        *((SERVER, each) for each in warmed),
        (CLIENT, turn),
        *((SERVER, each) for each in answered),
    )


def test_rounds_are_read_like_requests() -> None:
    exchange = scripted_socket()
    heard = joined(exchange, SERVER)
    asks = [responses.ask(each.request.data, "/v1/responses") for each in rounds(exchange)]
    assert [ask.is_idle for ask in asks if ask is not None] == [True, False]
    replies = [responses.reply(each.pieces, status=None, is_cut=each.is_cut) for each in rounds(exchange)]
    assert [reply.outcome for reply in replies] == [Outcome.COMPLETE, Outcome.COMPLETE]
    assert [len(reply.parts) for reply in replies] == [0, 1]
    assert all(is_placed(reply.parts, heard) for reply in replies)


@given(st.data())
def test_a_socket_that_breaks_off_gives_a_beginning(data: st.DataObject) -> None:
    exchange = scripted_socket()
    messages = exchange.messages
    count = data.draw(st.integers(0, len(messages)))
    broken = [(each.direction, each.data or b"") for each in messages[:count]]
    is_torn = data.draw(st.booleans())
    if broken and is_torn:
        direction, last = broken[-1]
        broken[-1] = (direction, last[: data.draw(st.integers(0, len(last) - 1))])
    whole, found = rounds(exchange), rounds(socket(*broken))
    assert len(found) <= len(whole)
    for one, other in zip(found, whole, strict=False):
        assert one.request == other.request
        assert one.is_cut or one == other
        assert [piece.start for piece in one.pieces] == [piece.start for piece in other.pieces][: len(one.pieces)]
