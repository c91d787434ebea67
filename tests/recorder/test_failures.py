"""When something breaks: each side learns what the other did, and the trace keeps what came until then."""

import json
import socket
import threading

import pytest

from tests.clients.peer import PATIENCE, Ended, Peer
from tests.clients.upstream import Handler, Upstream
from tests.recorder.conftest import Start, Wire

EVENT = b'data: {"n":1}\n\n'
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"%x\r\n%b\r\n" % (len(EVENT), EVENT)


def post(wire: Wire, body: bytes = b"{}") -> bytes:
    head = b"POST /v1/messages HTTP/1.1\r\nHost: " + wire.host() + b"\r\nContent-Length: %d\r\n\r\n" % len(body)
    return head + body


@pytest.mark.requirement("PROXY-16", "PROXY-08", "TRACE-05")
@pytest.mark.parametrize(("leave", "code"), [("close", "client_disconnected"), ("reset", "client_reset")])
def test_a_client_that_goes_cancels_the_request(wire: Wire, leave: str, code: str) -> None:
    ended = threading.Event()

    def answer(peer: Peer) -> None:
        peer.request()
        peer.send(STREAM_HEAD + CHUNK)
        assert peer.sees_end()
        ended.set()

    wire.answer_with(answer)
    client = wire.through()
    client.send(post(wire))
    client.head()
    assert client.chunk()[1] == EVENT
    if leave == "reset":
        client.reset()
    client.close()
    assert ended.wait(PATIENCE)
    exchange = wire.recorded()[0]
    assert exchange.response == EVENT
    assert exchange.end is None
    assert exchange.error["where"] == "client"
    assert exchange.error["code"] == code
    assert exchange.error["message"]
    assert exchange.error["response"]["wire"] == len(EVENT)
    assert exchange.error["response"]["complete"] is False
    assert exchange.error["request"]["complete"] is True


@pytest.mark.requirement("PROXY-16")
def test_a_client_that_goes_before_the_answer_cancels_the_request(wire: Wire) -> None:
    asked, ended = threading.Event(), threading.Event()

    def answer(peer: Peer) -> None:
        peer.request()
        asked.set()
        assert peer.sees_end()
        ended.set()

    wire.answer_with(answer)
    with wire.through() as client:
        client.send(post(wire, b'{"a":1}'))
        assert asked.wait(PATIENCE)
    assert ended.wait(PATIENCE)
    exchange = wire.recorded()[0]
    assert (exchange.error["where"], exchange.request, exchange.heads) == ("client", b'{"a":1}', [])


@pytest.mark.requirement("PROXY-16", "PROXY-08")
def test_a_client_that_goes_in_its_own_body_leaves_what_it_sent(wire: Wire) -> None:
    half, ended = threading.Event(), threading.Event()

    def answer(peer: Peer) -> None:
        peer.head()
        assert peer.exactly(4) == b"half"
        half.set()
        assert peer.sees_end()
        ended.set()

    wire.answer_with(answer)
    with wire.through() as client:
        client.send(post(wire, b"half of it")[: -len(b" of it")])
        assert half.wait(PATIENCE)
    assert ended.wait(PATIENCE)
    exchange = wire.recorded()[0]
    assert exchange.request == b"half"
    assert exchange.error["where"] == "client"
    assert exchange.error["request"]["complete"] is False


def cutting(answer: bytes) -> Handler:
    """An upstream that sends so much and then goes."""

    def handle(peer: Peer) -> None:
        peer.request()
        peer.send(answer)

    return handle


@pytest.mark.requirement("PROXY-15", "PROXY-09", "TRACE-05")
@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (STREAM_HEAD + CHUNK, EVENT),
        (STREAM_HEAD + CHUNK + b"5\r\nhe", EVENT + b"he"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", b"hello"),
        (STREAM_HEAD, b""),
    ],
)
def test_a_cut_answer_stays_cut(wire: Wire, answer: bytes, body: bytes) -> None:
    wire.answer_with(cutting(answer))
    with wire.direct() as client:
        client.send(post(wire))
        expected = client.rest()
    assert expected == (answer, False)
    with wire.through() as client:
        client.send(post(wire))
        said, reset = client.rest()
    assert not reset
    head, _, framed = answer.partition(b"\r\n\r\n")
    assert said.partition(b"\r\n\r\n")[0] == head
    assert not said.endswith(b"0\r\n\r\n")
    assert CHUNK in said or CHUNK not in framed
    exchange = wire.recorded()[0]
    assert exchange.response == body
    assert (exchange.error["where"], exchange.error["code"]) == ("upstream", "upstream_cut")
    assert exchange.error["response"]["complete"] is False


