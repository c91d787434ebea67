"""What mypy prints."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.counted import Counted
from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import runs_of

MARKS = ("Success: no issues found", ": error: ", "Found ")


class _Run(Counted):
    tool = "mypy"
    rules = (
        (re.compile(r"(?P<path>\S+\.pyi?):(?:\d+:(?:\d+:)?)? error: "), Counted.error),
        (re.compile(r"Found (\d+) errors? in \d+ files? \(.*"), Counted.finish),
        (re.compile(r"Success: no issues found in \d+ source files?$"), Counted.finish),
    )


def read(page: Page) -> Iterable[Report]:
    """The runs of mypy."""
    return runs_of(page, _Run)
