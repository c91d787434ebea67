"""The flights that other tests are made of are what they say."""

import json
from typing import Any

import pytest

from blackbird.exchange.exchange import State
from blackbird.trace.records import Direction
from tests.blackbird.flights import Flight, Socket, repair
from tests.blackbird.voices import VOICES


def asked(flight: Flight, number: int) -> Any:
    return json.loads(flight.exchanges[number].request_body.data)


@pytest.mark.parametrize("dialect", VOICES)
def test_bodies_come_in_the_sizes_asked_for_and_the_records_are_numbered(dialect: str) -> None:
    whole, cut = repair(Flight(dialect)), repair(Flight(dialect, chunks=(7, 31)))

    for one, other in zip(whole, cut, strict=True):
        assert other.request_body.data == one.request_body.data
        assert other.response_body.data == one.response_body.data
        assert [chunk.length for chunk in other.response_body.chunks][:4] == [7, 31, 7, 31]
    numbers = [c.sequence for e in cut for body in (e.request_body, e.response_body) for c in body.chunks]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("fault", [{"status": 529}, {"cut": 1}, {"error": 1}, {"cut": 1, "way": "json"}])
@pytest.mark.parametrize("dialect", VOICES)
def test_a_turn_that_fails_is_asked_again(dialect: str, fault: dict[str, Any]) -> None:
    flight = Flight(dialect)
    failed = flight.turn("Fix it.", says="Half of this is missing.", **fault)
    again = flight.turn(says="Done.")

    if "way" not in fault:
        assert failed.request_body.data == again.request_body.data
    assert (failed.state is State.ERROR) == ("cut" in fault) == (not failed.response_body.complete)
    assert failed.response_body.data != again.response_body.data
    assert again.complete


def test_a_fork_goes_on_by_itself() -> None:
    flight = Flight("chat")
    flight.turn("One.", says="1")
    flight.fork(session="s2").turn("Two.", says="2")
    flight.turn("Three.", says="3")

    said = [[message["content"] for message in asked(flight, number)["messages"][1:]] for number in range(3)]
    assert said == [["One."], ["One.", "1", "Two."], ["One.", "1", "Three."]]
    assert [exchange.session for exchange in flight.exchanges] == ["s1", "s2", "s1"]


def test_counts_of_ones_own() -> None:
    flight = Flight("messages", way="json")
    exchange = flight.turn("Fix it.", says="Done.", usage={"cache_read_input_tokens": 1234})

    assert json.loads(exchange.response_body.data)["usage"]["cache_read_input_tokens"] == 1234


def test_rounds_of_a_websocket_say_only_what_is_new() -> None:
    socket = Socket("responses")
    socket.ask(is_idle=True)
    socket.ask("Fix it.", says="I read.", calls=[("read_file", {"path": "calc.py"})])
    socket.ask(results=["def add"], says="Done.")
    exchange = socket.land()

    rounds = [json.loads(m.data or b"") for m in exchange.messages if m.direction is Direction.REQUEST]
    assert [[item["type"] for item in each["input"]] for each in rounds] == [
        [],
        ["message"],
        ["function_call_output"],
    ]
    assert [each.get("previous_response_id") is None for each in rounds] == [True, False, False]
    assert exchange.request_body.data == b"".join(
        m.data or b"" for m in exchange.messages if m.direction is Direction.REQUEST
    )
