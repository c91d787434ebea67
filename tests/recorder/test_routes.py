"""Where requests go, whose they are, and what of that is nobody's business upstream."""

import json
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from tests.clients.peer import Message, Peer
from tests.clients.upstream import Handler, Upstream, answering
from tests.recorder.conftest import Start, Wire
from tests.recorder.trace_view import Exchange

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def get(target: str, *fields: str) -> bytes:
    return "\r\n".join([f"GET {target} HTTP/1.1", "Host: localhost:4141", *fields, "", ""]).encode()


def through(wire: Wire, target: str, *fields: str) -> tuple[Message, Exchange]:
    """What the upstream saw of one request, and what the trace holds of it."""
    seen: list[Message] = []
    wire.answer_with(answering(OK, seen))
    with wire.through() as client:
        assert client.ask(get(target, *fields)).head.status == 200
    return seen[0], wire.recorded()[0]


def ids(exchange: Exchange) -> tuple[str | None, str | None, str | None, str]:
    start = exchange.start
    return start["session"], start["task"], start["run"], start["attribution"]


@pytest.mark.requirement("PROXY-01", "PROXY-11")
@pytest.mark.parametrize(
    ("target", "forwarded", "upstream"),
    [
        ("/up/v1/messages?beta=true", "/v1/messages?beta=true", "up"),
        ("/up", "/", "up"),
        ("/up?x=1", "/?x=1", "up"),
        ("/up/", "/", "up"),
        ("/up//v1", "//v1", "up"),
        ("/v1/messages", "/v1/messages", "default"),
        ("/upper/v1", "/upper/v1", "default"),
        ("/", "/", "default"),
        ("/a/../b/%2e%2e/c?d=%2F&&e", "/a/../b/%2e%2e/c?d=%2F&&e", "default"),
        ("/bb/s1/t1/r1/up/v1/messages", "/v1/messages", "up"),
        ("/bb/s1/t1/r1/v1/messages", "/v1/messages", "default"),
        ("/bb/s1/t1/r1/", "/", "default"),
    ],
)
def test_targets(wire: Wire, target: str, forwarded: str, upstream: str) -> None:
    message, exchange = through(wire, target)
    assert message.head.target == forwarded.encode()
    assert message.head.get(b"host") == wire.host()
    assert exchange.start["target"] == forwarded
    assert exchange.start["upstream"] == upstream
    assert exchange.start["url"] == wire.upstream.url + forwarded


def test_the_path_of_an_upstream_comes_first(start: Start) -> None:
    seen: list[Message] = []
    with Upstream(answering(OK, seen)) as upstream:
        recorder = start(upstreams={"local": f"{upstream.url}/base/path/"})
        assert recorder.ask(get("/local/v1/models")).head.status == 200
        assert seen[0].head.target == b"/base/path/v1/models"
        refused = recorder.ask(get("/elsewhere/v1/models"))
        assert refused.head.status == 502
        error = json.loads(refused.body)["error"]
        assert (error["source"], error["code"]) == ("blackbird", "no_upstream")
        last = recorder.exchanges(2)[1]
        assert last.error["code"] == "no_upstream"
        assert last.start["upstream"] is None


def test_a_prefix_that_is_none_is_refused(wire: Wire) -> None:
    for target in ("/bb/only-session/v1", "/bb/a b/t/r/v1".replace(" ", "%20"), f"/bb/{'s' * 65}/t/r/v1", "/bb/"):
        with wire.through() as client:
            assert client.ask(get(target)).head.status in (400, 404)
    assert wire.upstream.connections == 0


@pytest.mark.requirement("PROXY-08")
def test_unknown_paths_are_forwarded_and_marked(wire: Wire) -> None:
    message, exchange = through(wire, "/backend-api/ps/plugins/list")
    assert message.head.target == b"/backend-api/ps/plugins/list"
    assert exchange.start["recognised"] is False


@pytest.mark.parametrize(
    "target",
    [
        "/v1/messages?beta=true",
        "/x/v1/messages/count_tokens",
        "/v1/chat/completions",
        "/v1/responses",
        "/v1beta/models/m:streamGenerateContent?alt=sse",
        "/v1/models/m:generateContent",
        "/api/chat",
        "/api/generate",
    ],
)
def test_known_paths_are_recognised_by_their_end(wire: Wire, target: str) -> None:
    assert through(wire, target)[1].start.get("recognised", True) is True


@pytest.mark.requirement("PROXY-10", "PROXY-11", "SEC-06")
def test_a_registered_run_is_known_by_its_prefix(wire: Wire) -> None:
    registered = wire.recorder.control("register", session="harbour", task="t1")
    assert registered["ok"] is True
    run = registered["run"]
    assert run.startswith("run_")
    message, exchange = through(wire, f"/bb/harbour/t1/{run}/up/v1/messages")
    assert message.head.target == b"/v1/messages"
    assert run.encode() not in message.head.raw
    assert ids(exchange) == ("harbour", "t1", run, "run")


@pytest.mark.requirement("PROXY-10", "PROXY-11")
def test_a_registered_run_is_known_by_its_headers(wire: Wire) -> None:
    registered = wire.recorder.control("register")
    assert registered["session"].startswith("sess_")
    assert registered["task"].startswith("task_")
    message, exchange = through(wire, "/v1/messages", f"x-blackbird-run: {registered['run']}")
    assert ids(exchange) == (registered["session"], registered["task"], registered["run"], "run")
    assert b"blackbird" not in message.head.raw.lower()


