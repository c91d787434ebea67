"""The recorder as a proxy: hosts that are recorded are spoken to in their name."""

import contextlib
import os
import queue
import signal
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.sync.client import connect
from websockets.sync.server import ServerConnection, serve

from tests.clients.peer import PATIENCE, Ended, Head, Message, Peer
from tests.clients.proxy import credentials, inside, refused, secured, trusting, tunnel
from tests.clients.upstream import Handler, Upstream, answering, chunked
from tests.recorder.conftest import Start
from tests.recorder.harness import Recorder, until
from tests.recorder.test_refusals import code_of
from tests.recorder.test_routes import certificate, ids, over_tls

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
HOST = "api.anthropic.com:443"
TOKEN = "correct-horse-battery-staple-9"


def get(target: str, *fields: str, host: str = "api.anthropic.com") -> bytes:
    return "\r\n".join([f"GET {target} HTTP/1.1", f"Host: {host}", *fields, "", ""]).encode()


@contextmanager
def recording(start: Start, handler: Handler, **settings: object) -> Iterator[tuple[Recorder, Upstream]]:
    """A recorder that records api.anthropic.com, whose requests go to an upstream of the test."""
    with Upstream(handler) as upstream:
        intercept = {HOST: "up", f"127.0.0.1:{upstream.port}": "up"}
        yield start(upstreams={"up": upstream.url}, intercept=intercept, **settings), upstream


@pytest.mark.requirement("PROXY-02")
def test_several_requests_on_one_connection_to_a_recorded_host(start: Start) -> None:
    seen: list[Message] = []
    with recording(start, answering(OK, seen)) as (recorder, upstream):
        with inside(recorder, HOST) as client:
            for number in range(3):
                answer = client.ask(get(f"/v1/messages?n={number}", "X-Kept:  as it is", "x-blackbird-session: quay"))
                assert (answer.head.raw, answer.body) == (OK[:-2], b"{}")
        assert upstream.connections == 1
        assert [message.head.target for message in seen] == [
            b"/v1/messages?n=0",
            b"/v1/messages?n=1",
            b"/v1/messages?n=2",
        ]
        assert seen[0].head.fields == [b"Host: 127.0.0.1:%d" % upstream.port, b"X-Kept: as it is"]
        first = recorder.exchanges(3)[0]
        assert first.start["via"] == "forward"
        assert (first.start["upstream"], first.start["target"]) == ("up", "/v1/messages?n=0")
        assert first.start["url"] == f"{upstream.url}/v1/messages?n=0"
        assert first.field("host") == "api.anthropic.com"
        assert ids(first) == ("quay", None, None, "claimed")
        assert first.response == b"{}"
        assert first.end["response"]["complete"] is True


@pytest.mark.requirement("PROXY-02")
@pytest.mark.parametrize("path", ["/bb/s/t/r/x", "/bbt/word/x", "/up/v1", "/_blackbird/health", "/", "*"])
def test_the_path_is_the_providers_own(start: Start, path: str) -> None:
    seen: list[Message] = []
    with recording(start, answering(OK, seen)) as (recorder, _), inside(recorder, HOST) as client:
        assert client.ask(get(path)).body == b"{}"
        assert seen[0].head.target == path.encode()
        assert ids(recorder.only()) == (None, None, None, "none")


@pytest.mark.requirement("PROXY-02")
def test_plain_http_through_a_tunnel_is_recorded_too(start: Start) -> None:
    with recording(start, answering(OK)) as (recorder, upstream):
        with tunnel(recorder, f"127.0.0.1:{upstream.port}") as client:
            assert client.ask(get("/api/chat")).body == b"{}"
        exchange = recorder.only()
        assert (exchange.start["via"], exchange.start["target"]) == ("forward", "/api/chat")
        assert not (recorder.home / "ca").exists()


def test_tls_to_a_host_that_is_recorded_without_it_is_not_answered(start: Start) -> None:
    with recording(start, answering(OK)) as (recorder, upstream):
        with inside(recorder, HOST):
            pass
        peer = tunnel(recorder, f"127.0.0.1:{upstream.port}")
        with pytest.raises(OSError, match=r"EOF|reset"):
            secured(peer, "127.0.0.1", trusting(recorder.home / "ca" / "ca.pem"))
        error = recorder.only().error
        assert (error["where"], error["code"]) == ("client", "tls_failed")


