"""What the human typed, told apart from what only stands under the user's name."""

from hypothesis import given
from hypothesis import strategies as st

from blackbird.artifacts.prose.typed import typed


def kept(text: str) -> list[str]:
    return [text[first:last] for first, last in typed(text)]


def test_plain_words_are_typed() -> None:
    assert kept("Use tabs.\n\nAnd no emojis, please.") == ["Use tabs.", "And no emojis, please."]


def test_a_wrapper_of_a_client_is_not() -> None:
    assert kept("<system-reminder>\nAlways be nice.\n</system-reminder>\nFix it.") == ["Fix it."]


def test_a_summary_of_an_earlier_conversation_is_not() -> None:
    assert kept("This session is being continued from a previous conversation that ran out.\nAlways use tabs.") == []


def test_the_text_of_a_slash_command_is_not() -> None:
    assert kept("Review the change below.\n\nNever be vague.\n\nARGUMENTS: 41") == []


def test_fenced_code_is_not_and_a_fence_that_never_closes_hides_nothing() -> None:
    assert kept("Look:\n```\nalways = 1\n```\nRename it.") == ["Look:", "Rename it."]
    assert kept("Look:\n```\n\nNever do that.") == ["Look:", "Never do that."]


def test_a_plan_below_a_line_is_not() -> None:
    steps = "\n".join(f"{number}. Always do step {number}" for number in range(1, 14))
    assert kept(f"Do this:\n\n# Plan\n\n{steps}") == ["Do this:"]


def test_a_short_text_with_a_heading_is() -> None:
    assert kept("# Wishes\n- a blue button") == ["# Wishes\n- a blue button"]


def test_logs_diffs_and_traces_are_not() -> None:
    assert kept("It broke:\n\n2026-03-01 10:00:00 ERROR must not be empty\nValueError: never empty\n\nFix that.") == [
        "It broke:",
        "Fix that.",
    ]
    assert kept("diff --git a/x b/x\n@@ -1 +1 @@\n+  always()") == []


def test_what_a_shell_printed_is_not() -> None:
    text = "$ make harbour\nBuilding berths\n\n✅ done\n\nThe last line should be shorter."
    assert kept(text) == ["The last line should be shorter."]


def test_remarks_of_a_review_are_not() -> None:
    assert kept("Let's fix this:\n\n  - ⚠️ This should never be null\n  and goes on") == ["Let's fix this:"]
    assert kept("Got this comment from a reviewer:\n\nYou should always close the file.") == [
        "Got this comment from a reviewer:"
    ]


def test_lines_that_are_merely_shown_are_not() -> None:
    assert kept("I get this from a run:\nTriggered via push\nStatus Success\nArtifacts none\nMust update") == [
        "I get this from a run:"
    ]


def test_a_list_and_what_is_nested_in_it_is_typed() -> None:
    assert kept("We want:\n- a table\n  - with a header\n- no footer") == [
        "We want:\n- a table\n  - with a header\n- no footer"
    ]


def test_of_more_than_anyone_types_only_the_ends_are_kept() -> None:
    middle = "\n\n".join(f"Paragraph {number} is long." for number in range(50))
    assert kept(f"First words.\n\n{middle}\n\nLast words.") == ["First words.", "Last words."]


@given(st.text(alphabet="ab.:$ \n`-#|>⚠[]/1\t", max_size=300))
def test_stretches_stand_in_order_and_hold_something(text: str) -> None:
    at = 0
    for first, last in typed(text):
        assert at <= first < last <= len(text)
        assert text[first:last].strip()
        at = last
