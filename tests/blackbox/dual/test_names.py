"""Names of files, made from the time and the task."""

import datetime as dt

import pytest

from blackbox.dual import names
from blackbox.errors import UsageError

WHEN = dt.datetime(2025, 12, 22, 12, 34, 56, tzinfo=dt.UTC)


@pytest.mark.requirement("DUAL-04")
def test_time_and_task_make_the_name() -> None:
    assert names.day(WHEN) == "20251222"
    assert names.stem(WHEN, "Task name") == "123456-task-name"
    assert names.stem(WHEN, "Task name", 2) == "123456-task-name-2"
    assert names.session_id(WHEN, "123456-task-name-2") == "20251222-123456-task-name-2"


@pytest.mark.parametrize(
    ("task", "slug"),
    [
        ("Fix the login bug!", "fix-the-login-bug"),
        ("It's café → 5 things", "its-cafe-5-things"),
        ("../../etc/passwd", "etc-passwd"),
        ("word " * 30, "word-word-word-word-word-word-word-word"),
        ("x" * 100, "x" * 40),
        ("Привет", "session"),
        ("", "session"),
    ],
)
def test_a_task_as_part_of_a_name(task: str, slug: str) -> None:
    assert names.slug(task) == slug


@pytest.mark.parametrize("given", ["", "a/b", "..", "a b", "x" * 65])
def test_ids_that_no_file_can_have_are_refused(given: str) -> None:
    with pytest.raises(UsageError, match="cannot be part of a file's name") as refused:
        names.check_id(given)
    assert refused.value.remedy == "use letters, digits, `_` and `-`"
