"""Framing in all its forms: chunks, trailers, informational answers, bodies that end with the connection."""

import pytest

from tests.clients.peer import Head, Message, Peer
from tests.clients.upstream import Handler, answering
from tests.recorder.conftest import Wire

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def get(wire: Wire, *fields: bytes, method: bytes = b"GET", version: bytes = b"HTTP/1.1") -> bytes:
    lines = [method + b" /v1/models " + version, b"Host: " + wire.host(), *fields, b"", b""]
    return b"\r\n".join(lines)


def chunked_post(wire: Wire, framed: bytes, *fields: bytes) -> bytes:
    lines = [b"POST /v1/messages HTTP/1.1", b"Host: " + wire.host(), *fields, b"Transfer-Encoding: chunked"]
    return b"\r\n".join([*lines, b"", b""]) + framed


@pytest.mark.requirement("PROXY-03", "PROXY-04")
def test_chunked_requests(wire: Wire) -> None:
    seen: list[Message] = []
    wire.answer_with(answering(OK, seen))
    framed = b'5\r\n{"a":\r\n3;name="value";flag\r\n"b"\r\n000001\r\n}\r\n0\r\n\r\n'
    expected, got = wire.ask_both(chunked_post(wire, framed))
    assert got == expected
    assert seen[1].body == seen[0].body == b'{"a":"b"}'
    assert seen[1].head == seen[0].head
    assert wire.recorded()[0].request == b'{"a":"b"}'


@pytest.mark.requirement("PROXY-03", "PROXY-04")
def test_chunked_responses_with_extensions(wire: Wire) -> None:
    framed = b"5;x=1\r\nhello\r\nA\r\n, world...\r\n0\r\n\r\n"
    wire.answer_with(answering(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + framed))
    expected, got = wire.ask_both(get(wire))
    assert (got.head, got.body) == (expected.head, b"hello, world...")
    assert wire.recorded()[0].response == b"hello, world..."


@pytest.mark.requirement("PROXY-04")
def test_trailers_both_ways(wire: Wire) -> None:
    seen: list[Message] = []
    head = b"HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n"
    wire.answer_with(answering(head + b"2\r\nhi\r\n0\r\nX-Sum: 9\r\nx-B: 2\r\n\r\n", seen))
    request = chunked_post(wire, b"2\r\nok\r\n0\r\nX-Check: 1\r\n\r\n", b"Trailer: X-Check", b"TE: trailers")
    expected, got = wire.ask_both(request)
    assert got == expected
    assert got.trailers == (b"X-Sum: 9", b"x-B: 2")
    assert seen[1].trailers == seen[0].trailers == (b"X-Check: 1",)
    assert wire.recorded()[0].end["response"]["trailers"] == [["X-Sum", "9"], ["x-B", "2"]]


