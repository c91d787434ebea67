"""Ids of sessions and tasks."""

import re

import pytest

from blackbird.harness import naming
from blackbird.recorder import names
from blackbox.errors import UsageError


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Mend the crane", "mend-the-crane"),
        ("  Öl für die Winde!  ", "ol-fur-die-winde"),
        ("add `parse()` to src/lamp.py", "add-parse-to-src-lamp-py"),
        ("クレーンを直す", "task-cb3356e4"),
        ("…", "task-b4935894"),
        (
            "Write down each and every rule that the code of the lamps must keep",
            "write-down-each-and-every-rule-that-the",
        ),
        ("x" * 99, "x" * 40),
    ],
)
def test_an_id_is_made_of_the_title(title: str, expected: str) -> None:
    found = naming.slug(title)
    assert names.is_name(found)
    assert found == naming.slug(title) == expected


def test_an_id_that_is_taken_gets_a_number() -> None:
    assert naming.free("Mend it", {"mend-it", "mend-it-2"}) == "mend-it-3"


def test_sessions_get_ids_that_nobody_has() -> None:
    first, second = naming.new_session(), naming.new_session()
    assert first != second
    assert re.fullmatch(r"sess_[0-9A-HJKMNP-TV-Z]{26}", first)


@pytest.mark.parametrize("text", ["", "a b", "..", "x" * 65, "naïve"])
def test_a_word_that_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no id"):
        naming.checked("session", text)


def test_a_title_is_a_line_and_not_an_empty_one() -> None:
    assert naming.line(" Mend\n the  crane ") == "Mend the crane"
    with pytest.raises(UsageError):
        naming.line(" \n ")


def test_an_id_keeps_no_secret_of_the_title() -> None:
    assert naming.slug("Set DB_PASSWORD=harbour9021xq in staging") == "set-db-password-redacted-env-var-in"
