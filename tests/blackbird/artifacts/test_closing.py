"""An open thread is done when a later task that plainly was about it went well, and says so."""

import pytest

from blackbird.artifacts.build import Builder
from blackbird.artifacts.model import OpenThread, ThreadState
from tests.blackbird.artifacts.stories import Story

PASSED = "..\n2 passed in 0.02s\n"
FAILED = "1 failed, 1 passed in 0.03s\n"


def thread(left: str, asked: str, output: str = PASSED, *, is_same_run: bool = False) -> OpenThread:
    story = Story()
    story.run("run_1", "one", "Add a calculator")
    story.agent(f"TODO: {left}")
    if not is_same_run:
        story.end()
        story.run("run_2", "two", asked)
    story.shell("pytest -q", output, int(output is FAILED))
    story.end()
    artifacts = Builder().artifacts(story.timeline())
    story.check(artifacts)
    (found,) = (one.content for one in artifacts if isinstance(one.content, OpenThread))
    return found


def test_a_later_task_with_its_words_closes_it() -> None:
    found = thread("Add a test for negative numbers.", "Extend test_calc.py to cover negative numbers.")
    assert (found.state, found.closed_by) == (
        ThreadState.DONE,
        "the task two: Extend test_calc.py to cover negative numbers.",
    )


@pytest.mark.parametrize(
    ("left", "asked"),
    [
        ("Add a test for negative numbers.", "Fix how negative numbers are printed."),
        ("Write the docs.", "Write the docs."),
        ("Add a test for negative numbers and for huge fractions.", "Test negative numbers."),
    ],
)
def test_what_only_sounds_alike_stays_open(left: str, asked: str) -> None:
    assert thread(left, asked).state is ThreadState.OPEN


def test_a_task_that_failed_or_is_the_same_closes_nothing() -> None:
    left = "Add a test for negative numbers."
    assert thread(left, left, FAILED).state is ThreadState.OPEN
    assert thread(left, left, is_same_run=True).state is ThreadState.OPEN
