"""What ESLint prints in its usual form."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = ("✖ ", "  error  ", "Oops! Something went wrong!", "ESLint found too many warnings")


class _Run(Run):
    tool = "eslint"
    kind = "lint"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.path: str | None = None
        self.errors = 0
        self.counted: re.Match[str] | None = None
        self.has_failed = False

    def file(self, _at: int, found: re.Match[str]) -> None:
        self.path = found[0]

    def problem(self, at: int, found: re.Match[str]) -> None:
        self.see(at)
        if found["level"] == "error":
            self.errors += 1
            self.blame(at)
            if self.path is not None:
                self.fail(at, self.path)

    def count(self, at: int, found: re.Match[str]) -> Turn:
        self.counted = found
        self.summary = found[0].removeprefix("✖ ")
        self.see(at)
        for near in range(at + 1, at + 5):
            if self.text_at(near).startswith("ESLint found too many warnings"):
                self.crashed(near, found)
        return Turn.LAST

    def crashed(self, at: int, _: re.Match[str]) -> None:
        self.has_failed = True
        near = self.next_said(at) if self.text_at(at).startswith("Oops") else None
        self.blame(at if near is None else near)

    def report(self) -> Report | None:
        errors = self.errors if self.counted is None else int(self.counted["errors"])
        if self.counted is None and not errors and not self.has_failed:
            return None
        return self.told(not (errors or self.has_failed), errors=errors)

    rules = (
        (re.compile(r"(?:/|[A-Za-z]:\\|\./)?[^\s:]+\.(?:[cm]?[jt]sx?|vue|svelte|astro|json|md)$"), file),
        (re.compile(r" +\d+:\d+ +(?P<level>error|warning) +\S"), problem),
        (re.compile(r"✖ \d+ problems? \((?P<errors>\d+) errors?, \d+ warnings?\)"), count),
        (re.compile(r"Oops! Something went wrong!|ESLint found too many warnings"), crashed),
    )


def read(page: Page) -> Iterable[Report]:
    """The runs of ESLint. A run without problems prints nothing, and nothing is no proof."""
    return runs_of(page, _Run)
