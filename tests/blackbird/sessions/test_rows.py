"""One row a session: every request is in exactly one, whatever came between its records, and none under a guess."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.sessions import rows as grouping
from blackbird.sessions.rows import UNATTRIBUTED, Filing, Row, Rows
from blackbird.sessions.survey import examine, survey
from blackbird.sessions.view import describe_row, name_of
from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind, Record
from tests.blackbird.trace.encoder import END, WALL, Tracer, identifier

RUN: dict[str, Any] = {}
CLAIM = {"attribution": "claimed", "run": "run_x", "session": "harbour"}
CLAUDE = {"attribution": "client", "task": None, "run": None, "session": "cc-1"} | {
    "headers": [["x-claude-code-session-id", "cc-1"]]
}
OPENCODE = CLAUDE | {"session": "ses_1", "headers": [["x-session-id", "ses_1"]]}
CHILD = CLAUDE | {"session": "ses_2", "headers": [["x-session-id", "ses_2"], ["x-parent-session-id", "ses_1"]]}
NOBODY = {"attribution": "none", "session": None, "task": None, "run": None}
STARTS = [RUN, {"session": "quay"}, CLAIM, CLAUDE, OPENCODE, CHILD, NOBODY]


def counted(records: list[Record]) -> dict[Filing, Row]:
    rows = Rows()
    for record in records:
        rows.take(record, WALL + record.monotonic)
    return {row.filing: row for row in rows.rows()}


def all_records(tracer: Tracer) -> list[Record]:
    return [record for segment in tracer.segments for record in segment.records]


@pytest.mark.requirement("PROXY-22")
def test_a_row_for_each_way_to_be_known_and_one_for_the_rest() -> None:
    tracer = Tracer()
    for number, start in enumerate(STARTS, 1):
        tracer.exchange(number, start=start)
    found = counted(all_records(tracer))
    assert {filing: row.tally.calls for filing, row in found.items()} == {
        Filing("run", "harbour"): 1,
        Filing("run", "quay"): 1,
        Filing("claimed", "harbour"): 1,
        Filing("client", "cc-1"): 1,
        Filing("client", "ses_1"): 2,
        UNATTRIBUTED: 1,
    }
    assert name_of(found[UNATTRIBUTED]) == "unattributed"


def test_a_session_of_the_client_that_was_hidden_is_unattributed() -> None:
    tracer = Tracer()
    tracer.exchange(1, start=CLAUDE | {"headers": [["x-claude-code-session-id", "[redacted:header]"]]})
    assert list(counted(all_records(tracer))) == [UNATTRIBUTED]


def test_a_request_whose_start_is_gone_is_unattributed_and_counts_once() -> None:
    tracer = Tracer()
    tracer.add(Kind.RESPONSE_BODY, identifier(1), b"data")
    tracer.add(Kind.RESPONSE_END, identifier(1), END)
    tracer.add(Kind.GAP, identifier(1), {"reason": "queue_full"})
    row = counted(all_records(tracer))[UNATTRIBUTED]
    assert (row.tally.calls, row.tally.request_bytes) == (1, 28)


def test_what_a_harness_states() -> None:
    tracer = Tracer()
    ids = {"session": "harbour", "task": "t1", "run": "run_1"}
    tracer.add(Kind.HARNESS_EVENT, payload={"event": "run.start", **ids, "data": {"client": "claude"}})
    tracer.add(
        Kind.HARNESS_EVENT, payload={"event": "goal", "session": "harbour", "data": {"text": "mend the crane"}}
    )
    tracer.add(Kind.HARNESS_EVENT, payload={"event": "run.end", "run": "run_1", "data": {}})
    tracer.add(Kind.HARNESS_EVENT, payload={"event": "run.end", "run": "run_9", "data": {}})
    tracer.add(Kind.HARNESS_EVENT, payload={"event": "pin", "session": "kept"})
    found = counted(all_records(tracer))
    assert list(found) == [Filing("run", "harbour")]
    about = describe_row(found[Filing("run", "harbour")])
    wanted = {"agents": ["claude"], "tasks": ["t1"], "runs": ["run_1"], "requests": 0, "goal": "mend the crane"}
    assert {key: about[key] for key in wanted} == wanted


def test_the_newest_comes_first() -> None:
    tracer = Tracer()
    tracer.exchange(1)
    tracer.exchange(2, start={"session": "quay"})
    tracer.exchange(3)
    assert [filing.session for filing in counted(all_records(tracer))] == ["harbour", "quay"]


def test_sessions_that_name_each_other_in_a_circle_are_one() -> None:
    tracer = Tracer()
    for number, (own, parent) in enumerate((("b", "a"), ("a", "b"), ("c", "b")), 1):
        headers = [["x-session-id", own], ["x-parent-session-id", parent]]
        tracer.exchange(number, start=CLAUDE | {"session": own, "headers": headers})
    found = counted(all_records(tracer))
    assert {filing: row.tally.calls for filing, row in found.items()} == {Filing("client", "a"): 3}


def interleaved(tracer: Tracer, seed: int) -> list[Record]:
    """The same records in another order; those of one request, and what is stated, keep theirs."""
    groups: dict[bytes, list[Record]] = {}
    for record in all_records(tracer):
        groups.setdefault(record.request, []).append(record)
    turns = [request for request, records in groups.items() for _ in records]
    random.Random(seed).shuffle(turns)  # noqa: S311 - no secret
    waiting = {request: iter(records) for request, records in groups.items()}
    return [next(waiting[request]) for request in turns]


@given(st.lists(st.tuples(st.sampled_from(STARTS), st.booleans()), min_size=1, max_size=12), st.integers(0, 99))
def test_every_request_is_in_one_row_in_any_order(requests: list[tuple[dict[str, Any], bool]], seed: int) -> None:
    tracer = Tracer()
    for number, (start, has_end) in enumerate(requests, 1):
        tracer.exchange(number, start=start, end=has_end)
    straight, mixed = counted(all_records(tracer)), counted(interleaved(tracer, seed))
    assert sum(row.tally.calls for row in straight.values()) == len(requests)
    assert {f: _essence(row) for f, row in straight.items()} == {f: _essence(row) for f, row in mixed.items()}


def _essence(row: Row) -> tuple[object, ...]:
    tally = row.tally
    names = (set(row.agents), set(row.tasks), set(row.runs), set(row.natives))
    return (row.began, row.last, *names, tally.calls, tally.request_bytes, tally.response_bytes, tally.failures)


SEALS = pytest.mark.parametrize("sealed", [(), (1,), (1, 2)], ids=["written", "mixed", "sealed"])


@SEALS
def test_a_survey_reads_written_and_sealed_segments_alike(tmp_path: Path, sealed: tuple[int, ...]) -> None:
    tracer = Tracer()
    tracer.exchange(1)
    tracer.exchange(2, end=False, start=NOBODY)
    tracer.rotate()
    tracer.add(Kind.RESPONSE_END, identifier(2), END)
    tracer.exchange(3, start={"run": "run_b"})
    trace = Trace(tracer.save(tmp_path / "trace", sealed=sealed))
    found = survey(trace)
    assert found.problems == []
    first, second = found.rows.rows()
    assert (first.filing.session, first.tally.calls, list(first.runs)) == (
        "harbour",
        2,
        ["run_01JD4Q0000000000000000000A", "run_b"],
    )
    assert (second.filing, second.tally.calls, second.tally.active) == (UNATTRIBUTED, 1, 0)
    detail = examine(trace, found, first)
    assert (detail.tally.models, detail.tally.calls) == ({"gannet-3": 2}, 2)


@SEALS
def test_since_leaves_out_what_began_before_but_not_what_was_stated(tmp_path: Path, sealed: tuple[int, ...]) -> None:
    tracer = Tracer()
    tracer.add(Kind.HARNESS_EVENT, payload={"event": "goal", "session": "harbour", "data": {"text": "mend"}})
    tracer.exchange(1)
    tracer.exchange(2, end=False, start=NOBODY)
    tracer.rotate(wall=WALL + 60_000_000_000)
    tracer.add(Kind.RESPONSE_END, identifier(2), END)
    tracer.exchange(3)
    trace = Trace(tracer.save(tmp_path / "trace", sealed=sealed))
    (row,) = survey(trace, WALL + 60_000_000_000).rows.rows()
    assert (row.filing.session, row.tally.calls, row.goal) == ("harbour", 1, "mend")
    assert survey(trace, WALL + 10**15).rows.rows() == []


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    tracer = Tracer()
    tracer.exchange(1)
    tracer.rotate()
    tracer.exchange(2)
    folder = tracer.save(tmp_path / "trace")
    (folder / "00000001.wal").write_bytes(b"no segment")
    found = survey(Trace(folder))
    assert [problem.file for problem in found.problems] == [str(folder / "00000001.wal")]
    (row,) = found.rows.rows()
    assert examine(Trace(folder), found, row).tally.calls == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("harbour", ["run"]),
        ("run_01JD4Q0000000000000000000A", ["run"]),
        ("run_x", ["claimed"]),
        ("cc-1", ["client"]),
        ("ses_2", ["client"]),
        ("unattributed", ["none"]),
        ("harb", ["run"]),
        ("r", ["claimed", "run", "run"]),
        ("ses", ["client"]),
        ("nothing", []),
    ],
)
def test_ids_that_a_row_can_be_asked_for_by(text: str, expected: list[str]) -> None:
    tracer = Tracer()
    for number, start in enumerate(STARTS, 1):
        tracer.exchange(number, start=start)
    found = grouping.find(counted(all_records(tracer)).values(), text)
    assert sorted(row.filing.attribution for row in found) == expected
