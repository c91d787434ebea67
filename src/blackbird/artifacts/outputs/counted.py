"""A checker that names each error in a line and counts them at the end."""

import re

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn


class Counted(Run):
    """One run of such a checker. What it counts itself goes before the lines that were seen."""

    kind = "lint"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.errors = 0
        self.found: int | None = None

    def error(self, at: int, found: re.Match[str]) -> None:
        """A line that names an error and its file."""
        self.errors += 1
        self.fail(at, found["path"])
        self.blame(at)

    def finish(self, at: int, found: re.Match[str]) -> Turn:
        """The line that counts them; one without a number counts none."""
        self.found = int(found[1]) if found.re.groups else 0
        self.summary = found[0]
        self.see(at)
        return Turn.LAST

    def report(self) -> Report | None:
        """What it came to."""
        count = self.errors if self.found is None else self.found
        self.summary = self.summary or f"{count} error{'s' * (count != 1)}"
        return self.told(not count, errors=count)