@pytest.mark.requirement("PROXY-02")
def test_a_request_that_names_its_host_is_recorded(start: Start) -> None:
    seen: list[Message] = []
    with recording(start, answering(OK, seen)) as (recorder, upstream):
        host = f"127.0.0.1:{upstream.port}"
        with recorder.client() as client:
            for _ in range(2):
                request = get(f"http://{host}/api/chat?x=1", credentials("run_9").decode(), host=host)
                assert client.ask(request).body == b"{}"
        assert upstream.connections == 1
        assert (seen[0].head.target, seen[0].head.get(b"host")) == (b"/api/chat?x=1", host.encode())
        assert seen[0].head.get(b"proxy-authorization") is None
        exchange = recorder.exchanges(2)[0]
        assert (exchange.start["via"], exchange.start["target"]) == ("forward", "/api/chat?x=1")
        assert exchange.field("proxy-authorization") is None
        assert ids(exchange) == (None, None, "run_9", "claimed")


@pytest.mark.parametrize(
    "target",
    ["https://api.anthropic.com/v1", "http://u:p@127.0.0.1/", "http://", "http://127.0.0.1:0/", "http://h/#f"],
)
def test_a_url_that_a_proxy_cannot_be_asked_for(start: Start, target: str) -> None:
    with recording(start, answering(OK)) as (recorder, upstream):
        answer = recorder.ask(get(target))
        assert (answer.head.status, code_of(answer)) == (400, "bad_request")
        assert upstream.connections == 0


@pytest.mark.parametrize(
    "authority", ["api.anthropic.com", "/v1/messages", "a b:443", "u@h:443", "h:0", ":443", "h:port"]
)
def test_a_tunnel_is_asked_for_by_host_and_port(start: Start, authority: str) -> None:
    with recording(start, answering(OK)) as (recorder, _):
        assert refused(recorder, authority).head.status == 400


@pytest.mark.requirement("PROXY-02")
def test_the_user_of_the_proxy_is_the_run(start: Start) -> None:
    with recording(start, answering(OK)) as (recorder, _):
        run = recorder.control("register", session="harbour", task="t1")["run"]
        for user in (run, "run_unknown", "-", "no id"):
            with inside(recorder, HOST, credentials(user, "ignored")) as client:
                assert client.ask(get("/v1/messages", "x-session-id: by-client")).body == b"{}"
        assert [ids(exchange) for exchange in recorder.exchanges(4)] == [
            ("harbour", "t1", run, "run"),
            (None, None, "run_unknown", "claimed"),
            ("by-client", None, None, "client"),
            ("by-client", None, None, "client"),
        ]


@pytest.mark.requirement("PROXY-02", "SEC-01")
def test_a_token_is_the_password_of_the_proxy(start: Start) -> None:
    with recording(start, answering(OK), token=TOKEN) as (recorder, upstream):
        for authority in (HOST, "127.0.0.1:9"):
            for fields in ([], [credentials("run_1")], [credentials("run_1", "wrong")], [credentials(TOKEN)]):
                answer = refused(recorder, authority, *fields)
                assert (answer.head.status, code_of(answer)) == (407, "token_missing")
                assert answer.head.get(b"proxy-authenticate") == b'Basic realm="blackbird"'
        absolute = get(f"http://127.0.0.1:{upstream.port}/v1")
        assert recorder.ask(absolute).head.status == 407
        with inside(recorder, HOST, credentials("run_1", TOKEN)) as client:
            assert client.ask(get("/v1/messages")).body == b"{}"
        assert recorder.only().start["run"] == "run_1"
        recorder.stop()
        assert recorder.holds(TOKEN.encode()) == []


@pytest.mark.requirement("SEC-01")
@pytest.mark.parametrize("field", [b"Origin: https://example.com", b"Sec-Fetch-Site: cross-site"])
def test_pages_of_other_sites_are_turned_away(start: Start, field: bytes) -> None:
    with recording(start, answering(OK)) as (recorder, upstream):
        assert code_of(refused(recorder, HOST, field)) == "origin_refused"
        request = get(f"http://127.0.0.1:{upstream.port}/", field.decode())
        assert code_of(recorder.ask(request)) == "origin_refused"
        assert upstream.connections == 0


@pytest.mark.requirement("PROXY-02", "PROXY-03")
def test_events_of_a_stream_come_one_by_one(start: Start) -> None:
    events = [b"data: %d\n\n" % number for number in range(5)]
    wanted: queue.Queue[int] = queue.Queue()

    def stream(peer: Peer) -> None:
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for number, event in enumerate(events):
            assert wanted.get(timeout=PATIENCE) == number
            peer.send(b"%x\r\n%b\r\n" % (len(event), event))
        peer.send(b"0\r\n\r\n")

    with recording(start, stream) as (recorder, _), inside(recorder, HOST) as client:
        client.send(get("/v1/messages"))
        assert client.head().status == 200
        for number, event in enumerate(events):
            wanted.put(number)
            assert client.chunk()[1] == event
        assert client.chunk()[1] == b""
        client.until(b"\r\n")
        assert recorder.only().response == b"".join(events)


