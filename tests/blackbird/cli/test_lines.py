"""Texts for people: broken between words where a terminal says how wide it is."""

import os
import sys

import pytest

from blackbird.cli.memory import lines

WORDS = " ".join(["harbour"] * 20)


@pytest.mark.parametrize(("columns", "longest"), [(0, 71), (5, 71), (80, 71), (40, 31), (20, 15)])
def test_a_terminal_that_does_not_know_its_width_is_taken_for_a_usual_one(
    monkeypatch: pytest.MonkeyPatch, columns: int, longest: int
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "fileno", lambda: 1)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((columns, 24)))
    made = ["".join(text for text, _ in line) for line in lines.block(WORDS)]
    assert max(len(line.removeprefix(lines.INDENT)) for line in made) == longest
