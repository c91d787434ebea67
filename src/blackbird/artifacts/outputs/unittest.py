"""What unittest prints, and Django's test command with it."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = ("Ran ", "FAIL: ", "ERROR: ", " ... ")

_COUNTED = re.compile(r"([a-z ]+)=(\d+)")


class _Run(Run):
    tool = "unittest"
    kind = "test"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.ran: int | None = None
        self.result: re.Match[str] | None = None
        self.is_in_failure = False

    def failing(self, at: int, found: re.Match[str]) -> None:
        # Only below its rule: `ERROR: x (y)` alone may be anybody's.
        if at and self.text_at(at - 1) == "=" * 70:
            name = found["name"]
            place = found["place"]
            self.fail(at, place if place.endswith(name) else f"{place}.{name}")
            self.is_in_failure = True

    def raised(self, at: int, _: re.Match[str]) -> None:
        if self.is_in_failure:
            self.blame(at)

    def finish(self, at: int, found: re.Match[str]) -> Turn | None:
        self.ran = int(found[1])
        self.summary = found[0]
        self.see(at)
        near = self.next_said(at)
        self.result = (
            None if near is None else re.match(r"(OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$", self.text_at(near))
        )
        if self.result is None or near is None:
            return None
        self.see(near)
        return Turn.LAST

    def report(self) -> Report | None:
        if self.result is None:
            return self.told(False) if self.failures else None
        counts = {name.strip(): int(number) for name, number in _COUNTED.findall(self.result[2] or "")}
        failed, errors, skipped = (counts.get(name, 0) for name in ("failures", "errors", "skipped"))
        odd = counts.get("expected failures", 0) + counts.get("unexpected successes", 0)
        passed = max(0, (self.ran or 0) - failed - errors - skipped - odd)
        self.summary = f"{self.summary}: {self.result[0]}"
        # `OK` of a run without tests says nothing.
        ok = self.result[1] == "OK" if self.ran and self.result[1] != "NO TESTS RAN" else None
        return self.told(ok, passed=passed, failed=failed, skipped=skipped, errors=errors)

    rules = (
        (re.compile(r"(?:FAIL|ERROR): (?P<name>\S+) \((?P<place>[^)]+)\)"), failing),
        (re.compile(r"(?!Traceback )[A-Za-z_][\w.]{0,200}(?:: |$)"), raised),
        (re.compile(r"Ran (\d+) tests? in [\d.]+s$"), finish),
    )


def read(page: Page) -> Iterable[Report]:
    """The runs of unittest."""
    return runs_of(page, _Run)