@pytest.mark.requirement("SEC-06")
@pytest.mark.parametrize(
    "target", ["/bb/harbour/t1/run_unknown/v1/messages", "/bb/other/t1/{run}/v1/messages", "/bb/quay/other/{run}/v1"]
)
def test_ids_that_nobody_registered_are_a_claim(wire: Wire, target: str) -> None:
    run = wire.recorder.control("register", session="quay", task="t1")["run"]
    exchange = through(wire, target.format(run=run))[1]
    assert exchange.start["attribution"] == "claimed"


@pytest.mark.requirement("PROXY-10")
def test_the_prefix_comes_before_headers_and_these_before_the_clients_ids(wire: Wire) -> None:
    fields = ("x-blackbird-session: by-header", "X-Claude-Code-Session-Id: by-client")
    assert ids(through(wire, "/bb/by-prefix/t/r/v1/messages", *fields)[1]) == ("by-prefix", "t", "r", "claimed")
    wire.before += 1
    assert ids(through(wire, "/v1/messages", *fields)[1]) == ("by-header", None, None, "claimed")
    wire.before += 1
    message, exchange = through(wire, "/v1/messages", *fields[1:])
    assert ids(exchange) == ("by-client", None, None, "client")
    assert exchange.start["client"] == {"claude_code_session": "by-client"}
    assert message.head.get(b"x-claude-code-session-id") == b"by-client"
    wire.before += 1
    assert ids(through(wire, "/v1/messages")[1]) == (None, None, None, "none")


@pytest.mark.requirement("PROXY-10")
@pytest.mark.parametrize("field", ["X-Claude-Code-Session-Id", "session-id", "x-session-id"])
def test_the_clients_own_session_ids(wire: Wire, field: str) -> None:
    session = "0199f3a2-7d6e-7c11-8a52-9b0c1d2e3f40"
    assert ids(through(wire, "/v1/responses", f"{field}: {session}")[1]) == (session, None, None, "client")


def test_a_registration_is_in_the_trace_and_in_the_list_of_runs(wire: Wire) -> None:
    registered = wire.recorder.control("register", session="pier", task="t2", run="run-of-mine", data={"why": "test"})
    assert registered == {"ok": True, "session": "pier", "task": "t2", "run": "run-of-mine"}
    through(wire, "/bb/pier/t2/run-of-mine/v1/messages")
    events = [record.json for record in wire.recorder.records() if record.kind == 11]
    mine = [event for event in events if event["run"] == "run-of-mine"]
    assert [(event["event"], event["session"], event["data"]) for event in mine] == [
        ("run.start", "pier", {"why": "test"})
    ]
    listed = [json.loads(line) for line in (wire.recorder.home / "runs.jsonl").read_text().splitlines()]
    assert [entry["session"] for entry in listed if entry["run"] == "run-of-mine"] == ["pier"]


def test_an_id_that_is_none_is_not_registered(wire: Wire) -> None:
    refused = wire.recorder.control("register", session="../etc/passwd")
    assert refused["ok"] is False
    assert {"code", "message", "remedy"} <= refused.keys()


def certificate(folder: Path) -> Path:
    """A certificate of localhost with its key, made for this test alone."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl to make a certificate with")
    key, made = folder / "key.pem", folder / "certificate.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    names += ["-addext", "basicConstraints=critical,CA:FALSE"]
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    command = [openssl, "req", "-x509", *kind, *names, "-keyout", str(key), "-out", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    return made


def over_tls(made: Path, handler: Handler) -> Handler:
    """A handler that speaks TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made, made.with_name("key.pem"))

    def handle(peer: Peer) -> None:
        with context.wrap_socket(peer.connection, server_side=True) as secure:
            handler(Peer(secure))

    return handle


@pytest.mark.requirement("PROXY-03", "PROXY-04")
def test_an_upstream_over_tls(start: Start, tmp_path: Path) -> None:
    made = certificate(tmp_path)
    seen: list[Message] = []
    stream = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    with Upstream(over_tls(made, answering(stream, seen))) as upstream:
        recorder = start(upstreams={"up": f"https://localhost:{upstream.port}"}, ca_file=str(made))
        with recorder.client() as client:
            assert [client.ask(get("/up/v1/models")).body for _ in range(2)] == [b"hello", b"hello"]
        assert upstream.connections == 1
        assert seen[0].head.get(b"host") == f"localhost:{upstream.port}".encode()
        assert [exchange.response for exchange in recorder.exchanges(2)] == [b"hello", b"hello"]


@pytest.mark.requirement("PROXY-15")
def test_a_certificate_that_nobody_vouches_for_is_refused(start: Start, tmp_path: Path) -> None:
    made = certificate(tmp_path)
    seen: list[Message] = []

    def refused(peer: Peer) -> None:
        with pytest.raises(ssl.SSLError):
            over_tls(made, answering(OK, seen))(peer)

    with Upstream(refused) as upstream:
        recorder = start(upstreams={"up": f"https://localhost:{upstream.port}"})
        answer = recorder.ask(get("/up/v1/models", "Authorization: Bearer x"))
        assert answer.head.status == 502
        assert json.loads(answer.body)["error"]["code"] == "tls_failed"
        assert recorder.only().error["code"] == "tls_failed"
    assert seen == []
