"""The comparison of two flights: what is volatile goes, everything else stays."""

import json

import pytest

from blackbird.provider import Received
from tests.agents.harness import likeness
from tests.recorder.trace_view import Exchange

UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"session {UUID}", "session ‹uuid›"),
        ("msg_0123456789abcdef0123", "‹msg›"),
        ("at 2026-11-16T15:28:12.980Z", "at ‹time›"),
        ("read_file_1794843231298_0", "read_file_‹clock›_0"),
        ("Ran 1 test in 0.004s", "Ran 1 test in ‹duration›"),
        ("http://127.0.0.1:40123/v1", "http://127.0.0.1:‹port›/v1"),
        ("Process Group PGID: 812", "Process Group PGID: ‹number›"),
        ("(Available: 'b', 'a')", "(Available: 'a' 'b')"),
        ("return a + b, 12 tokens, port 8080", "return a + b, 12 tokens, port 8080"),
    ],
)
def test_text_loses_only_what_is_volatile(text: str, left: str) -> None:
    assert likeness.settle(text) == left


def test_values_lose_clocks_durations_and_counts_that_follow_lengths() -> None:
    value = {"created": 1767225600, "duration_ms": 12, "tokens": {"input": 3}, "retries": 2, "stream": True}
    assert likeness.settled(value) == {
        "created": "‹clock›",
        "duration_ms": "‹volatile›",
        "tokens": {"input": "‹count›"},
        "retries": 2,
        "stream": True,
    }


def test_parallel_results_are_alike_in_any_order() -> None:
    results: list[dict[str, object]] = [
        {"type": "tool_result", "content": "one"},
        {"type": "tool_result", "content": "two", "cache_control": {"type": "ephemeral"}},
    ]
    moved = [{"type": "tool_result", "content": "two"}, {**results[0], "cache_control": {"type": "ephemeral"}}]
    assert likeness.settled(results) == likeness.settled(moved)


def received(body: object, *fields: str) -> Received:
    head = "\r\n".join(("POST /v1/messages HTTP/1.1", "Host: api.anthropic.com", *fields, "", ""))
    return Received(1, head.encode(), body=json.dumps(body).encode())


def test_calls_that_differ_in_a_tool_are_told_apart_by_its_place() -> None:
    one = likeness.model_calls([received({"tools": [{"name": "Read"}], "id": UUID})])
    other = likeness.model_calls([received({"tools": [{"name": "Edit"}], "id": UUID})])
    expected = ["POST api.anthropic.com/v1/messages: .tools[0].name: 'Read' against 'Edit'"]
    assert likeness.body_difference(one, other) == expected


def test_calls_that_differ_in_a_header_field_are_told_apart() -> None:
    one = likeness.model_calls([received({}, "anthropic-beta: a", "connection: close")])
    other = likeness.model_calls([received({}, "anthropic-beta: b")])
    place = "POST api.anthropic.com/v1/messages"
    assert likeness.body_difference(one, other) == [f"{place}: - anthropic-beta: a", f"{place}: + anthropic-beta: b"]


def test_call_that_is_missing_is_told() -> None:
    both = likeness.model_calls([received({"n": 1}), received({"n": 2})])
    assert likeness.body_difference(both, likeness.model_calls([received({"n": 1})])) == ["1 calls against 0"]


def test_other_services_are_no_calls_of_the_model() -> None:
    head = b"POST /api/event_logging/v2/batch HTTP/1.1\r\nHost: api.anthropic.com\r\n\r\n"
    assert likeness.model_calls([Received(1, head, body=b"{}")]) == {}


def test_connection_that_carried_no_request_is_none_of_the_recorded() -> None:
    asked = {"method": "POST", "url": "https://api.anthropic.com/v1/messages", "via": "forward"}
    given_up = {"method": "CONNECT", "url": None, "via": "forward"}
    found = likeness.recorded([Exchange(b"1", start=asked), Exchange(b"2", start=given_up)])
    assert found == {"POST api.anthropic.com/v1/messages": 1}
