"""What Pyright and basedpyright print."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.counted import Counted
from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import runs_of

MARKS = (" - error: ", " informations", " information", " notes")


class _Run(Counted):
    tool = "pyright"
    rules = (
        (re.compile(r"\s+(?P<path>\S+\.pyi?):\d+:\d+ - error: "), Counted.error),
        (re.compile(r"(\d+) errors?, \d+ warnings?, \d+ (?:informations?|notes?) *$"), Counted.finish),
    )


def read(page: Page) -> Iterable[Report]:
    """The runs of Pyright."""
    return runs_of(page, _Run)
