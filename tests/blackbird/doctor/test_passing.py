"""Calls in agents' own logs are looked for in the trace: by request, by thread and time, by time alone."""

from pathlib import Path

import pytest

from blackbird.authority.problems import Level
from blackbird.doctor.checks.passing import check, past
from blackbird.doctor.facts import recorded
from blackbird.doctor.facts.logs import Logs
from blackbird.doctor.facts.recorded import Call, Jump, Recorded
from blackbird.doctor.findings import Finding
from blackbird.doctor.native import Client, NativeCall
from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind
from tests.blackbird.trace.encoder import END, MONOTONIC, START, WALL, Tracer, identifier

SECOND = 1_000_000_000
MINUTE = 60 * SECOND


def call(api: str, begin: int, end: int, *, head: bool = True, request: str = "", thread: str = "") -> Call:
    ids = frozenset([request] if request else []), frozenset([thread] if thread else [])
    return Call(api, WALL + begin * SECOND, WALL + end * SECOND, head, *ids)


def claude(at: int, request: str) -> NativeCall:
    return NativeCall(Client.CLAUDE, WALL + at * SECOND, request=request)


def codex(at: int, thread: str | None) -> NativeCall:
    return NativeCall(Client.CODEX, WALL + at * SECOND, thread=thread)


def gemini(at: int) -> NativeCall:
    return NativeCall(Client.GEMINI, WALL + at * SECOND)


SEEN = Recorded(
    WALL,
    [
        call("anthropic", 0, 10, request="req_1"),
        call("openai", 0, 1000, thread="thread-a"),
        call("gemini", 100, 101),
        call("anthropic", 500, 510, head=False),
    ],
)


@pytest.mark.parametrize(
    ("native", "is_past"),
    [
        (claude(5, "req_1"), False),
        (claude(99_999, "req_1"), False),
        (claude(5, "req_2"), True),
        (claude(505, "req_2"), False),
        (claude(600, "req_2"), True),
        (codex(1030, "thread-a"), False),
        (codex(2000, "thread-a"), True),
        (codex(500, "thread-b"), True),
        (codex(500, None), False),
        (gemini(102), False),
        (gemini(94), True),
        (gemini(300), True),
    ],
)
def test_whether_a_call_is_in_the_trace(native: NativeCall, is_past: bool) -> None:
    assert past([native], SEEN) == ([native] if is_past else [])


def test_an_earlier_exchange_that_lasts_longer_still_covers() -> None:
    seen = Recorded(WALL, [call("gemini", 0, 1000), call("gemini", 10, 11)])
    assert past([gemini(900), gemini(1059), gemini(1061)], seen) == [gemini(1061)]


def test_how_many_passed_by_is_told_with_the_newest() -> None:
    logs = [Logs(Client.CLAUDE, Path("logs"), 1, WALL, [claude(5, "req_1"), claude(6, "req_2"), claude(7, "req_3")])]
    assert list(check(logs, SEEN, 7)) == [
        Finding(
            "claude-passes-by",
            Level.WARNING,
            "2 of 3 calls of claude in the last 7 days passed the recorder by",
            "the newest 2026-11-16T12:00:07.000000Z, req_3; compared by request id",
            "start it with: blackbird run -- claude",
        )
    ]
    well = [Logs(Client.CLAUDE, Path("logs"), 1, WALL, [claude(5, "req_1")])]
    assert [(each.id, each.level) for each in check(well, SEEN, 1)] == [("claude-passes", Level.OK)]


def test_calls_before_the_first_recording_are_nobodys_fault() -> None:
    logs = [Logs(Client.CLAUDE, Path("logs"), 1, 0, [claude(-5, "req_2")])]
    assert list(check(logs, SEEN, 7)) == []
    assert list(check(logs, Recorded(), 7)) == []


