"""What Pyright and basedpyright print."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = (" - error: ", " informations", " information", " notes")


class _Run(Run):
    tool = "pyright"
    kind = "lint"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.errors = 0
        self.found: int | None = None

    def error(self, at: int, found: re.Match[str]) -> None:
        self.errors += 1
        self.fail(at, found["path"])
        self.blame(at)

    def finish(self, at: int, found: re.Match[str]) -> Turn:
        self.found = int(found[1])
        self.summary = found[0]
        self.see(at)
        return Turn.LAST

    def report(self) -> Report | None:
        count = self.errors if self.found is None else self.found
        self.summary = self.summary or f"{count} error{'s' * (count != 1)}"
        return self.told(not count, errors=count)

    rules = (
        (re.compile(r"\s+(?P<path>\S+\.pyi?):\d+:\d+ - error: "), error),
        (re.compile(r"(\d+) errors?, \d+ warnings?, \d+ (?:informations?|notes?) *$"), finish),
    )


def read(page: Page) -> Iterable[Report]:
    """The runs of Pyright."""
    return runs_of(page, _Run)
