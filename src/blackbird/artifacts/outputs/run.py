"""One run of a tool, gathered line by line: patterns in, a report out."""

import enum
import re
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from blackbird.artifacts.outputs.page import Page, plain
from blackbird.artifacts.outputs.report import Kind, Named, Report, Stretch

#: So many failures are named; a run with more of them is told by its count.
MOST_NAMES = 100


class Turn(enum.Enum):
    """What a line means for the run that is being gathered."""

    #: It is the last line of the run.
    LAST = enum.auto()
    #: It is the first line of another run.
    NEXT = enum.auto()


_Act = Callable[[Any, int, re.Match[str]], Turn | None]
#: A pattern that a line begins with, and what the run makes of it. The first that fits is taken.
Rule = tuple[re.Pattern[str], _Act]


class Run:
    """What is known of a run so far. A tool says by `rules` what its lines mean, by `report` what they add up to."""

    tool: ClassVar[str]
    kind: ClassVar[Kind]
    rules: ClassVar[tuple[Rule, ...]] = ()
    #: All the patterns in one: most lines fit none of them, and this says so at once.
    _any: ClassVar[re.Pattern[str]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        nameless = (re.sub(r"\(\?P<\w+>", "(?:", pattern.pattern) for pattern, _ in cls.rules)
        cls._any = re.compile("|".join(f"(?:{pattern})" for pattern in nameless))

    @classmethod
    def acting(cls, text: str) -> tuple[re.Match[str], _Act] | None:
        """The first rule that a line fits."""
        if cls._any.match(text) is None:
            return None
        return next(((found, act) for pattern, act in cls.rules if (found := pattern.match(text))), None)

    def __init__(self, page: Page) -> None:
        self.page = page
        self.lines: tuple[int, int] | None = None
        self.failures: dict[str, Named] = {}
        self.first_error: Stretch | None = None
        self.summary = ""

    def see(self, at: int, to: int | None = None) -> None:
        """These lines belong to the run."""
        first, last = self.lines or (at, at)
        self.lines = (min(first, at), max(last, at if to is None else to))

    def fail(self, at: int, name: str) -> None:
        """The line says that this failed."""
        self.see(at)
        if len(self.failures) < MOST_NAMES:
            self.failures.setdefault(name.strip(), Named(name.strip(), self.page.stretch(at)))

    def blame(self, at: int, to: int | None = None) -> None:
        """These lines are the first error, if none was found before."""
        self.see(at, to)
        if self.first_error is None:
            self.first_error = self.page.stretch(at, to)

    def text_at(self, at: int) -> str:
        """A line of the page; empty behind its end."""
        return self.page.lines[at].text if at < len(self.page.lines) else ""

    def next_said(self, at: int, within: int = 4) -> int | None:
        """The next of some lines that is not blank."""
        return next((near for near in range(at + 1, at + 1 + within) if self.text_at(near).strip()), None)

    def told(
        self,
        ok: bool | None,
        *,
        passed: int | None = None,
        failed: int | None = None,
        skipped: int | None = None,
        errors: int | None = None,
        tool: str | None = None,
        kind: Kind | None = None,
    ) -> Report:
        """The report, once something was seen."""
        first, last = (self.page.lines[line] for line in self.lines or (0, 0))
        return Report(
            tool=tool or self.tool,
            kind=kind or self.kind,
            ok=ok,
            passed=passed,
            failed=failed,
            skipped=skipped,
            errors=errors,
            failures=tuple(self.failures.values()),
            first_error=self.first_error,
            summary=self._in_one_line(),
            span=(first.first, last.last),
        )

    def _in_one_line(self) -> str:
        words = self.summary or (plain(self.first_error.text).partition("\n")[0] if self.first_error else "")
        return " ".join(words.split())

    def report(self) -> Report | None:
        """What the lines add up to; None if they do not make a run. Asked when it ended, or when the text did."""
        raise NotImplementedError


def runs_of(page: Page, tool: type[Run]) -> Iterator[Report]:
    """The runs of a tool in a text, in order."""
    run = tool(page)
    seen = -1
    for at, line in enumerate(page.lines):
        if at <= seen:
            continue
        rule = tool.acting(line.text)
        if rule is None:
            continue
        found, act = rule
        turn = act(run, at, found)
        if turn is Turn.NEXT:
            yield from _made(run)
            run = tool(page)
            act(run, at, found)
        elif turn is Turn.LAST:
            seen = at if run.lines is None else run.lines[1]
            yield from _made(run)
            run = tool(page)
    yield from _made(run)


def _made(run: Run) -> Iterator[Report]:
    report = run.report() if run.lines is not None else None
    if report is not None:
        yield report
