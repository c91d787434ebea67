"""What is said of a CA, by its condition and the time."""

import datetime as dt
from pathlib import Path

import pytest

from blackbird.authority.ca import Authority, Condition
from blackbird.authority.problems import Level, Problem, problems
from tests.blackbird.authority.issued import BEGIN, END

KEY = Path("/home/someone/ca/ca.key")
SOUND = Authority(Path("/home/someone/ca/ca.pem"), ["api.anthropic.com"], BEGIN, END, "ab" * 32)
DAY = dt.timedelta(days=1)


def found(condition: Condition, now: dt.datetime = BEGIN + DAY) -> list[tuple[str, Level]]:
    return [(each.id, each.weight) for each in problems(condition, KEY, now)]


def test_a_sound_one_is_said_to_be_sound() -> None:
    assert problems(Condition(SOUND, None, 0o600, key_fits=True), KEY, BEGIN + DAY) == [
        Problem("ca", Level.OK, "the private CA is valid until 2028-11-14 and speaks for 1 host alone")
    ]


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        (Condition(), [("ca-missing", Level.NOTE)]),
        (Condition(damage="it is no certificate"), [("ca-damaged", Level.ERROR)]),
        (Condition(SOUND), [("ca-key-missing", Level.ERROR)]),
        (Condition(SOUND, None, 0o640, key_fits=True), [("ca-key-open", Level.ERROR)]),
        (
            Condition(SOUND, None, 0o604, key_fits=False),
            [("ca-key-open", Level.ERROR), ("ca-foreign", Level.ERROR)],
        ),
    ],
)
def test_what_is_wrong_with_its_files(condition: Condition, ids: list[tuple[str, Level]]) -> None:
    assert found(condition) == ids
    assert all(each.remedy for each in problems(condition, KEY, BEGIN + DAY) if each.weight is Level.ERROR)


@pytest.mark.parametrize(
    ("now", "ids"),
    [
        (BEGIN - DAY, [("ca-early", Level.ERROR)]),
        (BEGIN, [("ca", Level.OK)]),
        (END - 30 * DAY, [("ca", Level.OK)]),
        (END - 29 * DAY, [("ca-soon", Level.NOTE)]),
        (END, [("ca-expired", Level.WARNING)]),
    ],
)
def test_what_time_does_to_it(now: dt.datetime, ids: list[tuple[str, Level]]) -> None:
    assert found(Condition(SOUND, None, 0o600, key_fits=True), now) == ids
