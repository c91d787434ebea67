"""Steps, times and metadata values: exact findings."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbox.check.statistics import Counting
from blackbox.check.steps import StepChecks
from tests.blackbox.check.logs import counted, found, info, warning


@pytest.mark.requirement("VALID-08")
def test_step_that_decreases() -> None:
    assert found("u: One step=2\na: Two step=1\n") == [warning("S001", 2, "step 1 comes after step 2")]


@pytest.mark.requirement("VALID-09")
def test_step_that_jumps() -> None:
    assert found("u: One step=1\na: Two step=5\n") == [info("S002", 2, "step 5 comes after step 1")]


def test_steps_that_repeat_or_follow() -> None:
    assert found("u: One step=7\na: Two step=7\nt:read a step=8 → [ok]\n@notify x step=9\n") == []


@pytest.mark.requirement("VALID-04")
def test_max_step_is_the_largest() -> None:
    statistics = counted("u: One step=3\na: Two step=9\na: Three step=4\n")
    assert (statistics.first_step, statistics.max_step) == (3, 9)


def test_first_step_is_the_smallest() -> None:
    assert counted("u: One step=3\na: Two step=1\n").first_step == 1


@pytest.mark.parametrize("value", ["first", "1.5", "-1", "1" * 19])
def test_step_that_is_no_number(value: str) -> None:
    assert found(f"u: One step={value}\n") == [warning("S003", 1, f"`step={value}` is not a whole number")]


@pytest.mark.parametrize("value", ["2025-12-18", "yesterday", "2025-13-18T03:21:08Z", "03:21"])
@pytest.mark.requirement("VALID-10")
def test_bad_timestamp(value: str) -> None:
    assert found(f"u: One ts={value}\n") == [warning("S004", 1, f"`ts={value}` is not an ISO 8601 instant")]


@pytest.mark.parametrize("value", ["2025-12-18T03:21:08Z", "2025-12-18T03:21:08.123+02:00", "2025-12-18T03:21:08"])
@pytest.mark.requirement("VALID-10")
def test_good_timestamp(value: str) -> None:
    assert found(f"u: One ts={value}\n") == []


def test_time_that_goes_back() -> None:
    body = "u: One ts=2025-12-18T03:21:08Z\na: Two ts=2025-12-18T03:20:00Z\n"
    assert found(body) == [info("S005", 2, "2025-12-18T03:20:00Z comes after 2025-12-18T03:21:08Z")]


def test_an_earlier_session_is_of_an_earlier_time() -> None:
    old = "u: a extra.inherited=true ts=2025-01-01T09:00:0{}Z\n"
    body = "u: now ts=2025-01-01T10:00:01Z\n" + old.format(2) + old.format(1)
    assert found(body + "u: b ts=2025-01-01T10:00:00Z\n") == [
        info("S005", 4, "2025-01-01T10:00:00Z comes after 2025-01-01T10:00:01Z")
    ]


def test_each_thread_has_its_own_time() -> None:
    body = (
        "u: One ts=2025-12-18T03:21:08Z\nt:a tid=2 ts=2025-12-18T03:20:00Z → [ok]\na: Two ts=2025-12-18T03:21:09Z\n"
    )
    assert found(body) == []


def test_same_time_in_another_thread_counts_there() -> None:
    body = (
        "t:a x tid=2 ts=2025-12-18T03:22:00Z → [ok]\n"
        "u: One ts=2025-12-18T03:20:00Z\n"
        "t:a x tid=2 ts=2025-12-18T03:20:00Z → [ok]\n"
    )
    assert [finding.line for finding in found(body)] == [3]


def test_elapsed_time_that_goes_back() -> None:
    assert found("# t=01:00:00\n# t=00:59:59\n") == [info("S005", 2, "elapsed time 00:59:59 goes back")]


def test_elapsed_time_in_another_form() -> None:
    assert found("# t=one hour\n") == [warning("S006", 1, "elapsed time is written `# t=HH:MM:SS`")]


@pytest.mark.parametrize(
    ("pair", "wanted"),
    [
        ("latency_ms=fast", "a whole number"),
        ("tokens_in=many", "a whole number"),
        ("tokens_Out2=1.5", "a whole number"),
        ("attempt=second", "N or N/M"),
        ("level=loud", "debug, info, warn or error"),
        ("latency_ms=12…", "a whole number"),
        ("latency_ms=" + "9" * 19, "a whole number"),
    ],
)
def test_metadata_of_another_type(pair: str, wanted: str) -> None:
    assert found(f"t:build x {pair} → [ok]\n") == [warning("S006", 1, f"`{pair}` is not {wanted}")]


@pytest.mark.parametrize(
    "pair", ["latency_ms=12", "tokens_in=0", "attempt=2", "attempt=2/3", "level=warn", "extra.a=b"]
)
def test_metadata_of_its_type(pair: str) -> None:
    assert found(f"t:build x {pair} → [ok]\n") == []


def test_metrics_for_a_step_that_no_line_has() -> None:
    body = "a: One step=1\n# metrics step=7 prompt_tokens=5\n# metrics step=7 prompt_tokens=6\n"
    assert found(body) == [info("S007", 2, "no line has the step 7 these metrics are for")]


def test_metrics_may_stand_before_their_step() -> None:
    assert found("# metrics step=2 prompt_tokens=5\na: One step=2\n") == []


def test_metrics_may_come_long_after_their_step() -> None:
    body = "".join(f"a: x step={step}\n" for step in (1, 2, 3, 2, 1))
    assert [finding.rule for finding in found(body + "# metrics step=3 prompt_tokens=5\n")] == ["S001", "S001"]


@given(st.lists(st.integers(min_value=0, max_value=30)), st.integers(min_value=0, max_value=31))
def test_remembered_steps_are_those_that_occurred(steps: list[int], asked: int) -> None:
    checks = StepChecks(lambda _finding: None, Counting())
    for step in steps:
        checks._remember(step)
    assert checks._occurred(asked) is (asked in steps)
    ranges = list(zip(checks._firsts, checks._lasts, strict=True))
    assert all(last + 1 < first for (_, last), (first, _) in itertools.pairwise(ranges))


def test_steps_of_parallel_agents_take_no_memory() -> None:
    checks = StepChecks(lambda _finding: None, Counting())
    for step in range(10_000):
        checks._remember(step)
        checks._remember(50_000 + step)
    assert len(checks._firsts) == 2
    for n in range(1000):
        checks._remember(100_000 + n * 7 % 1000)
    assert len(checks._firsts) == 3


@pytest.mark.parametrize(
    ("first", "second", "rules"),
    [
        ("00:00:05Z", "00:00:06Z", []),
        ("00:00:05Z", "00:00:04Z", ["S005"]),
        ("00:00:05.500Z", "00:00:05Z", ["S005"]),
        ("00:00:05Z", "00:00:05.500Z", []),
        ("00:00:05Z", "00:00:61Z", ["S004"]),
        ("00:00:05+02:00", "00:00:06.2500Z", []),
        ("00:00:05-02:00", "00:00:06.2500Z", ["S005"]),
    ],
)
def test_times_of_one_minute(first: str, second: str, rules: list[str]) -> None:
    findings = found(f"u: One ts=2026-01-01T{first}\na: Two ts=2026-01-01T{second}\n")
    assert [(finding.rule, finding.line) for finding in findings] == [(rule, 2) for rule in rules]


def test_each_thread_has_a_time_of_its_own() -> None:
    first, second, third = (f"ts=2026-01-01T00:00:0{second}Z" for second in (5, 3, 6))
    assert found(f"u: One {first}\nt:read a tid=2 {second} → [ok]\na: Two {third}\n") == []
