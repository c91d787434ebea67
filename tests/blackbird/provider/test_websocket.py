"""The provider's WebSocket: spoken to by an independent client, and by hand where it is to fail."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from blackbird.provider import Fault, Manner, Provider
from blackbird.provider.websocket import frames, packing
from blackbird.provider.websocket.frames import Broken, Frame, Opcode
from tests.clients.peer import Peer

TOOLS = [{"type": "function", "name": "shell", "parameters": {"properties": {"command": {"type": "string"}}}}]
CREATE: dict[str, Any] = {"type": "response.create", "model": "m-1", "tools": TOOLS, "store": False}


def create(**more: Any) -> str:
    return json.dumps({**CREATE, **more})


def events(client: ClientConnection) -> list[dict[str, Any]]:
    """All events of one answer."""
    found: list[dict[str, Any]] = []
    while not found or found[-1]["type"] not in ("response.completed", "error"):
        found.append(json.loads(client.recv(10)))
    return found


def address(provider: Provider) -> str:
    return f"ws://127.0.0.1:{provider.port}/v1/responses"


def outputs(response: dict[str, Any]) -> list[dict[str, Any]]:
    calls = [item for item in response["output"] if item["type"] == "function_call"]
    return [{"type": "function_call_output", "call_id": call["call_id"], "output": "OK"} for call in calls]


@pytest.mark.parametrize("compression", ["deflate", None])
def test_a_job_from_its_warm_up_to_its_end(compression: str | None) -> None:
    with Provider() as provider, connect(address(provider), compression=compression, proxy=None) as client:
        client.send(create(generate=False, input=[]))
        warm = events(client)
        assert [event["type"] for event in warm] == ["response.created", "response.in_progress", "response.completed"]
        assert warm[-1]["response"]["output"] == []
        previous, news, texts = (
            warm[-1]["response"]["id"],
            [{"type": "message", "role": "user", "content": "mend"}],
            [],
        )
        while news:
            client.send(create(previous_response_id=previous, input=news))
            response = events(client)[-1]["response"]
            assert response["previous_response_id"] == previous
            texts += [item["content"][0]["text"] for item in response["output"] if item["type"] == "message"]
            previous, news = response["id"], outputs(response)
        assert [text.split(":")[0].split(".")[0] for text in texts] == [
            *("Step 1", "Step 2", "Step 3", "Step 4"),
            "The test passes now",
        ]
        assert client.response is not None
        agreed = client.response.headers.get("sec-websocket-extensions")
        assert agreed == ("permessage-deflate" if compression else None)
    [received] = provider.received
    assert received.over.wait(10)
    assert (received.outcome, len(received.messages)) == ("answered", 6)
    assert json.loads(received.messages[0])["generate"] is False


def test_the_events_are_those_of_the_stream() -> None:
    with Provider() as provider, connect(address(provider), proxy=None) as client:
        client.send(create(input=[]))
        told = events(client)
    assert [event["sequence_number"] for event in told] == list(range(len(told)))
    assert told[0]["type"] == "response.created"
    assert "response.function_call_arguments.delta" in {event["type"] for event in told}


@pytest.mark.parametrize("status", [404, 426, 503])
def test_an_upgrade_can_be_refused(status: int) -> None:
    with Provider(manner=Manner(status=status)) as provider, pytest.raises(InvalidStatus) as refused:
        connect(address(provider), proxy=None)
    assert refused.value.response.status_code == status


@pytest.mark.parametrize(
    ("fault", "code"), [(Fault.CUT, None), (Fault.RESET, None), (Fault.CLOSE, 1011)], ids=["cut", "reset", "close"]
)
def test_it_can_end_in_the_middle(fault: Fault, code: int | None) -> None:
    with (
        Provider(manner=Manner(fault=fault, after=2)) as provider,
        connect(address(provider), proxy=None) as client,
    ):
        client.send(create(input=[]))
        with pytest.raises(ConnectionClosed) as ended:
            events(client)
        assert (ended.value.rcvd.code if ended.value.rcvd else None) == code
        [received] = provider.received
        assert received.over.wait(10)
        assert received.outcome == fault.value


def test_an_error_event_ends_an_answer_and_not_the_connection() -> None:
    manner = Manner(fault=Fault.ERROR, after=2)
    with Provider(manner=manner) as provider, connect(address(provider), proxy=None) as client:
        client.send(create(input=[]))
        assert events(client)[-1]["message"] == "scripted error in the stream"
        client.send(create(input=[]))
        assert events(client)[-1]["type"] == "response.completed"
        assert client.ping().wait(10)


def test_a_step_can_fail_once_with_a_status() -> None:
    with Provider(steps={1: Manner(status=429, retry_after=2)}) as provider, connect(address(provider)) as client:
        client.send(create(input=[], generate=False))
        assert events(client)[-1]["type"] == "response.completed"
        client.send(create(input=[]))
        told = events(client)[-1]
        assert (told["status"], told["error"]["code"], told["headers"]) == (
            429,
            "rate_limit_exceeded",
            {"retry-after": "2"},
        )
        client.send(create(input=[]))
        assert events(client)[-1]["type"] == "response.completed"


def test_what_is_no_request_is_told() -> None:
    with Provider() as provider, connect(address(provider), proxy=None) as client:
        client.send("[]")
        assert events(client)[-1]["message"] == "the message is no response.create"
        client.send("no json")
        with pytest.raises(ConnectionClosed) as ended:
            client.recv(10)
        assert ended.value.rcvd is not None
        assert ended.value.rcvd.code == 1002


def test_frames_that_nobody_may_send_end_it() -> None:
    upgrade = b"GET /v1/responses HTTP/1.1\r\nHost: l\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    with Provider() as provider, Peer.connect(provider.port) as client:
        client.send(upgrade + frames.spell(Frame(Opcode.CONTINUATION, b"x"), b"mask"))
        assert client.head().status == 101
        assert frames.close_code(frames.read(client.exactly).payload) == 1002


def _taker(data: bytes) -> Any:
    rest = bytearray(data)

    def take(size: int) -> bytes:
        if len(rest) < size:
            raise EOFError
        taken = bytes(rest[:size])
        del rest[:size]
        return taken

    return take


@given(
    st.sampled_from([0, 1, 125, 126, 65535, 65536]),
    st.booleans(),
    st.booleans(),
    st.none() | st.binary(min_size=4, max_size=4),
)
def test_frames_read_back_equal(size: int, last: bool, packed: bool, mask: bytes | None) -> None:
    frame = Frame(Opcode.BINARY, bytes(range(256)) * (size // 256) + bytes(size % 256), last, packed)
    assert frames.read(_taker(frames.spell(frame, mask))) == frame


@given(st.binary(max_size=40))
def test_any_bytes_are_frames_or_not(data: bytes) -> None:
    found = frames.messages(_taker(data))
    with pytest.raises((EOFError, Broken)):
        list(found)


def test_packing_refers_to_earlier_messages() -> None:
    one, other = packing.Packing(), packing.Packing()
    texts = [b"again and again, the same words"] * 2 + [b"", b"", b"more"]
    packed = [one.pack(text) for text in texts]
    assert len(packed[1]) < len(packed[0]) / 2
    assert [other.unpack(text) for text in packed] == texts
    with pytest.raises(ValueError, match="is not permessage-deflate"):
        packing.Packing().unpack(b"\xff\xff")
