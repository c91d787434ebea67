"""Plans in Markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.harness import drafts, markdown
from blackbird.harness.drafts import Draft, Written
from blackbox.errors import UsageError

PLAN = """\
# Harbour

What it is about.

## Phase one

Look first.

- [x] survey the crane
- [ ] **order parts** {#parts}
  Only steel.

  And only new.
    - bolts
    - nuts
- [-] paint

That is all of it.

* more

## Phase two ##
1. assemble
2) test
   ```
   - no task
   ```
"""


def shape(written: Written) -> list[object]:
    """Titles, and below each its parts."""

    def of(draft: Draft | str) -> object:
        assert isinstance(draft, Draft)
        return {draft.title: [of(part) for part in draft.tasks]} if draft.tasks else draft.title

    return [of(draft) for draft in written.tasks]


def test_headings_and_lists_are_a_tree() -> None:
    written = markdown.read(PLAN)
    assert written.goal == "Harbour"
    assert shape(written) == [
        {"Phase one": ["survey the crane", {"order parts": ["bolts", "nuts"]}, "paint", "more"]},
        {"Phase two": ["assemble", "test"]},
    ]


def test_boxes_are_states_and_texts_descriptions() -> None:
    steps = {step.id: step for step in drafts.steps(markdown.read(PLAN).tasks, [])}
    assert {name: step.state for name, step in steps.items() if step.state} == {
        "survey-the-crane": "done",
        "paint": "dropped",
    }
    assert {name: step.description for name, step in steps.items() if step.description} == {
        "phase-one": "Look first.\n\nThat is all of it.",
        "parts": "Only steel.\n\nAnd only new.",
        "test": "```\n- no task\n```",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n- b\n", ["a", "b"]),
        ("- a\n\t- b\n- c", [{"a": ["b"]}, "c"]),
        ("# One\n# Two\n- a", ["One", {"Two": ["a"]}]),
        ("# One\n", ["One"]),
        ("# One\n### Deep\n## Less\n", ["Deep", "Less"]),
        ("Words before.\n\n- a\r\n- b\r\n", ["a", "b"]),
        ("- [ ] a\n  - [ ]\n", ["a"]),
        ("~~~\n- x\n~~~\n- a", ["a"]),
    ],
)
def test_lists_in_all_their_spellings(text: str, expected: list[object]) -> None:
    assert shape(markdown.read(text)) == expected


@pytest.mark.parametrize("text", ["", "Only words.\n", "```\n- a\n```\n", "-\n"])
def test_a_text_without_tasks_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no task"):
        markdown.read(text)


@given(st.text(alphabet="# -*1.)[]x{}a`~\t\n", max_size=80))
def test_any_text_is_a_plan_or_is_refused(text: str) -> None:
    try:
        written = markdown.read(text)
        found = drafts.steps(written.tasks, [])
    except UsageError:
        return
    assert len({step.id for step in found}) == len(found)


def test_blanks_cost_no_time_and_closing_signs_are_none_of_the_title() -> None:
    written = markdown.read("# Plan ##\n\n## a" + " " * 20_000 + "b {#b}  \n")
    (task,) = written.tasks
    assert isinstance(task, Draft)
    assert (task.title[:1], task.title[-1:], task.id, written.goal) == ("a", "b", "b", "Plan")
