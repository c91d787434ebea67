"""What a log contains: exact figures."""

import msgspec
import pytest

from blackbox.check.statistics import Statistics, sum_up
from blackbox.check.validator import validate_bytes
from tests.blackbox.check.logs import HEADER_LINES, counted


def calls(body: str) -> tuple[int, int, dict[str, int]]:
    statistics = counted(body)
    return statistics.tool_calls, statistics.call_ids, statistics.tools


@pytest.mark.requirement("STATS-02")
def test_lines_add_up() -> None:
    statistics = counted("u: One\n  two\n\n# remark\nwhat\n\n  stray\n")
    assert (statistics.lines, statistics.content_lines) == (HEADER_LINES + 7, HEADER_LINES + 4)
    assert (statistics.blank_lines, statistics.comment_lines, statistics.unknown_lines) == (2, 1, 1)
    assert statistics.continuation_lines == 2
    assert statistics.lines == statistics.content_lines + statistics.blank_lines + statistics.comment_lines


@pytest.mark.parametrize("indent", ["  ", "\t", " \t", "   "])
def test_continuation_lines_of_every_indent_are_counted(indent: str) -> None:
    assert counted(f"u: One\n{indent}two\n{indent}three\n").continuation_lines == 2


@pytest.mark.requirement("STATS-03", "VALID-03")
def test_every_kind_of_line_is_counted() -> None:
    body = (
        "u: a\na: b\nth: c\ntd: [pending] d\nt:read a → [ok]\nt:read b → [ok]\n"
        "o: id=c1 → [ok]\nc:forge.issues → [ok]\nx:explore e → [ok]\ns:skill f\np:create g\nm:auto\n@start h\n"
        '@phase i\nr: "j"\nq: "k" → [selected: l]\n'
    )
    statistics = counted(body)
    shown = {
        name: value
        for name, value in msgspec.structs.asdict(statistics).items()
        if isinstance(value, int) and value and not name.endswith("lines")
    }
    assert shown == {
        "user_messages": 1,
        "agent_messages": 1,
        "thinking": 1,
        "todo_lists": 1,
        "tool_calls": 2,
        "observations": 1,
        "mcp_calls": 1,
        "subagents": 1,
        "skills": 1,
        "plans": 1,
        "mode_changes": 1,
        "lifecycle": 1,
        "phases": 1,
        "recalls": 1,
        "questions": 1,
    }
    assert sum(statistics.line_types.values()) == 16


def test_streamed_call_counts_once() -> None:
    body = "t!:test id=c1 → [running]\nt~:test id=c1 half\nt~:test id=c1 more\nt:test id=c1 → [ok]\n"
    assert calls(body) == (1, 1, {"test": 1})


def test_streamed_call_without_id_counts_once_and_has_no_id() -> None:
    assert calls("t!:test a → [running]\nt~:test half\nt:test → [ok]\n") == (1, 0, {"test": 1})


def test_call_with_a_span_alone_has_no_call_id() -> None:
    assert calls("t!:test span=s1 → [running]\nt:test span=s1 → [ok]\n") == (1, 0, {"test": 1})


def test_deferred_result_is_no_call() -> None:
    statistics = counted("t:test id=c1 → [running]\no: id=c1 partial=x\no: id=c1 → [ok]\n")
    assert (statistics.tool_calls, statistics.observations, statistics.call_ids) == (1, 2, 1)


def test_retried_call_counts_once() -> None:
    body = (
        "t!:git id=c1 push → [running]\n"
        "t:git id=c1 attempt=1 → [err: reset]\n"
        "t!:git id=c1 push → [retry 2/3]\n"
        "t:git id=c1 attempt=2 → [ok]\n"
    )
    assert calls(body) == (1, 1, {"git": 1})


def test_reused_id_is_two_calls_and_one_id() -> None:
    assert calls("t:read id=c1 a → [ok]\nt:read id=c1 b → [ok]\n") == (2, 1, {"read": 2})


def test_progress_that_was_never_started_is_no_call() -> None:
    assert calls("t~:test id=c1 half\n") == (0, 0, {})


def test_subagent_counts_once_from_start_to_end() -> None:
    statistics = counted('x:explore id=s1 tid=2 "a" → [started]\nt:read tid=2 b → [ok]\nx:explore id=s1 → [done]\n')
    assert (statistics.subagents, statistics.tool_calls, statistics.call_ids) == (1, 1, 1)


def test_ids_of_mcp_calls_and_subagents_count_as_call_ids() -> None:
    assert counted('t:a id=1 → [ok]\nc:f.g id=2 → [ok]\nx:explore id=3 "a" → [ok]\n').call_ids == 3


def test_question_and_answer_are_one_question_and_its_id_is_no_call_id() -> None:
    statistics = counted('q: id=q1 "Which?" → [pending]\nq: id=q1 → [selected: A]\nq: "Other?" → [pending]\n')
    assert (statistics.questions, statistics.call_ids) == (2, 0)


@pytest.mark.requirement("STATS-05")
def test_tools_are_listed_by_number_then_name() -> None:
    body = "t:b x → [ok]\nt:a x → [ok]\nt:c x → [ok]\nt:c y → [ok]\n"
    assert list(counted(body).tools.items()) == [("c", 2), ("a", 1), ("b", 1)]


@pytest.mark.requirement("BLOB-05")
def test_blobs_are_counted_in_results_continuations_and_metrics() -> None:
    body = (
        "t:read a → @blob sha256=ab12 bytes=1\n"
        "t:read b →\n  @blob sha256=ab12\n"
        "# metrics step=1 logprobs=@blob sha256=ab12 completion_token_ids=@blob sha256=cd34\n"
        "u: a @blob is not counted without its hash\n"
    )
    assert counted(body).blobs == 4


@pytest.mark.requirement("REDACT-02")
def test_redaction_markers_are_counted_in_every_text() -> None:
    body = 't:shell key=[redacted:api_key] "[redacted:env_var]" → [ok]\n  [redacted]\nu: [redactedness]\n'
    assert counted(body).redacted == 3


@pytest.mark.requirement("STATS-04")
def test_timestamps_are_counted() -> None:
    body = (
        "u: a ts=2025-12-18T03:21:08Z\n"
        "a: b ts=2025-12-18T03:21:08Z\n"
        "t:x tid=2 ts=2025-12-18T03:21:08Z → [ok]\n"
        "u: c ts=never\n"
    )
    assert counted(body).timestamps == 3


def test_nothing_is_counted_in_a_file_without_lines() -> None:
    assert validate_bytes(b"").statistics == Statistics()


@pytest.mark.requirement("STATS-06")
def test_figures_of_several_logs_add_up() -> None:
    one = Statistics(lines=3, tool_calls=2, first_step=4, max_step=9, tools={"read": 2}, line_types={"tool": 2})
    two = Statistics(
        lines=5, tool_calls=4, first_step=2, max_step=3, tools={"git": 3, "read": 1}, line_types={"tool": 4}
    )
    none = Statistics(lines=1)
    assert sum_up([one, two, none]) == Statistics(
        lines=9,
        tool_calls=6,
        first_step=2,
        max_step=9,
        tools={"git": 3, "read": 3},
        line_types={"tool": 6},
    )
    assert sum_up([none, none]).max_step is None
