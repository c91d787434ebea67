"""The provider over a socket: what it keeps, and every way of answering that can be asked for."""

import contextlib
import datetime as dt
import json
import socket
import ssl
from pathlib import Path

import pytest

from blackbird.provider import Fault, Framing, Manner, Provider
from blackbird.provider.encoding import decode, encode
from tests.blackbird.authority.issued import issue
from tests.clients.peer import Ended, Message, Peer

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
STREAM = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}).encode()


def post(body: bytes, *fields: str, target: str = "/v1/messages") -> bytes:
    lines = [f"POST {target} HTTP/1.1", "Host: localhost", f"content-length: {len(body)}", *fields, "", ""]
    return "\r\n".join(lines).encode() + body


def asked(body: bytes, *fields: str, target: str = "/v1/messages") -> Message:
    with Provider() as provider, Peer.connect(provider.port) as client:
        return client.ask(post(body, *fields, target=target))


def test_it_keeps_what_it_received_verbatim() -> None:
    request = post(
        BODY, "X-Odd:  two spaces ", "x-dup: 1", "X-Other: a", "X-DUP: 2", target="/any/v1/messages?beta=true"
    )
    with Provider() as provider, Peer.connect(provider.port) as client:
        client.ask(request)
        client.ask(post(BODY))
        first, second = provider.wait_for(2)
        assert first.over.wait(5)
    assert first.head + first.raw == request
    assert first.body == BODY
    assert first.complete
    assert first.outcome == "answered"
    assert first.connection == second.connection == 1
    assert first.query == [("beta", "true")]
    assert first.fields[2:] == [("X-Odd", "two spaces"), ("x-dup", "1"), ("X-Other", "a"), ("X-DUP", "2")]


def test_it_reads_chunks_and_trailers() -> None:
    head = b"POST /v1/messages HTTP/1.1\r\nHost: l\r\nTransfer-Encoding: chunked\r\n\r\n"
    framed = b"5;ext=1\r\n" + BODY[:5] + b"\r\n" + b"%x\r\n" % len(BODY[5:]) + BODY[5:] + b"\r\n0\r\nx-sum: 1\r\n\r\n"
    with Provider() as provider, Peer.connect(provider.port) as client:
        assert client.ask(head + framed).head.status == 200
        request = provider.wait_for(1)[0]
    assert (request.raw, request.body, request.trailers) == (framed, BODY, [("x-sum", "1")])


def test_the_same_request_gets_the_same_bytes() -> None:
    assert asked(STREAM) == asked(STREAM)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "zstd", "br"])
def test_compressed_both_ways(coding: str) -> None:
    plain = asked(STREAM)
    packed = asked(encode(STREAM, coding), f"content-encoding: {coding}", f"x-script-encoding: {coding}")
    assert packed.head.get(b"content-encoding") == coding.encode()
    said = decode(packed.body, coding)
    assert said.count(b"event: ") == plain.body.count(b"event: ")


@pytest.mark.parametrize("framing", list(Framing))
def test_every_framing_carries_the_same_body(framing: Framing) -> None:
    answer = asked(STREAM, f"x-script-framing: {framing.value}")
    assert answer.body == asked(STREAM).body
    names = {Framing.CHUNKED: b"transfer-encoding", Framing.LENGTH: b"content-length", Framing.CLOSE: b"connection"}
    assert answer.head.get(names[framing]) is not None


def test_http_1_0_gets_no_chunks() -> None:
    with Provider() as provider, Peer.connect(provider.port) as client:
        request = post(STREAM).replace(b"HTTP/1.1", b"HTTP/1.0", 1)
        answer = client.ask(request)
    assert answer.head.get(b"transfer-encoding") is None
    assert answer.body == asked(STREAM).body


