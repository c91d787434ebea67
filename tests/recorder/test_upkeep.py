"""Segments from their rotation to their end: sealed, kept, removed on purpose, and never removed unseen."""

import functools
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind, read_object
from blackbird.trace.segment import State
from tests.clients.peer import PATIENCE, Peer
from tests.clients.upstream import Upstream, answering
from tests.recorder.harness import Recorder, recorder_program, until
from tests.soak import inspection

BODY = b'{"text":"%b"}' % (b"gull tern crane heron plover " * 300)
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
REMOVED = "removed"


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream(answering(OK)) as upstream:
        yield upstream


def get(path: str = "/v1/models") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def states(recorder: Recorder) -> dict[int, State]:
    return {place.number: place.state for place in Trace(recorder.trace).places()}


def codes(recorder: Recorder) -> list[str]:
    """What `verify` finds, apart from what is no more than information."""
    return [
        finding.code.value for finding in inspection.verify(recorder.trace).findings if finding.severity != "info"
    ]


def segment_with(recorder: Recorder, path: str = "/v1/models") -> int:
    """A closed segment with one request; its number."""
    assert recorder.ask(get(path)).body == BODY
    until(lambda: recorder.control("status")["active_requests"] == 0, "the end of the request")
    recorder.control("append", type="tool.event", payload="{}")  # answered when all before it is written
    number = max(int(path.stem) for path in recorder.trace.glob("*.wal"))
    assert recorder.control("rotate") == {"ok": True}
    return number


def checkpoints(recorder: Recorder) -> list[dict[str, Any]]:
    others = inspection.read(recorder.trace).others
    return [read_object(record) or {} for record in others if record.kind == Kind.CHECKPOINT]


@pytest.mark.requirement("TRACE-08")
def test_segments_rotate_by_size_and_are_sealed_in_the_background(home: Path, upstream: Upstream) -> None:
    with Recorder(home, default_upstream=upstream.url, trace={"rotate_bytes": 40_000}) as recorder:
        with recorder.client() as client:
            for _ in range(20):
                assert client.ask(get()).body == BODY
                recorder.control("append", type="tool.event", payload="{}")  # what came at once is written at once
        assert len(states(recorder)) >= 3
        until(lambda: State.SEALED in states(recorder).values(), "a seal")
        assert states(recorder)[1] is State.SEALED
        assert all(path.stat().st_size < 40_000 + 3 * len(BODY) for path in recorder.trace.glob("*.wal"))
        assert codes(recorder) == []
    assert codes(recorder) == []
    accounts = inspection.read(recorder.trace).accounts.values()
    assert [account.body("response") for account in accounts] == [BODY] * 20
    assert "rotation" in {entry["reason"] for entry in checkpoints(recorder)}


@pytest.mark.requirement("TRACE-08")
def test_segments_rotate_by_age(home: Path, upstream: Upstream) -> None:
    with Recorder(home, default_upstream=upstream.url, trace={"rotate_seconds": 1, "seal": False}) as recorder:
        recorder.ask(get())
        recorder.only()
        until(lambda: recorder.control("status")["segment"] == 1, "the first segment")
        until(lambda: recorder.control("status")["segment"] is None, "the rotation of an idle segment")
        recorder.ask(get())
        recorder.exchanges(2)
        until(lambda: recorder.control("status")["segment"] == 2, "the second segment")
    first, second = inspection.read(recorder.trace).headers
    assert second.wall - first.wall >= 1_000_000_000
    assert codes(recorder) == []


@pytest.mark.requirement("TRACE-08")
def test_seal_on_request(home: Path, upstream: Upstream) -> None:
    with Recorder(home, default_upstream=upstream.url, trace={"seal": False}) as recorder:
        segment_with(recorder)
        segment_with(recorder)
        recorder.ask(get())
        recorder.exchanges(3)
        before = inspection.read(recorder.trace)
        sizes = {int(path.stem): path.stat().st_size for path in recorder.trace.glob("*.wal")}
        answer = recorder.control("seal")
        assert [entry["segment"] for entry in answer["sealed"]] == [1, 2, 3]
        assert [entry["raw"] for entry in answer["sealed"][:2]] == [sizes[1], sizes[2]]
        assert all(0 < entry["sealed"] < entry["raw"] for entry in answer["sealed"])
        assert states(recorder) == dict.fromkeys((1, 2, 3), State.SEALED)
        after = inspection.read(recorder.trace)
        assert after.accounts == before.accounts
        assert recorder.control("seal")["sealed"] == []
    assert codes(recorder) == []


