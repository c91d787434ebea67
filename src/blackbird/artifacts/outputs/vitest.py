"""What Vitest prints."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = ("Test Files ", " RUN ", "⎯⎯", " FAIL ", "No test files found")

_COUNTED = re.compile(r"(\d+) (\w+)")


class _Run(Run):
    tool = "vitest"
    kind = "test"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.files: dict[str, int] = {}
        self.tests: dict[str, int] | None = None
        self.is_refused = False

    def begin(self, at: int, _: re.Match[str]) -> Turn | None:
        if self.lines is not None:
            return Turn.NEXT
        self.see(at)
        return None

    def failing(self, at: int, found: re.Match[str]) -> None:
        self.fail(at, found["name"])
        near = self.next_said(at, 2)
        if near is not None:
            self.blame(near)

    def refused(self, at: int, _: re.Match[str]) -> None:
        self.is_refused = True
        self.blame(at)

    def count_files(self, at: int, found: re.Match[str]) -> None:
        self.files = _counts(found[1])
        self.see(at)

    def finish(self, at: int, found: re.Match[str]) -> Turn | None:
        self.tests = _counts(found[1])
        self.summary = found[1]
        self.see(at)
        return Turn.LAST if self.files else None

    def report(self) -> Report | None:
        is_bad = self.is_refused or bool(self.failures or self.files.get("failed"))
        if self.tests is None:
            return self.told(False) if is_bad else None
        passed, failed = self.tests.get("passed", 0), self.tests.get("failed", 0)
        skipped = self.tests.get("skipped", 0) + self.tests.get("todo", 0)
        ok = False if is_bad or failed else True if passed else None
        return self.told(ok, passed=passed, failed=failed, skipped=skipped)

    rules = (
        (re.compile(r" ?(?:RUN|DEV)  ?v\d"), begin),
        (re.compile(r" ?FAIL  (?P<name>\S+\.[cm]?[jt]sx?(?: .*)?)$"), failing),
        (re.compile(r"(?:No test files found, exiting with code 1|⎯+ Unhandled (?:Errors?|Rejection) ⎯+)"), refused),
        (re.compile(r" *Test Files  (\d+ .*\(\d+\))"), count_files),
        (re.compile(r" *Tests  (\d+ .*\(\d+\)|no tests)"), finish),
    )


def _counts(words: str) -> dict[str, int]:
    return {word: int(number) for number, word in _COUNTED.findall(words)}


def read(page: Page) -> Iterable[Report]:
    """The runs of Vitest."""
    return runs_of(page, _Run)
