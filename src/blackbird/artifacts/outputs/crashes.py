"""How programs that nobody knows die: tracebacks, panics, stack traces, and shells that find no command."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = (
    "Traceback (most recent call last)", "panicked at", "    at ", "goroutine ", "not found", "SyntaxError", 'File "',
    "Exception in thread", "Segmentation fault", "No such file or directory", "ermission denied", "Error: ",
)  # fmt: skip


class _Crash(Run):
    """A program's death. Unless it is the last thing in the text, it may have been told and survived."""

    kind = "run"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        #: It was said outright that the program ended.
        self.is_over = False

    def frame(self, at: int, _: re.Match[str]) -> None:
        """A line that belongs to the one before it."""
        if self.lines is not None and at == self.lines[1] + 1:
            self.see(at)

    def over(self, at: int, _: re.Match[str]) -> Turn | None:
        """What is only said when a program ends because of the error before it."""
        if self.first_error is None:
            return None
        self.is_over = True
        self.see(at)
        return Turn.LAST

    def died(self, to: int) -> bool | None:
        behind = self.page.lines[to + 1 :][:50]
        return False if all(_FAREWELL.match(line.text) for line in behind) else None


class _Python(_Crash):
    tool = "python"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.is_open = False

    def begin(self, at: int, _: re.Match[str]) -> None:
        # Of a chain the last one is what the program died of.
        self.first_error = None
        self.is_open = True
        self.see(at)

    def raised(self, at: int, _: re.Match[str]) -> Turn | None:
        if not self.is_open:
            return None
        self.is_open = False
        self.blame(at)
        near = self.next_said(at, 2)
        return None if near is not None and _CHAINED.match(self.text_at(near)) else Turn.LAST

    def report(self) -> Report | None:
        if self.first_error is None or self.lines is None:
            return None
        return self.told(self.died(self.lines[1]))

    rules = (
        (re.compile(r"Traceback \(most recent call last\):$"), begin),
        (re.compile(r'  File "[^"]+", line \d+$'), begin),
        (re.compile(r"[A-Za-z_][\w.]{0,200}(?:: |$)"), raised),
    )


class _Rust(_Crash):
    tool = "rust"

    def panicked(self, at: int, found: re.Match[str]) -> None:
        near = self.next_said(at, 1) if found[0].endswith(":") else None
        self.blame(at, near)

    def report(self) -> Report | None:
        is_main = self.first_error is not None and self.first_error.text.startswith("thread 'main'")
        return self.told(self.died(self.lines[1]) if is_main and self.lines else None)

    rules = (
        (re.compile(r"thread '[^']*' (?:\(\d+\) )?panicked at .+"), panicked),
        (re.compile(r"note: |stack backtrace:|  +\d+: | +at |  left: | right: |$"), _Crash.frame),
    )


class _Node(_Crash):
    tool = "node"

    def error(self, at: int, _: re.Match[str]) -> Turn | None:
        if not re.match(r"    at ", self.text_at(at + 1)):
            return None
        if self.first_error is not None:
            return Turn.NEXT
        self.blame(at)
        return None

    def report(self) -> Report | None:
        # Node says its version when it ends because of an error, and only then.
        return self.told(False if self.is_over else None)

    rules = (
        (re.compile(r"(?:Uncaught )?(?:[A-Z]\w*)?Error(?: \[\w+\])?(?:: .*)?$"), error),
        (re.compile(r"    at "), _Crash.frame),
        (re.compile(r"Node\.js v\d+"), _Crash.over),
    )


class _Go(_Crash):
    tool = "go"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.panic: int | None = None

    def panicked(self, at: int, _: re.Match[str]) -> None:
        self.panic = at

    def goroutine(self, at: int, _: re.Match[str]) -> None:
        if self.panic is not None and at - self.panic < 10:
            self.blame(self.panic)
            self.see(at)

    def report(self) -> Report | None:
        return self.told(False if self.is_over or self.lines is None else self.died(self.lines[1]))

    rules = (
        (re.compile(r"(?:panic|fatal error): "), panicked),
        (re.compile(r"goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[running"), goroutine),
        (re.compile(r"exit status \d+$"), _Crash.over),
    )


class _Java(_Crash):
    tool = "java"

    def thrown(self, at: int, _: re.Match[str]) -> Turn | None:
        if self.first_error is not None:
            return Turn.NEXT
        self.blame(at)
        return None

    def frame(self, at: int, _: re.Match[str]) -> None:
        if self.lines is not None and at == self.lines[1] + 1:
            self.see(at)

    def report(self) -> Report | None:
        return None if self.lines is None else self.told(self.died(self.lines[1]))

    rules = (
        (re.compile(r'Exception in thread "[^"]*" '), thrown),
        (re.compile(r"\s+at |Caused by: "), frame),
    )


class _Shell(_Crash):
    tool = "shell"

    def complaint(self, at: int, _: re.Match[str]) -> Turn:
        self.blame(at)
        return Turn.LAST

    def report(self) -> Report | None:
        return None if self.lines is None else self.told(self.died(self.lines[1]))

    rules = (
        (
            re.compile(
                r"(?:/\S*/)?(?:ba|z|da|k)?sh: (?:(?:line )?\d+: )?\S+: (?:command )?not found$"
                r"|(?:zsh: |\(eval\):\d+: )?command not found: \S+$"
                r"|(?:/\S*/)?(?:ba|z|da|k)?sh: (?:(?:line )?\d+: )?\S+: "
                r"(?:No such file or directory|Permission denied)$"
                r"|(?:.*: (?:line )?\d+: +\d+ )?Segmentation fault(?: \(core dumped\))?"
            ),
            complaint,
        ),
    )


_CHAINED = re.compile(r"(?:The above exception was the direct|During handling of the above)")
#: What may stand behind a death without being a sign of life.
_FAREWELL = re.compile(
    r"\s*$|exit status \d+$|Exit code:? \d+$|\[?[Pp]rocess exited|make(?:\[\d+\])?: |npm |\s+at |note: | +\d+: "
    r"|Aborted"
)


def read(page: Page) -> Iterable[Report]:
    """What programs died of."""
    crashes = (_Python, _Rust, _Node, _Go, _Java, _Shell)
    return tuple(report for crash in crashes for report in runs_of(page, crash))
