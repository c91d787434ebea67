"""What Jest prints."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = ("Test Suites:", "Tests: ", "● ", "No tests found", "FAIL ", "PASS ")

_COUNTED = re.compile(r"(\d+) (\w+)")


class _Run(Run):
    tool = "jest"
    kind = "test"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.suites: dict[str, int] = {}
        self.tests: dict[str, int] = {}
        self.is_refused = False

    def suite(self, at: int, found: re.Match[str]) -> Turn | None:
        if self.tests:
            return Turn.NEXT
        self.see(at)
        if found["result"] == "FAIL" and not self.summary:
            self.summary = found[0]
        return None

    def failing(self, at: int, found: re.Match[str]) -> None:
        if self.lines is None or found["name"] in self.failures:
            return  # a bullet of somebody else, or the same failure told again below
        self.fail(at, found["name"])
        near = self.next_said(at)
        self.blame(at, near)

    def refused(self, at: int, _: re.Match[str]) -> None:
        self.is_refused = True
        self.blame(at)

    def count_suites(self, at: int, found: re.Match[str]) -> None:
        self.suites = _counts(found[1])
        self.see(at)

    def finish(self, at: int, found: re.Match[str]) -> None:
        self.tests = _counts(found[1])
        self.summary = found[1]
        self.see(at)

    def last(self, at: int, _: re.Match[str]) -> Turn | None:
        if not self.tests:
            return None
        self.see(at)
        return Turn.LAST

    def report(self) -> Report | None:
        failed = self.tests.get("failed", 0)
        is_bad = self.is_refused or bool(failed or self.suites.get("failed") or self.failures)
        if not self.tests:
            return self.told(False) if is_bad or self.summary else None
        passed = self.tests.get("passed", 0)
        skipped = self.tests.get("skipped", 0) + self.tests.get("todo", 0)
        return self.told(False if is_bad else True if passed else None, passed=passed, failed=failed, skipped=skipped)

    rules = (
        (re.compile(r" ?(?P<result>PASS|FAIL) {1,2}(?:[^\s>]+ )?[^\s>]+\.[cm]?[jt]sx?(?: \([\d.]+ m?s\))?$"), suite),
        (re.compile(r"  ● (?P<name>.+?)\s*$"), failing),
        (re.compile(r"Test Suites: +(\d+ .*total)$"), count_suites),
        (re.compile(r"Tests: +(\d+ .*total)$"), finish),
        (re.compile(r"No tests found, exiting with code 1$|Jest: .* not met"), refused),
        (re.compile(r"Ran all test suites"), last),
    )


def _counts(words: str) -> dict[str, int]:
    return {word: int(number) for number, word in _COUNTED.findall(words)}


def read(page: Page) -> Iterable[Report]:
    """The runs of Jest."""
    return runs_of(page, _Run)
