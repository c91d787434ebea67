"""The short way to read the arguments of `run` says what the long way says, or nothing."""

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.cli import app, commands
from blackbird.launch import orders, quick
from blackbird.launch.orders import Words

WORDS = [
    "--session",
    "--task",
    "--describe",
    "--goal",
    "--upstream",
    "--forward",
    "--reverse",
    "--dry-run",
    "--quiet",
    "--json",
    "--",
    "--session=s",
    "--no-such",
    "-q",
    "-x",
    "-",
    "",
    "s1",
    "claude",
    "a=http://h",
]


def the_long_way(arguments: list[str]) -> Words | None:
    """What typer makes of the arguments; nothing if it refuses them."""
    seen: list[Words] = []

    def note(words: Words) -> int:
        seen.append(words)
        return 0

    with mock.patch.object(orders, "perform", note):
        commands.build("run")(["run", *arguments], standalone_mode=False)
    return seen[0] if seen else None


@given(st.lists(st.sampled_from(WORDS), max_size=6))
def test_it_agrees_with_the_long_way_or_declines(arguments: list[str]) -> None:
    short = quick.read(arguments)
    if short is not None:
        assert short == the_long_way(arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--", "claude"], Words(["claude"])),
        (["claude", "-p", "--quiet"], Words(["claude", "-p", "--quiet"])),
        (["--", "--quiet"], Words(["--quiet"])),
        (
            ["--session", "s", "--upstream", "a=b", "--upstream", "c=d", "--json", "--", "x", "--", "y"],
            Words(["x", "--", "y"], session="s", upstream=["a=b", "c=d"], as_json=True),
        ),
    ],
)
def test_plain_words_are_read(arguments: list[str], words: Words) -> None:
    assert quick.read(arguments) == words


@pytest.mark.parametrize("arguments", [[], ["--"], ["--help"], ["--session"], ["--session=s", "x"], ["-x", "x"]])
def test_the_rest_is_left_to_the_long_way(arguments: list[str]) -> None:
    assert quick.read(arguments) is None


def test_the_short_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["blackbird", "run", "--quiet", "--", "claude"])
    monkeypatch.setattr(orders, "perform", lambda words: 7 if words == Words(["claude"], quiet=True) else 0)
    monkeypatch.setattr(commands, "main", lambda: pytest.fail("the long way"))
    with pytest.raises(SystemExit) as left:
        app.main()
    assert left.value.code == 7
