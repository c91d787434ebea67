"""What golangci-lint prints."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = (".go:", " issues", "level=error")


class _Run(Run):
    tool = "golangci-lint"
    kind = "lint"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.problems = 0
        self.found: int | None = None
        self.has_failed = False

    def problem(self, at: int, found: re.Match[str]) -> None:
        self.problems += 1
        self.fail(at, found["path"])
        self.blame(at)

    def crashed(self, at: int, _: re.Match[str]) -> None:
        self.has_failed = True
        self.blame(at)

    def count(self, at: int, found: re.Match[str]) -> Turn:
        self.found = int(found[1])
        self.summary = found[0].rstrip(".:")
        self.see(at)
        return Turn.LAST

    def report(self) -> Report | None:
        count = self.problems if self.found is None else self.found
        self.summary = self.summary or f"{count} issue{'s' * (count != 1)}"
        return self.told(not (count or self.has_failed), errors=count)

    rules = (
        (re.compile(r"(?P<path>\S+\.go):\d+(?::\d+)?: .{1,400} \([\w-]+\)$"), problem),
        (re.compile(r"level=error msg="), crashed),
        (re.compile(r"(\d+) issues(?:\.|:)$"), count),
    )


def read(page: Page) -> Iterable[Report]:
    """The runs of golangci-lint."""
    return runs_of(page, _Run)
