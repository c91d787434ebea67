"""Killed without warning under load: what had passed is there, nobody is refused, nothing seems to be under way."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from tests.clients.peer import Ended, Peer
from tests.clients.upstream import Upstream, answering
from tests.recorder.harness import Recorder, until
from tests.soak import inspection
from tests.soak.crash import campaign
from tests.soak.soak import soak

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
GET = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"
#: A fixed seed repeats the load and the pauses; the moment of a kill is chance all the same.
SEED = 20
ROUNDS = 6


@pytest.mark.requirement("TRACE-13", "RELY-02", "RELY-03")
def test_kills_under_load_take_nothing_that_was_promised(home: Path) -> None:
    """`campaign` asserts, after each kill, what the trace must hold."""
    fight = asyncio.run(campaign(home.parent, ROUNDS, SEED))
    assert len(fight.instances) == ROUNDS
    assert fight.interrupted > 30 * ROUNDS
    assert fight.promised > 0


@pytest.mark.requirement("RELY-02")
def test_connections_wait_for_the_next_recorder(home: Path) -> None:
    """Even while it is started a third time, after a pause."""
    with Upstream(answering(OK)) as upstream, Recorder(home, default_upstream=upstream.url) as recorder:
        for deaths in range(1, 4):
            os.kill(recorder.control("status")["pid"], signal.SIGKILL)
            clients = [recorder.client() for _ in range(30)]
            for client in clients:
                client.send(GET)
            assert [client.response().body for client in clients] == [b"{}"] * 30
            for client in clients:
                client.close()
            assert recorder.control("status")["restarts"] == deaths
    assert inspection.errors(recorder.trace) == []
    assert len({header.instance for header in inspection.read(recorder.trace).headers}) == 3


def test_a_recorder_whose_supervisor_was_killed_can_still_be_stopped(home: Path) -> None:
    """A start in the same home fails as long as it is there, and takes nothing from it."""
    with Upstream(answering(OK)) as upstream:
        recorder = Recorder(home, default_upstream=upstream.url).start()
        assert recorder.ask(GET).body == b"{}"
        recorder.only()
        worker = recorder.control("status")["pid"]
        assert recorder.process is not None
        recorder.process.kill()
        recorder.wait()
        try:
            again = Recorder(home, default_upstream=upstream.url)
            with pytest.raises(AssertionError, match=f"is being written by process {worker}"):
                again.start()
            assert recorder.ask(GET).body == b"{}"
            assert recorder.control("stop") == {"ok": True}
            until(lambda: not is_running(worker), "the end of the recorder")
        finally:
            if is_running(worker):
                os.kill(worker, signal.SIGKILL)
        with again:
            assert again.ask(GET).body == b"{}"
            again.exchanges(3)
    assert inspection.errors(recorder.trace) == []


def is_running(pid: int) -> bool:
    """Whether a process that is not our child is there, or any thread of it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
        return state != b"Z" or len(list(Path(f"/proc/{pid}/task").iterdir())) > 1
    except FileNotFoundError:
        return False


def test_what_was_torn_stays_and_is_told(home: Path) -> None:
    """A write that a power cut halves: the next recorder leaves it as it is, and goes on behind it."""
    with Upstream(answering(OK)) as upstream:
        recorder = Recorder(home, default_upstream=upstream.url).start()
        recorder.ask(GET)
        recorder.only()
        recorder.stop()
        segment = recorder.trace / "00000001.wal"
        torn = segment.read_bytes() + segment.read_bytes()[-60:-10]
        segment.write_bytes(torn)
        with recorder:
            recorder.ask(GET)
            recorder.exchanges(2)
    assert segment.read_bytes() == torn
    report = inspection.verify(recorder.trace)
    assert report.is_intact
    assert [(finding.code.value, finding.severity.value) for finding in report.findings] == [("torn-tail", "warning")]


def test_an_upload_that_a_kill_cut_is_there_as_far_as_it_came(home: Path) -> None:
    def answer(peer: Peer) -> None:
        peer.head()
        peer.exactly(4000)
        peer.sees_end()

    body = b'{"line":"of an upload"}\n' * 1000
    head = b"POST /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
    with Upstream(answer) as upstream, Recorder(home, default_upstream=upstream.url) as recorder:
        client = recorder.client()
        client.send(head + b"Content-Length: %d\r\n\r\n" % len(body) + body[:4800])
        until(
            lambda: sum(len(entry.payload) for entry in recorder.records() if entry.kind == 2) == 4800, "the upload"
        )
        os.kill(recorder.control("status")["pid"], signal.SIGKILL)
        with pytest.raises(Ended):
            client.head()
        client.close()
    (account,) = inspection.read(recorder.trace).accounts.values()
    assert account.body("request") == body[:4800]
    assert (account.ends, account.errors) == ([], [])


@pytest.mark.requirement("PROXY-19")
def test_many_streams_at_once_and_the_books_balance(home: Path) -> None:
    """A short version of the soak: slow readers, leavers, resets, uploads, packed and broken answers."""
    books, problems = soak(home.parent, 4, 48)
    assert problems == []
    assert len(books.seen) > 100
    assert sum(not seen.complete for seen in books.seen) > 20
