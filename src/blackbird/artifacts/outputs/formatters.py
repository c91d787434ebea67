"""What Black and Prettier print when they check or change how files look."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = (
    "would reformat ",
    "reformatted",
    "left unchanged",
    "Checking formatting...",
    "Prettier",
    "error: cannot format ",
)


class _Black(Run):
    tool = "black"
    kind = "format"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.has_failed = False

    def unformatted(self, at: int, found: re.Match[str]) -> None:
        self.has_failed = True
        self.fail(at, found["path"])
        self.blame(at)

    def finish(self, at: int, found: re.Match[str]) -> Turn:
        self.summary = found[0]
        self.has_failed = self.has_failed or "failed to reformat" in found[0] or "would be reformatted" in found[0]
        self.see(at)
        return Turn.LAST

    def report(self) -> Report | None:
        return self.told(not self.has_failed, failed=len(self.failures))

    rules = (
        (re.compile(r"would reformat (?P<path>\S.*)$"), unformatted),
        (re.compile(r"error: cannot format (?P<path>\S+): "), unformatted),
        # Its last line ends with a full stop; that of others does not.
        (re.compile(r"\d+ files? (?:would be |failed to )?(?:reformat(?:ted)?|left unchanged)\b.*\.$"), finish),
    )


class _Prettier(Run):
    tool = "prettier"
    kind = "format"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.is_checking = False
        self.verdict: bool | None = None

    def begin(self, at: int, _: re.Match[str]) -> Turn | None:
        if self.is_checking:
            return Turn.NEXT
        self.is_checking = True
        self.see(at)
        return None

    def unformatted(self, at: int, found: re.Match[str]) -> None:
        if self.is_checking:
            self.fail(at, found["path"])
            self.blame(at)

    def finish(self, at: int, found: re.Match[str]) -> Turn:
        self.summary = found["said"]
        self.verdict = found["said"].startswith("All")
        self.see(at)
        return Turn.LAST

    def report(self) -> Report | None:
        verdict = False if self.verdict is None and self.failures else self.verdict
        return self.told(verdict, failed=len(self.failures))

    rules = (
        (re.compile(r"Checking formatting\.\.\.$"), begin),
        (
            re.compile(
                r"(?:\[warn\] )?(?P<said>All matched files use Prettier code style!|Code style issues found in .*"
                r"|Error occurred when checking code style in .*)"
            ),
            finish,
        ),
        (re.compile(r"\[(?:warn|error)\] (?P<path>[^\s:]+)(?:: .*)?$"), unformatted),
    )


def read(page: Page) -> Iterable[Report]:
    """The runs of Black and Prettier."""
    return (*runs_of(page, _Black), *runs_of(page, _Prettier))
