"""What passes is what was sent: bodies to the byte, heads but for a listed set, and the trace says the same."""

import hashlib
import hmac
import json

import pytest

from blackbird.provider.encoding import encode
from tests.clients.peer import Head, Message, Peer
from tests.clients.upstream import answering, chunked
from tests.recorder.conftest import Wire

BODY = b'{"model":"m","messages":[{"role":"user","content":"hello \xc3\xa9"}]}'
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


def post(wire: Wire, body: bytes, *fields: bytes, target: bytes = b"/v1/messages") -> bytes:
    lines = [b"POST " + target + b" HTTP/1.1", b"Host: " + wire.host(), *fields, b"Content-Length: %d" % len(body)]
    return b"\r\n".join([*lines, b"", b""]) + body


@pytest.mark.requirement("PROXY-01", "PROXY-04")
def test_a_request_arrives_as_if_it_came_directly(wire: Wire) -> None:
    seen: list[Message] = []
    wire.answer_with(answering(OK, seen))
    fields = [
        b"User-Agent: agent/1.0 (odd;  spaces)",
        b"x-dup: 1",
        b"Accept: */*",
        b"X-Dup: 2",
        b"ACCEPT-ENCODING: gzip, deflate, br, zstd",
        b"x-dup: 3",
        b"anthropic-version: 2023-06-01",
        b"X-Empty: ",
        b"x-latin: caf\xe9",
        b"Cookie: a=1; b=2",
        b"Connection: keep-alive",
    ]
    expected, got = wire.ask_both(post(wire, BODY, *fields, target=b"/v1/messages?beta=true&x=%20%2F"))
    assert got == expected
    direct, through = seen
    assert through.head.start == direct.head.start
    assert through.head.fields == direct.head.fields
    assert through.body == direct.body == BODY


@pytest.mark.requirement("PROXY-04")
def test_the_listed_set_is_all_that_a_request_loses(wire: Wire) -> None:
    seen: list[Message] = []
    wire.answer_with(answering(OK, seen))
    fields = [
        b"X-A: 1",
        b"Connection: keep-alive, X-Hop",
        b"X-Hop: gone",
        b"Keep-Alive: timeout=5",
        b"Proxy-Connection: keep-alive",
        b"Proxy-Authorization: Basic eDp5",
        b"X-Blackbird-Session: s",
        b"x-blackbird-anything: gone",
        b"TE: trailers",
        b"X-B: 2",
    ]
    request = post(wire, BODY, *fields).replace(wire.host(), b"localhost:1", 1)
    with wire.through() as client:
        assert client.ask(request).head.status == 200
    assert seen[0].head.fields == [
        b"Host: " + wire.host(),
        b"X-A: 1",
        b"Connection: keep-alive",
        b"TE: trailers",
        b"X-B: 2",
        b"Content-Length: %d" % len(BODY),
    ]


@pytest.mark.requirement("PROXY-04", "PROXY-05")
@pytest.mark.parametrize(
    "status_line",
    [
        b"HTTP/1.1 200 OK",
        b"HTTP/1.1 200 All  is   fine",
        b"HTTP/1.1 200 ",
        b"HTTP/1.1 299 Odd",
        b"HTTP/1.1 418 I'm a teapot",
        b"HTTP/1.1 529 Overloaded",
        b"HTTP/1.1 500 caf\xe9",
    ],
)
def test_a_response_arrives_as_it_was_sent(wire: Wire, status_line: bytes) -> None:
    fields = [
        b"date: Mon, 01 Jan 2026 00:00:00 GMT",
        b"Set-Cookie: a=1",
        b"x-dup: 1",
        b"SET-COOKIE: b=2",
        b"X-Dup: 2",
        b"retry-after: 1",
        b"x-latin: caf\xe9",
        b"Server: some/1.0",
        b"Content-Length: 5",
    ]
    wire.answer_with(answering(b"\r\n".join([status_line, *fields, b"", b"hello"])))
    expected, got = wire.ask_both(post(wire, BODY))
    assert got.head.raw == expected.head.raw
    assert got.body == b"hello"
    head = wire.recorded()[0].head
    assert head["status"] == int(status_line.split()[1])
    assert head["reason"] == status_line.split(b" ", 2)[2].decode("latin-1")


@pytest.mark.requirement("PROXY-04")
def test_every_byte_value_passes_and_is_counted(wire: Wire) -> None:
    body = bytes(range(256)) * 64
    said = b"".join(hashlib.sha256(b"%d" % number).digest() for number in range(1250))
    seen: list[Message] = []
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n" % len(said)
    wire.answer_with(answering(head + said, seen))
    expected, got = wire.ask_both(post(wire, body, b"Content-Type: application/octet-stream"))
    assert got == expected
    assert [message.body for message in seen] == [body, body]
    exchange = wire.recorded()[0]
    assert exchange.end["request"]["wire"] == len(body)
    assert exchange.end["response"]["wire"] == len(said)


@pytest.mark.requirement("PROXY-08", "TRACE-02")
def test_the_trace_holds_the_bodies_as_raw_bytes(wire: Wire) -> None:
    said = b'{"answer":"\xe2\x82\xac\xff\x00 raw"}'
    wire.answer_with(answering(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(said) + said))
    with wire.through() as client:
        client.ask(post(wire, BODY))
    exchange = wire.recorded()[0]
    assert exchange.request == BODY
    assert exchange.response == said
    assert exchange.sequences == sorted(exchange.sequences)


