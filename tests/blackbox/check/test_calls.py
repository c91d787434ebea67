"""Calls, answers, sub-agents and questions: exact findings."""

import pytest

from tests.blackbox.check.logs import found, info, warning


@pytest.mark.requirement("OBS-07")
def test_observation_of_an_unknown_id() -> None:
    assert found("o: id=call_2 → [ok]\n") == [warning("C001", 1, "no earlier line has the call id `call_2`")]


@pytest.mark.requirement("OBS-07")
def test_observation_of_an_unknown_span() -> None:
    assert found("o: span=s1 → [ok]\n") == [warning("C001", 1, "no earlier line has the span `s1`")]


def test_observation_before_its_call_is_of_an_unknown_id() -> None:
    body = "o: id=c1 → [ok]\nt:read id=c1 a → [ok]\n"
    assert found(body) == [warning("C001", 1, "no earlier line has the call id `c1`")]


def test_observation_may_come_more_than_once() -> None:
    body = "t:test id=c1 → [running]\no: id=c1 partial=x\no: id=c1 → [ok]\no: id=c1 → [ok] again\n"
    assert found(body) == []


def test_observation_without_id() -> None:
    assert found("o: → [ok] Built\n") == [warning("C008", 1, "which call does this answer?")]


@pytest.mark.parametrize("line", ["t~:test id=c1 half", "t~:test span=s1 half", "t~:test half"])
@pytest.mark.requirement("VALID-07")
def test_progress_of_a_tool_that_was_not_started(line: str) -> None:
    assert found(f"{line}\n") == [warning("C002", 1, "progress of `test`, which was not started")]


@pytest.mark.parametrize("name", ["id=c1", "span=s1", "x"])
@pytest.mark.requirement("VALID-07")
def test_progress_between_start_and_end(name: str) -> None:
    assert found(f"t!:test {name} → [running]\nt~:test {name} half\nt:test {name} → [ok]\n") == []


@pytest.mark.requirement("VALID-13")
def test_call_that_never_got_its_result() -> None:
    body = "t!:test id=c1 → [running]\nt!:build x → [running]\nc:ci.run id=c3 → [pending]\n"
    assert found(body) == [
        warning("C003", 1, "call `c1` (test) never got its result"),
        warning("C003", 2, "call (build) never got its result"),
        warning("C003", 3, "call `c3` (ci.run) never got its result"),
    ]


@pytest.mark.parametrize("end", ["o: id=c1 → [ok]", "o: id=c1 → [err: cancelled]", "t:test id=c1 → [ok]"])
@pytest.mark.requirement("VALID-13")
def test_call_that_got_its_result(end: str) -> None:
    assert found(f"t!:test id=c1 → [running]\n{end}\n") == []


def test_plain_call_without_arrow_is_not_waiting() -> None:
    assert found("t:read id=c1 a.txt\n") == []


def test_partial_result_alone_leaves_a_call_open() -> None:
    body = 't:build id=c1 → [started]\no: id=c1 partial="half"\n'
    assert found(body) == [warning("C003", 1, "call `c1` (build) never got its result")]


def test_reused_id() -> None:
    body = "t:read id=c1 a → [ok]\nt:read id=c1 b → [ok]\n"
    assert found(body) == [info("C004", 2, "the id `c1` was used by an earlier call")]


def test_retry_reuses_its_id_rightly() -> None:
    body = (
        "t!:git id=c1 push → [running]\n"
        "t:git id=c1 attempt=1 → [err: reset]\n"
        "t!:git id=c1 push → [retry 2/3]\n"
        "t:git id=c1 attempt=2 → [ok]\n"
    )
    assert found(body) == []


@pytest.mark.requirement("VALID-14")
def test_subagent_that_never_reported_back() -> None:
    assert found('x:explore id=s1 "find" → [started]\nx:explore "find"\n') == [
        warning("C005", 1, "sub-agent `s1` (explore) never reported back"),
        warning("C005", 2, "sub-agent (explore) never reported back"),
    ]


@pytest.mark.parametrize(
    "end", ['x:explore id=s1 → summary="3 files"', "o: id=s1 → [done]", "x:explore id=s1 → [done]"]
)
@pytest.mark.requirement("VALID-14", "SUBREF-06")
def test_subagent_that_reported_back(end: str) -> None:
    assert found(f'x:explore id=s1 "find" → [started]\n{end}\n') == []


def test_question_that_was_never_answered() -> None:
    assert found('q: id=q1 "Which?" → [pending]\n') == [info("C006", 1, "question `q1` was never answered")]


def test_question_without_id_that_was_never_answered() -> None:
    assert found('q: "Which?"\n') == [info("C006", 1, "question was never answered")]


def test_question_that_does_not_block_is_still_open() -> None:
    assert found('q: id=q1 "Which?" → [auto]\n') == [info("C006", 1, "question `q1` was never answered")]


@pytest.mark.parametrize("answer", ["[selected: A]", '"whatever you like"'])
def test_question_that_was_answered(answer: str) -> None:
    assert found(f'q: id=q1 "Which?" → [pending]\nq: id=q1 → {answer}\n') == []


@pytest.mark.requirement("QUEST-08")
def test_auto_answer_that_no_human_confirmed() -> None:
    body = 'q: id=q1 "Which?" → [auto]\nq: id=q1 → [auto: A, reason="obvious"]\n'
    assert found(body) == [info("C007", 2, "question `q1` was answered by the agent itself")]


@pytest.mark.requirement("QUEST-08")
def test_auto_answer_that_a_human_confirmed() -> None:
    body = 'q: id=q1 "Which?" → [auto: A, reason="obvious"]\nq: id=q1 → [selected: B]\n'
    assert found(body) == []