@pytest.mark.parametrize(
    ("status", "reason"), [(429, "Too Many Requests"), (500, "Internal Server Error"), (529, "Overloaded")]
)
def test_error_statuses(status: int, reason: str) -> None:
    answer = asked(BODY, target=f"/v1/messages?script-status={status}&script-retry-after=7")
    assert answer.head.start == f"HTTP/1.1 {status} {reason}".encode()
    assert answer.head.get(b"retry-after") == b"7"
    assert json.loads(answer.body)["error"]["message"] == f"scripted {status}"


@pytest.mark.parametrize(
    ("fault", "reset", "events"),
    [("cut", False, 2), ("reset", True, None), ("reset-before-head", True, None), ("reset-after-head", True, None)],
)
def test_broken_streams(fault: str, reset: bool, events: int | None) -> None:
    with Provider() as provider, Peer.connect(provider.port) as client:
        client.send(post(STREAM, f"x-script-fault: {fault}", "x-script-after: 2"))
        with pytest.raises(Ended) as ended:
            client.response()
        assert provider.received[0].over.wait(5)
        assert provider.received[0].outcome == fault
    assert ended.value.reset is reset
    if events is not None:  # a reset may overtake what was sent before it
        assert ended.value.data.count(b"event: ") == events


def test_an_error_inside_a_stream() -> None:
    answer = asked(STREAM, "x-script-fault: error", "x-script-after: 2")
    assert answer.body.count(b"event: ") == 3
    assert b"event: error\n" in answer.body


def test_a_stalled_stream_lasts_until_the_client_goes() -> None:
    with Provider() as provider:
        client = Peer.connect(provider.port)
        client.send(post(STREAM, "x-script-fault: stall", "x-script-after: 1"))
        client.head()
        assert b"message_start" in client.chunk()[1]
        assert not provider.received[0].over.is_set()
        client.close()
        assert provider.received[0].over.wait(10)
        assert provider.received[0].outcome == "stall"


def test_trailers_hints_and_own_fields() -> None:
    with Provider() as provider, Peer.connect(provider.port) as client:
        client.send(post(STREAM, "x-script-trailer: x-sum=9", "x-script-hints: 1", "x-script-field: x-more=yes"))
        assert client.response().head.start == b"HTTP/1.1 103 Early Hints"
        answer = client.response()
    assert answer.trailers == (b"x-sum: 9",)
    assert answer.head.get(b"x-more") == b"yes"


def test_a_client_that_waits_to_continue() -> None:
    request = post(BODY, "Expect: 100-continue")
    head = request[: -len(BODY)]
    with Provider() as provider, Peer.connect(provider.port) as client:
        assert client.ask(head).head.start == b"HTTP/1.1 100 Continue"
        assert client.ask(BODY).head.status == 200


def test_a_final_answer_in_place_of_continue() -> None:
    with Provider(manner=Manner(status=401)) as provider, Peer.connect(provider.port) as client:
        head = post(BODY, "Expect: 100-continue", "x-script-expect: final")[: -len(BODY)]
        assert client.ask(head).head.status == 401
        assert client.sees_end()
    assert provider.received[0].body == b""


def test_an_answer_before_the_body() -> None:
    with Provider() as provider, Peer.connect(provider.port) as client:
        request = post(BODY, "x-script-early: 1", "x-script-status: 429")
        assert client.ask(request[: -len(BODY)]).head.status == 429
        client.send(BODY)
        assert client.ask(post(BODY)).head.status == 200
        assert provider.received[0].body == BODY


@pytest.mark.parametrize("status", [204, 304])
def test_answers_without_a_body(status: int) -> None:
    answer = asked(BODY, f"x-script-status: {status}")
    assert answer.head.status == status
    assert answer.head.get(b"content-length") is None


def test_head_has_the_head_of_get() -> None:
    with Provider() as provider, Peer.connect(provider.port) as client:
        get = client.ask(b"GET /v1/models HTTP/1.1\r\nHost: l\r\n\r\n")
        head = client.ask(b"HEAD /v1/models HTTP/1.1\r\nHost: l\r\n\r\n", bodiless=True)
        assert head.head.raw == get.head.raw
        assert client.ask(b"GET /nothing HTTP/1.1\r\nHost: l\r\n\r\n").head.status == 404


