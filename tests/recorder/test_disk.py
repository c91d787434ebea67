"""A disk that is full, or that may not be written: forwarding goes on, the loss is told, and then recorded."""

import contextlib
import errno
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blackbird.trace.records import Kind, read_object
from tests.clients.peer import PATIENCE, Peer
from tests.clients.upstream import Upstream, answering, chunked
from tests.recorder.harness import Recorder, recorder_program, until
from tests.recorder.test_life import sample
from tests.soak import inspection

BODY = b'{"text":"%b"}' % (b"gull tern crane " * 512)
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
GET = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEALTH = b"GET /_blackbird/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
METRICS = b"GET /_blackbird/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def small_disk(home: Path) -> Iterator[Path]:
    """A disk of a few megabytes."""
    place = home.parent / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m,mode=0700", "none", str(place)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"a small disk cannot be mounted here: {error}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(disk: Path) -> Path:
    """Leave no room at all."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(size))
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        (disk / "more").write_bytes(bytes(1 << 13))
    (disk / "more").unlink()
    return filler


def lost(recorder: Recorder) -> int:
    return int(recorder.control("status")["lost_records"])


def tells_of_loss(recorder: Recorder, error: str) -> None:
    """All who are asked say that something was lost, and why."""
    status = recorder.control("status")
    assert status["lost_records"] > 0
    assert status["lost_bytes"] > 0
    assert error in status["last_error"]
    health = json.loads(recorder.ask(HEALTH).body)
    assert (health["ok"], health["recording"], health["lost_records"] > 0) == (True, False, True)
    assert error in health["last_error"]
    metrics = recorder.ask(METRICS).body.decode()
    assert sample(metrics, "blackbird_trace_lost_records_total") >= status["lost_records"]
    assert sample(metrics, "blackbird_trace_lost_bytes_total") >= status["lost_bytes"]


def the_gap(recorder: Recorder) -> dict[str, Any]:
    """The one gap of a write error. It names exactly the sequences that are missing."""
    reading = inspection.read(recorder.trace)
    gaps = [read_object(record) for record in reading.others if record.kind == Kind.GAP]
    (gap,) = [gap for gap in gaps if gap is not None]
    missing = sorted(set(range(1, reading.sequences[-1] + 1)) - set(reading.sequences))
    assert (gap["reason"], gap["direction"]) == ("write_error", None)
    assert missing == list(range(gap["first_sequence"], gap["last_sequence"] + 1))
    assert inspection.errors(recorder.trace) == []
    return gap


@pytest.mark.requirement("PROXY-18")
def test_a_full_disk_stops_nothing(small_disk: Path) -> None:
    with Upstream(answering(OK)) as upstream:
        recorder = Recorder(small_disk / "home", default_upstream=upstream.url)
        with recorder, recorder.client() as client:
            assert client.ask(GET).body == BODY
            recorder.only()
            filler = fill(small_disk)
            for _ in range(40):
                assert client.ask(GET).framed == BODY
            until(lambda: lost(recorder), "a loss")
            tells_of_loss(recorder, os.strerror(errno.ENOSPC))
            filler.unlink()
            # The disk is asked again after a moment; what comes until then is lost as well.
            until(lambda: client.ask(GET).body == BODY and len(segments(recorder)) > 1, "a new segment")
            counted = lost(recorder)
            assert client.ask(GET).body == BODY
            assert recorder.control("append", type="tool.event", payload="{}")["ok"] is True
            assert recorder.control("status")["last_error"] is not None
        assert recorder.process is not None
        assert recorder.process.returncode == 0
    gap = the_gap(recorder)
    assert gap["records"] >= counted > 0
    last = list(inspection.read(recorder.trace).accounts.values())[-1]
    assert last.body("response") == BODY
    assert len(last.ends) == 1


def segments(recorder: Recorder) -> list[Path]:
    return sorted(recorder.trace.glob("*.wal"))


@pytest.mark.requirement("PROXY-18")
def test_a_stream_passes_over_a_full_disk(small_disk: Path) -> None:
    go = threading.Semaphore(0)
    pieces = [b"data: %d %b\n\n" % (number, b"heron " * 100) for number in range(60)]

    def answer(peer: Peer) -> None:
        peer.request()
        peer.send(STREAM_HEAD)
        for piece in pieces:
            assert go.acquire(timeout=PATIENCE)
            peer.send(chunked(piece).removesuffix(b"0\r\n\r\n"))
        peer.send(b"0\r\n\r\n")

    with Upstream(answer) as upstream:
        recorder = Recorder(small_disk / "home", default_upstream=upstream.url)
        with recorder, recorder.client() as client:
            client.send(GET)
            go.release()
            client.head()
            assert client.chunk()[1] == pieces[0]
            until(lambda: recorder.control("status")["last_sequence"] >= 3, "the first piece")
            filler = fill(small_disk)
            for piece in pieces[1:40]:
                go.release()
                assert client.chunk()[1] == piece
            until(lambda: lost(recorder), "a loss")
            filler.unlink()
            until(lambda: recorder.control("append", type="tool.event", payload="{}")["ok"], "room")
            for piece in pieces[40:]:
                go.release()
                assert client.chunk()[1] == piece
            assert client.chunk()[1] == b""
            until(lambda: recorder.control("status")["active_requests"] == 0, "the end")
        the_gap(recorder)
    (account,) = inspection.read(recorder.trace).accounts.values()
    body, whole = account.body("response"), b"".join(pieces)
    assert body.startswith(pieces[0])
    assert body.endswith(b"".join(pieces[40:]))
    assert account.over["response"]["wire"] == len(whole)
    assert account.over["response"]["complete"] is True
    assert len(body) < len(whole)


@pytest.mark.requirement("PROXY-18")
def test_a_stop_on_a_full_disk_is_clean(small_disk: Path) -> None:
    with Upstream(answering(OK)) as upstream:
        recorder = Recorder(small_disk / "home", default_upstream=upstream.url)
        with recorder, recorder.client() as client:
            client.ask(GET)
            recorder.only()
            filler = fill(small_disk)
            for _ in range(40):
                assert client.ask(GET).body == BODY
            until(lambda: lost(recorder), "a loss")
        assert recorder.process is not None
        assert recorder.process.returncode == 0
        assert inspection.errors(recorder.trace) == []
        filler.unlink()
        recorder.start()
        assert recorder.ask(GET).body == BODY
        assert recorder.stop() == 0
    assert inspection.errors(recorder.trace) == []


@pytest.fixture
def bound_by_permissions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests as root runs a recorder that has lost root's powers."""
    if os.geteuid() != 0:
        return
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("root may write everywhere, and setpriv is not here to take that away")
    program = tmp_path / "recorder"
    program.write_text(f'#!/bin/sh\nexec {setpriv} --bounding-set=-all --inh-caps=-all {recorder_program()} "$@"\n')
    program.chmod(0o700)
    monkeypatch.setenv("BLACKBIRD_RECORDER", str(program))


