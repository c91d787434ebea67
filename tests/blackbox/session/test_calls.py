"""Calls: start, progress, attempts and outcome on whichever lines."""

import datetime as dt

import pytest

from blackbox.events.calls import Arguments
from blackbox.session.calls import Call, Status, progress_text
from blackbox.syntax.kinds import Kind
from blackbox.syntax.results import ResultKind
from tests.blackbox.session.logs import NIGHT_SHIFT, numbers, read_session, session_of


def call_of(body: str) -> Call:
    (call,) = session_of(body).calls
    return call


@pytest.mark.requirement("VIEW-01", "STREAM-01", "STREAM-02")
def test_streamed_call_is_one_call() -> None:
    call = call_of(
        "t!:test id=c1 span=s1 tid=2 parent=x1 cargo test step=4 ts=2025-01-01T00:00:00Z → [running]\n"
        't~:test span=s1 "[12/128 passed]"\n'
        "t~:test id=c1 [64/128  passed]\n"
        'o: id=c1 partial="almost"\n'
        "t:test span=s1 latency_ms=34200 ts=2025-01-01T00:00:34Z → [ok] 128 tests\n"
    )
    assert numbers(call) == [1, 2, 3, 4, 5]
    assert (call.kind, call.name, call.id, call.span, call.tid, call.parent) == (
        Kind.TOOL,
        "test",
        "c1",
        "s1",
        "2",
        "x1",
    )
    assert call.arguments == Arguments(("cargo", "test"))
    assert call.progress == ("[12/128 passed]", "[64/128  passed]", "almost")
    assert call.status is Status.OK
    assert call.result is not None
    assert call.result.detail == "128 tests"
    assert (call.step, call.latency_ms) == (4, 34200)
    assert call.ts == dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
    assert call.ended_at == dt.datetime(2025, 1, 1, 0, 0, 34, tzinfo=dt.UTC)


@pytest.mark.requirement("STREAM-01")
def test_streamed_call_without_id_and_span_is_joined_by_name() -> None:
    call = call_of("t!:test cargo test → [running]\nt~:test half\nt:test latency_ms=9 → [ok]\n")
    assert (numbers(call), call.progress, call.status) == ([1, 2, 3], ("half",), Status.OK)


@pytest.mark.requirement("OBS-01", "OBS-02")
def test_inline_result_is_the_first_observation() -> None:
    call = call_of("t:read src/main.rs → [200 lines]\n")
    assert call.id is None
    assert [(one.line.number, one.partial, one.result and one.result.count) for one in call.observations] == [
        (1, None, 200)
    ]


@pytest.mark.requirement("OBS-03", "OBS-04", "OBS-05")
@pytest.mark.parametrize("word", ["running", "started", "launched"])
def test_deferred_result_completes_the_call(word: str) -> None:
    start = f"t:build id=c1 make → [{word}]\n"
    assert call_of(start).status is Status.OPEN
    more = 'o: id=c1 partial="one"\n' + "u: hm\n" * 50 + 'o: id=c1 partial="two"\n'
    assert call_of(start + more).status is Status.OPEN
    call = call_of(start + more + "o: id=c1 → [ok] built\n")
    assert (call.status, call.progress) == (Status.OK, ("one", "two"))
    assert call.result_line is call.lines[-1]


@pytest.mark.requirement("OBS-06")
def test_observations_in_another_order_find_their_calls() -> None:
    body = "t:a id=1 → [running]\nt:b id=2 → [running]\no: id=2 → two\no: id=1 → one\n"
    calls = session_of(body).calls
    assert [(call.name, call.result and call.result.text) for call in calls] == [("a", "one"), ("b", "two")]


@pytest.mark.requirement("STREAM-03", "STREAM-04")
def test_retried_call_keeps_every_attempt() -> None:
    call = call_of(
        "t!:git span=t201 push → [running]\n"
        "t:git span=t201 attempt=1 latency_ms=8430 → [err: permission denied]\n"
        "t!:git span=t201 push → [retry 2/3]\n"
        "t:git span=t201 attempt=2 latency_ms=9120 → [ok]\n"
    )
    assert [(one.number, one.limit, one.status, one.latency_ms) for one in call.attempts] == [
        (1, None, Status.ERR, 8430),
        (2, 3, Status.OK, 9120),
    ]
    assert (call.status, call.latency_ms) == (Status.OK, 9120)


