"""What ruff prints when it checks and when it formats, and flake8, whose lines are the same."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = ("All checks passed!", "Found ", ".py:", ".pyi:", "reformatted", "formatted", "Failed to ", "--> ")


class _Check(Run):
    tool = "ruff"
    kind = "lint"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.problems = 0
        self.found: int | None = None

    def problem(self, at: int, found: re.Match[str]) -> None:
        self.problems += 1
        self.fail(at, found["path"])
        self.blame(at)

    def headed(self, at: int, _: re.Match[str]) -> None:
        place = re.match(r" +--> (\S+?):\d+:\d+$", self.text_at(at + 1))
        if place is not None:
            self.problems += 1
            self.fail(at, place[1])
            self.blame(at, at + 1)

    def count(self, at: int, found: re.Match[str]) -> Turn | None:
        if not self.problems and "(" not in found[0] and "ruff" not in self.page.words:
            return None  # anybody may have found errors
        self.found = int(found["left"] or found["all"])
        self.summary = found[0]
        self.see(at)
        return Turn.LAST

    def clean(self, at: int, found: re.Match[str]) -> Turn:
        self.found = 0
        self.summary = found[0]
        self.see(at)
        return Turn.LAST

    def report(self) -> Report | None:
        count = self.problems if self.found is None else self.found
        self.summary = self.summary or f"{count} problem{'s' * (count != 1)}"
        is_flake8 = "flake8" in self.page.words
        return self.told(not count, errors=count, tool="flake8" if is_flake8 else None)

    rules = (
        (
            re.compile(r"(?P<path>\S+\.(?:pyi?|ipynb)):\d+:\d+: (?:[A-Z]{1,7}\d{2,4}|invalid-syntax:|SyntaxError:) "),
            problem,
        ),
        (re.compile(r"(?:[A-Z]{1,7}\d{2,4} |invalid-syntax: )"), headed),
        (re.compile(r"Found (?P<all>\d+) errors?(?: \(\d+ fixed, (?P<left>\d+) remaining\))?\.$"), count),
        (re.compile(r"All checks passed!$"), clean),
    )


class _Format(Run):
    tool = "ruff-format"
    kind = "format"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.has_failed = False

    def unformatted(self, at: int, found: re.Match[str]) -> None:
        self.fail(at, found["path"])
        self.blame(at)

    def headed(self, at: int, _: re.Match[str]) -> None:
        place = re.match(r" +--> (\S+?):\d+:\d+$", self.text_at(at + 1))
        if place is not None:
            self.fail(at, place[1])
            self.blame(at, at + 1)

    def broken(self, at: int, found: re.Match[str]) -> None:
        self.has_failed = True
        self.fail(at, found["path"])
        self.blame(at)

    def finish(self, at: int, found: re.Match[str]) -> Turn:
        self.summary = found[0]
        self.has_failed = self.has_failed or "would be" in found[0]
        self.see(at)
        return Turn.LAST

    def report(self) -> Report | None:
        return self.told(not (self.has_failed or self.failures), failed=len(self.failures))

    rules = (
        (re.compile(r"Would reformat: (?P<path>\S.*)$"), unformatted),
        (re.compile(r"unformatted: File would be reformatted"), headed),
        (re.compile(r"error: Failed to (?:parse|format) (?P<path>[^\s:]+):"), broken),
        (
            re.compile(
                r"\d+ files? (?:already formatted|left unchanged|reformatted|would be reformatted)"
                r"(?:, \d+ files? (?:already formatted|left unchanged))?$"
            ),
            finish,
        ),
    )


def read(page: Page) -> Iterable[Report]:
    """The runs of ruff."""
    return (*runs_of(page, _Check), *runs_of(page, _Format))
