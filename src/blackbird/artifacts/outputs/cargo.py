"""What cargo and rustc print while they build, check, lint and format."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = ("error", "Finished ", "Diff in ")

_OWN = re.compile(
    r"error: (?:could not (?:compile|find `Cargo\.toml`)|aborting due to|failed to (?:parse|load|select|read|run)"
    r"|no (?:such command|matching package)|package ID|the (?:lock file|package|option)|cannot find|process didn't)"
)


class _Run(Run):
    tool = "cargo"
    kind = "build"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.errors = 0
        self.is_stopped = False
        self.is_finished = False
        self.is_lint = "clippy" in page.words
        self.is_cargo = "cargo" in page.words

    def working(self, at: int, _: re.Match[str]) -> Turn | None:
        if self.is_finished or self.is_stopped:
            return Turn.NEXT
        self.is_cargo = True
        self.see(at)
        return None

    def error(self, at: int, found: re.Match[str]) -> None:
        """An error with a place below it, or one that only cargo words like this."""
        has_place = re.match(r" *--> \S", self.text_at(at + 1)) is not None
        is_own = _OWN.match(found[0]) is not None
        if not (has_place or is_own or (self.is_cargo and found["code"])):
            return
        if is_own:
            self.is_stopped = True
            self.see(at)
            if not self.errors:
                self.blame(at)
            return
        self.errors += 1
        self.blame(at, at + 1 if has_place else at)

    def short(self, at: int, _: re.Match[str]) -> None:
        self.errors += 1
        self.blame(at)

    def clippy(self, _at: int, _: re.Match[str]) -> None:
        if self.lines is not None:
            self.is_lint = True

    def finish(self, at: int, found: re.Match[str]) -> Turn | None:
        if self.is_finished or self.is_stopped:
            return Turn.NEXT
        self.is_finished = True
        self.summary = found[0]
        self.see(at)
        return None

    def testing(self, _at: int, _: re.Match[str]) -> Turn | None:
        """A build for tests that went well is no run of its own."""
        if self.is_finished and not self.errors:
            self.lines = None
            return Turn.LAST
        return None

    def report(self) -> Report | None:
        if not (self.errors or self.is_stopped or self.is_finished):
            return None
        if self.errors:
            self.summary = f"{self.errors} error{'s' * (self.errors > 1)}"
        ok = not (self.errors or self.is_stopped)
        return self.told(ok, errors=self.errors, kind="lint" if self.is_lint else "build")

    rules = (
        (re.compile(r" {3,}(?:Compiling|Checking) \S+ v\d"), working),
        (re.compile(r"error(?P<code>\[E\d+\])?: .+"), error),
        (re.compile(r"\S+\.rs:\d+:\d+: error(?:\[E\d+\])?: "), short),
        (re.compile(r" +Finished (?:`?[\w-]+`? profile|dev|release|test) ?.*"), finish),
        (re.compile(r" +(?:Running (?:unittests |tests/)|Doc-tests )|running \d+ tests?$"), testing),
        (re.compile(r" += (?:help: .*rust-clippy|note: .*clippy::)"), clippy),
    )


class _Format(Run):
    tool = "rustfmt"
    kind = "format"

    def difference(self, at: int, found: re.Match[str]) -> None:
        self.fail(at, found["name"])
        self.blame(at)

    def report(self) -> Report | None:
        self.summary = f"{len(self.failures)} not formatted"
        return self.told(False, failed=len(self.failures))

    rules = ((re.compile(r"Diff in (?P<name>\S+\.rs)(?::\d+:| at line \d+:)"), difference),)


def read(page: Page) -> Iterable[Report]:
    """The builds of cargo."""
    return (*runs_of(page, _Run), *runs_of(page, _Format))