@pytest.mark.requirement("STREAM-04")
def test_retry_that_has_not_ended_leaves_the_call_open() -> None:
    call = call_of("t:git span=s → [err: no]\nt!:git span=s → [retry 2/3]\n")
    assert [one.status for one in call.attempts] == [Status.ERR, Status.OPEN]
    assert (call.status, call.result, call.ended_at) == (Status.OPEN, None, None)


def test_attempts_without_numbers_count_on() -> None:
    call = call_of("t:git id=1 attempt=1 → [err: no]\nt:git id=1 attempt=x → [ok]\n")
    assert [one.number for one in call.attempts] == [1, 2]


@pytest.mark.requirement("STREAM-05")
def test_tool_that_never_completed_is_open() -> None:
    session = session_of("t!:test id=1 → [running]\nt!:lint id=2 → [running]\no: id=2 → [ok]\n")
    assert [call.id for call in session.open_calls] == ["1"]


@pytest.mark.parametrize(
    ("result", "status"),
    [
        (" → [ok]", Status.OK),
        (" → [12 matches]", Status.OK),
        (" → [186 lines]", Status.OK),
        (" → @blob sha256=abcdef01", Status.OK),
        (" → [err: no]", Status.ERR),
        (" → [error] Exit code 2", Status.ERR),
        (" → [skip]", Status.SKIP),
        (" → $185.35", Status.ANSWERED),
        (" → [running]", Status.OPEN),
        ("", Status.NONE),
        ("\n  output below", Status.ANSWERED),
    ],
)
def test_status(result: str, status: Status) -> None:
    assert call_of(f"t:do it{result}\n").status is status


def test_later_observation_of_an_answered_call_counts() -> None:
    call = call_of("t:read id=1 a → [186 lines]\no: id=1 → [ok]\n")
    assert [one.result and one.result.kind for one in call.observations] == [ResultKind.LINES, ResultKind.OK]
    assert call.result_line is call.lines[1]


def test_interrupted_call() -> None:
    start = "t!:Bash id=1 command=ls → [running]\n"
    assert call_of(f"{start}o: id=1 interrupted level=warn → [err: stopped]\n").is_interrupted
    assert not call_of(f"{start}o: id=1 → [err: it was interrupted]\n").is_interrupted


def test_only_subagents_have_a_task() -> None:
    session = session_of('x:explore "find it" → [ok]\nt:read a → [ok]\n')
    assert [call.task for call in session.calls] == ["find it", None]


@pytest.mark.requirement("STREAM-02")
@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('t~:test "[12/128 passed]"', "[12/128 passed]"),
        ("t~:test [64/128 passed]", "[64/128 passed]"),
        ("t~:test span=s1 64  of  128 done=half", "64  of  128 done=half"),
        ("t~:test 64 span=s1 of 128", "64 of 128"),
        ("t~:test", ""),
        ("t~:test → 64 of 128", "64 of 128"),
        ("t~:test first\n  second\n  third", "first\nsecond\nthird"),
    ],
)
def test_progress_text(source: str, text: str) -> None:
    session = session_of(f"{source}\n")
    assert progress_text(session.lines[0]) == text


def test_progress_text_is_unescaped_where_the_header_says_so() -> None:
    session = session_of("t~:test a\\=b c\n", escape="1")
    assert progress_text(session.lines[0]) == "a=b c"


def test_night_shift() -> None:
    calls = {call.id: call for call in read_session(NIGHT_SHIFT).calls}
    assert len(calls) == 77
    push = calls["call_21"]
    assert numbers(push) == [231, 232, 233, 234]
    assert [(one.number, one.status.value) for one in push.attempts] == [(1, "err"), (2, "ok")]
    assert calls["call_47"].progress == ("Compiling tide-store v0.7.3 (1/5)", "Compiling tide-http v0.7.3 (4/5)")
    assert calls["call_47"].latency_ms == 71900
    assert repr(calls["call_54"]) == "Call(tool, 'shell', id='call_54', line=527, skip)"