@pytest.mark.requirement("PROXY-18")
def test_a_folder_that_may_not_be_written_stops_nothing(home: Path, bound_by_permissions: None) -> None:
    with Upstream(answering(OK)) as upstream:
        recorder = Recorder(home, default_upstream=upstream.url)
        with recorder, recorder.client() as client:
            client.ask(GET)
            recorder.only()
            recorder.trace.chmod(0o500)
            assert recorder.control("rotate")["ok"] is True
            for _ in range(20):
                assert client.ask(GET).body == BODY
            until(lambda: lost(recorder), "a loss")
            tells_of_loss(recorder, os.strerror(errno.EACCES))
            refused = recorder.control("append", type="tool.event", payload="{}")
            assert (refused["ok"], refused["code"]) == (False, "failed")
            recorder.trace.chmod(0o700)
            until(lambda: recorder.control("append", type="tool.event", payload="{}")["ok"], "the permission")
            assert client.ask(GET).body == BODY
        assert recorder.process is not None
        assert recorder.process.returncode == 0
    the_gap(recorder)


def test_a_folder_that_is_taken_away_is_made_again(home: Path) -> None:
    with Upstream(answering(OK)) as upstream:
        recorder = Recorder(home, default_upstream=upstream.url)
        with recorder, recorder.client() as client:
            client.ask(GET)
            recorder.only()
            recorder.trace.rename(home / "taken")
            until(lambda: client.ask(GET).body == BODY and segments(recorder), "a new folder")
            assert recorder.control("append", type="tool.event", payload="{}")["ok"] is True
        assert recorder.process is not None
        assert recorder.process.returncode == 0
    assert recorder.trace.stat().st_mode & 0o777 == 0o700
    assert inspection.read(recorder.trace).accounts
