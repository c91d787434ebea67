"""Queries: which entries they choose, and how they are written."""

import datetime as dt

import pytest

from blackbox.document.document import parse
from blackbox.errors import UsageError
from blackbox.report.search import (
    Query,
    Search,
    Side,
    Steps,
    compile_pattern,
    parse_moment,
    parse_steps,
    parse_types,
)
from blackbox.syntax.kinds import Kind

LOG = """\
# t=00:00:00
u: Fix the login step=1 ts=2025-11-06T00:00:00Z
a: Looking.
  token in a continuation
t:read id=c1 src/auth.rs step=2 ts=2025-11-06T00:00:05Z → [12 lines]
t:test id=c2 pytest → [running]

# t=01:00:00
o: id=c2 step=3 ts=2025-11-06T01:00:10Z → [err: 1 failed]
c:forge.issues state=open step=4 ts=2025-11-06T01:00:20Z → [2 issues]
# metrics step=4 prompt_tokens=10
"""


def found(query: Query, log: str = LOG) -> list[int]:
    search = Search(query)
    return [line.number for line in parse(log).lines if search.matches(line)]


@pytest.mark.requirement("AUDIT-06")
def test_text_is_looked_for_in_continuations_too() -> None:
    assert found(Query(compile_pattern("token in"))) == [3]
    assert found(Query(compile_pattern("^  token"))) == [3]


@pytest.mark.requirement("AUDIT-06")
def test_types() -> None:
    assert found(Query(kinds=parse_types(["t,c"]))) == [5, 6, 10]
    assert found(Query(kinds=parse_types(["user", "@"]))) == [2]


def test_start_and_progress_are_tool_lines_unless_told_apart() -> None:
    log = "t!:test x → [running]\nt~:test half\nt:test → [ok]\n"
    assert found(Query(kinds=parse_types(["t"])), log) == [1, 2, 3]
    assert found(Query(kinds=parse_types(["t~:"])), log) == [2]


@pytest.mark.requirement("AUDIT-06")
def test_tool_is_a_glob_and_brings_the_answers_to_its_calls() -> None:
    assert found(Query(tools=("TEST",))) == [6, 9]
    assert found(Query(tools=("forge.*", "read"))) == [5, 10]


@pytest.mark.requirement("AUDIT-06")
def test_steps() -> None:
    assert found(Query(steps=parse_steps("2-3"))) == [5, 9]
    assert found(Query(steps=parse_steps("4"))) == [10, 11]
    assert found(Query(steps=parse_steps("-1"))) == [2]
    assert found(Query(steps=parse_steps("4-"))) == [10, 11]


@pytest.mark.requirement("AUDIT-06")
def test_line_without_time_has_that_of_the_last_one_above_it() -> None:
    since = parse_moment("--since", "2025-11-06T00:00:05Z")
    until = parse_moment("--until", "2025-11-06T00:00:05Z", is_end=True)
    assert found(Query(since=since, until=until)) == [5, 6, 8]


@pytest.mark.requirement("AUDIT-06")
def test_elapsed_time_goes_on_from_the_last_mark() -> None:
    assert found(Query(since=parse_moment("--since", "1h"))) == [8, 9, 10, 11]
    assert found(Query(since=parse_moment("--since", "01:00:05"))) == [10, 11]
    assert found(Query(until=parse_moment("--until", "00:00:04", is_end=True))) == [1, 2, 3]


def test_without_marks_elapsed_time_counts_from_the_first_timestamp() -> None:
    log = "u: one ts=2025-11-06T10:00:00Z\nu: two ts=2025-11-06T12:30:00Z\n"
    assert found(Query(since=parse_moment("--since", "2h")), log) == [2]


def test_line_before_any_time_is_in_no_time_range() -> None:
    assert found(Query(since=0.0), "u: one\nu: two ts=2025-11-06T10:00:00Z\n") == [2]


def test_errors_are_failed_results_and_error_lines() -> None:
    assert found(Query(failed=True)) == [9]
    assert found(Query(failed=True), "a: fine\nt:x level=error → [ok]\nu: [err: no]\n") == [2]


def test_sides_of_the_arrow() -> None:
    pattern = compile_pattern("2|lines")
    assert found(Query(pattern, side=Side.RESULT, kinds=parse_types(["t", "c"]))) == [5, 10]
    assert found(Query(pattern, side=Side.CALL, kinds=parse_types(["t", "c"]))) == [5, 6, 10]


def test_inverted_pattern_keeps_the_filters() -> None:
    query = Query(compile_pattern("read"), kinds=parse_types(["t"]), invert=True)
    assert found(query) == [6]


def test_fixed_text_and_case() -> None:
    assert found(Query(compile_pattern("[err:", fixed=True))) == [9]
    assert found(Query(compile_pattern("LOGIN", ignore_case=True))) == [2]


def test_blank_lines_are_no_entries() -> None:
    search = Search(Query())
    assert [line.number for line in parse("u: a\n\nu: b\n").lines if search.matches(line)] == [1, 3]
    assert search.entries == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-11-06", dt.datetime(2025, 11, 6, tzinfo=dt.UTC)),
        ("2025-11-06T05:10", dt.datetime(2025, 11, 6, 5, 10, tzinfo=dt.UTC)),
        ("2025-11-06 05:10:20Z", dt.datetime(2025, 11, 6, 5, 10, 20, tzinfo=dt.UTC)),
        ("01:30:00", 5400.0),
        ("90m", 5400.0),
    ],
)
def test_moments(text: str, expected: object) -> None:
    assert parse_moment("--since", text) == expected


def test_day_as_an_end_lasts_until_midnight() -> None:
    expected = dt.datetime(2025, 11, 6, 23, 59, 59, 999999, tzinfo=dt.UTC)
    assert parse_moment("--until", "2025-11-06", is_end=True) == expected
    assert parse_moment("--until", "2025-11-06T23:59", is_end=True) == expected


@pytest.mark.parametrize("text", ["yesterday", "2025-13-40", "", "25:61:00"])
def test_no_moment_is_a_usage_error(text: str) -> None:
    if text:
        with pytest.raises(UsageError, match="is no time"):
            parse_moment("--since", text)
    else:
        assert parse_moment("--since", None) is None


@pytest.mark.parametrize("text", ["x", "-", "", "1--2", "9-3"])
def test_no_steps_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="--step"):
        parse_steps(text)


def test_unknown_type_and_broken_pattern_are_usage_errors() -> None:
    with pytest.raises(UsageError, match="'zz' is no line type"):
        parse_types(["t,zz"])
    with pytest.raises(UsageError, match="no regular expression"):
        compile_pattern("a(")


def test_query_in_words() -> None:
    query = Query(kinds=frozenset({Kind.TOOL}), steps=Steps(1, 50), since=7200.0, failed=True, side=Side.RESULT)
    words = "t: lines of steps 1-50 since 02:00:00 after the start that report an error behind the arrow only"
    assert str(query) == words
    assert str(Query()) == "all lines"
