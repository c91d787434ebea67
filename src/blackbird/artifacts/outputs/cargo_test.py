"""What `cargo test` and nextest print about tests."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = ("test result: ", "running ", " tests run: ", "panicked at")


class _Run(Run):
    tool = "cargo-test"
    kind = "test"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.started = 0
        self.results: list[tuple[int, int, int]] = []
        self.has_failed = False

    def building(self, _at: int, _: re.Match[str]) -> Turn | None:
        """Another build begins: what comes behind is another run."""
        return Turn.LAST if self.results else None

    def begin(self, at: int, _: re.Match[str]) -> None:
        self.started += 1
        self.see(at)

    def failing(self, at: int, found: re.Match[str]) -> None:
        if self.lines is not None:
            self.fail(at, found["name"])

    def panicked(self, at: int, found: re.Match[str]) -> None:
        if self.lines is None:
            return
        message = self.next_said(at, 1) if found[0].endswith(":") else None
        self.blame(at, message)

    def result(self, at: int, found: re.Match[str]) -> None:
        self.started = max(self.started, len(self.results) + 1)
        self.results.append((int(found["passed"]), int(found["failed"]), int(found["ignored"])))
        self.see(at)

    def failed(self, at: int, _: re.Match[str]) -> None:
        if self.lines is not None:
            self.has_failed = True
            self.see(at)

    def report(self) -> Report | None:
        passed, failed, ignored = (
            (sum(column) for column in zip(*self.results, strict=True)) if self.results else (0, 0, 0)
        )
        self.summary = f"{passed} passed, {failed} failed" + (f", {ignored} ignored" if ignored else "")
        if failed or self.failures or self.has_failed:
            return self.told(False, passed=passed, failed=max(failed, len(self.failures)), skipped=ignored)
        if len(self.results) < self.started or self.page.ends_early:
            self.summary = ""
            return self.told(None)
        return self.told(True if passed else None, passed=passed, failed=0, skipped=ignored)

    rules = (
        (re.compile(r" {3,}(?:Compiling \S+ v\d|Finished )"), building),
        (re.compile(r"running \d+ tests?$"), begin),
        (re.compile(r"test (?P<name>\S.*?) \.\.\. FAILED"), failing),
        (re.compile(r"(?P<name>\S.*) --- FAILED$"), failing),
        (re.compile(r"---- (?P<name>\S.*) stdout ----$"), failing),
        (re.compile(r"thread '[^']*' (?:\(\d+\) )?panicked at .+"), panicked),
        (
            re.compile(
                r"test result: (?:ok|FAILED)\. "
                r"(?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<ignored>\d+) ignored"
            ),
            result,
        ),
        (re.compile(r"error: (?:test failed, to rerun|\d+ targets? failed:|doctest failed)"), failed),
    )


class _Nextest(Run):
    tool = "nextest"
    kind = "test"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.counts: dict[str, int] | None = None

    def failing(self, at: int, found: re.Match[str]) -> None:
        self.fail(at, found["name"])

    def panicked(self, at: int, found: re.Match[str]) -> None:
        if self.lines is None and not self.failures:
            return
        self.blame(at, self.next_said(at, 1) if found[0].endswith(":") else None)

    def starting(self, at: int, _: re.Match[str]) -> Turn | None:
        if self.counts is not None:
            return Turn.NEXT
        self.see(at)
        return None

    def finish(self, at: int, found: re.Match[str]) -> None:
        self.summary = found[1]
        self.counts = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", found[1].partition(":")[2])}
        self.see(at)

    def report(self) -> Report | None:
        if self.counts is None:
            return self.told(False) if self.failures else None
        passed = self.counts.get("passed", 0)
        failed = sum(self.counts.get(word, 0) for word in ("failed", "timed", "exec"))
        ok = False if failed or self.failures else True if passed else None
        return self.told(ok, passed=passed, failed=failed, skipped=self.counts.get("skipped", 0))

    rules = (
        (re.compile(r" +Starting \d+ tests? across "), starting),
        (
            re.compile(
                r" +(?:TRY \d+ )?(?:FAIL|TIMEOUT|SIG[A-Z]+|ABORT) \[ *[\d.]+s\] (?:\( *\d+/\d+\) )?(?P<name>\S.*)"
            ),
            failing,
        ),
        (re.compile(r" *thread '[^']*' (?:\(\d+\) )?panicked at .+"), panicked),
        (re.compile(r" +Summary \[ *[\d.]+s\] +(\d+(?:/\d+)? tests? run: .*)"), finish),
    )


def read(page: Page) -> Iterable[Report]:
    """The test runs of cargo."""
    return (*runs_of(page, _Run), *runs_of(page, _Nextest))