def test_logs_that_cannot_be_read_are_told() -> None:
    logs = [Logs(Client.CODEX, Path("logs"), unreadable=["x: Permission denied"], left_out=2)]
    found = [(each.id, each.level, each.evidence) for each in check(logs, SEEN, 7)]
    assert found == [
        ("codex-log-unreadable", Level.NOTE, "x: Permission denied"),
        ("codex-log-long", Level.NOTE, ""),
    ]


def test_the_trace_gives_ids_from_both_heads(tmp_path: Path) -> None:
    tracer = Tracer()
    request = identifier(1)
    tracer.add(Kind.REQUEST_START, request, {**START, "headers": [["Thread-Id", "thread-a"], ["x", "y"]]})
    head = {"status": 200, "reason": "OK", "version": "HTTP/1.1", "headers": [["request-id", "req_1"], ["a", "b"]]}
    tracer.add(Kind.RESPONSE_START, request, head)
    tracer.add(Kind.RESPONSE_END, request, END)
    seen = recorded.gather(Trace(tracer.save(tmp_path / "trace")), WALL - MINUTE)
    begin = WALL + 1_000_000
    assert seen.calls == [
        Call("anthropic", begin, begin + 812_345_000, True, frozenset(["req_1"]), frozenset(["thread-a"]))
    ]
    assert (seen.begins_ns, seen.jumps, seen.unreadable) == (WALL, [], [])
    assert seen.recent_bytes == seen.bytes == (tmp_path / "trace" / "00000001.wal").stat().st_size


@pytest.mark.parametrize(
    ("path", "api"),
    [
        ("/v1/messages?beta=true", "anthropic"),
        ("/backend-api/codex/responses", "openai"),
        ("/v1/chat/completions", "openai"),
        ("/v1internal:streamGenerateContent?alt=sse", "gemini"),
        ("/v1beta/models/m:generateContent", "gemini"),
        ("/api/chat", None),
    ],
)
def test_an_api_is_known_by_its_path_whatever_the_upstream_is_called(
    tmp_path: Path, path: str, api: str | None
) -> None:
    tracer = Tracer()
    tracer.exchange(1, start={"target": path, "upstream": "gateway"})
    (found,) = recorded.gather(Trace(tracer.save(tmp_path / "trace")), WALL - MINUTE).calls
    assert found.api == api


def test_an_exchange_without_an_end_may_have_lasted(tmp_path: Path) -> None:
    tracer = Tracer()
    tracer.exchange(1, end=False)
    (found,) = recorded.gather(Trace(tracer.save(tmp_path / "trace")), WALL - MINUTE).calls
    assert found.end_ns - found.begin_ns == 60 * MINUTE


def test_jumps_of_the_clock_are_found_within_a_boot_and_by_checkpoints(tmp_path: Path) -> None:
    tracer = Tracer()
    tracer.exchange(1)
    tracer.checkpoint()
    tracer.checkpoint("clock", wall=WALL + 3600 * SECOND, monotonic=MONOTONIC + 8_000_000)
    tracer.rotate(wall=WALL + 3601 * SECOND, monotonic=MONOTONIC + SECOND)
    tracer.exchange(2)
    tracer.rotate(wall=WALL + 60 * SECOND, monotonic=MONOTONIC + 60 * SECOND, boot=bytes([9] * 16))
    tracer.exchange(3)
    seen = recorded.gather(Trace(tracer.save(tmp_path / "trace", sealed=(1,))), WALL - MINUTE)
    assert seen.jumps == [Jump(WALL + 3600 * SECOND, 3600.0)]


def test_a_trace_that_cannot_be_read_is_a_fact(tmp_path: Path) -> None:
    assert recorded.gather(Trace(tmp_path / "none"), 0) == Recorded()
    (tmp_path / "trace").mkdir()
    (tmp_path / "trace" / "00000001.wal").write_bytes(b"nothing of the kind" * 20)
    seen = recorded.gather(Trace(tmp_path / "trace"), 0)
    assert len(seen.unreadable) == 1
    assert "does not start as a segment does" in seen.unreadable[0]
