"""The recorder as a proxy to hosts that are not recorded: bytes pass, and not one of them is kept."""

import os
import ssl
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.clients.peer import PATIENCE, Ended, Message, Peer
from tests.clients.proxy import connect_request, credentials, refused, tunnel
from tests.clients.upstream import Upstream, answering, chunked
from tests.recorder.conftest import Start
from tests.recorder.harness import until
from tests.recorder.test_refusals import code_of
from tests.recorder.test_routes import certificate, ids, over_tls

#: Words that must not be found in any file afterwards.
PLANTED = b"planted-plaintext-of-a-tunnel"


def counted(wire: int, *, complete: bool = True) -> dict[str, Any]:
    """What the end of a tunnel says of one direction."""
    nothing: dict[str, Any] = {"decoded": 0, "stored": 0, "encoding": None, "hmac": None, "redactions": {}}
    return {"wire": wire, **nothing, "complete": complete}


@pytest.mark.requirement("PROXY-02")
def test_bytes_pass_both_ways_and_none_is_kept(start: Start) -> None:
    sent, answered = os.urandom(3_000_000) + PLANTED, PLANTED + os.urandom(4_000_000)

    def handle(peer: Peer) -> None:
        sending = threading.Thread(target=peer.send, args=(answered,))
        sending.start()
        assert peer.exactly(len(sent)) == sent
        sending.join(PATIENCE)
        assert peer.rest() == (b"", False)

    with Upstream(handle) as upstream:
        recorder = start()
        host = f"127.0.0.1:{upstream.port}"
        with tunnel(recorder, host, credentials("run_7", PLANTED.decode()), b"X-Planted: " + PLANTED) as client:
            sending = threading.Thread(target=client.send, args=(sent,))
            sending.start()
            assert client.exactly(len(answered)) == answered
            sending.join(PATIENCE)
            client.finish_sending()
            assert client.rest() == (b"", False)
        exchange = recorder.only()
        assert exchange.start | {"mode": None, "policy": None} == {
            "method": "CONNECT",
            "target": host,
            "version": "HTTP/1.1",
            "headers": [],
            "upstream": None,
            "url": None,
            "session": None,
            "task": None,
            "run": "run_7",
            "attribution": "claimed",
            "client": {},
            "recognised": False,
            "via": "tunnel",
            "mode": None,
            "policy": None,
        }
        assert exchange.heads == [{"status": 200, "reason": "", "version": "HTTP/1.1", "headers": []}]
        assert exchange.end["request"] == counted(len(sent))
        assert exchange.end["response"] == {**counted(len(answered)), "trailers": []}
        assert all(isinstance(at, int) for at in exchange.end["timings"].values())
        assert (exchange.request, exchange.response, exchange.gaps) == (b"", b"", [])
        recorder.stop()
        assert recorder.holds(PLANTED) == []


