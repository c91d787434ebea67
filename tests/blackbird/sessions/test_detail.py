"""One session in detail: its runs with what was stated of them, and its threads as a tree."""

from typing import Any

import pytest

from blackbird.sessions.detail import Detail, Run
from blackbird.sessions.rows import Filing, Row
from blackbird.sessions.view import counted, describe_detail, owner_of, short_run
from blackbird.trace.records import Kind
from tests.blackbird.trace.encoder import END, WALL, Tracer, identifier

IDS = {"session": "harbour", "task": "t1", "run": "run_1"}


def detailed(tracer: Tracer, filing: Filing | None = None) -> dict[str, Any]:
    detail = Detail(Row(filing or Filing("run", "harbour")))
    for record in tracer.current.records:
        detail.take(record, WALL + record.sequence * 1_000_000)
    return describe_detail(detail)


def state(tracer: Tracer, event: str, data: dict[str, Any], **ids: Any) -> None:
    tracer.add(Kind.HARNESS_EVENT, payload={"event": event, **IDS, **ids, "data": data})


def thread(*headers: tuple[str, str], run: str = "run_1") -> dict[str, Any]:
    return {"run": run, "headers": [["user-agent", "agent/1.2"], *map(list, headers)]}


def tree(threads: list[dict[str, Any]]) -> list[Any]:
    return [[thread["thread"], thread["kind"], thread["requests"], tree(thread["children"])] for thread in threads]


def test_what_was_stated_of_a_run() -> None:
    tracer = Tracer()
    state(tracer, "run.start", {"client": "claude", "mode": "forward", "cwd": "/srv"})
    state(tracer, "run.context", {"repository": "r", "sha": "0123", "branch": "main", "dirty": True})
    state(tracer, "run.context", {"client_version": "2.1.197", "tools": {"git": "2.39", "odd": 3}})
    state(tracer, "run.describe", {"text": "first try"})
    state(tracer, "something", {"client": "other"})
    state(tracer, "pin", {})
    state(tracer, "run.start", {"client": "other"}, session="quay", run="run_2")
    tracer.exchange(1, start=IDS)
    state(tracer, "run.end", {"exit_code": 3, "duration_ms": 91000}, session=None)
    about = detailed(tracer)
    (run,) = about["runs"]
    wanted = {
        "run": "run_1",
        "task": "t1",
        "client": "claude",
        "client_version": "2.1.197",
        "mode": "forward",
        "cwd": "/srv",
        "repository": "r",
        "sha": "0123",
        "branch": "main",
        "dirty": True,
        "tools": {"git": "2.39"},
        "description": "first try",
        "began": "2026-11-16T12:00:00.001000Z",
        "ended": "2026-11-16T12:00:00.014000Z",
        "duration_ms": 91000,
        "exit_code": 3,
        "signal": None,
        "outcome": "exit code 3",
        "requests": 1,
        "statuses": {"200": 1},
        "models": {"gannet-3": 1},
        "redactions": {"github_token": 1},
    }
    assert {key: run[key] for key in wanted} == wanted
    assert (about["schema"], about["tasks"], about["requests"]) == ("session/1", ["t1"], 1)


@pytest.mark.parametrize(
    ("data", "outcome"),
    [
        ({"exit_code": 0}, "exit code 0"),
        ({"exit_code": 143, "signal": 15}, "ended by signal 15"),
        ({}, "ended"),
        (None, "no end recorded"),
    ],
)
def test_how_a_run_ended(data: dict[str, Any] | None, outcome: str) -> None:
    run = Run("run_1")
    run.state("run.start", {}, 1_000_000)
    if data is not None:
        run.state("run.end", data, 5_000_000)
    assert (run.outcome, run.duration_ms) == (outcome, None if data is None else 4)


@pytest.mark.requirement("PROXY-22")
def test_threads_and_sub_agents_are_a_tree() -> None:
    tracer = Tracer()
    codex = ("session-id", "s")
    tracer.exchange(1, start=thread(codex, ("thread-id", "main")))
    tracer.exchange(2, start=thread(codex, ("thread-id", "sub"), ("x-codex-parent-thread-id", "main")))
    tracer.exchange(3, start=thread(codex, ("thread-id", "deep"), ("x-codex-parent-thread-id", "sub")))
    tracer.exchange(4, start=thread(codex, ("thread-id", "main")))
    tracer.exchange(5, start=thread(codex, ("thread-id", "lost"), ("x-codex-parent-thread-id", "unseen")))
    about = detailed(tracer)
    assert tree(about["threads"]) == [
        ["main", None, 2, [["sub", "sub-agent", 1, [["deep", "sub-agent", 1, []]]]]],
        ["lost", "sub-agent", 1, []],
    ]
    assert about["threads"][1]["parent"] == "unseen"


def test_requests_without_ids_are_one_thread_of_their_run() -> None:
    tracer = Tracer()
    for number, run in enumerate(("run_1", "run_1", "run_2"), 1):
        tracer.exchange(number, start=thread(run=run))
    threads = detailed(tracer)["threads"]
    assert [(each["run"], each["thread"], each["client"], each["client_version"]) for each in threads] == [
        ("run_1", None, "agent", "1.2"),
        ("run_2", None, "agent", "1.2"),
    ]
    assert [each["requests"] for each in threads] == [2, 1]


def test_threads_that_name_each_other_in_a_circle_stand_side_by_side() -> None:
    tracer = Tracer()
    for number, (own, parent) in enumerate((("a", "b"), ("b", "a")), 1):
        ids = (("session-id", "s"), ("thread-id", own), ("x-codex-parent-thread-id", parent))
        tracer.exchange(number, start=thread(*ids))
    assert tree(detailed(tracer)["threads"]) == [["a", "sub-agent", 1, []], ["b", "sub-agent", 1, []]]


def test_turns_and_who_began_them() -> None:
    tracer = Tracer()
    for number, turn in enumerate(("t1", "t1", "t2"), 1):
        ids = (("session-id", "s"), ("x-codex-turn-metadata", f'{{"turn_id":"{turn}"}}'), ("x-initiator", "user"))
        tracer.exchange(number, start=thread(*ids))
    (only,) = detailed(tracer)["threads"]
    assert (only["turns"], only["initiators"]) == (2, {"user": 3})


def test_statements_about_others_ids_do_not_reach_a_row_that_nobody_registered() -> None:
    tracer = Tracer()
    state(tracer, "run.start", {"client": "claude"})
    tracer.add(Kind.RESPONSE_END, identifier(1), END)
    about = detailed(tracer, Filing("none", None))
    assert (about["runs"], about["requests"], about["threads"][0]["thread"]) == ([], 1, None)


def test_short_words() -> None:
    assert short_run("run_01JD4Q0000000000000000000A") == "00000A"
    assert short_run("nightly-build-of-today") == "nightly-buil"
    assert counted(Detail(Row(Filing("run", "x"))).tally.models) == ""


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ({}, "harbour/00000A"),
        ({"run": None}, "harbour"),
        ({"attribution": "claimed"}, "claimed harbour"),
        ({"attribution": "client", "session": "0123456789abcdef"}, "client 0123456789ab"),
        ({"attribution": "none", "session": None}, "unattributed"),
    ],
)
def test_whose_a_request_is(start: dict[str, Any], expected: str, exchange_of: Any) -> None:
    assert owner_of(exchange_of(start)) == expected
