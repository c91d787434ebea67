"""What make and just print when a target fails, or has nothing to do."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Kind, Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = (" *** ", "make: ", "error: Recipe ", "error: recipe ", "Justfile does not contain")

_KINDS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"(?:.*[-_./])?(?:tests?|check|spec|e2e)(?:[-_./].*)?$"), "test"),
    (re.compile(r"(?:.*[-_./])?(?:lint|vet|types?|typecheck)(?:[-_./].*)?$"), "lint"),
    (re.compile(r"(?:.*[-_./])?(?:fmt|format)(?:[-_./].*)?$"), "format"),
    (re.compile(r"(?:install|setup|deps|bootstrap)$"), "install"),
)


class _Run(Run):
    tool = "make"
    kind = "build"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.target = ""
        self.is_idle = False

    def stopped(self, at: int, found: re.Match[str]) -> Turn | None:
        self.target = found["target"] or ""
        if self.target:
            self.fail(at, self.target)
        self.blame(at)
        self.summary = found["said"]
        return None if found["depth"] else Turn.LAST

    def idle(self, at: int, found: re.Match[str]) -> Turn | None:
        if found["depth"] or self.failures:
            return None
        self.is_idle = True
        self.summary = found["said"]
        self.see(at)
        return Turn.LAST

    def recipe(self, at: int, found: re.Match[str]) -> Turn:
        self.target = found["target"]
        self.fail(at, self.target)
        self.blame(at)
        return Turn.LAST

    def report(self) -> Report | None:
        kind = next((kind for pattern, kind in _KINDS if pattern.match(self.target)), self.kind)
        is_just = self.first_error is not None and self.first_error.text.startswith("error:")
        return self.told(self.is_idle, kind=kind, tool="just" if is_just else None)

    rules = (
        (
            re.compile(
                r"[\w.-]*make(?:\[(?P<depth>\d+)\])?: "
                r"(?P<said>\*\*\* (?:\[(?:[^\]:]+:\d+: )?(?P<target>[^\]]+)\] )?.+)"
            ),
            stopped,
        ),
        (
            re.compile(r"(?P<depth>)(?P<target>)(?:\S*[Mm]akefile\S*|\S+\.mk):\d+: (?P<said>\*\*\* .+Stop\.)$"),
            stopped,
        ),
        (
            re.compile(
                r"[\w.-]*make(?:\[(?P<depth>\d+)\])?: (?P<said>Nothing to be done for .*|'[^']*' is up to date\.)$"
            ),
            idle,
        ),
        (re.compile(r"error: [Rr]ecipe `(?P<target>[^`]+)` (?:failed|was terminated)"), recipe),
        (re.compile(r"error: Justfile does not contain recipe `(?P<target>[^`]+)`"), recipe),
    )


def read(page: Page) -> Iterable[Report]:
    """What make says of itself; the tools that it ran speak for themselves."""
    return runs_of(page, _Run)
