"""What go prints: builds, vet, tests plain, verbose and as JSON, and panics within tests."""

import re
from collections.abc import Iterable

import msgspec

from blackbird.artifacts.outputs.page import Page, plain
from blackbird.artifacts.outputs.report import Kind, Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = (".go:", "ok  \t", "ok  ", "FAIL\t", "--- ", "[no test files]", "go: ", '"Action":', "FAIL")


class _Event(msgspec.Struct, rename="pascal"):
    action: str = ""
    package: str = ""
    test: str = ""
    output: str = ""
    import_path: str = ""


class _Tests(Run):
    tool = "go-test"
    kind = "test"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.packages: dict[str, bool | None] = {}
        self.ended: dict[str, str] = {}
        self.log: int | None = None
        self.panic: int | None = None
        self.diagnosed: int | None = None
        self.is_verbose = False

    def running(self, at: int, found: re.Match[str]) -> None:
        self.see(at)
        self.is_verbose = True
        if found[1] == "RUN":
            self.log = None

    def logged(self, at: int, _: re.Match[str]) -> None:
        # Verbose, it stands above its verdict, else below.
        self.log = at
        if self.failures and self.ended and not self.is_verbose:
            self.blame(at)

    def ending(self, at: int, found: re.Match[str]) -> None:
        self.see(at)
        self.ended[found["name"]] = found["result"]
        if found["result"] != "FAIL":
            self.log = None
            return
        self.fail(at, found["name"])
        if self.log is not None:
            self.blame(self.log)

    def panicking(self, at: int, _: re.Match[str]) -> None:
        self.panic = at
        if self.lines is not None:
            self.blame(at)

    def diagnostic(self, at: int, _: re.Match[str]) -> None:
        if self.diagnosed is None:
            self.diagnosed = at

    def package(self, at: int, found: re.Match[str]) -> Turn | None:
        name = found["name"]
        if name in self.packages:
            return Turn.NEXT
        is_good = found["result"] == "ok"
        is_empty = found["result"] == "?" or "[no tests to run]" in self.text_at(at)
        self.packages[name] = None if is_empty else is_good
        self.see(at)
        if found["result"] == "FAIL":
            self._explain(at, found)
        return None

    def _explain(self, at: int, found: re.Match[str]) -> None:
        if "failed]" in found[0]:
            self.fail(at, found["name"])
            cause = self.diagnosed if self.diagnosed is not None else at - 1 if "[setup" in found[0] and at else at
            self.blame(cause)
        elif not self.failures and self.panic is not None:
            self.blame(self.panic)

    def event(self, at: int, _: re.Match[str]) -> None:
        event = _event(self.page, at)
        if event is None:
            return
        self.see(at)
        if event.action in ("pass", "fail", "skip"):
            self._judge(at, event)
        elif event.action in ("output", "build-output"):
            words = event.output
            if _LOG.match(words) is not None or _DIAGNOSTIC.match(words) is not None:
                self.log = at
            elif words.startswith("panic: "):
                self.blame(at)

    def _judge(self, at: int, event: _Event) -> None:
        if not event.test:
            self.packages[event.package] = event.action == "pass" if event.action != "skip" else None
            if event.action == "fail" and not self.failures:
                self.fail(at, event.package)
        else:
            self.is_verbose = True
            self.ended[event.test] = event.action.upper()
            if event.action == "fail":
                self.fail(at, event.test)
        if event.action == "fail" and self.log is not None:
            self.blame(self.log)
        self.log = None

    def alone(self, at: int, found: re.Match[str]) -> None:
        if self.ended or self.packages:
            self.see(at)
            if found[0] == "FAIL":
                self.packages.setdefault("", False)

    def report(self) -> Report | None:
        parents = {name[:cut] for name in self.ended for cut in _slashes(name)}
        leaves = [result for name, result in self.ended.items() if name not in parents]
        failed, skipped = leaves.count("FAIL"), leaves.count("SKIP")
        verdicts = [verdict for name, verdict in self.packages.items() if name]
        good, bad = verdicts.count(True), verdicts.count(False)
        is_bad = bool(failed or bad or self.packages.get("") is False)
        self.summary = ", ".join(_tally(good, bad, leaves.count("PASS"), failed, skipped))
        for parent in parents & self.failures.keys():
            del self.failures[parent]
        # Without a package's verdict the end is missing: some tests may be as well.
        ok = False if is_bad else True if good and not self.page.ends_early else None
        passed = leaves.count("PASS") if self.is_verbose else None
        if not self.packages and not self.ended:
            return None
        return self.told(ok, passed=passed, failed=failed, skipped=skipped if self.is_verbose else None, errors=None)

    rules = (
        (re.compile(r"=== (RUN|PAUSE|CONT|NAME) +\S"), running),
        (re.compile(r" *--- (?P<result>PASS|FAIL|SKIP): (?P<name>\S+) \([\d.]+s\)"), ending),
        (re.compile(r"(?P<result>ok) +\t?(?P<name>[^\s\[]+)\s+(?:[\d.]+s|\(cached\))"), package),
        (
            re.compile(
                r"(?P<result>FAIL)\s+(?P<name>[^\s\[]+)(?:\s+\[[^\]]*\])?\s+(?:[\d.]+s|\[(?:build|setup) failed\])"
            ),
            package,
        ),
        (re.compile(r"(?P<result>\?) +\t?(?P<name>[^\s\[]+)\s+\[no test files\]"), package),
        (re.compile(r"(?:PASS|FAIL)$"), alone),
        (re.compile(r"panic: |fatal error: "), panicking),
        (re.compile(r"\s+\S+\.go:\d+: "), logged),
        (re.compile(r"(?:vet: )?\S+\.go:\d+:\d+: "), diagnostic),
        (re.compile(r'\{"(?:Time|Action|ImportPath|Package)":'), event),
    )


