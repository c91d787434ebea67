"""WebSockets over the life of a recorder: killed, stopped, sealed, read back, asked by another client."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from blackbird.exchange import catalog
from blackbird.exchange.exchange import Exchange, State
from blackbird.provider import Fault, Manner, Provider
from blackbird.provider.websocket import frames
from blackbird.provider.websocket.frames import Frame, Opcode
from blackbird.trace import ids
from blackbird.trace.folder import Trace
from tests.clients.peer import PATIENCE
from tests.recorder.conftest import Start, Wired
from tests.recorder.harness import until
from tests.recorder.sockets import opened, upgrade
from tests.recorder.trace_view import exchanges

CREATE: dict[str, Any] = {"type": "response.create", "model": "m-1", "tools": [{"type": "function", "name": "shell"}]}


def ask(client: ClientConnection, told: list[bytes], **more: Any) -> dict[str, Any]:
    """Ask the model; its events go to `told`, and the response that they end with comes back."""
    client.send(json.dumps({**CREATE, **more}))
    while True:
        told.append(client.recv(PATIENCE, decode=False))
        event = json.loads(told[-1])
        if event["type"] == "response.completed":
            return dict(event["response"])


def read_back(trace: Path) -> Exchange:
    """The newest exchange, as the product reads it."""
    newest = catalog.recent(Trace(trace), catalog.Selection(limit=1)).exchanges[-1]
    request = ids.from_text(newest.request_id.removeprefix(ids.REQUEST_PREFIX))
    assert request is not None
    found = catalog.load(Trace(trace), request)
    assert found is not None
    return found


@pytest.mark.requirement("PROXY-17")
def test_a_kill_in_the_middle_leaves_what_passed(wired: Wired) -> None:
    wire = wired(drain_seconds=29)
    text = b"".join(b"%d " % number for number in range(20_000))

    def has_arrived() -> bool:
        found = exchanges(wire.recorder.trace)[wire.before :]
        return sum(len(message.data) for each in found for message in each.messages) > 80_000

    with opened(wire) as pair:
        pair.ask(b"asked")
        pair.pass_on(pair.server, pair.client, frames.spell(Frame(Opcode.TEXT, text))[:100_000])
        until(has_arrived, "what passed")
        os.kill(wire.recorder.control("status")["pid"], signal.SIGKILL)
        assert pair.client.rest()[0] == b""
    found = read_back(wire.recorder.trace)
    assert (found.status, found.state) == (101, State.INTERRUPTED)
    asked, told = found.messages
    assert (asked.data, asked.complete, told.complete) == (b"asked", True, False)
    assert told.data is not None
    assert len(told.data) > 80_000
    assert text.startswith(told.data)


def test_a_sealed_socket_reads_back_equal(wired: Wired) -> None:
    wire = wired(drain_seconds=28)
    with opened(wire) as pair:
        pair.ask(b'{"type":"ask"}')
        pair.tell(b"x" * 3_000_000)
        pair.pass_on(pair.server, pair.client, frames.spell(Frame(Opcode.BINARY, bytes(range(256)))))
        pair.close(4001)
    wire.only()
    written = read_back(wire.recorder.trace)
    assert len(wire.recorder.control("seal")["sealed"]) == 1
    sealed = read_back(wire.recorder.trace)
    assert sealed.messages == written.messages
    assert [len(message.data or b"") for message in sealed.messages] == [14, 3_000_000, 256]
    assert sealed.websocket == written.websocket
    assert sealed.websocket is not None
    assert sealed.websocket.client.close is not None
    assert (sealed.websocket.client.close.code, sealed.complete) == (4001, True)


def test_a_stop_ends_a_socket_that_is_silent(start: Start) -> None:
    with Provider() as provider:
        recorder = start(default_upstream=provider.url)
        with connect(f"ws://127.0.0.1:{recorder.port}/v1/responses", proxy=None) as client:
            ask(client, [], input=[], generate=False)
            assert recorder.stop() == 0
        [recorded] = exchanges(recorder.trace)
    assert recorded.error["code"] == "stopped"
    assert len(recorded.sent_by("server")) == 3
    assert recorded.error["request"]["complete"] is False


def test_a_socket_is_active_until_it_is_over(start: Start) -> None:
    with Provider() as provider:
        recorder = start(default_upstream=provider.url)
        with connect(f"ws://127.0.0.1:{recorder.port}/v1/responses", proxy=None) as client:
            ask(client, [], input=[])
            until(lambda: [each for each in exchanges(recorder.trace) if each.messages], "a message")
            assert recorder.control("status")["active_requests"] == 1
            found = read_back(recorder.trace)
            assert (found.status, found.response is not None) == (101, True)
        assert recorder.only().end["websocket"]["client"]["close"]["code"] == 1000


@pytest.mark.requirement("PROXY-17")
@pytest.mark.parametrize("compression", ["deflate", None])
def test_a_whole_job_over_a_socket(start: Start, compression: str | None) -> None:
    """As an agent speaks it: a warm-up, then only what is new; under a run, and seen by both ends alike."""
    with Provider() as provider:
        recorder = start(upstreams={"openai": provider.url})
        address = f"ws://127.0.0.1:{recorder.port}/bb/harbour/t1/r1/openai/v1/responses"
        told: list[bytes] = []
        with connect(address, proxy=None, compression=compression) as client:
            response = ask(client, told, input=[], generate=False)
            news: list[dict[str, str]] = [{"type": "message", "role": "user", "content": "mend it"}]
            while news:
                response = ask(client, told, input=news, previous_response_id=response["id"])
                calls = [item["call_id"] for item in response["output"] if item["type"] == "function_call"]
                news = [{"type": "function_call_output", "call_id": call, "output": "OK"} for call in calls]
        recorded = recorder.only()
        assert recorded.start["target"] == "/v1/responses"
        assert (recorded.start["session"], recorded.start["run"]) == ("harbour", "r1")
        assert recorded.start.get("recognised", True) is True
        assert recorded.sent_by("client") == provider.received[0].messages
        assert len(recorded.sent_by("client")) == 6
        assert recorded.sent_by("server") == told
        assert provider.received[0].path == "/v1/responses"


@pytest.mark.parametrize(
    ("manner", "code"),
    [
        (Manner(fault=Fault.CUT, after=2), "upstream_cut"),
        (Manner(fault=Fault.RESET, after=2), "upstream_reset"),
        (Manner(fault=Fault.CLOSE, after=2), None),
    ],
    ids=["cut", "reset", "1011"],
)
def test_what_goes_wrong_at_the_provider_is_on_record(start: Start, manner: Manner, code: str | None) -> None:
    with Provider(manner=manner) as provider:
        recorder = start(default_upstream=provider.url)
        with recorder.client() as client:
            client.send(upgrade(b"localhost"))
            assert client.head().status == 101
            client.send(frames.spell(Frame(Opcode.TEXT, json.dumps({**CREATE, "input": []}).encode()), b"mask"))
            client.rest()
        recorded = recorder.only()
    assert len(recorded.sent_by("server")) == 2
    assert (recorded.error or {}).get("code") == code
    close = recorded.over["websocket"]["server"]["close"]
    assert close == (None if code else {"code": 1011, "reason": "scripted close"})
