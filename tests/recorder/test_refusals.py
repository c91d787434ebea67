"""What is turned away: requests that two readers could take differently, strangers, protocols not spoken."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.clients.peer import PATIENCE, Message
from tests.clients.upstream import Upstream, answering
from tests.recorder.conftest import Start, Wire, Wired
from tests.recorder.harness import Recorder, recorder_program
from tests.recorder.trace_view import exchanges

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"


def head(*fields: bytes, line: bytes = b"POST /v1/messages HTTP/1.1") -> bytes:
    return b"\r\n".join([line, b"Host: localhost", *fields, b"", b""])


def code_of(message: Message) -> str:
    assert message.head.get(b"content-type") == b"application/json"
    error = json.loads(message.body)["error"]
    assert error["source"] == "blackbird"
    assert error["message"]
    return str(error["code"])


@pytest.mark.requirement("PROXY-04")
@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (head(b"Content-Length: 5", b"Transfer-Encoding: chunked") + b"0\r\n\r\n", 400),
        (head(b"Transfer-Encoding: chunked", b"Content-Length: 5") + b"0\r\n\r\n", 400),
        (head(b"Content-Length: 5", b"Content-Length: 6") + b"hello", 400),
        (head(b"Content-Length: 5", b"content-length: 5") + b"hello", 400),
        (head(b"Content-Length: 5, 5") + b"hello", 400),
        (head(b"Content-Length: +5") + b"hello", 400),
        (head(b"Content-Length: 0x5") + b"hello", 400),
        (head(b"Content-Length: -1"), 400),
        (head(b"Content-Length: 18446744073709551616"), 400),
        (head(b"Transfer-Encoding: xchunked") + b"0\r\n\r\n", 501),
        (head(b"Transfer-Encoding: chunked, chunked") + b"0\r\n\r\n", 501),
        (head(b"Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n", 501),
        (head(b"Transfer-Encoding: identity"), 501),
        (head(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked") + b"0\r\n\r\n", 400),
        (head(b"Transfer-Encoding:\x0bchunked") + b"0\r\n\r\n", 400),
        (head(b"Transfer-Encoding : chunked") + b"0\r\n\r\n", 400),
        (head(b"X-A : 1"), 400),
        (head(b" X-A: 1"), 400),
        (head(b"X-A: 1", b" folded"), 400),
        (head(b"X-A: 1", b"\tfolded"), 400),
        (head(b"X-A: a\x00b"), 400),
        (head(b"X-A: a\rb"), 400),
        (head(b"X-A: 1\nX-B: 2"), 400),
        (head(b"X(A): 1"), 400),
        (head(b": 1"), 400),
        (head(b"no colon at all"), 400),
        (head(b"X-A: 1").replace(b"\r\n", b"\n"), 400),
        (head(b"Host: other.example"), 400),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 400),
        (head(line=b"POST  /v1/messages HTTP/1.1"), 400),
        (head(line=b"POST /v1/a b HTTP/1.1"), 400),
        (head(line=b"PO ST /v1/messages HTTP/1.1"), 400),
        (head(line=b"P\x00ST /v1/messages HTTP/1.1"), 400),
        (head(line=b"POST /v1/messages HTTP/2.0"), 505),
        (head(line=b"POST /v1/messages"), 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (head(b"X-Long: " + b"v" * (1 << 20)), 431),
        (head(*[b"X-%d: 1" % number for number in range(2000)]), 431),
    ],
)
def test_an_ambiguous_or_malformed_request_reaches_nobody(wire: Wire, request_bytes: bytes, status: int) -> None:
    with wire.through() as client:
        client.send(request_bytes + SMUGGLED)
        answer = client.response()
        assert answer.head.status == status
        code_of(answer)
        assert answer.head.get(b"connection") == b"close"
        assert client.rest()[0] == b""
    assert wire.upstream.connections == 0


@pytest.mark.parametrize(
    "framed",
    [
        b"x\r\nhello\r\n0\r\n\r\n",
        b"-5\r\nhello\r\n0\r\n\r\n",
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b"5 \r\nhello\r\n0\r\n\r\n",
        b"\r\nhello\r\n0\r\n\r\n",
        b"5\nhello\r\n0\r\n\r\n",
        b"5\r\nhelloXX0\r\n\r\n",
        b"5\r\nhello\n0\r\n\r\n",
        b"FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n",
        b"5;a\nb\r\nhello\r\n0\r\n\r\n",
        b"5;" + b"e" * 100_000 + b"\r\nhello\r\n0\r\n\r\n",
        b"5\r\nhello\r\n0\r\nX-A: 1\n\r\n\r\n",
    ],
)
def test_broken_chunks_of_a_client_end_the_request(wire: Wire, framed: bytes) -> None:
    seen: list[Message] = []
    wire.answer_with(answering(OK, seen))
    with wire.through() as client:
        client.send(head(b"Transfer-Encoding: chunked") + framed + SMUGGLED)
        said, _ = client.rest()
    assert said == b"" or said.startswith(b"HTTP/1.1 400 ")
    assert seen == []
    exchange = wire.recorded()[0]
    assert exchange.error["code"] == "bad_request"
    assert exchange.error["request"]["complete"] is False


@pytest.mark.requirement("PROXY-09", "TRACE-05")
def test_a_refusal_is_recorded_if_there_is_something_to_record(wire: Wire) -> None:
    with wire.through() as client:
        client.ask(head(b"Content-Length: 5", b"Transfer-Encoding: chunked"))
    exchange = wire.recorded()[0]
    assert exchange.error["code"] == "bad_request"
    assert exchange.error["where"] == "client"
    assert exchange.start["target"] == "/v1/messages"


@pytest.mark.requirement("PROXY-17")
def test_a_websocket_is_declined_in_the_way_that_makes_clients_use_http(wired: Wired) -> None:
    wire = wired(websocket="decline")
    fields = (
        b"Connection: Upgrade",
        b"Upgrade: websocket",
        b"Sec-WebSocket-Version: 13",
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    )
    with wire.through() as client:
        answer = client.ask(head(*fields, line=b"GET /v1/responses HTTP/1.1"))
    assert answer.head.status == 426
    code_of(answer)
    assert wire.upstream.connections == 0


@pytest.mark.requirement("SEC-01")
@pytest.mark.parametrize("host", [b"127.0.0.1", b"localhost:9", b"LOCALHOST", b"[::1]:4141", b"127.1.2.3:80"])
def test_names_of_this_machine_are_let_in(wire: Wire, host: bytes) -> None:
    wire.answer_with(answering(OK))
    with wire.through() as client:
        assert client.ask(b"GET /v1/models HTTP/1.1\r\nHost: " + host + b"\r\n\r\n").head.status == 200


@pytest.mark.requirement("SEC-01")
@pytest.mark.parametrize(
    "fields",
    [
        b"Host: example.com",
        b"Host: localhost.example.com",
        b"Host: 127.0.0.1.example.com:4141",
        b"Host: 10.0.0.1",
        b"Host: ",
        b"Host: localhost\r\nOrigin: https://example.com",
        b"Host: localhost\r\nOrigin: null",
        b"Host: localhost\r\nOrigin: http://localhost.example.com",
    ],
)
def test_pages_of_other_sites_are_turned_away(wire: Wire, fields: bytes) -> None:
    with wire.through() as client:
        answer = client.ask(b"GET /v1/models HTTP/1.1\r\n" + fields + b"\r\n\r\n")
    assert answer.head.status == 403
    code_of(answer)
    assert wire.upstream.connections == 0


@pytest.mark.requirement("SEC-01")
def test_allowed_hosts_and_origins_are_let_in(start: Start) -> None:
    with Upstream(answering(OK)) as upstream:
        recorder = start(
            default_upstream=upstream.url,
            allowed_hosts=["host.docker.internal"],
            allowed_origins=["https://tool.example"],
        )
        request = (
            b"GET /v1/models HTTP/1.1\r\nHost: host.docker.internal:4141\r\nOrigin: https://tool.example\r\n\r\n"
        )
        assert recorder.ask(request).head.status == 200
        assert recorder.ask(request.replace(b"tool", b"other")).head.status == 403


@pytest.mark.requirement("SEC-01")
def test_a_token_is_demanded_stripped_and_never_recorded(start: Start) -> None:
    token = "correct-horse-battery-staple-9"
    seen: list[Message] = []
    with Upstream(answering(OK, seen)) as upstream:
        recorder = start(
            listen="0.0.0.0:0", token=token, upstreams={"up": upstream.url}, default_upstream=upstream.url
        )
        plain = b"GET %b/v1/models HTTP/1.1\r\nHost: localhost\r\n%b\r\n"
        wrong = [plain % (b"", b""), plain % (b"", b"X-Blackbird-Token: wrong\r\n"), plain % (b"/bbt/wrong", b"")]
        for request in wrong:
            answer = recorder.ask(request)
            assert answer.head.status == 401
            code_of(answer)
        assert recorder.ask(plain % (b"", f"X-Blackbird-Token: {token}\r\n".encode())).head.status == 200
        assert recorder.ask(plain % (f"/bbt/{token}/bb/s/t/r/up".encode(), b"")).head.status == 200
        assert [message.head.target for message in seen] == [b"/v1/models", b"/v1/models"]
        assert all(token.encode() not in message.head.raw for message in seen)
        recorder.stop()
        forwarded = [entry for entry in exchanges(recorder.trace) if entry.end is not None]
        assert [entry.start["target"] for entry in forwarded] == ["/v1/models", "/v1/models"]
        assert recorder.holds(token.encode()) == []


def serve(config: Path) -> subprocess.CompletedProcess[str]:
    """A recorder that is expected to refuse to start."""
    command = [str(recorder_program()), "serve", "--config", str(config)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)


@pytest.mark.requirement("SEC-01")
def test_it_does_not_listen_for_other_machines_without_a_token(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "home", listen="0.0.0.0:0")
    recorder.run.mkdir(parents=True)
    config = recorder.run / "recorder.json"
    config.write_text(json.dumps(recorder.config))
    done = serve(config)
    assert done.returncode != 0
    assert "token" in done.stderr


@pytest.mark.parametrize(
    ("change", "word"),
    [({"surprise": 1}, "surprise"), ({"schema": "recorder-config/2"}, "schema"), ({"mode": "loud"}, "loud")],
)
def test_a_configuration_it_does_not_know_is_refused(tmp_path: Path, change: dict[str, object], word: str) -> None:
    recorder = Recorder(tmp_path / "home")
    recorder.run.mkdir(parents=True)
    config = recorder.run / "recorder.json"
    config.write_text(json.dumps({**recorder.config, **change}))
    done = serve(config)
    assert done.returncode != 0
    assert word in done.stderr
    assert str(config) in done.stderr
