"""What Mocha prints in its usual form."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = (" passing (", " failing", "No test files found")


class _Run(Run):
    tool = "mocha"
    kind = "test"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.counts: dict[str, int] = {}
        self.is_refused = False

    def count(self, at: int, found: re.Match[str]) -> Turn | None:
        if found[2] in self.counts:
            return Turn.NEXT
        self.counts[found[2]] = int(found[1])
        self.summary += f"{', ' if self.summary else ''}{found[1]} {found[2]}"
        self.see(at)
        return None

    def failing(self, at: int, found: re.Match[str]) -> None:
        if not self.counts.get("failing"):
            return  # the mark of a test while it runs; its title comes below the counts
        last = self._title(at)
        titles = [found["title"], *(self.text_at(line).strip() for line in range(at + 1, last + 1))]
        self.fail(at, " ".join(titles).removesuffix(":"))
        near = self.next_said(last)
        if near is not None:
            self.blame(near)

    def _title(self, at: int) -> int:
        """The last line of a failure's title: the one that ends with a colon."""
        near = range(at, at + 8)
        return next((line for line in near if self.text_at(line).rstrip().endswith(":")), at)

    def refused(self, at: int, _: re.Match[str]) -> None:
        self.is_refused = True
        self.blame(at)

    def report(self) -> Report | None:
        if self.is_refused:
            return self.told(False)
        passed, failed = self.counts.get("passing", 0), self.counts.get("failing", 0)
        ok = False if failed else True if passed else None
        return self.told(ok, passed=passed, failed=failed, skipped=self.counts.get("pending", 0))

    rules = (
        (re.compile(r"  (\d+) (passing) \(\d+\w+\)$"), count),
        (re.compile(r"  (\d+) (pending|failing)$"), count),
        (re.compile(r"  \d+\) (?P<title>\S.*)$"), failing),
        (re.compile(r"Error: No test files found"), refused),
    )


def read(page: Page) -> Iterable[Report]:
    """The runs of Mocha."""
    return runs_of(page, _Run)