@pytest.mark.requirement("TRACE-10", "TRACE-12")
def test_cleaning_by_days(home: Path, upstream: Upstream) -> None:
    """No clock can be moved here; `days: 0` makes everything old that is closed."""
    with Recorder(home, default_upstream=upstream.url, trace={"seal": False}) as recorder:
        for number in (1, 2, 3):
            assert segment_with(recorder) == number
        assert recorder.control("clean", days=1, dry_run=False)["removed"] == []
        shown = recorder.control("clean", days=0)
        assert shown["dry_run"] is True
        assert [entry["segment"] for entry in shown["removed"]] == [1, 2]
        assert states(recorder) == dict.fromkeys((1, 2, 3), State.WRITTEN)
        sizes = [path.stat().st_size for path in sorted(recorder.trace.glob("*.wal"))]
        done = recorder.control("clean", days=0, dry_run=False)
        assert done["dry_run"] is False
        assert done["removed"] == [
            {"segment": 1, "bytes": sizes[0], "requests": 1, "reason": "clean"},
            {"segment": 2, "bytes": sizes[1], "requests": 1, "reason": "clean"},
        ]
        assert states(recorder)[1] is State.GONE
        assert states(recorder)[2] is State.GONE
        assert codes(recorder) == []
        stone = json.loads((recorder.trace / "00000001.gone").read_text())
        assert (stone["schema"], stone["reason"], stone["requests"]) == ("tombstone/1", "clean", 1)
        (noted,) = [entry for entry in checkpoints(recorder) if entry["reason"] == REMOVED]
        assert noted["segments"][0] == {"segment": 1, "root": stone["root"]}
    assert codes(recorder) == []


@pytest.mark.requirement("TRACE-10")
def test_cleaning_by_size_takes_the_oldest(home: Path, upstream: Upstream) -> None:
    with Recorder(home, default_upstream=upstream.url, trace={"seal": False}) as recorder:
        for _ in range(4):
            segment_with(recorder)
        sizes = [path.stat().st_size for path in sorted(recorder.trace.glob("*.wal"))]
        done = recorder.control("clean", max_bytes=sum(sizes[2:]), dry_run=False)
        assert [entry["segment"] for entry in done["removed"]] == [1, 2]
        left = [number for number, state in states(recorder).items() if state is State.WRITTEN]
        assert left[:2] == [3, 4]
        assert codes(recorder) == []


@pytest.mark.requirement("TRACE-10", "TRACE-12")
def test_retention_by_size_works_by_itself(home: Path, upstream: Upstream) -> None:
    settings = {"rotate_bytes": 60_000, "max_bytes": 1, "seal": False}
    with Recorder(home, default_upstream=upstream.url, trace=settings) as recorder:
        with recorder.client() as client:
            for _ in range(20):
                client.ask(get())
                recorder.control("append", type="tool.event", payload="{}")
        until(lambda: State.GONE in states(recorder).values(), "a removal")
        until(lambda: codes(recorder) == [], "the end of the removal")
        stone = json.loads((recorder.trace / "00000001.gone").read_text())
        assert stone["reason"] == "max_size"
        # The same round would have sealed, had it been asked to.
        assert State.SEALED not in states(recorder).values()
    assert codes(recorder) == []


@pytest.mark.requirement("TRACE-10")
def test_retention_by_days_works_by_itself(home: Path, upstream: Upstream) -> None:
    with Recorder(home, default_upstream=upstream.url, trace={"retention_days": 0, "seal": False}) as recorder:
        segment_with(recorder)
        segment_with(recorder)
        until(lambda: states(recorder)[1] is State.GONE, "a removal")
        stone = json.loads((recorder.trace / "00000001.gone").read_text())
        assert stone["reason"] == "retention_days"
    assert codes(recorder) == []


