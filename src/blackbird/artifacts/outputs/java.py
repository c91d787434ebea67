"""What Maven, Gradle and javac print."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = ("BUILD ", "Tests run: ", ".java:", " tests completed", ".kt:", "e: ")


class _Run(Run):
    tool = "maven"
    kind = "build"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.counts: list[int] = []
        self.errors = 0
        self.verdict: bool | None = None
        self.is_gradle = False

    def count(self, at: int, found: re.Match[str]) -> None:
        # Each class has such a line; the sum of all is the last one, and the only one without a time.
        if "Time elapsed" not in found[0]:
            self.counts = [int(number) for number in found.groups()]
        self.see(at)

    def completed(self, at: int, found: re.Match[str]) -> None:
        total, failed, skipped = (int(number or 0) for number in found.groups())
        self.counts = [total, failed, 0, skipped]
        self.see(at)

    def begin(self, at: int, _: re.Match[str]) -> Turn | None:
        if self.lines is not None:
            return Turn.NEXT
        self.see(at)
        return None

    def error(self, at: int, _: re.Match[str]) -> None:
        if self.verdict is None:  # Maven says all of them again behind its verdict
            self.errors += 1
            self.blame(at)

    def failing(self, at: int, found: re.Match[str]) -> None:
        self.fail(at, found["name"])
        if found[0].startswith("[ERROR]"):
            self.blame(at)

    def failing_test(self, at: int, found: re.Match[str]) -> None:
        self.is_gradle = True
        self.fail(at, found["name"])
        near = self.next_said(at, 1)
        if near is not None:
            self.blame(near)

    def wrong(self, at: int, _: re.Match[str]) -> None:
        near = self.next_said(at, 2)
        if near is not None:
            self.blame(near)

    def finish(self, at: int, found: re.Match[str]) -> Turn | None:
        if self.verdict is not None:
            return Turn.NEXT
        self.summary = found["said"]
        self.is_gradle = self.is_gradle or " in " in found["said"] or "SUCCESSFUL" in found["said"]
        self.verdict = "SUCCESS" in found["said"]
        self.see(at)
        return Turn.LAST if self.is_gradle else None

    def report(self) -> Report | None:
        tool = "gradle" if self.is_gradle else "maven" if self.verdict is not None or self.counts else "javac"
        verdict = False if self.verdict is None and (self.errors or self.failures) else self.verdict
        if verdict is None and not self.counts:
            return None
        if not self.counts:
            return self.told(verdict, errors=self.errors, tool=tool)
        ran, failed, errors, skipped = self.counts
        if verdict is None and (failed or errors):
            verdict = False
        passed = max(0, ran - failed - errors - skipped)
        self.summary = self.summary or f"{passed} passed, {failed} failed, {errors} errors"
        return self.told(
            verdict, passed=passed, failed=failed, skipped=skipped, errors=errors, tool=tool, kind="test"
        )

    rules = (
        (re.compile(r"\[INFO\] Scanning for projects"), begin),
        (
            re.compile(
                r"(?:\[\w+\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)"
                r"(?:, Time elapsed.*)?.*"
            ),
            count,
        ),
        (re.compile(r"(\d+) tests? completed, (\d+) failed(?:, (\d+) skipped)?"), completed),
        (re.compile(r"\[ERROR\] \S+\.(?:java|kt|scala):\[\d+,\d+\] "), error),
        (re.compile(r"(?:e: |\S+\.java:\d+: error: )\S"), error),
        (re.compile(r"\[ERROR\] {2,3}(?P<name>\w[\w$.]*(?:\.\w+|>\S+):\d+)"), failing),
        (re.compile(r"(?P<name>\w[\w$.]*(?: > [^>]+){1,4}) FAILED$"), failing_test),
        (re.compile(r"> Task (?P<name>:\S+) FAILED$"), failing),
        (re.compile(r"\* What went wrong:$"), wrong),
        (
            re.compile(r"(?:\[INFO\] |\[ERROR\] )?(?P<said>BUILD (?:SUCCESS|FAILURE|SUCCESSFUL|FAILED)(?: in .*)?)$"),
            finish,
        ),
    )


def read(page: Page) -> Iterable[Report]:
    """The runs of Maven, Gradle and javac."""
    return runs_of(page, _Run)
