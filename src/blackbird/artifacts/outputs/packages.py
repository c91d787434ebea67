"""What npm, pnpm, yarn, pip and uv print: scripts that fail, and packages that could or could not be installed."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Kind, Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = (
    "npm ERR!", "npm error", "ELIFECYCLE", "ERR_PNPM", "error Command failed", "added ", "up to date",
    "ERROR: ", "Successfully installed", "error: ", "Installed ", "Audited ", " × ", "Resolved ",
)  # fmt: skip


class _Npm(Run):
    tool = "npm"
    kind = "run"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.name = "npm"
        self.is_installing = False
        self.verdict = False

    def script(self, at: int, found: re.Match[str]) -> Turn | None:
        """The script that is about to run."""
        if self.first_error is not None:
            return Turn.NEXT
        self.failures.clear()
        self.fail(at, found["name"])
        self.lines = None
        return None

    def error(self, at: int, found: re.Match[str]) -> None:
        words = found["said"] or ""
        if re.match(r"(?:code E(?:\d|RESOLVE|NOENT|ACCES|TARGET|INTEGRITY)|\d{3} )", words):
            self.is_installing = True
        if words and not words.startswith(("code ", "errno ", "syscall ", "path ", "workspace ", "location ")):
            self.blame(at)
        self.see(at)

    def lifecycle(self, at: int, found: re.Match[str]) -> Turn:
        self.name = "yarn" if found[0].startswith("error ") else "pnpm"
        self.blame(at)
        return Turn.LAST

    def pnpm(self, at: int, found: re.Match[str]) -> Turn:
        self.name = "pnpm"
        self.is_installing = "RECURSIVE" not in found[0] and "NO_SCRIPT" not in found[0]
        self.blame(at)
        return Turn.LAST

    def installed(self, at: int, found: re.Match[str]) -> Turn | None:
        if self.first_error is not None:
            return None
        self.verdict = self.is_installing = True
        self.failures.clear()
        self.summary = found[0]
        self.see(at)
        return Turn.LAST

    def report(self) -> Report | None:
        kind: Kind = "install" if self.is_installing else "run"
        if self.is_installing:
            self.failures.clear()
        return self.told(self.verdict, tool=self.name, kind=kind)

    rules = (
        (re.compile(r"> (?:@?[\w./-]+@\S+ )(?P<name>[\w:.-]+)(?: /\S*)?$"), script),
        (re.compile(r"npm (?:ERR!|error)(?: (?P<said>.*)|$)"), error),
        (re.compile(r"\s*ELIFECYCLE\s+Command failed"), lifecycle),
        (re.compile(r"\s*(?:\[ERR_PNPM_|ERR_PNPM_)[A-Z_]+"), pnpm),
        (re.compile(r"error Command failed with exit code \d+\."), lifecycle),
        (
            re.compile(
                r"(?:added|changed|removed) \d+ packages?\b.* in [\d.]+m?s$"
                r"|up to date(?:, audited \d+ packages?)? in "
            ),
            installed,
        ),
    )


class _Pip(Run):
    tool = "pip"
    kind = "install"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.has_failed = False

    def error(self, at: int, _: re.Match[str]) -> None:
        self.has_failed = True
        self.blame(at)

    def installed(self, at: int, found: re.Match[str]) -> Turn:
        self.summary = found[0]
        self.see(at)
        return Turn.LAST

    def report(self) -> Report | None:
        return self.told(not self.has_failed)

    rules = (
        (
            re.compile(
                r"ERROR: (?:Could not (?:find a version|install|open requirements|build wheels)|Cannot install"
                r"|No matching distribution|Failed (?:building wheel|to build)|Invalid requirement"
                r"|Package .* requires a different|ResolutionImpossible)"
            ),
            error,
        ),
        (
            re.compile(
                r"error: (?:externally-managed-environment|subprocess-exited-with-error|metadata-generation-failed)"
            ),
            error,
        ),
        (re.compile(r"Successfully installed \S.*"), installed),
    )


class _Uv(Run):
    tool = "uv"
    kind = "install"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.verdict: bool | None = None

    def error(self, at: int, found: re.Match[str]) -> None:
        self.verdict = False
        near = self.next_said(at, 1) if found[0].rstrip().endswith(("dependencies", "dependencies:")) else None
        self.blame(at, near)

    def installed(self, at: int, found: re.Match[str]) -> None:
        if self.verdict is None:
            self.verdict = True
            self.summary = found[0]
        self.see(at)

    def report(self) -> Report | None:
        return self.told(self.verdict)

    rules = (
        (
            re.compile(
                r"(?:error:|  ×) (?:No solution found|No `pyproject"
                r"|Failed to (?:build|download|fetch|prepare|resolve|install)).*"
            ),
            error,
        ),
        (re.compile(r"(?:Installed|Audited|Uninstalled) \d+ packages? in [\d.]+m?s$"), installed),
    )


def read(page: Page) -> Iterable[Report]:
    """What the managers of packages say."""
    return (*runs_of(page, _Npm), *runs_of(page, _Pip), *runs_of(page, _Uv))
