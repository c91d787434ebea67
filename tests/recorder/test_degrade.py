"""More than can be recorded at once: all wait and nothing is missing, or what is missing is told to the byte."""

import gzip
import hashlib
import hmac
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.clients.peer import Message, Peer
from tests.clients.upstream import Upstream
from tests.recorder.harness import Recorder, until
from tests.recorder.test_life import sample
from tests.soak import inspection
from tests.soak.inspection import Account

#: Far less than what passes at once: a read alone may fill it.
TINY = 64 << 10
CLIENTS = 6
WHOLE = b"".join(b"line %07d of a long answer about gulls and terns\n" % number for number in range(80_000))
UPLOAD = b"".join(b"line %07d of a long question about the harbour\n" % number for number in range(40_000))
METRICS = b"GET /_blackbird/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"


def answer(peer: Peer) -> None:
    """Long answers, plain or packed, to what may be long as well."""
    while True:
        asked = peer.request()
        assert asked.body in (b"", UPLOAD)
        coding = b"Content-Encoding: gzip\r\n" if b"packed" in asked.head.target else b""
        body = gzip.compress(WHOLE, 1) if coding else WHOLE
        length = b"Content-Length: %d\r\n\r\n" % len(body)
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" + coding + length + body)


def ask(number: int, kind: bytes) -> bytes:
    head = b"POST /%b/%d HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n" % (kind, number)
    return head + b"Content-Length: %d\r\n\r\n" % len(UPLOAD) + UPLOAD


def burst(recorder: Recorder, kind: bytes) -> list[Message]:
    """Everything at once, so that whoever records cannot keep up."""
    together = threading.Barrier(CLIENTS)

    def one(number: int) -> Message:
        with recorder.client() as client:
            together.wait()
            return client.ask(ask(number, kind))

    with ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(one, range(CLIENTS)))


def metrics_of(recorder: Recorder) -> Callable[..., float]:
    page = recorder.ask(METRICS).body.decode()
    return lambda name, **labels: sample(page, name, **labels)


def settled(recorder: Recorder) -> Callable[..., float]:
    """What is counted once all is recorded."""
    until(lambda: recorder.control("status")["active_requests"] == 0, "the end of all requests")
    # The first is answered in the middle of a batch, the second after that batch was counted.
    for _ in range(2):
        recorder.control("append", type="tool.event", payload="{}")
    until(lambda: recorder.control("status")["queue_bytes"] == 0, "an empty queue")
    return metrics_of(recorder)


def fingerprint(home: Path, body: bytes) -> str:
    return hmac.new((home / "hmac.key").read_bytes(), body, hashlib.sha256).hexdigest()


def lies_in_order(pieces: list[bytes], whole: bytes) -> bool:
    """Whether pieces are parts of a body that has no line twice, none before another that was recorded earlier."""
    at = 0
    for piece in pieces:
        at = whole.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


@pytest.mark.requirement("PROXY-14")
def test_what_is_left_out_is_counted_to_the_byte(home: Path) -> None:
    with Upstream(answer) as upstream:
        recorder = Recorder(home, default_upstream=upstream.url, lossless=False, queue_bytes=TINY)
        with recorder:
            messages = burst(recorder, b"plain")
            counted = settled(recorder)
            assert [message.body for message in messages] == [WHOLE] * CLIENTS
            assert counted("blackbird_backpressure_total") == 0
    accounts = list(inspection.read(recorder.trace).accounts.values())
    assert len(accounts) == CLIENTS
    for account in accounts:
        check(account, home)
    gaps = [gap for account in accounts for gap in account.gaps]
    assert {gap["reason"] for gap in gaps} == {"queue_full"}
    assert counted("blackbird_gaps_total", reason="queue_full") == len(gaps)
    dropped = counted("blackbird_dropped_bytes_total")
    # A word that a hole tears is left out with it: half a secret would not be known as one.
    assert 0 < dropped <= sum(gap["bytes"] for gap in gaps) <= dropped + 2 * 64 * len(gaps)
    assert inspection.errors(recorder.trace) == []


def check(account: Account, home: Path) -> None:
    """Both bodies of an exchange: what is stored and what is missing are all that passed."""
    assert len(account.starts) == 1
    assert len(account.heads) == 1
    assert account.errors == []
    for direction, whole in (("request", UPLOAD), ("response", WHOLE)):
        about = account.over[direction]
        assert (about["wire"], about["complete"]) == (len(whole), True)
        assert about["stored"] == account.stored[direction]
        assert account.stored[direction] + account.missing(direction) == len(whole)
        assert lies_in_order(account.pieces[direction], whole)
        expected = None if account.missing(direction) else fingerprint(home, whole)
        assert about["hmac"] == expected


@pytest.mark.requirement("PROXY-14")
def test_a_packed_body_with_a_hole_passes_whole(home: Path) -> None:
    with Upstream(answer) as upstream:
        recorder = Recorder(home, default_upstream=upstream.url, lossless=False, queue_bytes=TINY)
        with recorder:
            messages = burst(recorder, b"packed")
            settled(recorder)
            assert [gzip.decompress(message.body) for message in messages] == [WHOLE] * CLIENTS
    accounts = list(inspection.read(recorder.trace).accounts.values())
    assert any(account.missing("response") for account in accounts)
    for account in accounts:
        about = account.over["response"]
        assert (about["wire"], about["complete"]) == (len(messages[0].body), True)
        assert account.missing("response") <= about["wire"]
        assert bool(account.missing("response")) == (about["hmac"] is None)
        # Behind a hole nothing can be unpacked, and before it everything.
        assert WHOLE.startswith(account.body("response"))
        assert (account.body("response") == WHOLE) == (account.missing("response") == 0)
    assert inspection.errors(recorder.trace) == []


@pytest.mark.requirement("PROXY-13")
def test_nothing_is_left_out_if_all_must_be_kept(home: Path) -> None:
    with Upstream(answer) as upstream:
        recorder = Recorder(home, default_upstream=upstream.url, queue_bytes=TINY)
        with recorder:
            messages = burst(recorder, b"plain")
            counted = settled(recorder)
            assert [message.body for message in messages] == [WHOLE] * CLIENTS
            assert counted("blackbird_backpressure_total") > 0
            assert counted("blackbird_dropped_bytes_total") == 0
            assert counted("blackbird_dropped_chunks_total") == 0
    accounts = list(inspection.read(recorder.trace).accounts.values())
    assert len(accounts) == CLIENTS
    for account in accounts:
        assert account.gaps == []
        assert account.body("request") == UPLOAD
        assert account.body("response") == WHOLE
        assert account.over["response"]["hmac"] == fingerprint(home, WHOLE)
    assert inspection.errors(recorder.trace) == []


@pytest.mark.requirement("PROXY-13")
def test_the_queue_stays_within_its_bound(home: Path) -> None:
    """But for heads and ends, which never wait, and for the last read of a client that has all of it and leaves."""
    most, bound = 0, 8 * TINY
    with Upstream(answer) as upstream:
        recorder = Recorder(home, default_upstream=upstream.url, queue_bytes=bound)
        with recorder:
            done = threading.Event()

            def load() -> None:
                burst(recorder, b"plain")
                done.set()

            worker = threading.Thread(target=load)
            worker.start()
            while not done.is_set():
                most = max(most, recorder.control("status")["queue_bytes"])
            worker.join()
    assert TINY < most <= bound + (64 * 10 + TINY) * CLIENTS