class _Build(Run):
    tool = "go"
    kind = "build"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.errors = 0
        self.has_package = False
        self.is_vet = "vet" in page.words

    def package(self, at: int, found: re.Match[str]) -> None:
        if _DIAGNOSTIC.match(self.text_at(at + 1)) is not None or self.text_at(at + 1).startswith("# ["):
            self.has_package = True
            self.is_vet = self.is_vet or "[" in found[0]
            self.see(at)

    def error(self, at: int, found: re.Match[str]) -> None:
        is_go = bool({"go", "vet"} & self.page.words) or found[0].startswith("vet: ")
        if not (self.has_package or is_go) or _LINTER.search(self.text_at(at)):
            return
        self.is_vet = self.is_vet or found[0].startswith("vet: ")
        self.errors += 1
        self.blame(at)

    def tested(self, _at: int, _: re.Match[str]) -> Turn | None:
        """These errors stopped a test, whose run tells them."""
        self.lines = None
        return Turn.LAST

    def module(self, at: int, _: re.Match[str]) -> None:
        self.errors += 1
        self.blame(at)

    def report(self) -> Report | None:
        if not self.errors:
            return None
        kind: Kind = "lint" if self.is_vet else "build"
        self.summary = f"{self.errors} error{'s' * (self.errors > 1)}"
        return self.told(False, errors=self.errors, kind=kind, tool="go-vet" if self.is_vet else "go")

    rules = (
        (re.compile(r"# \[?[\w./~-]+(?: \[.*\])?\]?$"), package),
        (re.compile(r"(?:vet: )?\S+\.go:\d+:\d+: "), error),
        (re.compile(r"FAIL\s+\S+ \[(?:build|setup) failed\]"), tested),
        (
            re.compile(
                r"go: (?:cannot|no such|go\.mod file not found|updates to go\.mod|module \S+ found|errors parsing"
                r"|unknown|.{1,200}(?:no required module|invalid version|missing go\.sum|requires go >=|not found))"
            ),
            module,
        ),
    )


_LONGEST_EVENT = 20_000
_LOG = re.compile(r"\s+\S+\.go:\d+: ")
_DIAGNOSTIC = re.compile(r"(?:vet: )?\S+\.go:\d+:\d+: ")
#: A linter says its own name at the end.
_LINTER = re.compile(r" \([\w-]+\)$")


def _slashes(name: str) -> Iterable[int]:
    return (at for at, letter in enumerate(name) if letter == "/")


def _tally(good: int, bad: int, passed: int, failed: int, skipped: int) -> Iterable[str]:
    if good or bad:
        yield f"{good} package{'s' * (good != 1)} ok"
    if bad:
        yield f"{bad} package{'s' * (bad != 1)} failed"
    counts = ((passed, "passed"), (failed, "failed"), (skipped, "skipped"))
    yield from (f"{count} {word}" for count, word in counts if count)


def _event(page: Page, at: int) -> _Event | None:
    line = page.lines[at]
    raw = plain(page.source[line.first : min(line.last, line.first + _LONGEST_EVENT)])
    try:
        return msgspec.json.decode(raw[raw.find("{") :], type=_Event)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def read(page: Page) -> Iterable[Report]:
    """The builds and tests of go."""
    return (*runs_of(page, _Build), *runs_of(page, _Tests))
