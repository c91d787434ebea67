"""Explicit subjects and choices, and the normal form by which they are recognised again."""

import pytest

from blackbird.artifacts.prose.subjects import Slots, key, normal, slots


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("the Session Caches", "session cache"),
        ("our `MAX_RETRIES`", "max_retries"),
        ("dependencies", "dependency"),
        ("the status", "status"),
        ("CSS classes", "css classe"),
        ("src/billing.py", "src/billing.py"),
        ("", ""),
    ],
)
def test_keys(name: str, expected: str) -> None:
    assert key(name) == expected


def test_two_statements_that_differ_in_manners_have_one_normal_form() -> None:
    assert (
        normal("Please use tabs for the Makefiles.")
        == normal("ok, let's use tabs for Makefile")
        == "use tab for makefile"
    )
    assert normal("Don't use tabs.") != normal("Use tabs.")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Use Redis for the session cache.", Slots("session cache", "Redis")),
        ("Use httpx instead of requests.", Slots(None, "httpx", ("requests",))),
        ("Switch from yarn to pnpm.", Slots(None, "pnpm", ("yarn",))),
        ("Change the store from SQLite to Postgres.", Slots("store", "Postgres", ("SQLite",))),
        ("Replace the cron job with a timer.", Slots(None, "a timer", ("the cron job",))),
        ("Set `MAX_RETRIES` to 5.", Slots("max_retries", "5")),
        ("Update the version everywhere to 1.25.6", Slots("version", "1.25.6")),
        ("The default port should be 7070.", Slots("default port", "7070")),
        ("Make dark mode the default.", Slots("default", "dark mode")),
        ("I prefer a table over a list.", Slots(None, "a table", ("a list",))),
        ("Instead of polling, subscribe.", Slots(None, None, ("polling",))),
        # Nothing is guessed.
        ("Use it for now.", Slots()),
        ("That should be fine.", Slots()),
        ("The only change in it is to a file.", Slots()),
        ("Make the list shorter.", Slots()),
    ],
)
def test_slots(sentence: str, expected: Slots) -> None:
    assert slots(sentence) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("never use floats for money", Slots("money", None, ("floats",))),
        ("The public API must not change.", Slots("public api")),
        ("We don't want a second file for this.", Slots(None, None, ("a second file",))),
        ("Never push.", Slots()),
    ],
)
def test_slots_of_a_refusal(sentence: str, expected: Slots) -> None:
    assert slots(sentence, is_refusal=True) == expected