@pytest.mark.requirement("TRACE-11")
def test_pins_keep_their_segments(home: Path, upstream: Upstream) -> None:
    with Recorder(home, default_upstream=upstream.url, trace={"seal": False}) as recorder:
        run = recorder.control("register", session="harbour", task="t1")["run"]
        segment_with(recorder, f"/bb/harbour/t1/{run}/v1/models")
        segment_with(recorder)
        other = recorder.control("register", session="quay", task="t1")["run"]
        segment_with(recorder, f"/bb/quay/t1/{other}/v1/models")
        segment_with(recorder)
        segment_with(recorder)
        assert recorder.control("pin", session="harbour")["ok"] is True
        assert recorder.control("pin", run=other)["ok"] is True
        for dry_run in (True, False):
            answer = recorder.control("clean", days=0, dry_run=dry_run)
            assert [entry["segment"] for entry in answer["removed"]] == [2, 4, 5]
            assert [(entry["segment"], entry["pins"]) for entry in answer["kept_by_pin"]] == [
                (1, ["session harbour"]),
                (3, [f"run {other}"]),
            ]
        assert [number for number, state in states(recorder).items() if state is State.GONE] == [2, 4, 5]
        assert codes(recorder) == []
        assert recorder.control("unpin", session="harbour")["ok"] is True
        assert [entry["segment"] for entry in recorder.control("clean", days=0)["removed"]] == [1]
    assert codes(recorder) == []


@pytest.mark.requirement("TRACE-11")
def test_a_pin_outlives_the_segment_that_it_stands_in(home: Path, upstream: Upstream) -> None:
    with Recorder(home, default_upstream=upstream.url, trace={"seal": False}) as recorder:
        segment_with(recorder, "/bb/harbour/t1/r1/v1/models")
        assert recorder.control("pin", session="harbour")["ok"] is True
        segment_with(recorder)
        segment_with(recorder)
        assert [entry["segment"] for entry in recorder.control("clean", days=0, dry_run=False)["removed"]] == [2]
        recorder.control("rotate")
        segment_with(recorder)
        answer = recorder.control("clean", days=0, dry_run=False)
        assert [entry["segment"] for entry in answer["kept_by_pin"]] == [1]
        assert states(recorder)[1] is State.WRITTEN


@pytest.mark.requirement("TRACE-12")
def test_a_removal_stays_on_record_when_its_record_goes(home: Path, upstream: Upstream) -> None:
    """What was removed long ago does not turn into a theft when retention reaches the segment that tells of it."""
    with Recorder(home, default_upstream=upstream.url, trace={"seal": False}) as recorder:
        for _ in range(3):
            segment_with(recorder)
            segment_with(recorder)
            recorder.control("clean", days=0, dry_run=False)
            assert codes(recorder) == []
        gone = [number for number, state in states(recorder).items() if state is State.GONE]
        assert gone == [1, 2, 3, 4, 5]
    assert codes(recorder) == []


@pytest.mark.requirement("TRACE-11")
def test_a_pinned_request_keeps_every_segment_it_reaches(home: Path) -> None:
    """A request that is under way while segments rotate has records in several."""

    def answer(peer: Peer) -> None:
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for number in range(3):
            peer.send(b"b\r\ndata: %03d\n\n\r\n" % number)
            until(functools.partial(has_event, number), "the event")
            assert recorder.control("rotate") == {"ok": True}
        peer.send(b"0\r\n\r\n")

    def has_event(number: int) -> bool:
        return sum(record.kind == Kind.RESPONSE_BODY for record in recorder.records()) > number

    with Upstream(answer) as upstream:
        recorder = Recorder(home, default_upstream=upstream.url, trace={"seal": False})
        with recorder:
            with recorder.client() as client:
                assert (
                    client.ask(get("/bb/harbour/t1/r1/v1/models")).body == b"data: 000\n\ndata: 001\n\ndata: 002\n\n"
                )
            recorder.exchanges(1)
            recorder.control("rotate")
            recorder.control("pin", session="harbour")
            recorder.control("rotate")
            recorder.control("event", event="goal")
            answered = recorder.control("clean", days=0, dry_run=False)
            assert [entry["segment"] for entry in answered["kept_by_pin"]] == [1, 2, 3, 4]
    (account,) = inspection.read(recorder.trace).accounts.values()
    assert account.body("response") == b"data: 000\n\ndata: 001\n\ndata: 002\n\n"
    assert codes(recorder) == []


def maintain(recorder: Recorder, operation: str, **arguments: Any) -> tuple[int, dict[str, Any]]:
    """Do something with a trace that no recorder writes."""
    config = recorder.run / "recorder.json"
    command = [str(recorder_program()), "maintain", "--config", str(config), operation, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=PATIENCE)
    return done.returncode, json.loads(done.stdout) if done.stdout else {"stderr": done.stderr.decode()}