@pytest.mark.requirement("PROXY-02")
def test_large_bodies_pass_both_ways_unchanged(start: Start) -> None:
    sent, answered = os.urandom(5_000_000), os.urandom(7_000_000)
    seen: list[Message] = []
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(
        answered[:3_000_000], answered[3_000_000:]
    )
    with recording(start, answering(answer, seen)) as (recorder, _), inside(recorder, HOST) as client:
        head = b"POST /v1/files HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nContent-Length: %d\r\n\r\n"
        assert client.ask(head % len(sent) + sent).body == answered
        assert seen[0].body == sent
        end = recorder.only().end
        assert (end["request"]["wire"], end["response"]["wire"]) == (len(sent), len(answered))


@pytest.mark.requirement("PROXY-02")
def test_a_client_that_leaves_in_the_middle_is_noticed_on_both_sides(start: Start) -> None:
    ended: list[bool] = []

    def stream(peer: Peer) -> None:
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        try:
            peer.rest()
        finally:
            ended.append(True)

    with recording(start, stream) as (recorder, _):
        with inside(recorder, HOST) as client:
            client.send(get("/v1/messages"))
            client.head()
            assert client.chunk()[1] == b"hello"
        exchange = recorder.only()
        assert exchange.error["where"] == "client"
        assert exchange.error["code"] in ("client_disconnected", "client_reset")
        assert exchange.response == b"hello"
        until(lambda: ended, "the end of the upstream's connection")


@pytest.mark.requirement("PROXY-02")
def test_an_upstream_that_breaks_off_breaks_the_client_off(start: Start) -> None:
    def cut(peer: Peer) -> None:
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        peer.reset()

    with recording(start, cut) as (recorder, _), inside(recorder, HOST) as client:
        client.send(get("/v1/messages"))
        with pytest.raises((Ended, OSError)):
            client.body_of(client.head(), response=True)
        assert recorder.only().error["code"] in ("upstream_cut", "upstream_reset")


@pytest.mark.requirement("PROXY-02", "SEC-03")
def test_secrets_are_redacted_as_ever(start: Start) -> None:
    key, other = "sk-ant-api03-" + "Ab3" * 31 + "AA", "ghp_" + "a1B2" * 9
    with recording(start, answering(OK)) as (recorder, _), inside(recorder, HOST) as client:
        body = f'{{"text":"my token is {other}"}}'.encode()
        head = get("/v1/messages?key=qwertzuiop12345", f"x-api-key: {key}", f"Content-Length: {len(body)}")
        assert client.ask(head.replace(b"GET", b"POST") + body).body == b"{}"
        exchange = recorder.only()
        assert exchange.field("x-api-key") == "[redacted:header]"
        assert b"[redacted:" in exchange.request
        for secret in (key, other, "qwertzuiop12345"):
            assert recorder.holds(secret.encode()) == []


@pytest.mark.requirement("PROXY-02")
def test_an_upstream_under_tls_behind_a_recorded_host_under_tls(start: Start, tmp_path: Path) -> None:
    made = certificate(tmp_path)
    seen: list[Head] = []

    def handle(peer: Peer) -> None:
        message = peer.request()
        seen.append(message.head)
        peer.send(OK)

    with Upstream(over_tls(made, handle)) as upstream:
        host = f"localhost:{upstream.port}"
        recorder = start(
            upstreams={"up": f"https://{host}/base"}, intercept={host: "up", HOST: "up"}, ca_file=str(made)
        )
        for authority, target in ((host, "/base/v1/models"), (HOST, "/v1/models")):
            with inside(recorder, authority) as client:
                assert client.ask(get(target)).body == b"{}"
        assert [head.target for head in seen] == [b"/base/v1/models", b"/base/v1/models"]
        urls = [exchange.start["url"] for exchange in recorder.exchanges(2)]
        assert urls == [f"https://{host}/base/v1/models"] * 2