def test_an_empty_chunked_body(wire: Wire) -> None:
    seen: list[Message] = []
    wire.answer_with(answering(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", seen))
    expected, got = wire.ask_both(chunked_post(wire, b"0\r\n\r\n"))
    assert got == expected
    assert got.body == seen[1].body == b""
    assert wire.recorded()[0].end["response"]["complete"] is True


@pytest.mark.parametrize("version", [b"HTTP/1.1", b"HTTP/1.0"])
def test_a_body_that_ends_with_the_connection(wire: Wire, version: bytes) -> None:
    def answer(peer: Peer) -> None:
        peer.request()
        peer.send(version + b" 200 OK\r\nX-A: 1\r\n\r\nall there is")

    wire.answer_with(answer)
    expected, got = wire.ask_both(get(wire))
    assert got == expected
    assert got.body == b"all there is"
    exchange = wire.recorded()[0]
    assert exchange.response == b"all there is"
    assert exchange.head["version"] == version.decode()
    assert exchange.end["response"]["complete"] is True


def test_a_client_that_speaks_http_1_0(wire: Wire) -> None:
    heads: list[Head] = []

    def answer(peer: Peer) -> None:
        heads.append(peer.request().head)
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        peer.close()

    wire.answer_with(answer)
    expected, got = wire.ask_both(get(wire, version=b"HTTP/1.0"))
    assert got == expected
    assert heads[1] == heads[0]


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        (b"HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nX-A: 1\r\n\r\n"),
        (b"HEAD", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        (b"GET", b"HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n"),
        (b"GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\nETag: x\r\n\r\n"),
    ],
)
def test_answers_without_a_body_leave_the_connection_usable(wire: Wire, method: bytes, answer: bytes) -> None:
    wire.answer_with(answering(answer))
    with wire.through() as client:
        for _ in range(2):
            assert client.ask(get(wire, method=method), bodiless=True).head.raw == answer
    assert wire.upstream.connections == 1
    assert [exchange.end["response"]["wire"] for exchange in wire.recorded(2)] == [0, 0]


@pytest.mark.requirement("PROXY-04", "PROXY-05")
def test_continue_comes_from_the_upstream_and_from_nobody_else(wire: Wire) -> None:
    def answer(peer: Peer) -> None:
        head = peer.head()
        assert peer.pending == b""
        wire.upstream.heads.put(head)
        peer.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        assert peer.exactly(4) == b"body"
        peer.send(OK)

    wire.answer_with(answer)
    with wire.through() as client:
        client.send(get(wire, b"Expect: 100-continue", b"Content-Length: 4", method=b"POST"))
        assert wire.upstream.next_head().get(b"expect") == b"100-continue"
        assert client.response().head.raw == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.send(b"body")
        assert client.response().body == b"{}"
    exchange = wire.recorded()[0]
    assert [head["status"] for head in exchange.heads] == [100, 200]
    assert exchange.request == b"body"


def test_continue_is_withheld_until_the_upstream_says_so(wire: Wire) -> None:
    def answer(peer: Peer) -> None:
        wire.upstream.heads.put(peer.head())
        assert peer.exactly(4) == b"body"  # a client may tire of waiting
        peer.send(OK)

    wire.answer_with(answer)
    with wire.through() as client:
        client.send(get(wire, b"Expect: 100-continue", b"Content-Length: 4", method=b"POST"))
        wire.upstream.next_head()
        client.send(b"body")
        assert client.response().head.raw == b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"


def test_a_final_answer_in_place_of_continue(wire: Wire) -> None:
    def answer(peer: Peer) -> None:
        peer.head()
        peer.send(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")

    wire.answer_with(answer)
    with wire.through() as client:
        got = client.ask(get(wire, b"Expect: 100-continue", b"Content-Length: 4", method=b"POST"))
        assert (got.head.status, got.body) == (401, b"no")
        assert client.sees_end()
    exchange = wire.recorded()[0]
    assert exchange.head["status"] == 401
    assert exchange.over["request"]["complete"] is False


def test_early_hints_pass_before_the_answer(wire: Wire) -> None:
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"
    wire.answer_with(answering(hint + hint + OK))
    with wire.through() as client:
        client.send(get(wire))
        assert client.response().head.raw == hint
        assert client.response().head.raw == hint
        assert client.response().body == b"{}"
    assert [head["status"] for head in wire.recorded()[0].heads] == [103, 103, 200]


def _saying(answer: bytes) -> Handler:
    def handle(peer: Peer) -> None:
        peer.request()
        peer.send(answer)

    return handle


@pytest.mark.requirement("PROXY-05", "PROXY-15")
@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\nContent-Length: nine\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\nrest\r\n",
        b"HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\n\r\nother words",
        b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
    ],
)
def test_an_answer_that_is_no_http_passes_as_it_is_and_ends_the_connection(wire: Wire, answer: bytes) -> None:
    wire.answer_with(_saying(answer))
    with wire.through() as client:
        client.send(get(wire))
        assert client.rest() == (answer, False)
    error = wire.recorded()[0].error
    assert (error["where"], error["code"]) == ("upstream", "bad_response")
    assert error["response"]["complete"] is False
