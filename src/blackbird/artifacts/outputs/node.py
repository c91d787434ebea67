"""What `node --test` prints, as a tree or as TAP, and other programs that speak TAP."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = ("TAP version ", "not ok ", "# pass ", "ℹ pass ", "✖ ")


class _Run(Run):
    tool = "node-test"
    kind = "test"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.counts: dict[str, int] = {}
        self.is_tap = False
        self.passed = 0
        self.depth = 0

    def begin(self, at: int, _: re.Match[str]) -> Turn | None:
        if self.is_tap or self.counts:
            return Turn.NEXT
        self.is_tap = True
        self.see(at)
        return None

    def passing(self, at: int, _: re.Match[str]) -> None:
        if self.is_tap:
            self.see(at)
            self.passed += 1

    def failing(self, at: int, found: re.Match[str]) -> None:
        """A suite fails after its tests, further to the left; it is told by them."""
        depth = len(found[0]) - len(found[0].lstrip())
        is_suite, self.depth = depth < self.depth, depth
        if not is_suite:
            self.fail(at, found["name"])

    def error(self, at: int, found: re.Match[str]) -> None:
        if self.failures and "subtest failed" not in found[0]:
            near = self.next_said(at, 2) if found[0].rstrip().endswith(("|-", "|")) else None
            self.blame(at, near)

    def count(self, at: int, found: re.Match[str]) -> Turn | None:
        if found[1] in self.counts:
            return Turn.NEXT
        self.counts[found[1]] = int(found[2])
        self.see(at)
        return None

    def report(self) -> Report | None:
        if "pass" not in self.counts or "fail" not in self.counts:
            return self._plain_tap()
        passed, failed = self.counts["pass"], self.counts["fail"] + self.counts.get("cancelled", 0)
        skipped = self.counts.get("skipped", 0) + self.counts.get("todo", 0)
        self.summary = f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")
        ok = False if failed else True if passed else None
        return self.told(ok, passed=passed, failed=failed, skipped=skipped)

    def _plain_tap(self) -> Report | None:
        """Of another program: without its counts, and perhaps without its end."""
        if not self.is_tap:
            return None
        self.summary = f"{self.passed} ok, {len(self.failures)} not ok"
        return self.told(False if self.failures else None, tool="tap")

    rules = (
        (re.compile(r"TAP version \d+$"), begin),
        (re.compile(r"(?:    )*not ok \d+(?: -)? (?P<name>[^#]+)"), failing),
        (re.compile(r"(?:    )*ok \d+(?: -)? "), passing),
        (re.compile(r"(?:  )*✖ (?P<name>(?!failing tests:).+) \([\d.]+ms\)"), failing),
        (re.compile(r"\s+(?:error: .*|(?:[A-Z]\w*)?Error(?: \[\w+\])?: .*)"), error),
        (re.compile(r"(?:#|ℹ) (tests|suites|pass|fail|cancelled|skipped|todo) (\d+)$"), count),
    )


def read(page: Page) -> Iterable[Report]:
    """The runs of node's own tests."""
    return runs_of(page, _Run)
