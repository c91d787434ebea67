"""The short way to read the words of `mem search` says what the long way says, or nothing; and tells the same."""

import os
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.artifacts.model import Type
from blackbird.cli import commands
from blackbird.cli.memory import questions, quick
from blackbird.cli.memory.questions import Search, Told
from blackbird.errors import NotFound

WORDS = [
    "--session",
    "--task",
    "--everywhere",
    "--explain",
    "--json",
    "--type",
    "-k",
    "--",
    "--session=s",
    "--no-such",
    "-k3",
    "-x",
    "-",
    "",
    "decision",
    "transcript",
    "0",
    "3",
    "100",
    "101",
    "٣",
    "crane",
]


def the_long_way(arguments: list[str]) -> Search | None:
    """What typer makes of the arguments; nothing if it refuses them."""
    seen: list[Search] = []

    def note(asked: Search) -> Told:
        seen.append(asked)
        return Told("")

    with mock.patch.object(questions, "search", note):
        commands.build("mem")(["mem", "search", *arguments], standalone_mode=False)
    return seen[0] if seen else None


@given(st.lists(st.sampled_from(WORDS), max_size=6))
def test_it_agrees_with_the_long_way_or_declines(arguments: list[str]) -> None:
    short = quick.read(arguments)
    if short is not None:
        assert short == the_long_way(arguments)


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (["the crane"], Search(text="the crane")),
        (["the", "crane", "--json"], Search(text="the crane", as_json=True)),
        (["crane", "--session", "s1", "--task", "t1"], Search(text="crane", session="s1", task="t1")),
        (
            ["-k", "3", "crane", "--type", "decision", "--type", "fact", "--everywhere", "--explain"],
            Search(text="crane", k=3, types=(Type.DECISION, Type.FACT), everywhere=True, explain=True),
        ),
    ],
)
def test_what_is_plain_is_read(arguments: list[str], asked: Search) -> None:
    assert quick.read(arguments) == asked == the_long_way(arguments)


@pytest.mark.parametrize(
    "arguments",
    [[], ["--help"], ["crane", "-k", "0"], ["crane", "--type", "boat"], ["crane", "--session"], ["--", "-x"]],
)
def test_what_is_not_plain_is_left_to_the_long_way(arguments: list[str]) -> None:
    assert quick.read(arguments) is None
    assert quick.answer(arguments) is None


def test_errors_are_left_to_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(asked: Search) -> Told:
        raise NotFound(asked.text, "")

    monkeypatch.setattr(questions, "search", refuse)
    assert quick.answer(["crane"]) is None


def test_a_reader_that_has_seen_enough_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "search", lambda _: Told("a card\n" * 100_000))
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone, mock.patch("sys.stdout", gone):
        assert quick.answer(["crane"]) == 0
