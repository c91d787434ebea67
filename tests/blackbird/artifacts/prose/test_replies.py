"""What a short answer settles about the agent's last question."""

import pytest

from blackbird.artifacts.prose.replies import Reply, settles

OPTIONS = "Two ways:\n\n1. **Client** - retry there\n2. **Queue** - retry here\n\nWhich do you prefer?"


def test_a_yes_takes_the_question_with_it() -> None:
    assert settles("yes", "Should I drop the table?") == Reply("Yes: Should I drop the table?")


def test_a_question_that_points_back_brings_what_it_points_to() -> None:
    assert settles("yup", "**Fix:** close the file. Should I do that?") == Reply(
        "Yes: Fix: close the file. Should I do that?"
    )


def test_a_yes_with_a_condition_keeps_its_words() -> None:
    assert settles("sounds good, but keep the flag", "Shall I remove it all?") == Reply(
        "sounds good, but keep the flag (asked: Shall I remove it all?)"
    )


def test_an_option_is_a_choice_that_leaves_the_others() -> None:
    assert settles("2", OPTIONS) == Reply("Chosen: Queue", "Queue", ("Client",), is_answer=True)
    assert settles("let's try the first one", OPTIONS) == Reply(
        "Chosen: Client", "Client", ("Queue",), is_answer=True
    )


def test_several_options_are_one_choice() -> None:
    assert settles("2 and 1", OPTIONS) == Reply("Chosen: Client; Queue", "Client; Queue", (), is_answer=True)


def test_a_no_is_an_answer_too() -> None:
    assert settles("no, keep both", "Should I merge them?") == Reply(
        "no, keep both (asked: Should I merge them?)", is_answer=True
    )


def test_an_order_may_take_up_the_verb() -> None:
    assert settles("Delete them.", "Want me to delete those files, or keep them?") == Reply(
        "Delete them. (asked: Want me to delete those files, or keep them?)"
    )


@pytest.mark.parametrize(
    ("answer", "before"),
    [
        ("yes", ""),
        ("yes", "All tests pass."),
        ("yes", "Shall I continue?"),
        ("7", OPTIONS),
        ("fix 2", OPTIONS),
        ("", "Should I drop it?"),
        ("what does it do?", "Should I drop it?"),
    ],
)
def test_what_settles_nothing(answer: str, before: str) -> None:
    assert settles(answer, before) is None