@pytest.mark.requirement("PROXY-02")
@pytest.mark.parametrize("said", [True, False], ids=["close_notify", "nothing"])
def test_an_end_of_tls_reaches_the_client_with_or_without_a_word_as_it_came(
    start: Start, tmp_path: Path, said: bool
) -> None:
    made = certificate(tmp_path)

    def cut(peer: Peer) -> None:
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        if said:
            assert isinstance(peer.connection, ssl.SSLSocket)
            with contextlib.suppress(OSError):
                peer.connection.unwrap()

    with Upstream(over_tls(made, cut)) as upstream:
        recorder = start(
            upstreams={"up": f"https://localhost:{upstream.port}"}, intercept={HOST: "up"}, ca_file=str(made)
        )
        plain = tunnel(recorder, HOST).connection
        context = trusting(recorder.home / "ca" / "ca.pem")
        name = HOST.rpartition(":")[0]
        with context.wrap_socket(plain, server_hostname=name, suppress_ragged_eofs=False) as client:
            client.sendall(get("/v1/messages"))
            received = b""
            while not received.endswith(b"half"):
                received += client.recv(4096)
            if said:
                assert client.recv(4096) == b""
            else:
                with pytest.raises(ssl.SSLEOFError):
                    client.recv(4096)
        assert recorder.only().error["code"] == "upstream_cut"


@pytest.mark.requirement("PROXY-02", "PROXY-17")
def test_a_websocket_to_a_recorded_host(start: Start) -> None:
    def echo(connection: ServerConnection) -> None:
        for message in connection:
            connection.send(message)

    with serve(echo, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.socket.getsockname()[1]
        recorder = start(upstreams={"up": f"http://127.0.0.1:{port}"}, intercept={HOST: "up"})
        with inside(recorder, HOST):
            context = trusting(recorder.home / "ca" / "ca.pem")
        proxy = f"http://run_6:x@127.0.0.1:{recorder.port}"
        with connect("wss://api.anthropic.com/v1/responses", proxy=proxy, ssl=context) as client:
            client.send("hello")
            assert client.recv() == "hello"
        exchange = recorder.only()
        assert (exchange.start["via"], exchange.start["run"]) == ("forward", "run_6")
        assert [message.data for message in exchange.messages] == [b"hello", b"hello"]


@pytest.mark.requirement("PROXY-02")
def test_upstreams_of_a_runs_own_in_both_modes_and_after_a_restart(start: Start) -> None:
    seen: list[Message] = []
    with recording(start, answering(OK)) as (recorder, configured), Upstream(answering(OK, seen)) as gateway:
        own = {"up": f"{gateway.url}/x", "beside": gateway.url}
        registered = recorder.control("register", session="s", task="t", run="r1", upstreams=own)
        assert registered == {"ok": True, "session": "s", "task": "t", "run": "r1"}

        def ask_all() -> None:
            with inside(recorder, HOST, credentials("r1")) as client:
                assert client.ask(get("/v1/a")).body == b"{}"
            for target in ("/bb/s/t/r1/up/v1/b", "/bb/s/t/r1/beside/v1/c"):
                assert recorder.ask(get(target, host="localhost")).body == b"{}"
            assert recorder.ask(get("/up/v1/d", "x-blackbird-run: r1", host="localhost")).body == b"{}"

        ask_all()
        expected = [b"/x/v1/a", b"/x/v1/b", b"/v1/c", b"/x/v1/d"]
        assert [message.head.target for message in seen] == expected
        assert configured.connections == 0
        assert recorder.exchanges(4)[0].start["url"] == f"{gateway.url}/x/v1/a"
        worker = recorder.control("status")["pid"]
        os.kill(worker, signal.SIGKILL)
        until(lambda: restarted(recorder, worker), "the next recorder")
        ask_all()
        assert [message.head.target for message in seen] == expected * 2
        # What is claimed with other ids is nobody's run, and goes where all requests go.
        assert recorder.ask(get("/bb/other/t/r1/up/v1", host="localhost")).body == b"{}"
        assert configured.connections == 1


def restarted(recorder: Recorder, before: int) -> bool:
    try:
        return bool(recorder.control("status")["pid"] != before)
    except OSError:
        return False


@pytest.mark.parametrize(
    "upstreams",
    [{"up": "ftp://x"}, {"up": "https://u:p@x"}, {"a b": "https://x"}, {"up": 1}, ["https://x"], "https://x"],
)
def test_upstreams_of_a_run_are_checked(start: Start, upstreams: object) -> None:
    recorder = start()
    answer = recorder.control("register", run="r1", upstreams=upstreams)
    assert (answer["ok"], answer["code"]) == (False, "bad_value")
    assert not (recorder.home / "runs.jsonl").exists()
