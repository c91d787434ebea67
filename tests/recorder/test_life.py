"""From start to stop: who may read what is kept, what survives a kill, what is told of it all."""

import json
import os
import signal
import socket
import stat
import subprocess
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

from blackbird.exchange.catalog import Selection, recent
from blackbird.exchange.exchange import State
from blackbird.trace import ids
from blackbird.trace.folder import Trace
from blackbird.trace.verify.findings import Report
from blackbird.trace.verify.verifier import Verifier
from tests.clients.peer import PATIENCE, Peer
from tests.clients.upstream import Upstream, answering
from tests.recorder.conftest import Start, Wire
from tests.recorder.harness import Recorder, recorder_program, until
from tests.recorder.trace_view import REQUEST_BODY, RESPONSE_BODY, Record, exchanges

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
GET = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"
EVENT = b"data: 1\n\n"
CHUNK = b"%x\r\n%b\r\n" % (len(EVENT), EVENT)
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.requirement("SEC-04")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_modes_under_any_umask(home: Path, umask: int) -> None:
    recorder = Recorder(home)
    with Upstream(answering(OK)) as upstream:
        recorder.config["default_upstream"] = upstream.url
        recorder.start(umask=umask)
        try:
            assert recorder.ask(GET).head.status == 200
            recorder.only()
            recorder.control("register", session="s")
            kinds: dict[str, int] = {}
            for path in sorted(recorder.home.rglob("*")):
                if path.name not in ("recorder.json", "stderr.txt"):  # the test's own
                    kinds[path.name] = stat.S_IMODE(path.stat().st_mode)
                    expected = 0o700 if path.is_dir() else 0o600
                    assert kinds[path.name] == expected, path
        finally:
            recorder.stop()
    assert {"trace", "hmac.key", "runs.jsonl", "control.sock", "recorder.pid"} <= kinds.keys()


@pytest.mark.requirement("PROXY-20")
def test_status_tells_what_runs(wire: Wire) -> None:
    wire.answer_with(answering(OK))
    with wire.through() as client:
        client.ask(GET)
        wire.recorded()
        status = wire.recorder.control("status")
    assert status["ok"] is True
    assert status["listen"] == f"127.0.0.1:{wire.recorder.port}"
    assert wire.recorder.process is not None
    assert status["supervisor_pid"] == wire.recorder.process.pid
    assert status["pid"] != status["supervisor_pid"]
    assert status["mode"] == "full"
    assert status["policy"] == "2026.11.3"
    assert status["restarts"] == 0
    assert status["requests"] >= 1
    assert status["lost_records"] == 0
    assert status["last_error"] is None
    assert status["segment"] == 1
    assert len(status["instance"]) == 26
    assert int((wire.recorder.run / "recorder.pid").read_text()) == wire.recorder.process.pid


def test_what_was_synced_is_published(wire: Wire) -> None:
    wire.answer_with(answering(OK))
    with wire.through() as client:
        client.ask(GET)
    last = max(wire.recorded()[0].sequences)
    until(lambda: wire.recorder.control("status")["synced_sequence"] >= last, "the sync")
    synced = (wire.recorder.trace / "synced").read_bytes()
    assert len(synced) == 28
    assert int.from_bytes(synced[8:16], "little") >= last


@pytest.mark.parametrize("line", [b"not json\n", b'{"op":"fly"}\n', b"[]\n"])
def test_an_order_that_makes_no_sense_is_refused(wire: Wire, line: bytes) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(PATIENCE)
        connection.connect(str(wire.recorder.socket))
        connection.sendall(line)
        with connection.makefile("rb") as answer:
            refusal = json.loads(answer.readline())
    assert refusal["ok"] is False
    assert refusal["message"]


@pytest.mark.requirement("PROXY-20")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, "order"])
def test_a_graceful_stop_lets_streams_end(home: Path, how: signal.Signals | str) -> None:
    go = threading.Event()

    def answer(peer: Peer) -> None:
        peer.request()
        peer.send(STREAM_HEAD + CHUNK)
        assert go.wait(PATIENCE)
        peer.send(CHUNK + b"0\r\n\r\n")

    with Upstream(answer) as upstream:
        recorder = Recorder(home, default_upstream=upstream.url).start()
        client, idle = recorder.client(), recorder.client()
        client.send(GET)
        client.head()
        assert client.chunk()[1] == EVENT
        assert recorder.process is not None
        if isinstance(how, signal.Signals):
            recorder.process.send_signal(how)
        else:
            assert recorder.control("stop") == {"ok": True}
        assert idle.sees_end()
        assert recorder.process.poll() is None
        go.set()
        assert client.chunk()[1] == EVENT
        assert client.chunk()[1] == b""
        client.close()
        idle.close()
        assert recorder.wait() == 0
    assert recorder.only().response == EVENT * 2
    last = recorder.records()[-1]
    assert (last.kind, last.json["reason"]) == (13, "stop")
    assert not (recorder.run / "control.sock").exists()
    assert not (recorder.run / "recorder.pid").exists()