@pytest.mark.requirement("TRACE-10", "TRACE-11", "TRACE-12")
def test_maintenance_without_a_recorder(home: Path, upstream: Upstream) -> None:
    with Recorder(home, default_upstream=upstream.url, trace={"seal": False}) as recorder:
        segment_with(recorder, "/bb/harbour/t1/r1/v1/models")
        segment_with(recorder)
        segment_with(recorder)
        code, said = maintain(recorder, "seal")
        assert (code, "is being written" in said["stderr"]) == (3, True), said
    assert maintain(recorder, "pin", session="harbour")[1]["ok"] is True
    assert codes(recorder) == []
    code, sealed = maintain(recorder, "seal")
    assert (code, [entry["segment"] for entry in sealed["sealed"]][:3]) == (0, [1, 2, 3])
    assert codes(recorder) == []
    shown = maintain(recorder, "clean", days=0, dry_run=True)[1]
    assert ([entry["segment"] for entry in shown["removed"]][:2], shown["dry_run"]) == ([2, 3], True)
    assert State.GONE not in states(recorder).values()
    done = maintain(recorder, "clean", days=0, dry_run=False)[1]
    assert [entry["segment"] for entry in done["removed"]] == [entry["segment"] for entry in shown["removed"]]
    assert [entry["segment"] for entry in done["kept_by_pin"]] == [1]
    assert states(recorder)[2] is State.GONE
    assert codes(recorder) == []
    with recorder:
        recorder.ask(get())
        recorder.control("rotate")
    assert codes(recorder) == []


@pytest.fixture
def three_segments(home: Path, upstream: Upstream) -> Recorder:
    """A trace of three segments and a last one."""
    with Recorder(home, default_upstream=upstream.url, trace={"seal": False}) as recorder:
        for _ in range(3):
            segment_with(recorder)
        recorder.ask(get())
        recorder.exchanges(4)
    return recorder


@pytest.mark.requirement("TRACE-12")
def test_a_segment_that_is_just_gone_is_an_error(three_segments: Recorder) -> None:
    (three_segments.trace / "00000002.wal").unlink()
    assert "missing-segment" in codes(three_segments)


@pytest.mark.requirement("TRACE-12")
def test_a_last_segment_that_is_just_gone_is_an_error(three_segments: Recorder) -> None:
    (three_segments.trace / "00000004.wal").unlink()
    assert codes(three_segments) == ["missing-tail"]


@pytest.mark.requirement("TRACE-12")
def test_a_forged_tombstone_is_an_error(three_segments: Recorder, tmp_path: Path) -> None:
    """Even one that is right in all that it says of its segment: nobody recorded the removal."""
    copy = tmp_path / "copy"
    shutil.copytree(three_segments.trace, copy)
    maintain(three_segments, "clean", days=0, dry_run=False)
    stone = (three_segments.trace / "00000002.gone").read_bytes()
    assert codes(three_segments) == []
    shutil.rmtree(three_segments.trace)
    copy.rename(three_segments.trace)
    (three_segments.trace / "00000002.wal").unlink()
    (three_segments.trace / "00000002.gone").write_bytes(stone)
    assert codes(three_segments) == ["tombstone-unrecorded"]


@pytest.mark.requirement("TRACE-12")
def test_a_forged_tombstone_is_an_error_beside_true_ones(home: Path, upstream: Upstream, tmp_path: Path) -> None:
    with Recorder(home, default_upstream=upstream.url, trace={"seal": False}) as recorder:
        segment_with(recorder, "/bb/harbour/t1/r1/v1/models")
        recorder.control("pin", session="harbour")
        for _ in range(3):
            segment_with(recorder)
        recorder.control("clean", days=0, dry_run=False)
    assert states(recorder)[1] is State.WRITTEN
    assert codes(recorder) == []
    copy = tmp_path / "copy"
    shutil.copytree(recorder.trace, copy)
    maintain(recorder, "unpin", session="harbour")
    maintain(recorder, "clean", days=0, dry_run=False)
    stone = (recorder.trace / "00000001.gone").read_bytes()
    shutil.rmtree(recorder.trace)
    copy.rename(recorder.trace)
    (recorder.trace / "00000001.wal").unlink()
    (recorder.trace / "00000001.gone").write_bytes(stone)
    assert not inspection.verify(recorder.trace).is_intact


@pytest.mark.requirement("TRACE-12")
def test_a_removal_that_was_interrupted_is_finished(three_segments: Recorder) -> None:
    wal = three_segments.trace / "00000001.wal"
    data = wal.read_bytes()
    maintain(three_segments, "clean", days=0, dry_run=False)
    wal.write_bytes(data)
    assert codes(three_segments) == []
    with three_segments:
        assert three_segments.control("seal")["ok"] is True
        assert not wal.exists()
    assert codes(three_segments) == []
