"""What tsc prints, plain or pretty."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = ("error TS", "Found 0 errors")


class _Run(Run):
    tool = "tsc"
    kind = "build"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.errors = 0
        self.found: int | None = None

    def error(self, at: int, found: re.Match[str]) -> None:
        self.errors += 1
        if found["path"]:
            self.fail(at, found["path"])
        self.blame(at)

    def finish(self, at: int, found: re.Match[str]) -> Turn:
        self.found = int(found[1])
        self.see(at)
        return Turn.LAST

    def report(self) -> Report | None:
        count = self.errors if self.found is None else self.found
        self.summary = f"{count} error{'s' * (count != 1)}"
        return self.told(not count, errors=count)

    rules = (
        (re.compile(r"(?P<path>[^\s(][^(]*)\(\d+,\d+\): error TS\d+: "), error),
        (re.compile(r"(?P<path>\S+?):\d+:\d+ - error TS\d+: "), error),
        (re.compile(r"(?P<path>)error TS\d+: "), error),
        (
            re.compile(r"(?:\[.{1,20}\] |\d+:\d+:\d+ [AP]M - )?Found (\d+) errors?(?: in .*|\. Watching.*|\.)$"),
            finish,
        ),
    )


def read(page: Page) -> Iterable[Report]:
    """The runs of tsc. A run without errors prints nothing, and nothing is no proof."""
    if "error TS" not in page.plain and "Watching" not in page.plain:
        return ()
    return runs_of(page, _Run)