def test_a_stop_does_not_wait_for_ever(home: Path) -> None:
    def answer(peer: Peer) -> None:
        peer.request()
        peer.send(STREAM_HEAD + CHUNK)
        peer.sees_end()

    with Upstream(answer) as upstream:
        recorder = Recorder(home, default_upstream=upstream.url, drain_seconds=0).start()
        with recorder.client() as client:
            client.send(GET)
            client.head()
            client.chunk()
            assert recorder.stop() == 0
    exchange = recorder.only()
    assert exchange.response == EVENT
    assert (exchange.error["where"], exchange.error["code"]) == ("recorder", "stopped")


@pytest.mark.requirement("RELY-02", "RELY-03", "PROXY-08")
def test_a_killed_worker_refuses_no_connection(start: Start) -> None:
    asked = threading.Event()

    def answer(peer: Peer) -> None:
        while True:
            message = peer.request()
            if message.head.target == b"/stall":
                peer.send(STREAM_HEAD + CHUNK)
                asked.set()
                peer.sees_end()
                return
            peer.send(OK)

    with Upstream(answer) as upstream:
        recorder = start(default_upstream=upstream.url)
        stalled = recorder.client()
        stalled.send(b"GET /stall HTTP/1.1\r\nHost: localhost\r\n\r\n")
        stalled.head()
        assert stalled.chunk()[1] == EVENT
        # What passed is with the operating system within 5 ms; a kill of the process cannot take it back.
        until(lambda: [entry.response for entry in exchanges(recorder.trace)] == [EVENT], "the record of the event")
        first = recorder.control("status")
        os.kill(first["pid"], signal.SIGKILL)
        waiting = [recorder.client() for _ in range(20)]
        for client in waiting:
            client.send(GET)
        assert [client.response().body for client in waiting] == [b"{}"] * 20
        assert stalled.rest()[0] == b""
        stalled.close()
        second = recorder.control("status")
        assert second["pid"] != first["pid"]
        assert second["restarts"] == 1
        assert second["instance"] != first["instance"]
        for client in waiting:
            client.close()
        until(lambda: sum(entry.is_over for entry in exchanges(recorder.trace)) == 20, "20 recorded exchanges")
        live = ids.from_text(second["instance"])
        shown = recent(Trace(recorder.trace), Selection(), live).exchanges
        assert shown[0].state is State.INTERRUPTED
        assert {exchange.state for exchange in shown[1:]} == {State.COMPLETE}
        recorder.stop()
    interrupted = exchanges(recorder.trace)[0]
    assert interrupted.response == EVENT
    assert not interrupted.is_over
    assert len(list(recorder.trace.glob("*.wal"))) == 2
    assert verified(recorder).is_intact


def verified(recorder: Recorder) -> Report:
    """What is wrong with a trace."""
    trace = Trace(recorder.trace)
    verifier = Verifier(trace.synced())
    for place, content in trace.contents():
        verifier.add(place, content)
    return verifier.finish()


