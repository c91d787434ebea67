"""A user's plain word on how it went."""

import pytest

from blackbird.artifacts import verdicts


@pytest.mark.parametrize(
    ("text", "word", "is_good"),
    [
        ("Perfect, thanks!", "Perfect", True),
        ("ok it works now", "it works now", True),
        ("LGTM", "LGTM", True),
        ("It still fails with the same error", "same error", False),
        ("that didn't work", "that didn't work", False),
        ("No, this is wrong.", "this is wrong", False),
    ],
)
def test_plain_words(text: str, word: str, *, is_good: bool) -> None:
    found = verdicts.read(text)
    assert found is not None
    assert (text[found.first : found.last], found.is_good) == (word, is_good)


@pytest.mark.parametrize(
    "text",
    [
        "Mend the lamp.",
        "If it works, commit it.",
        "Does that work?",
        "It should work now",
        "Make sure everything works",
        "Perfect would be a green lamp, but not now",
        "x" * 400 + " perfect",
    ],
)
def test_no_word(text: str) -> None:
    assert verdicts.read(text) is None
