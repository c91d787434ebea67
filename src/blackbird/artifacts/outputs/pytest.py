"""What pytest prints: verbose, quiet, with xdist, cut at either end, and when it cannot even collect."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = (
    "test session starts",
    "::",
    "%]",
    " passed",
    " failed",
    " error",
    " skipped",
    " deselected",
    " xfailed",
    " xpassed",
    "no tests ran",
    "loading conftest",
    "[file_or_dir]",
    "collected",
)

_WORDS = frozenset(
    ("passed", "failed", "error", "skipped", "xfailed", "xpassed", "warning", "deselected", "rerun", "subtest")
)
_RESULT = "PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN"
_COUNTED = re.compile(r"(\d+) (\w+)")


class _Run(Run):
    tool = "pytest"
    kind = "test"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.counts: dict[str, int] | None = None
        self.is_sure = False
        self.is_broken = False
        self.has_only_collected = False

    def begin(self, at: int, _: re.Match[str]) -> Turn | None:
        if self.is_sure:
            return Turn.NEXT
        self.sign(at)
        return None

    def sign(self, at: int, _: re.Match[str] | None = None) -> None:
        """A line that only pytest prints."""
        self.is_sure = True
        self.see(at)

    def failing(self, at: int, found: re.Match[str]) -> None:
        self.is_sure = True
        self.fail(at, found["name"])

    def error(self, at: int, _: re.Match[str]) -> None:
        # Indented further: how an assertion came to its values. The first line is the one that says it.
        self.blame(at)

    def broken(self, at: int, _: re.Match[str]) -> None:
        """Nothing that a test did: pytest could not do its work, or a limit was not kept."""
        self.sign(at)
        self.is_broken = True

    def crashed(self, at: int, found: re.Match[str]) -> None:
        self.broken(at, found)
        if re.match(r"INTERNALERROR> \w[\w.]*(?:: |$)", found[0]):
            self.blame(at)

    def refused(self, at: int, found: re.Match[str]) -> None:
        self.broken(at, found)
        near = self.next_said(at, 2) if "usage:" in found[0] else None
        self.blame(at if near is None else near)

    def uncovered(self, at: int, found: re.Match[str]) -> None:
        self.broken(at, found)
        self.blame(at)

    def collected(self, at: int, found: re.Match[str]) -> Turn:
        self.sign(at)
        self.has_only_collected = True
        self.summary = found[1]
        return Turn.LAST

    def finish(self, at: int, found: re.Match[str]) -> Turn | None:
        counts = {word.removesuffix("s"): int(number) for number, word in _COUNTED.findall(found[1])}
        if not (counts.keys() <= _WORDS):
            return None
        self.sign(at)
        self.counts = counts
        self.summary = found[1]
        for near in range(at + 1, at + 4):
            # Said on the other stream, so it comes late.
            late = re.match(r"ERROR: (?:file or directory )?not found", self.text_at(near))
            if late is not None:
                self.broken(near, late)
                self.blame(near)
        return Turn.LAST

    def report(self) -> Report | None:
        if not self.is_sure:
            return None
        if self.has_only_collected:
            return self.told(None)
        if self.first_error is None and self.failures:
            self.first_error = next(iter(self.failures.values())).at
        is_bad = self.is_broken or bool(self.failures)
        if self.counts is None:
            # Cut before its end, or so quiet that it has none.
            self.summary = f"{len(self.failures)} failed" if self.failures else self.summary
            return self.told(False if is_bad or self.first_error else None)
        passed, failed, errors = (self.counts.get(word, 0) for word in ("passed", "failed", "error"))
        ok = False if is_bad or failed or errors else True if passed or self.counts.get("xfailed") else None
        return self.told(ok, passed=passed, failed=failed, skipped=self.counts.get("skipped", 0), errors=errors)

    rules = (
        (re.compile(r"={3,} test session starts ={3,}$"), begin),
        (re.compile(r"E   +(?=\S)"), error),
        (re.compile(r"(?:FAILED|ERROR) (?P<name>\S+\.py(?:::[^ ]*(?: [^-]\S*)*)?)(?: - |$)"), failing),
        (re.compile(r"(?P<name>\S+\.py::.{1,300}?) (?:FAILED|ERROR) *(?:\[ *\d+%\])?$"), failing),
        (re.compile(r"\[gw\d+\] \[ *\d+%\] (?:FAILED|ERROR) (?P<name>\S+\.py::.+)$"), failing),
        (re.compile(rf"\S+\.py::.{{1,300}}? (?:{_RESULT})(?: |$)"), sign),
        (re.compile(rf"\[gw\d+\] \[ *\d+%\] (?:{_RESULT}) "), sign),
        (re.compile(r"(?:\S+\.py )?[.FEsxXR]+ +\[ *\d+%\]$"), sign),
        (re.compile(r"={3,} (?:FAILURES|ERRORS|short test summary info) ={3,}$"), sign),
        (re.compile(r"_{3,} (?:ERROR (?:at (?:setup|teardown) of|collecting) )(?P<name>.+?) _{3,}$"), sign),
        (re.compile(r"collected \d+ items?(?: /.*)?$"), sign),
        (re.compile(r"INTERNALERROR> .*"), crashed),
        (re.compile(r"!{3,} .* !{3,}$"), sign),
        (re.compile(r"(?:FAIL Required test coverage of|ERROR: Coverage failure: ).*"), uncovered),
        (re.compile(r"ERROR: (?:usage: .*\[file_or_dir\]|file or directory not found|not found: ).*"), refused),
        (re.compile(r"ImportError while loading conftest '.*"), broken),
        (re.compile(r"(?:=+ )?(\d+(?:/\d+)? tests? collected(?: \([^)]*\))?) in \d"), collected),
        (
            re.compile(
                r"(?:=+ )?((?:\d+ [a-z]+(?:, )?){1,12}|no tests ran) in \d+(?:\.\d+)?s(?: \([\d:, a-z]+\))?(?: =+)?$"
            ),
            finish,
        ),
    )


def read(page: Page) -> Iterable[Report]:
    """The runs of pytest."""
    return runs_of(page, _Run)