def test_a_second_recorder_of_the_same_home_is_refused(wire: Wire, tmp_path: Path) -> None:
    config = tmp_path / "recorder.json"
    config.write_text(json.dumps(wire.recorder.config))
    command = [str(recorder_program()), "serve", "--config", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode != 0
    assert str(wire.recorder.home) in done.stderr
    assert wire.recorder.control("status")["ok"] is True


def test_every_reader_sees_the_same(start: Start) -> None:
    with Upstream(answering(OK)) as upstream:
        recorder = start(default_upstream=upstream.url)
        for _ in range(3):
            recorder.ask(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc")
        recorder.exchanges(3)
        assert recorder.control("rotate")["ok"] is True
        expected = recorder.records()
        segment = recorder.trace / "00000001.wal"
        records, root = dump(segment)
        assert records == [plain_record(entry) for entry in expected]
        sealed = recorder.control("seal")
        assert [entry["segment"] for entry in sealed["sealed"]] == [1]
        assert not segment.exists()
        assert dump(recorder.trace / "00000001.seal") == (records, root)
    listing = recent(Trace(recorder.trace), Selection())
    assert listing.problems == []
    assert [(exchange.status, exchange.response_body.wire) for exchange in listing.exchanges] == [(200, 2)] * 3


Plain = tuple[int, int, int, int, Any]


def dump(path: Path) -> tuple[list[Plain], str]:
    """What the recorder's own reader says of a segment: its records, and its root."""
    command = [str(recorder_program()), "dump", str(path)]
    done = subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE)
    *records, last = [json.loads(line) for line in done.stdout.splitlines()]
    keys = ("sequence", "flags", "monotonic", "payload_length")
    return [
        (*(entry[key] for key in keys), entry.get("payload", entry.get("payload_crc32"))) for entry in records
    ], last["root"]


def plain_record(record: Record) -> Plain:
    is_body = record.kind in (REQUEST_BODY, RESPONSE_BODY)
    payload = zlib.crc32(record.payload) if is_body else record.json
    return record.sequence, record.flags, record.monotonic, len(record.payload), payload


def sample(text: str, name: str, **labels: str) -> float:
    """One value of a page of metrics."""
    inside = ",".join(f'{key}="{value}"' for key, value in labels.items())
    wanted = f"{name}{{{inside}}} " if labels else f"{name} "
    return next(float(line.removeprefix(wanted)) for line in text.splitlines() if line.startswith(wanted))


@pytest.mark.requirement("METRICS-01", "METRICS-02", "METRICS-03")
def test_metrics(start: Start) -> None:
    with Upstream(answering(OK)) as upstream:
        recorder = start(upstreams={"up": upstream.url})
        with recorder.client() as client:
            for _ in range(5):
                client.ask(b"POST /up/v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc")
            recorder.exchanges(5)
            until(lambda: recorder.control("status")["synced_sequence"] >= 25, "the sync")
            page = client.ask(b"GET /_blackbird/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert (page.head.get(b"content-type") or b"").startswith(b"text/plain")
    text = page.body.decode()
    for direction in ("request", "response"):
        quantiles = [
            sample(text, "blackbird_overhead_seconds", direction=direction, quantile=share)
            for share in ("0.5", "0.95")
        ]
        assert 0 < quantiles[0] <= quantiles[1] < PATIENCE
        assert sample(text, "blackbird_overhead_seconds_count", direction=direction) >= 5
    assert sample(text, "blackbird_requests_total", upstream="up", status="200") == 5
    assert sample(text, "blackbird_bytes_total", direction="request") == 15
    assert sample(text, "blackbird_bytes_total", direction="response") == 10
    assert sample(text, "blackbird_queue_bytes") == 0
    assert sample(text, "blackbird_backpressure_total") == 0
    assert sample(text, "blackbird_trace_written_bytes_total") > 1000
    assert sample(text, "blackbird_records_total") >= 25
    assert sample(text, "blackbird_connections_open") == 1


@pytest.mark.requirement("PROXY-20")
def test_health(wire: Wire) -> None:
    with wire.through() as client:
        health = client.ask(b"GET /_blackbird/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        missing = client.ask(b"GET /_blackbird/other HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert health.head.status == 200
    assert json.loads(health.body)["ok"] is True
    assert missing.head.status == 404
    assert wire.upstream.connections == 0
    assert len(exchanges(wire.recorder.trace)) == wire.before


@pytest.mark.requirement("SEC-07")
def test_it_talks_to_nobody_but_its_upstream(start: Start) -> None:
    with Upstream(answering(OK)) as upstream:
        recorder = start(default_upstream=upstream.url)
        with recorder.client() as client:
            client.ask(GET)
            remote = {port for pid in family(recorder) for port in remote_ports(pid)}
            assert remote == {upstream.port, client.connection.getsockname()[1]}
        recorder.only()
        assert upstream.connections == 1


def family(recorder: Recorder) -> list[int]:
    """The processes of a recorder."""
    status = recorder.control("status")
    return [status["pid"], status["supervisor_pid"]]


def remote_ports(pid: int) -> set[int]:
    """The other ends of a process's TCP connections."""
    links = [str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir() if path.is_symlink()]
    inodes = {link[8:-1] for link in links if link.startswith("socket:")}
    rows = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
    ]
    return {int(row[2].rpartition(":")[2], 16) for row in rows if row[9] in inodes} - {0}