@pytest.mark.requirement("TRACE-01", "TRACE-03", "TRACE-04", "PROXY-07", "PROXY-09", "PROXY-12")
def test_the_trace_tells_the_whole_exchange(wire: Wire) -> None:
    wire.answer_with(answering(OK))
    with wire.through() as client:
        client.ask(post(wire, BODY, b"X-Api-Key: hidden", b"X-Kept: yes", target=b"/up/v1/messages?beta=true"))
        client.ask(post(wire, BODY, target=b"/up/v1/messages"))
    first, second = wire.recorded(2)
    assert first.id != second.id
    start = first.start
    assert (start["method"], start["target"], start["version"]) == ("POST", "/v1/messages?beta=true", "HTTP/1.1")
    assert start["upstream"] == "up"
    assert start["url"] == f"{wire.upstream.url}/v1/messages?beta=true"
    assert start["mode"] == "full"
    assert start["attribution"] == "none"
    assert start["headers"] == [
        ["Host", wire.host().decode()],
        ["X-Api-Key", "[redacted:header]"],
        ["X-Kept", "yes"],
        ["Content-Length", str(len(BODY))],
    ]
    assert first.heads == [
        {
            "status": 200,
            "reason": "OK",
            "version": "HTTP/1.1",
            "headers": [["Content-Type", "application/json"], ["Content-Length", "2"]],
        }
    ]
    key = (wire.recorder.home / "hmac.key").read_bytes()
    assert first.end["request"] == {
        "wire": len(BODY),
        "decoded": len(BODY),
        "stored": len(BODY),
        "encoding": None,
        "hmac": hmac.new(key, BODY, hashlib.sha256).hexdigest(),
        "complete": True,
        "redactions": {},
    }
    assert first.end["response"]["wire"] == 2
    assert first.end["response"]["complete"] is True
    timings = first.end["timings"]
    assert list(timings) == ["connected", "request_sent", "first_byte", "end"]
    assert 0 < timings["request_sent"] <= timings["first_byte"] <= timings["end"]
    assert second.end["timings"]["connected"] == 0


@pytest.mark.requirement("PROXY-04", "PROXY-05", "TRED-02")
@pytest.mark.parametrize("coding", ["gzip", "deflate", "zstd", "br"])
def test_compressed_bodies_pass_untouched_and_are_recorded_plain(wire: Wire, coding: str) -> None:
    plain = b'{"reply":"' + b"words and words " * 50 + b'"}'
    packed, asked = encode(plain, coding), encode(BODY, coding)
    seen: list[Message] = []
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {len(packed)}\r\n\r\n".encode()
    wire.answer_with(answering(head + packed, seen))
    expected, got = wire.ask_both(post(wire, asked, b"Content-Encoding: " + coding.encode()))
    assert got == expected
    assert seen[1].body == asked
    exchange = wire.recorded()[0]
    assert (exchange.request, exchange.response) == (BODY, plain)
    assert exchange.end["response"]["encoding"] == coding
    assert exchange.end["response"]["wire"] == len(packed)
    assert exchange.end["response"]["decoded"] == len(plain)


def test_a_field_keeps_its_spelling_when_it_is_long(wire: Wire) -> None:
    seen: list[Message] = []
    wire.answer_with(answering(OK, seen))
    long = b"X-Long: " + b"v" * 30_000
    with wire.through() as client:
        assert client.ask(post(wire, BODY, long)).head.status == 200
    assert long in seen[0].head.fields


@pytest.mark.parametrize("method", [b"GET", b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"PROPFIND"])
def test_any_method_passes(wire: Wire, method: bytes) -> None:
    seen: list[Message] = []
    wire.answer_with(answering(OK, seen))
    request = method + b" /any/thing?q=1 HTTP/1.1\r\nHost: " + wire.host() + b"\r\n\r\n"
    expected, got = wire.ask_both(request)
    assert got == expected
    assert seen[1].head == seen[0].head == Head(request)


def test_an_answer_may_come_byte_by_byte(wire: Wire) -> None:
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(b"hello", b" ", b"world")

    def trickle(peer: Peer) -> None:
        peer.request()
        for at in range(len(answer)):
            peer.send(answer[at : at + 1])

    wire.answer_with(trickle)
    with wire.through() as client:
        assert client.ask(post(wire, BODY)).body == b"hello world"
    assert wire.recorded()[0].response == b"hello world"


def test_a_request_may_come_byte_by_byte(wire: Wire) -> None:
    seen: list[Message] = []
    wire.answer_with(answering(OK, seen))
    request = post(wire, BODY)
    with wire.through() as client:
        for at in range(len(request)):
            client.send(request[at : at + 1])
        assert client.response().head.status == 200
    assert seen[0].body == BODY


@pytest.mark.requirement("PROXY-09")
def test_errors_of_the_provider_pass_and_are_recorded(wire: Wire) -> None:
    said = json.dumps({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}).encode()
    fields = b"Content-Type: application/json\r\nretry-after: 1\r\nContent-Length: %d\r\n\r\n" % len(said)
    wire.answer_with(answering(b"HTTP/1.1 529 Overloaded\r\n" + fields + said))
    expected, got = wire.ask_both(post(wire, BODY))
    assert got == expected
    exchange = wire.recorded()[0]
    assert (exchange.head["status"], exchange.response) == (529, said)
    assert exchange.end is not None
