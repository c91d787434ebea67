"""Who changes their mind, in whatever words, leaves one decision that holds: the last."""

import pytest

from blackbird.artifacts.build import Builder
from blackbird.artifacts.model import Constraint, Decision
from tests.blackbird.artifacts.stories import Story

CENTS, DECIMAL = "Use integer cents for amounts.", "Use decimal.Decimal for amounts instead of integer cents."


def holding(*said: str) -> list[tuple[str | None, str | None]]:
    """What is decided about what when all was said, each in a task of its own."""
    story = Story()
    for number, words in enumerate(said):
        story.run(f"run_{number}", f"t{number}")
        story.user(words)
        story.end()
    found = Builder().artifacts(story.timeline())
    story.check(found)
    rulings = [one.content for one in found if isinstance(one.content, Decision | Constraint)]
    return [(one.subject, one.choice) for one in rulings if one.is_active]


@pytest.mark.parametrize(
    "words",
    [
        "No, do not use decimal.Decimal after all; go back to integer cents.",
        "Don't use decimal.Decimal any more, switch back to integer cents.",
        "Go back to integer cents, and don't use decimal.Decimal.",
        "Let's revert to integer cents.",
        "Please go back to cents.",
        "We should return to integer cents because Decimal is slow.",
        "Use integer cents after all.",
        "Use integer cents again instead of decimal.Decimal.",
        "Switch from decimal.Decimal back to integer cents.",
    ],
)
def test_a_way_back_is_a_decision_for_what_was_left(words: str) -> None:
    ((subject, choice),) = holding(CENTS, DECIMAL, words)
    assert (subject, choice) in {("amount", "integer cents"), ("amount", "cents")}


@pytest.mark.parametrize(
    "words", ["Do not use decimal.Decimal after all.", "Never use Decimal.", "Avoid using Decimal."]
)
def test_a_prohibition_ends_the_decision_and_stands_alone(words: str) -> None:
    ((subject, choice),) = holding(CENTS, DECIMAL, words)
    assert subject is None
    assert choice in {"decimal.Decimal", "Decimal"}


def test_what_is_not_wanted_is_decided_no_longer() -> None:
    assert holding(CENTS, DECIMAL, "Let's not use decimal.Decimal.") == [("amount", None)]


@pytest.mark.parametrize("flips", range(1, 7))
def test_after_any_number_of_flips_the_last_holds(flips: int) -> None:
    back = ("No, do not use decimal.Decimal; go back to integer cents.", "Actually, use decimal.Decimal after all.")
    said = [back[number % 2] for number in range(flips)]
    last = ("integer cents", "decimal.Decimal")[(flips - 1) % 2]
    assert holding(CENTS, DECIMAL, *said) == [("amount", last)]


def test_a_ban_that_was_lifted_does_not_stand_beside_the_decision() -> None:
    said = [
        "Do not use decimal.Decimal.",
        "Go back to integer cents.",
        "OK, use decimal.Decimal for amounts after all.",
    ]
    assert holding(CENTS, DECIMAL, *said) == [("amount", "decimal.Decimal")]


def test_the_same_choice_for_something_else_is_left_alone() -> None:
    said = holding("Use JSON for the config.", "Use JSON for the cache.", "Do not use JSON for the cache.")
    assert said == [("config", "JSON"), ("cache", "JSON")]