@pytest.mark.requirement("PROXY-02")
def test_the_host_behind_a_tunnel_shows_its_own_certificate(start: Start, tmp_path: Path) -> None:
    made = certificate(tmp_path)
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(PLANTED), PLANTED)
    with Upstream(over_tls(made, answering(answer))) as upstream:
        recorder = start(upstreams={"up": "http://127.0.0.1:9"}, intercept={"api.example:443": "up"})
        context = ssl.create_default_context(cafile=str(made))
        peer = tunnel(recorder, f"localhost:{upstream.port}")
        with context.wrap_socket(peer.connection, server_hostname="localhost") as secure:
            own = ssl.PEM_cert_to_DER_cert(made.read_text())
            assert secure.getpeercert(binary_form=True) == own
            assert Peer(secure).ask(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").body == PLANTED
        assert recorder.only().start["via"] == "tunnel"
        recorder.stop()
        assert recorder.holds(PLANTED) == []
        assert not (recorder.home / "ca").exists()


@pytest.mark.requirement("PROXY-02")
def test_either_side_may_end_first_and_the_other_goes_on(start: Start) -> None:
    def hear_then_say(peer: Peer) -> None:
        assert peer.rest() == (b"all of it", False)
        peer.send(b"the answer")

    def say_then_hear(peer: Peer) -> None:
        peer.send(b"the answer")
        peer.finish_sending()
        assert peer.rest() == (b"all of it", False)

    for handler in (hear_then_say, say_then_hear):
        with Upstream(handler) as upstream:
            recorder = start()
            with tunnel(recorder, f"127.0.0.1:{upstream.port}") as client:
                if handler is say_then_hear:
                    assert client.rest() == (b"the answer", False)
                client.send(b"all of it")
                client.finish_sending()
                if handler is hear_then_say:
                    assert client.rest() == (b"the answer", False)
            end = recorder.only().end
            assert (end["request"], end["response"]["wire"]) == (counted(9), 10)


@pytest.mark.requirement("PROXY-02")
def test_a_reset_of_the_host_reaches_the_client(start: Start) -> None:
    def handle(peer: Peer) -> None:
        peer.exactly(5)
        peer.send(b"half")
        peer.exactly(2)
        peer.reset()

    with Upstream(handle) as upstream:
        recorder = start()
        with tunnel(recorder, f"127.0.0.1:{upstream.port}") as client:
            client.send(b"hello")
            assert client.exactly(4) == b"half"
            client.send(b"go")
            assert client.rest() == (b"", True)
        error = recorder.only().error
        assert (error["where"], error["code"]) == ("upstream", "upstream_reset")
        assert (error["request"]["wire"], error["response"]["wire"]) == (7, 4)
        assert error["response"]["complete"] is False


@pytest.mark.requirement("PROXY-02")
def test_a_reset_of_the_client_reaches_the_host(start: Start) -> None:
    seen: list[tuple[bytes, bool]] = []

    def handle(peer: Peer) -> None:
        peer.send(b"hello")
        seen.append(peer.rest())

    with Upstream(handle) as upstream:
        recorder = start()
        client = tunnel(recorder, f"127.0.0.1:{upstream.port}")
        assert client.exactly(5) == b"hello"
        client.reset()
        until(lambda: seen, "the end of the host's connection")
        assert seen == [(b"", True)]
        error = recorder.only().error
        assert (error["where"], error["code"]) == ("client", "client_reset")


def test_what_a_client_sends_before_it_is_answered_is_passed_on(start: Start) -> None:
    with Upstream(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")) as upstream:
        recorder = start()
        with recorder.client() as client:
            early = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
            client.send(connect_request(f"127.0.0.1:{upstream.port}") + early)
            assert client.until(b"\r\n\r\n") == b"HTTP/1.1 200 Connection established\r\n\r\n"
            assert client.response().body == b"{}"
        assert recorder.only().end["request"] == counted(len(early))


@pytest.mark.requirement("PROXY-02")
def test_a_host_that_does_not_answer(start: Start) -> None:
    recorder = start()
    with Upstream(answering(b"")) as upstream:
        host = f"127.0.0.1:{upstream.port}"
    answer = refused(recorder, host, credentials("run_1"))
    assert (answer.head.status, code_of(answer)) == (502, "connect_failed")
    exchange = recorder.only()
    assert (exchange.start["via"], exchange.start["target"], exchange.start["run"]) == ("tunnel", host, "run_1")
    assert exchange.head["status"] == 502
    assert (exchange.error["where"], exchange.error["code"]) == ("upstream", "connect_failed")


@pytest.mark.requirement("PROXY-02")
def test_a_request_to_any_other_host_is_passed_on_and_none_of_it_kept(start: Start) -> None:
    seen: list[Message] = []
    pieces = b"HTTP/1.1 201 Made\r\nX-Planted: %b\r\nTransfer-Encoding: chunked\r\n\r\n" % PLANTED
    with Upstream(answering(pieces + chunked(b"one", PLANTED), seen)) as upstream:
        recorder = start()
        host = f"127.0.0.1:{upstream.port}".encode()
        fields = [b"Host: " + host, b"X-Planted: " + PLANTED, credentials("run_3"), b"Content-Length: 5"]
        line = b"POST http://" + host + b"/" + PLANTED + b"?" + PLANTED + b" HTTP/1.1"
        with recorder.client() as client:
            for _ in range(2):
                answer = client.ask(b"\r\n".join([line, *fields, b"", b"hello"]))
                assert answer.head.raw == pieces
                assert answer.body == b"one" + PLANTED
        assert upstream.connections == 1
        assert seen[0].head.start == b"POST /" + PLANTED + b"?" + PLANTED + b" HTTP/1.1"
        assert seen[0].head.fields == [fields[0], fields[1], fields[3]]
        assert seen[0].body == b"hello"
        for exchange in recorder.exchanges(2):
            assert exchange.start["target"] == f"http://{host.decode()}/"
            assert (exchange.start["method"], exchange.start["via"]) == ("POST", "tunnel")
            assert (exchange.start["headers"], exchange.start["url"]) == ([], None)
            assert ids(exchange) == (None, None, "run_3", "claimed")
            assert exchange.heads == [{"status": 201, "reason": "", "version": "HTTP/1.1", "headers": []}]
            assert exchange.end["request"] == counted(5)
            assert exchange.end["response"] == {**counted(3 + len(PLANTED)), "trailers": []}
        recorder.stop()
        assert recorder.holds(PLANTED) == []


@pytest.mark.requirement("PROXY-02")
def test_a_silent_tunnel_does_not_keep_the_recorder_from_stopping(start: Start) -> None:
    with Upstream(drop) as upstream:
        recorder = start(drain_seconds=600)
        with tunnel(recorder, f"127.0.0.1:{upstream.port}") as client:
            client.send(b"hello")
            assert recorder.stop() == 0
            assert client.sees_end()
        error = recorder.only().error
        assert (error["where"], error["code"]) == ("recorder", "stopped")
        assert error["request"] == counted(5, complete=False)


@pytest.mark.requirement("PROXY-02")
def test_a_busy_tunnel_may_end_when_the_recorder_stops(start: Start) -> None:
    stopping = threading.Event()

    def handle(peer: Peer) -> None:
        while not stopping.wait(0.05):
            peer.send(b".")
        for _ in range(40):
            peer.send(b".")
            threading.Event().wait(0.05)
        peer.send(b"end")

    with Upstream(handle) as upstream:
        recorder = start(drain_seconds=600)
        with tunnel(recorder, f"127.0.0.1:{upstream.port}") as client:
            ending = threading.Thread(target=recorder.stop)
            ending.start()
            until(lambda: "stopping" in recorder.stderr(), "the end to begin")
            stopping.set()
            heard, reset = client.rest()
            assert heard.endswith(b"end")
            assert not reset
            client.finish_sending()
            ending.join(PATIENCE)
        assert recorder.only().end["response"]["wire"] == len(heard)


def drop(peer: Peer) -> None:
    """Take whatever comes, and say nothing."""
    with pytest.raises(Ended):
        peer.until(b"what never comes")
