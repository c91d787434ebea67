"""Streams and connections: nothing is held back, nothing is joined, and one connection is one connection."""

import hashlib
import queue
import threading

import pytest

from tests.clients.peer import PATIENCE, Message, Peer
from tests.clients.upstream import answering
from tests.recorder.conftest import Wire, Wired

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
BIG = 64 << 20
BLOCK = bytes(range(256)) * 4096


def post(wire: Wire, body: bytes, target: bytes = b"/v1/messages") -> bytes:
    head = b"POST " + target + b" HTTP/1.1\r\nHost: " + wire.host() + b"\r\nContent-Length: %d\r\n\r\n" % len(body)
    return head + body


@pytest.mark.requirement("PROXY-03", "PROXY-08")
@pytest.mark.parametrize(
    ("media_type", "events"),
    [
        ("text/event-stream", [b'event: a\ndata: {"n":%d}\n\n' % number for number in range(5)]),
        ("application/x-ndjson", [b'{"n":%d}\n' % number for number in range(5)]),
        ("application/json", [b"[1", b",2", b",3", b"]"]),
    ],
)
@pytest.mark.parametrize("framing", ["chunked", "close"])
def test_each_event_arrives_before_the_next_is_sent(
    wire: Wire, media_type: str, events: list[bytes], framing: str
) -> None:
    acknowledged: queue.Queue[int] = queue.Queue()
    field = "Transfer-Encoding: chunked" if framing == "chunked" else "Connection: close"

    def answer(peer: Peer) -> None:
        peer.request()
        peer.send(f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n{field}\r\n\r\n".encode())
        for number, event in enumerate(events):
            peer.send(b"%x\r\n%b\r\n" % (len(event), event) if framing == "chunked" else event)
            assert acknowledged.get(timeout=PATIENCE) == number
        if framing == "chunked":
            peer.send(b"0\r\n\r\n")

    wire.answer_with(answer)
    with wire.through() as client:
        client.send(post(wire, b"{}"))
        client.head()
        for number, event in enumerate(events):
            got = client.chunk()[1] if framing == "chunked" else client.exactly(len(event))
            assert got == event
            acknowledged.put(number)
        assert client.until(b"0\r\n\r\n") == b"0\r\n\r\n" if framing == "chunked" else client.sees_end()
    exchange = wire.recorded()[0]
    assert exchange.response == b"".join(events)


@pytest.mark.requirement("PROXY-03")
def test_the_head_arrives_before_the_body_is_begun(wire: Wire) -> None:
    seen = threading.Event()

    def answer(peer: Peer) -> None:
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
        assert seen.wait(PATIENCE)
        peer.send(b"{}")

    wire.answer_with(answer)
    with wire.through() as client:
        client.send(post(wire, b"{}"))
        head = client.head()
        seen.set()
        assert client.body_of(head, response=True).body == b"{}"


@pytest.mark.requirement("PROXY-03")
def test_an_upload_is_passed_on_while_it_comes(wire: Wire) -> None:
    def answer(peer: Peer) -> None:
        head = peer.head()
        wire.upstream.heads.put(head)
        for _ in range(3):
            data = peer.chunk()[1]
            wire.upstream.requests.put(Message(head, data, data))
        assert peer.until(b"0\r\n\r\n") == b"0\r\n\r\n"
        peer.send(OK)

    wire.answer_with(answer)
    with wire.through() as client:
        client.send(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        wire.upstream.next_head()
        for part in (b"one", b"two", b"three"):
            client.send(b"%x\r\n%b\r\n" % (len(part), part))
            assert wire.upstream.next_request().body == part
        client.send(b"0\r\n\r\n")
        assert client.response().head.status == 200


def test_a_large_upload_arrives_whole(wired: Wired) -> None:
    digest = hashlib.sha256()

    def answer(peer: Peer) -> None:
        peer.head()
        for _ in range(BIG // len(BLOCK)):
            digest.update(peer.exactly(len(BLOCK)))
        peer.send(OK)

    wire = wired(mode="privacy")
    wire.answer_with(answer)
    with wire.through() as client:
        client.send(b"POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % BIG)
        for _ in range(BIG // len(BLOCK)):
            client.send(BLOCK)
        assert client.response().head.status == 200
    assert digest.digest() == hashlib.sha256(BLOCK * (BIG // len(BLOCK))).digest()
    end = wire.only().end
    assert (end["request"]["wire"], end["request"]["complete"]) == (BIG, True)


def test_a_large_download_waits_for_a_slow_client(wired: Wired) -> None:
    stalled = threading.Event()

    def answer(peer: Peer) -> None:
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % BIG)
        peer.connection.settimeout(0.5)
        for _ in range(BIG // len(BLOCK)):
            view = memoryview(BLOCK)
            while view:
                try:
                    view = view[peer.connection.send(view) :]
                except TimeoutError:
                    stalled.set()  # nobody reads: what is under way is bounded

    wire = wired(mode="privacy")
    wire.answer_with(answer)
    with wire.through() as client:
        client.send(b"GET /download HTTP/1.1\r\nHost: localhost\r\n\r\n")
        head = client.head()
        assert stalled.wait(PATIENCE), "the recorder took all of it although its client read nothing"
        body = client.body_of(head, response=True).body
    assert hashlib.sha256(body).digest() == hashlib.sha256(BLOCK * (BIG // len(BLOCK))).digest()
    assert wire.only().end["response"]["wire"] == BIG


@pytest.mark.requirement("PROXY-05")
def test_an_answer_may_come_before_the_body_is_read(wire: Wire) -> None:
    def answer(peer: Peer) -> None:
        head = peer.head()
        peer.send(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig")
        peer.body_of(head, response=False)
        peer.request()
        peer.send(OK)

    wire.answer_with(answer)
    with wire.through() as client:
        client.send(post(wire, b"x" * 1000)[:-1000])
        early = client.response()
        assert (early.head.status, early.body) == (413, b"big")
        client.send(b"x" * 1000)
        assert client.ask(post(wire, b"{}")).head.status == 200
    first, _ = wire.recorded(2)
    assert first.request == b"x" * 1000
    assert first.head["status"] == 413


@pytest.mark.requirement("PROXY-05", "PROXY-15")
def test_an_upstream_that_wants_no_more_of_an_upload_is_heard(wire: Wire) -> None:
    answer_bytes = b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig"

    def answer(peer: Peer) -> None:
        peer.head()
        peer.send(answer_bytes)
        peer.finish_sending()
        peer.rest()

    wire.answer_with(answer)
    with wire.through() as client:
        client.send(b"POST /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % BIG + BLOCK)
        got = client.response()
        assert (got.head.status, got.body) == (413, b"big")
        assert client.sees_end()
    exchange = wire.only()
    assert exchange.head["status"] == 413
    assert exchange.over["request"]["complete"] is False


@pytest.mark.requirement("PROXY-05")
def test_pipelined_requests_are_answered_in_order(wire: Wire) -> None:
    seen: list[Message] = []

    def answer(peer: Peer) -> None:
        while True:
            message = peer.request()
            seen.append(message)
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(message.body) + message.body)

    wire.answer_with(answer)
    bodies = [b"first", b"", b"third"]
    with wire.through() as client:
        client.send(b"".join(post(wire, body) for body in bodies))
        assert [client.response().body for _ in bodies] == bodies
    assert [message.body for message in seen] == bodies
    assert wire.upstream.connections == 1
    assert [exchange.request for exchange in wire.recorded(3)] == bodies


def test_one_client_connection_is_one_upstream_connection(wire: Wire) -> None:
    wire.answer_with(answering(OK))
    with wire.through() as client, wire.through() as other:
        for _ in range(3):
            client.ask(post(wire, b"{}"))
            other.ask(post(wire, b"{}"))
        assert wire.upstream.connections == 2
    wire.recorded(6)


def test_an_upstream_that_closes_an_idle_connection_closes_the_clients(wire: Wire) -> None:
    def answer(peer: Peer) -> None:
        peer.request()
        peer.send(OK)

    wire.answer_with(answer)
    with wire.through() as client:
        assert client.ask(post(wire, b"{}")).body == b"{}"
        assert client.sees_end()


def test_a_client_that_closes_an_idle_connection_closes_the_upstreams(wire: Wire) -> None:
    ended = threading.Event()

    def answer(peer: Peer) -> None:
        peer.request()
        peer.send(OK)
        assert peer.sees_end()
        ended.set()

    wire.answer_with(answer)
    with wire.through() as client:
        client.ask(post(wire, b"{}"))
    assert ended.wait(PATIENCE)


def test_an_answer_that_closes_is_passed_with_its_close(wire: Wire) -> None:
    closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"

    def answer(peer: Peer) -> None:
        peer.request()
        peer.send(closing)

    wire.answer_with(answer)
    with wire.through() as client:
        client.send(post(wire, b"{}"))
        assert client.rest() == (closing, False)


def test_many_streams_at_once(wire: Wire) -> None:
    def answer(peer: Peer) -> None:
        body = peer.request().body
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for number in range(20):
            event = b"data: %b %d\n\n" % (body, number)
            peer.send(b"%x\r\n%b\r\n" % (len(event), event))
        peer.send(b"0\r\n\r\n")

    wire.answer_with(answer)
    clients = [wire.through() for _ in range(24)]
    for number, client in enumerate(clients):
        client.send(post(wire, b"client-%d" % number))
    for number, client in enumerate(clients):
        assert client.response().body == b"".join(b"data: client-%d %d\n\n" % (number, at) for at in range(20))
        client.close()
    recorded = {exchange.request: exchange.response for exchange in wire.recorded(24)}
    assert set(recorded) == {b"client-%d" % number for number in range(24)}
    assert all(body.startswith(b"data: " + name) for name, body in recorded.items())
