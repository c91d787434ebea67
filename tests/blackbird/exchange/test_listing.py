"""Records as objects: which ones, and how payloads are told."""

import base64
from pathlib import Path
from typing import Any

import pytest

from blackbird.exchange.listing import Wanted, records
from blackbird.exchange.pins import pins_in_force
from blackbird.exchange.summary import summarise
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.ids import request_name
from blackbird.trace.records import Kind
from tests.blackbird.trace.encoder import Tracer, identifier

SEALS = pytest.mark.parametrize("sealed", [(), (1,)], ids=["written", "sealed"])


def sample() -> Tracer:
    tracer = Tracer()
    tracer.add(Kind.HARNESS_EVENT, payload={"event": "run.start", "session": "harbour", "run": "run_a", "data": {}})
    tracer.exchange(1, start={"run": "run_a"})
    tracer.exchange(2, start={"session": "quay", "run": "run_b"})
    tracer.rotate()
    tracer.add(Kind.NATIVE_LINE, payload=b"a line")
    tracer.add(Kind.RESPONSE_BODY, identifier(1), b"\xff\x00late", flags=3)
    return tracer


def lines(trace: Trace, wanted: Wanted) -> list[dict[str, Any]]:
    found = list(records(trace, wanted))
    assert not any(isinstance(line, TraceError) for line in found)
    return [line for line in found if isinstance(line, dict)]


@SEALS
def test_all_records_in_order(tmp_path: Path, sealed: tuple[int, ...]) -> None:
    found = lines(Trace(sample().save(tmp_path / "trace", sealed=sealed)), Wanted())
    assert [line["sequence"] for line in found] == list(range(1, 16))
    assert found[0] == {
        "schema": "trace-record/1",
        "segment": 1,
        "sequence": 1,
        "type": "harness.event",
        "version": 1,
        "time": "2026-11-16T12:00:00.001000Z",
        "monotonic": 5_001_000_000,
        "request_id": None,
        "redacted": False,
        "decoded": False,
        "flags": 0,
        "bytes": 72,
        "data": {"event": "run.start", "session": "harbour", "run": "run_a", "data": {}},
    }
    assert (found[2]["text"], found[2]["request_id"]) == ('{"model":"gannet-3","n":1}', request_name(identifier(1)))
    assert "base64" not in found[2]
    assert (found[13]["text"], found[13]["segment"]) == ("a line", 2)
    last = found[14]
    assert (last["text"], base64.b64decode(last["base64"])) == ("�\x00late", b"\xff\x00late")
    assert (last["redacted"], last["decoded"]) == (True, True)


@SEALS
@pytest.mark.parametrize(
    ("wanted", "sequences"),
    [
        (Wanted(request=identifier(2)), [8, 9, 10, 11, 12, 13]),
        (Wanted(session="quay"), [8, 9, 10, 11, 12, 13]),
        (Wanted(session="harbour"), [1, 2, 3, 4, 5, 6, 7, 15]),
        (Wanted(run="run_a"), [1, 2, 3, 4, 5, 6, 7, 15]),
        (Wanted(run="run_c"), []),
    ],
    ids=["request", "session", "other session", "run", "unknown"],
)
def test_some_records(tmp_path: Path, sealed: tuple[int, ...], wanted: Wanted, sequences: list[int]) -> None:
    found = lines(Trace(sample().save(tmp_path / "trace", sealed=sealed)), wanted)
    assert [line["sequence"] for line in found] == sequences


def test_what_cannot_be_read_comes_as_its_error(tmp_path: Path) -> None:
    trace = Trace(sample().save(tmp_path / "trace"))
    (trace.folder / "00000001.wal").write_bytes(b"broken")
    first, *rest = records(trace, Wanted())
    assert isinstance(first, TraceError)
    assert len(rest) == 2


def test_pins_are_in_force_until_they_are_taken_back() -> None:
    tracer = Tracer()
    for event, what in (
        ("pin", {"session": "harbour"}),
        ("pin", {"run": "run_a"}),
        ("goal", {"session": "quay"}),
        ("unpin", {"session": "harbour"}),
        ("unpin", {"session": "never"}),
        ("pin", {"session": "pier"}),
    ):
        tracer.add(Kind.HARNESS_EVENT, payload={"event": event, **what})
    tracer.add(Kind.HARNESS_EVENT, payload=b"no json")
    assert pins_in_force(tracer.current.records) == ["run run_a", "session pier"]


def test_a_summary(tmp_path: Path) -> None:
    tracer = sample()
    tracer.add(Kind.HARNESS_EVENT, payload={"event": "pin", "session": "harbour"})
    folder = tracer.save(tmp_path / "trace", sealed=(1,))
    (folder / "00000003.wal").write_bytes(b"broken")
    about = summarise(Trace(folder))
    assert (about.segments, about.sealed, about.gone) == (3, 1, 0)
    assert about.sealed_raw_bytes == len(tracer.segments[0].wal)
    assert about.sealed_bytes == (folder / "00000001.seal").stat().st_size
    assert about.written_bytes == len(tracer.segments[1].wal) + 6
    assert about.ratio == round(about.sealed_raw_bytes / about.sealed_bytes, 1)
    assert (about.oldest, about.newest) == ("2026-11-16T12:00:00.000000Z", "2026-11-16T12:00:00.016000Z")
    assert about.pins == ["session harbour"]
    assert len(about.unreadable) == 1
    assert str(folder / "00000003.wal") in about.unreadable[0]


def test_a_summary_of_nothing(tmp_path: Path) -> None:
    about = summarise(Trace(tmp_path / "none"))
    assert (about.segments, about.oldest, about.newest, about.pins, about.ratio) == (0, None, None, [], None)
