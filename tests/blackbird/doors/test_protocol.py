"""MCP by its messages, without a process."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import version as revisions

from blackbird.doors import protocol, schema, stdio
from blackbird.errors import NotFound
from tests.blackbird.doors import standin

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def talk(*messages: Any) -> list[dict[str, Any]]:
    """What a server answers to lines, or to messages, until it has answered all."""
    said: list[bytes] = []
    lines = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in messages]
    stdio.serve(io.BytesIO(b"".join(line + b"\n" for line in lines)), stdio.Server(said.append, standin.opened))
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in said)
    return [json.loads(line) for line in said]


def request(method: str, identifier: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


def call(name: str, identifier: Any = 1, **arguments: Any) -> dict[str, Any]:
    return request("tools/call", identifier, name=name, arguments=arguments)


def error(message: dict[str, Any]) -> tuple[Any, int]:
    return message["id"], message["error"]["code"]


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        (7, "2025-11-25"),
        ([], "2025-11-25"),
    ],
)
def test_the_handshake_agrees_on_a_revision(asked: Any, answered: str) -> None:
    (answer,) = talk(request("initialize", protocolVersion=asked, capabilities={}))
    assert answer["result"]["protocolVersion"] == answered
    assert answer["result"]["capabilities"] == {"tools": {"listChanged": False}}
    assert answer["result"]["serverInfo"]["name"] == "blackbird"
    assert answer["result"]["instructions"] == schema.INSTRUCTIONS


def test_the_revisions_are_those_of_the_sdk() -> None:
    assert protocol.HANDSHAKES == revisions.HANDSHAKE_PROTOCOL_VERSIONS
    assert protocol.ENVELOPES == revisions.MODERN_PROTOCOL_VERSIONS


def test_a_request_that_names_its_revision_needs_no_handshake() -> None:
    found, listed, called, ping = talk(
        request("server/discover", 1, _meta=ENVELOPE),
        request("tools/list", 2, _meta=ENVELOPE),
        request("tools/call", 3, name="memory_get", arguments={"id": "art_aaaaaaaa"}, _meta=ENVELOPE),
        request("ping", 4, _meta=ENVELOPE),
    )[:4]
    by_id = {each["id"]: each for each in (found, listed, called, ping)}
    assert by_id[1]["result"]["supportedVersions"] == ["2026-07-28"]
    assert by_id[1]["result"]["instructions"] == schema.INSTRUCTIONS
    assert by_id[2]["result"]["tools"] == schema.listed()
    assert {by_id[number]["result"]["resultType"] for number in (1, 2, 3)} == {"complete"}
    assert error(by_id[4]) == (4, -32601)


def test_a_revision_that_is_not_spoken_is_refused_with_those_that_are() -> None:
    version, *_ = ENVELOPE
    later, odd, half = talk(
        request("tools/list", _meta={**ENVELOPE, version: "2099-01-01"}),
        request("tools/list", _meta={**ENVELOPE, version: 7}),
        request("tools/list", _meta={version: "2026-07-28"}),
    )
    assert later["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}
    assert [error(each) for each in (later, odd, half)] == [(1, -32022), (1, -32602), (1, -32602)]


def test_ping_and_the_list_are_answered() -> None:
    assert talk(request("ping"), request("tools/list", "two")) == [
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": "two", "result": {"tools": schema.listed()}},
    ]


def test_a_call_has_text_and_values() -> None:
    (answer,) = talk(call("memory.get", id="art_aaaaaaaa"))
    assert answer["result"]["isError"] is False
    assert answer["result"]["structuredContent"]["id"] == "art_aaaaaaaa"
    assert answer["result"]["content"][0]["type"] == "text"


@pytest.mark.requirement("SCHEMA-03")
def test_wrong_arguments_are_told_to_the_model_and_a_wrong_name_to_the_client() -> None:
    wrong, unknown = talk(call("memory_get"), call("memory_forget", 2))
    assert wrong["result"]["isError"] is True
    assert wrong["result"]["structuredContent"]["code"] == "invalid_arguments"
    assert error(unknown) == (2, -32602)
    assert unknown["error"]["data"]["code"] == "unknown_tool"


@pytest.mark.requirement("SCHEMA-03")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"garbage", (None, -32700)),
        (b"{", (None, -32700)),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', (None, -32700)),
        (b"[" * 100_000, (None, -32700)),
        (b"x" * (2 * stdio.LONGEST_LINE), (None, -32600)),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', (None, -32600)),
        (b"7", (None, -32600)),
        (b'{"id":3}', (3, -32600)),
        (b'{"jsonrpc":"1.0","id":3,"method":"ping"}', (3, -32600)),
        (b'{"jsonrpc":"2.0","id":3,"method":7}', (3, -32600)),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', (None, -32600)),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', (None, -32600)),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', (None, -32600)),
        (b'{"jsonrpc":"2.0","id":99999999999999999999999,"method":"ping"}', (None, -32600)),
        (b'{"jsonrpc":"2.0","id":3,"method":"ping","params":[1]}', (3, -32602)),
        (b'{"jsonrpc":"2.0","id":3,"method":"resources/list"}', (3, -32601)),
        (b'{"jsonrpc":"2.0","id":3,"method":"tools/call"}', (3, -32602)),
        (b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":7}}', (3, -32602)),
    ],
)
def test_what_cannot_be_answered_gets_an_error_and_the_next_line_its_answer(line: bytes, expected: Any) -> None:
    refused, answered = talk(line, request("ping", "after"))
    assert error(refused) == expected
    assert answered == {"jsonrpc": "2.0", "id": "after", "result": {}}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"   ",
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b'{"jsonrpc":"2.0","method":"notifications/unheard_of","params":{"x":1}}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":["odd"]}}',
        b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"memory_get"}}',
        b'{"jsonrpc":"2.0","id":9,"result":{}}',
        b'{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"x"}}',
    ],
)
def test_what_asks_nothing_is_not_answered(line: bytes) -> None:
    assert talk(line, request("ping")) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def test_a_mistake_of_ours_costs_one_call(capfd: pytest.CaptureFixture[str]) -> None:
    broken, answered = talk(call("memory_search", 1, query="boom"), call("memory_search", 2, query="x"))
    assert error(broken) == (1, -32603)
    assert broken["error"]["message"] == "Internal error: ZeroDivisionError"
    assert answered["id"] == 2
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_a_cancelled_call_is_not_answered_and_others_are() -> None:
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    waiting = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    said = talk(
        call("memory_search", 1, query="slow"),
        call("memory_search", 2, query="x"),
        call("memory_search", 3, query="x"),
        cancelled,
        waiting,
    )
    assert [each["id"] for each in said] == [3]


def test_a_call_that_waits_keeps_nobody_waiting_who_asks_less() -> None:
    said = talk(call("memory_search", 1, query="slow"), request("ping", 2), call("memory_search", 1, query="x"))
    assert [(each["id"], "result" in each) for each in said] == [(2, True), (1, False), (1, True)]
    assert said[1]["error"]["code"] == -32600


def test_more_calls_than_may_wait_are_refused_with_a_type() -> None:
    said = talk(*(call("memory_search", number, query="slow" if number == 0 else "x") for number in range(66)))
    refused = [each for each in said if each["result"]["isError"]]
    assert [each["result"]["structuredContent"]["code"] for each in refused] == ["busy", "busy"]
    assert len(said) == 66


def test_what_a_client_that_has_gone_would_have_read_is_dropped() -> None:
    def refuse(_: bytes) -> None:
        raise BrokenPipeError

    stdio.serve(io.BytesIO(json.dumps(request("ping")).encode()), stdio.Server(refuse, standin.opened))


def test_a_memory_that_does_not_open_is_an_answer_and_is_tried_again() -> None:
    tries: list[int] = []

    def opener() -> Any:
        tries.append(1)
        raise NotFound("no memory", "blackbird derive")

    said: list[bytes] = []
    lines = [json.dumps(call("memory_search", number, query="x")).encode() + b"\n" for number in range(2)]
    stdio.serve(io.BytesIO(b"".join(lines)), stdio.Server(said.append, opener))
    assert [json.loads(line)["result"]["structuredContent"]["code"] for line in said] == ["not_found", "not_found"]
    assert len(tries) == 3


words = st.sampled_from(["jsonrpc", "id", "method", "params", "_meta", "name", "arguments", "result", "requestId"])
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(["2.0", "ping", "initialize", "tools/list", "server/discover", "notifications/cancelled"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words | st.text(max_size=8), inner, max_size=5),
    max_leaves=10,
)


@pytest.mark.requirement("SCHEMA-03")
@given(
    line=st.binary(max_size=200).map(lambda data: data.replace(b"\n", b" "))
    | values.map(lambda v: json.dumps(v).encode())
)
def test_any_line_leaves_the_server_answering(line: bytes) -> None:
    said = talk(line, request("ping", "end"))
    assert said[-1] == {"jsonrpc": "2.0", "id": "end", "result": {}}
    assert len(said) <= 2
    assert all(each["jsonrpc"] == "2.0" and ("result" in each) != ("error" in each) for each in said)
