"""What C and C++ compilers, linkers, CMake and Ninja print."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = ("error: ", "undefined reference", "CMake Error", "-- Configuring", "-- Build files", "ninja: ", "FAILED: ")


class _Compiler(Run):
    tool = "cc"
    kind = "build"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.errors = 0

    def error(self, at: int, found: re.Match[str]) -> None:
        self.errors += 1
        if found["path"]:
            self.fail(at, found["path"])
        self.blame(at)

    def stopped(self, at: int, _: re.Match[str]) -> None:
        if self.errors:
            self.see(at)
        else:
            self.errors = 1
            self.blame(at)

    def report(self) -> Report | None:
        self.summary = f"{self.errors} error{'s' * (self.errors != 1)}"
        return self.told(False, errors=self.errors)

    rules = (
        (
            re.compile(
                r"(?P<path>\S+\.(?:[chm]|cc|cpp|cxx|hh|hpp|hxx|cu|mm|inl|ipp)):\d+:(?:\d+:)? (?:fatal )?error: "
            ),
            error,
        ),
        (re.compile(r"(?P<path>)(?:\S+:\([^)]*\): |.*: )undefined reference to "), error),
        (
            re.compile(
                r"(?:\S*/)?(?:cc1\w*|collect2|clang(?:\+\+)?|gcc|g\+\+|c\+\+|cc|ld(?:\.\w+)?): (?:fatal )?error: "
            ),
            stopped,
        ),
    )


class _CMake(Run):
    tool = "cmake"
    kind = "build"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.errors = 0

    def error(self, at: int, _: re.Match[str]) -> None:
        self.errors += 1
        self.blame(at, self.next_said(at, 2))

    def incomplete(self, at: int, found: re.Match[str]) -> Turn:
        self.errors = self.errors or 1
        self.summary = found[1]
        self.see(at)
        return Turn.LAST

    def written(self, at: int, found: re.Match[str]) -> Turn:
        self.summary = found[1]
        self.see(at)
        return Turn.LAST

    def report(self) -> Report | None:
        return self.told(not self.errors, errors=self.errors)

    rules = (
        (re.compile(r"CMake Error(?: at \S+:\d+ \(\w+\))?:"), error),
        (re.compile(r"-- (Configuring incomplete, errors occurred!)"), incomplete),
        (re.compile(r"-- (Build files have been written) to: "), written),
    )


class _Ninja(Run):
    tool = "ninja"
    kind = "build"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.verdict: bool | None = None

    def failing(self, at: int, found: re.Match[str]) -> None:
        self.fail(at, found["name"])

    def finish(self, at: int, found: re.Match[str]) -> Turn:
        self.verdict = found[1].startswith("no work")
        self.summary = found[1]
        if not self.verdict:
            self.blame(at)
        self.see(at)
        return Turn.LAST

    def report(self) -> Report | None:
        return None if self.verdict is None else self.told(self.verdict)

    rules = (
        (re.compile(r"FAILED: (?:\[code=\d+\] )?(?P<name>\S+)"), failing),
        (re.compile(r"ninja: (no work to do\.|build stopped: .*|error: .*)"), finish),
    )


def read(page: Page) -> Iterable[Report]:
    """The runs of compilers and of what drives them."""
    return (*runs_of(page, _Compiler), *runs_of(page, _CMake), *runs_of(page, _Ninja))
