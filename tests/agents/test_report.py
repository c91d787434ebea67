"""The page of the clients: a row a case, and a note for all that is not the same."""

from typing import Any

from tests.agents.harness import report
from tests.agents.harness.cases import cases


def same(**more: Any) -> dict[str, Any]:
    return {"passed": True, "chosen": False, "known": {}, "unexpected": {}, "past": [], **more}


def row(title: str, text: str) -> list[str]:
    found = next(line for line in text.splitlines() if line.startswith(f"| {title} |"))
    return [cell.strip() for cell in found.strip("|").split("|")]


def test_every_case_has_a_row_and_what_was_not_flown_is_said() -> None:
    text = report.table({})
    for case in cases().values():
        assert row(case.title, text)[2:] == ["—"] + ["not tried"] * 6


def test_ways_are_told_with_notes() -> None:
    results = {
        "claude/reverse": same(past=["GET x"]),
        "claude/forward": same(chosen=True),
        "pi/reverse": {"passed": True, "refused": "pi takes none"},
        "aider/reverse": same(known={"calls": "It asks less."}),
        "llm/forward": {**same(), "passed": False, "unexpected": {"log": ["+ line"]}},
    }
    text = report.table(results)
    assert row("Claude Code", text)[2:5] == ["forward", "same [1]", "same"]
    assert row("pi", text)[3] == "no [2]"
    assert row("aider", text)[3] == "works [3]"
    assert row("llm", text)[4] == "**differs** [4]"
    assert "\n2. pi takes none.\n3. It asks less.\n4. The test failed: not as without the recorder: log.\n" in text


def test_faults_count_only_if_both_ways_passed() -> None:
    fine = {"passed": True, "retried": True, "unexpected": {}}
    ended = {**fine, "retried": False}
    both = {"claude/reverse/429": fine, "claude/forward/429": fine, "claude/reverse/cut": fine}
    both |= {"claude/reverse/reset": ended, "claude/forward/reset": ended}
    wrong = {"claude/forward/cut": {"passed": False, "unexpected": {"end": ["x"]}}}
    cells = row("Claude Code", report.table({**both, **wrong}))[5:]
    assert cells == ["retried", "not tried", "**differs** [1]", "given up"]


def test_fault_that_is_tried_in_one_way_counts_by_that_way() -> None:
    retried = {"passed": True, "retried": True, "unexpected": {}}
    results = {"pi/forward/429": retried, "pi/reverse/cut": retried}
    results |= {"pi/forward/reset": {**retried, "retried": False}}
    assert row("pi", report.table(results))[5:] == ["retried", "not tried", "not tried", "given up"]


def test_ways_of_faults_are_as_the_page_says() -> None:
    both = [case.title for case in cases().values() if len(case.faults) == 2]
    assert both == ["Claude Code", "Codex, WebSocket", "Codex, HTTP", "Gemini CLI", "opencode"]
    assert all(len(case.faults) == 1 for case in cases().values() if case.title not in both)


def test_page_keeps_its_text() -> None:
    old = (
        "Before.\n<!-- begin: results -->\nold\n<!-- end: results -->\nBetween.\n"
        "<!-- begin: memory -->\nold\n<!-- end: memory -->\nAfter.\n"
    )
    new = report.page(old, {"gemini/memory": {"with": 0, "without": 3}})
    assert new.startswith("Before.\n<!-- begin: results -->\n| Client |")
    assert "<!-- end: results -->\nBetween.\n<!-- begin: memory -->\n| Client |" in new
    assert row("Gemini CLI", new.partition("Between.")[2]) == ["Gemini CLI", "0", "3"]
    assert new.endswith("|\n<!-- end: memory -->\nAfter.\n")
    assert "old" not in new