@pytest.mark.requirement("PROXY-15")
def test_a_reset_of_the_upstream_reaches_the_client(wire: Wire) -> None:
    go = threading.Event()

    def answer(peer: Peer) -> None:
        peer.request()
        peer.send(STREAM_HEAD + CHUNK)
        assert go.wait(PATIENCE)
        peer.reset()

    wire.answer_with(answer)
    with wire.through() as client:
        client.send(post(wire))
        client.head()
        assert client.chunk()[1] == EVENT
        go.set()
        assert client.rest() == (b"", True)
    exchange = wire.recorded()[0]
    assert exchange.response == EVENT
    assert (exchange.error["where"], exchange.error["code"]) == ("upstream", "upstream_reset")


@pytest.mark.requirement("PROXY-15")
@pytest.mark.parametrize("reset", [True, False])
def test_an_upstream_that_goes_without_an_answer(wire: Wire, reset: bool) -> None:
    def answer(peer: Peer) -> None:
        peer.request()
        if reset:
            peer.reset()

    wire.answer_with(answer)
    with wire.through() as client:
        client.send(post(wire))
        said, was_reset = client.rest()
    assert (said, was_reset) == (b"", reset)
    exchange = wire.recorded()[0]
    assert exchange.error["code"] == ("upstream_reset" if reset else "upstream_cut")
    assert exchange.heads == []


@pytest.mark.requirement("PROXY-15", "PROXY-09", "TRACE-05")
def test_an_upstream_that_nobody_serves_is_told_in_plain_json(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    recorder = start(default_upstream=f"http://127.0.0.1:{port}")
    answer = recorder.ask(b'POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7\r\n\r\n{"a":1}')
    assert answer.head.status == 502
    assert answer.head.get(b"content-type") == b"application/json"
    error = json.loads(answer.body)["error"]
    assert (error["source"], error["code"]) == ("blackbird", "connect_failed")
    assert str(port) in error["message"]
    exchange = recorder.only()
    assert (exchange.error["where"], exchange.error["code"]) == ("upstream", "connect_failed")
    assert exchange.error["timings"]["connected"] is None


def test_a_name_that_does_not_resolve_is_told_in_plain_json(start: Start) -> None:
    recorder = start(default_upstream="http://nowhere.invalid:80")
    answer = recorder.ask(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert answer.head.status == 502
    assert json.loads(answer.body)["error"]["code"] == "connect_failed"


def test_an_upstream_that_speaks_no_tls_is_told_in_plain_json(start: Start) -> None:
    def answer(peer: Peer) -> None:
        peer.fill()
        peer.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    with Upstream(answer) as upstream:
        recorder = start(default_upstream=upstream.url.replace("http:", "https:"))
        got = recorder.ask(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert got.head.status == 502
        assert json.loads(got.body)["error"]["code"] == "tls_failed"
        assert recorder.only().error["code"] == "tls_failed"


@pytest.mark.requirement("PROXY-15", "PROXY-05")
def test_no_request_is_sent_twice(wire: Wire) -> None:
    """Only the client knows whether a request may be repeated."""
    heads: list[bytes] = []

    def answer(peer: Peer) -> None:
        heads.append(peer.request().head.start)
        peer.reset()

    wire.answer_with(answer)
    for _ in range(3):
        with wire.through() as client:
            client.send(post(wire))
            client.rest()
    wire.recorded(3)
    assert len(heads) == 3


def test_a_failed_exchange_leaves_others_alone(wire: Wire) -> None:
    go = threading.Event()

    def answer(peer: Peer) -> None:
        message = peer.request()
        if message.body == b"bad":
            peer.reset()
            return
        peer.send(STREAM_HEAD + CHUNK)
        assert go.wait(PATIENCE)
        peer.send(CHUNK + b"0\r\n\r\n")

    wire.answer_with(answer)
    with wire.through() as steady:
        steady.send(post(wire, b"good"))
        steady.head()
        assert steady.chunk()[1] == EVENT
        with wire.through() as client, pytest.raises(Ended):
            client.ask(post(wire, b"bad"))
        go.set()
        assert steady.chunk()[1] == EVENT
        assert steady.chunk()[1] == b""
    good, bad = wire.recorded(2)
    assert good.response == EVENT * 2
    assert bad.error["code"] == "upstream_reset"
