"""Which requests a trace has, and one of them with its bodies, from written and sealed segments alike."""

from pathlib import Path

import pytest

from blackbird.exchange import catalog
from blackbird.exchange.catalog import Selection
from blackbird.exchange.exchange import State
from blackbird.trace import ids
from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind
from tests.blackbird.trace.encoder import END, INSTANCE, START, Tracer, identifier

SEALS = pytest.mark.parametrize("sealed", [(), (1, 2), (1, 2, 3)], ids=["written", "mixed", "sealed"])


def busy() -> Tracer:
    """Request 1 in segment 1; 2 from segment 1 to 3; 3 and 4 in segment 2; 5 in segment 3."""
    tracer = Tracer()
    tracer.exchange(1)
    tracer.exchange(2, end=False, start={"session": "quay"})
    tracer.rotate()
    tracer.exchange(3, start={"session": "quay", "task": "t2"})
    tracer.add(Kind.RESPONSE_BODY, identifier(2), b"data: three\n\n")
    tracer.exchange(4, end=False)
    tracer.rotate()
    tracer.add(Kind.RESPONSE_END, identifier(2), END)
    tracer.exchange(5, start={"run": "run_b"})
    tracer.checkpoint("stop")
    return tracer


def numbers(listing: catalog.Listing) -> list[int]:
    assert listing.problems == []
    found = [ids.from_text(exchange.request_id.removeprefix("req_")) for exchange in listing.exchanges]
    return [int.from_bytes(request[1:], "big") for request in found if request is not None]


def trace_of(tracer: Tracer, tmp_path: Path, sealed: tuple[int, ...] = ()) -> Trace:
    return Trace(tracer.save(tmp_path / "trace", sealed=sealed))


@SEALS
@pytest.mark.requirement("METRICS-08")
def test_all_requests_in_order(tmp_path: Path, sealed: tuple[int, ...]) -> None:
    listing = catalog.recent(trace_of(busy(), tmp_path, sealed), Selection())
    assert numbers(listing) == [1, 2, 3, 4, 5]
    states = [exchange.state for exchange in listing.exchanges]
    assert states == [State.COMPLETE] * 3 + [State.INTERRUPTED, State.COMPLETE]
    second = listing.exchanges[1]
    assert [source.number for source in second.provenance.segments] == [1, 2, 3]
    assert second.response_body.stored == 35
    assert all(chunk.data is None for chunk in second.response_body.chunks)


@pytest.mark.requirement("RELY-03")
def test_what_the_running_recorder_has_open_is_active(tmp_path: Path) -> None:
    listing = catalog.recent(trace_of(busy(), tmp_path), Selection(), INSTANCE)
    assert [exchange.state for exchange in listing.exchanges][3] is State.ACTIVE


@SEALS
@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(limit=1), [5]),
        (Selection(limit=3), [3, 4, 5]),
        (Selection(limit=4), [2, 3, 4, 5]),
        (Selection(session="quay"), [2, 3]),
        (Selection(session="quay", limit=1), [3]),
        (Selection(session="quay", task="t2"), [3]),
        (Selection(run="run_b"), [5]),
        (Selection(session="none"), []),
    ],
    ids=lambda value: str(value) if isinstance(value, Selection) else "",
)
def test_some_requests(tmp_path: Path, sealed: tuple[int, ...], selection: Selection, expected: list[int]) -> None:
    assert numbers(catalog.recent(trace_of(busy(), tmp_path, sealed), selection)) == expected


def test_requests_since_a_time(tmp_path: Path) -> None:
    trace = trace_of(busy(), tmp_path)
    whole = catalog.recent(trace, Selection()).exchanges
    for at, exchange in enumerate(whole):
        assert numbers(catalog.recent(trace, Selection(since=exchange.started_ns))) == [1, 2, 3, 4, 5][at:]


def test_enough_is_enough(tmp_path: Path) -> None:
    trace = trace_of(busy(), tmp_path)
    (trace.folder / "00000001.wal").write_bytes(b"not looked at, or it would be a problem")
    assert numbers(catalog.recent(trace, Selection(limit=3))) == [3, 4, 5]


def test_what_cannot_be_read_is_told_and_the_rest_is_shown(tmp_path: Path) -> None:
    trace = trace_of(busy(), tmp_path)
    path = trace.folder / "00000001.wal"
    path.write_bytes(b"broken")
    listing = catalog.recent(trace, Selection())
    assert [problem.file for problem in listing.problems] == [str(path)]
    found = listing.exchanges
    assert [exchange.request_id[-1] for exchange in found] == ["3", "2", "4", "5"]
    assert (found[1].method, found[1].state) == (None, State.COMPLETE)


def test_a_seal_that_cannot_be_unpacked_is_told(tmp_path: Path) -> None:
    trace = trace_of(busy(), tmp_path, (1,))
    path = trace.folder / "00000001.seal"
    data = bytearray(path.read_bytes())
    data[len(busy().segments[0].header) + 24] ^= 0xFF
    path.write_bytes(data)
    listing = catalog.recent(trace, Selection())
    assert [problem.file for problem in listing.problems] == [str(path)]


@SEALS
@pytest.mark.requirement("METRICS-08")
def test_one_request_with_its_bodies(tmp_path: Path, sealed: tuple[int, ...]) -> None:
    trace = trace_of(busy(), tmp_path, sealed)
    found = catalog.load(trace, identifier(2))
    assert found is not None
    assert found.request_body.data == b'{"model":"gannet-3","n":2}'
    assert found.response_body.data == b"data: one\n\ndata: two\n\ndata: three\n\n"
    assert found.session == "quay"
    assert [source.number for source in found.provenance.segments] == [1, 2, 3]
    listed = catalog.recent(trace, Selection()).exchanges[1]
    assert (found.started, found.state, found.timings) == (listed.started, listed.state, listed.timings)
    assert catalog.load(trace, identifier(99)) is None


@SEALS
def test_requests_by_the_start_of_their_id(tmp_path: Path, sealed: tuple[int, ...]) -> None:
    trace = trace_of(busy(), tmp_path, sealed)
    text = ids.to_text(identifier(3))
    assert catalog.matching(trace, text) == [identifier(3)]
    assert catalog.matching(trace, text[:4]) == [identifier(number) for number in (1, 2, 3, 4, 5)]
    assert catalog.matching(trace, "7ZZ") == []


def test_a_request_whose_start_was_removed_is_still_shown(tmp_path: Path) -> None:
    trace = Trace(busy().save(tmp_path / "trace", gone=(1,)))
    found = catalog.recent(trace, Selection()).exchanges
    assert [exchange.request_id[-1] for exchange in found] == ["3", "2", "4", "5"]
    assert START["session"] == found[2].session
