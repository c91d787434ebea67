"""What tools really printed, and what is read in it: `expected.toml` is the test."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.blackbird.artifacts.outputs.told import SAMPLES, Told, sample, told

EXPECTED: dict[str, list[dict[str, Any]]] = tomllib.loads(
    (Path(__file__).parent / "expected.toml").read_text(encoding="utf-8")
)
#: Diffs and diffstats, which are no runs.
SILENT = {
    "diff-combined",
    "diff-git",
    "diffstat",
    "git-porcelain",
    "git-porcelain2",
    "git-short",
    "numstat",
    "shortstat",
}
NAMES = sorted(path.stem for path in SAMPLES.glob("*.txt"))


def expected(name: str) -> list[Told]:
    return [
        Told(
            entry["tool"],
            entry["kind"],
            entry.get("ok"),
            entry.get("summary", ""),
            passed=entry.get("passed"),
            failed=entry.get("failed"),
            skipped=entry.get("skipped"),
            errors=entry.get("errors"),
            names=tuple(entry.get("names", ())),
            first_error=entry.get("first_error"),
        )
        for entry in EXPECTED.get(name, ())
    ]


def command_of(name: str) -> str | None:
    return next((entry["command"] for entry in EXPECTED.get(name, ()) if "command" in entry), None)


def test_every_sample_has_an_entry() -> None:
    assert {*EXPECTED, *SILENT} == set(NAMES)


@pytest.mark.requirement("EXTRACT-03")
@pytest.mark.parametrize("name", NAMES)
def test_what_a_tool_printed(name: str) -> None:
    assert told(sample(name), command_of(name)) == expected(name)


@pytest.mark.requirement("EXTRACT-03")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["crlf", "coloured", "in the middle"])
def test_the_same_in_another_form(name: str, form: str) -> None:
    text = sample(name)
    changed = {
        "crlf": text.replace("\n", "\r\n"),
        "coloured": "".join(f"\x1b[1m\x1b[31m{line}\x1b[0m\n" for line in text.split("\n")),
        "in the middle": f"$ cd shop\nhello\n\n{text}\nbye\n",
    }[form]
    outcomes = [(one.tool, one.kind, one.passed, one.failed, one.skipped, one.errors) for one in expected(name)]
    found = told(changed, command_of(name))
    assert [(one.tool, one.kind, one.passed, one.failed, one.skipped, one.errors) for one in found] == outcomes
    if form != "in the middle":  # a death that is not the last thing in a text may have been survived
        assert [one.ok for one in found] == [one.ok for one in expected(name)]


#: Its only sign of failure stands above its last line.
WITHOUT_LAST_WORD = {"pytest-cov-under"}


@pytest.mark.parametrize("name", sorted(EXPECTED.keys() - WITHOUT_LAST_WORD))
def test_no_rest_of_a_failure_is_a_success(name: str) -> None:
    """Agents keep the last lines of an output; what they keep may say less, but nothing else."""
    failed = {one.tool for one in expected(name) if one.ok is False}
    lines = sample(name).split("\n")
    for at in range(0, len(lines), 3):
        rest = told("\n".join(lines[at:]), command_of(name))
        assert [one.tool for one in rest if one.ok and one.tool in failed] == []


@pytest.mark.parametrize("name", [name for name in NAMES if sample(name).count("\n") > 3])
@pytest.mark.parametrize("prefix", ["{:6}\t", "{:>5}→", "2026-01-02T03:04:05.{:07}Z "])
def test_the_same_behind_line_numbers(name: str, prefix: str) -> None:
    lines = sample(name).split("\n")
    numbered = "\n".join(prefix.format(number) + line for number, line in enumerate(lines, 1))
    outcomes = [(one.tool, one.passed, one.failed, one.errors) for one in expected(name)]
    found = told(numbered, command_of(name))
    assert [(one.tool, one.passed, one.failed, one.errors) for one in found] == outcomes
