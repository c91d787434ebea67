"""What tools print, read: outcomes, counts, what failed and the first error, each with its place in the text."""

import bisect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from blackbird.artifacts import commands
from blackbird.artifacts.commands import Ran
from blackbird.artifacts.outputs import (
    cargo,
    cargo_test,
    compilers,
    crashes,
    eslint,
    formatters,
    git,
    golang,
    golangci,
    java,
    jest,
    make,
    mocha,
    mypy,
    node,
    packages,
    pyright,
    pytest,
    ruff,
    typescript,
    unittest,
    vitest,
)
from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report

#: Files to which the output of commands is written.
_KEPT = re.compile(r"\.(?:log|out|output|err|stdout|stderr)$|(?:^|/)tmp/|^/var/folders/|\.txt$")


class _Reader(NamedTuple):
    """One reader: words without which its tools print nothing, and how it reads a page."""

    marks: tuple[str, ...]
    read: Callable[[Page], Iterable[Report]]


#: Each knows one tool, or tools that print alike, and nothing of the others.
_READERS = tuple(
    _Reader(module.MARKS, module.read)
    for module in (
        pytest, unittest, cargo, cargo_test, golang, golangci, jest, vitest, mocha, node, typescript, ruff, eslint,
        mypy, pyright, formatters, make, compilers, java, packages, git,
    )
)  # fmt: skip


def read(text: str, command: str | Sequence[str] | None = None) -> tuple[Report, ...]:
    """The runs that a text tells of, in the order in which they ended; empty if none is recognised."""
    ran = commands.read(command) if command else ()
    if ran and all(_only_shows(one) for one in ran):
        return ()
    page = Page(text, frozenset(word for one in ran for word in one.words))
    found = [report for reader in _READERS if _may_speak(reader.marks, page) for report in reader.read(page)]
    found.sort(key=_order)
    if _may_speak(crashes.MARKS, page):
        found += [crash for crash in crashes.read(page) if not _is_told(crash, found)]
    return tuple(sorted(found, key=_order))


def _order(report: Report) -> tuple[int, int]:
    first, last = report.span
    return last, first


def _only_shows(ran: Ran) -> bool:
    """Whether it shows what somebody wrote: a file is no run, unless it is where the output of one was kept."""
    if ran.kind in ("read", "search") or ran.program in ("cd", "echo"):
        return not any(_KEPT.search(path) for path in ran.reads)
    return ran.program == "git" and bool({"diff", "show", "log", "blame", "grep"} & set(ran.words))


def _may_speak(marks: Iterable[str], page: Page) -> bool:
    return any(mark in page.plain for mark in marks)


def _is_told(crash: Report, reports: list[Report]) -> bool:
    """Whether a tool that is known told this crash, or ran the test that printed it. The reports are in order."""
    first = crash.span[0]
    at = bisect.bisect_left(reports, (first, 0), key=_order)
    return at < len(reports) and (reports[at].kind == "test" or reports[at].span[0] <= first)