def test_single_requests_can_have_their_own_manner() -> None:
    with Provider(turns={2: Manner(status=529)}) as provider, Peer.connect(provider.port) as client:
        assert [client.ask(post(BODY)).head.status for _ in range(3)] == [200, 529, 200]


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (post(BODY, "x-script-fault: explode"), 400),
        (post(BODY, "x-script-encoding: lzma"), 400),
        (post(b"no json"), 400),
        (post(BODY, "Upgrade: websocket", "Connection: Upgrade"), 426),
        (b"nonsense\r\n\r\n", 400),
    ],
)
def test_what_it_cannot_do_it_says(request_bytes: bytes, status: int) -> None:
    with Provider() as provider, Peer.connect(provider.port) as client:
        assert client.ask(request_bytes).head.status == status


def test_steps_of_the_job_can_have_their_own_manner_once() -> None:
    tools = [{"name": "bash", "input_schema": {"properties": {"command": {}}, "required": ["command"]}}]
    result = {"type": "tool_result", "tool_use_id": "x", "content": "done"}

    def body(results: int) -> bytes:
        messages = [{"role": "user", "content": [result] * results}]
        return json.dumps({"model": "m", "tools": tools, "messages": messages}).encode()

    with Provider(steps={2: Manner(status=429)}) as provider, Peer.connect(provider.port) as client:
        statuses = [client.ask(post(each)).head.status for each in (body(0), BODY, body(2), body(2), body(3))]
        assert statuses == [200, 200, 429, 200, 200]


def test_web_sockets_can_be_declined() -> None:
    upgrade = b"GET /v1/responses HTTP/1.1\r\nHost: l\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    with Provider(manner=Manner(upgrade=False)) as provider, Peer.connect(provider.port) as client:
        assert client.ask(upgrade).head.status == 426


@pytest.mark.parametrize("fault", [None, Fault.CUT, Fault.RESET])
def test_it_speaks_tls(tmp_path: Path, fault: Fault | None) -> None:
    issued = issue(None, dt.datetime.now(dt.UTC), dt.datetime.now(dt.UTC) + dt.timedelta(hours=1))
    (tmp_path / "leaf.pem").write_bytes(issued.certificate + issued.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "leaf.pem")
    trusting = ssl.create_default_context(cadata=issued.certificate.decode())
    trusting.check_hostname = False
    with Provider(manner=Manner(fault=fault), context=context) as provider:
        assert provider.url == f"https://127.0.0.1:{provider.port}"
        with socket.create_connection(("127.0.0.1", provider.port)) as plain:
            secured = trusting.wrap_socket(plain, suppress_ragged_eofs=False)
            secured.sendall(post(STREAM))
            said = b""
            with contextlib.suppress(ssl.SSLError, ConnectionError):
                while b"message_stop" not in said and (piece := secured.recv(65536)):
                    said += piece
            secured.close()
        assert (b"message_stop" in said) == (fault is None)
        assert said.startswith(b"HTTP/1.1 200")


def test_a_client_that_speaks_no_tls_is_let_go(tmp_path: Path) -> None:
    issued = issue(None, dt.datetime.now(dt.UTC), dt.datetime.now(dt.UTC) + dt.timedelta(hours=1))
    (tmp_path / "leaf.pem").write_bytes(issued.certificate + issued.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "leaf.pem")
    with Provider(context=context) as provider, Peer.connect(provider.port) as client:
        client.send(post(BODY))
        assert client.sees_end()
        assert provider.received == []


def test_stop_ends_open_connections() -> None:
    provider = Provider().start()
    with Peer.connect(provider.port) as client:
        client.send(post(STREAM, "x-script-fault: stall", "x-script-after: 0"))
        client.head()
        provider.stop()
        assert client.sees_end()


def test_waiting_for_requests_that_do_not_come_ends() -> None:
    with Provider() as provider, pytest.raises(TimeoutError, match="0 of 1 requests"):
        provider.wait_for(1, timeout=0.01)
