"""What git prints: commits, pushes, merges and why they did not work."""

import re
from collections.abc import Iterable

from blackbird.artifacts.outputs.page import Page
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.outputs.run import Run, Turn, runs_of

MARKS = (
    "fatal: ", "error: ", "CONFLICT (", "[rejected]", "rejected]", " -> ", "nothing to commit", "lready up to date",
    "Everything up-to-date",
    "Fast-forward", "On branch ", "HEAD detached", "uccessfully rebased", "Merge made by", "Switched to ", "] ",
    "Saved working directory", "HEAD is now at",
)  # fmt: skip


class _Git(Run):
    tool = "git"
    kind = "vcs"

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.verdict: bool | None = None
        self.is_status = False

    def done(self, at: int, found: re.Match[str]) -> Turn:
        if self.lines is not None:
            return Turn.NEXT
        self.verdict = True
        self.summary = found[0]
        self.see(at)
        stat = re.match(r" \d+ files? changed", self.text_at(at + 1))
        if stat is not None:
            self.see(at + 1)
        return Turn.LAST

    def pushed(self, at: int, found: re.Match[str]) -> Turn | None:
        """Below the address that is pushed to, a line a branch."""
        if not self.text_at(at - 1).startswith("To ") and self.lines != (at - 1, at - 1):
            return None
        if self.verdict is None:
            self.verdict = True
            self.summary = found[0]
        self.see(at)
        return None

    def failing(self, at: int, found: re.Match[str]) -> None:
        """A problem. What git says after it belongs to it."""
        if self.is_status:
            return
        self.verdict = False
        name = found.groupdict().get("name")
        if name:
            self.fail(at, name)
        self.blame(at)

    def status(self, at: int, found: re.Match[str]) -> Turn | None:
        if self.verdict is not None:
            return Turn.NEXT
        self.is_status = True
        self.summary = found[0]
        self.see(at)
        return None

    def unmerged(self, at: int, found: re.Match[str]) -> None:
        if self.is_status:
            self.fail(at, found["name"])
            self.summary = "unmerged paths"

    def idle(self, at: int, found: re.Match[str]) -> Turn:
        # A status that is clean, or a commit of nothing, which is an error: the words are the same.
        self.summary = found[0]
        self.see(at)
        return Turn.LAST

    def report(self) -> Report | None:
        return self.told(self.verdict)

    rules = (
        (re.compile(r"\[[^\]\s]+(?: \(root-commit\)| \([^)]*\)| HEAD)? [0-9a-f]{7,40}\] .*"), done),
        (re.compile(r" ! \[(?:remote )?rejected\] +(?P<name>\S+) "), failing),
        (re.compile(r" [ *+=-] (?:\[new (?:branch|tag)\]|[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40}) +\S+ +-> \S+"), pushed),
        (re.compile(r"CONFLICT \([^)]*\): (?:Merge conflict in (?P<name>.+)|.*)"), failing),
        (re.compile(r"fatal: .+"), failing),
        (
            re.compile(
                r"error: (?:failed to push|pathspec '(?P<name>[^']*)'|Your local changes|could not apply|cannot"
                r"|(?:Merging|Committing|Pulling) is not|The following untracked|patch failed|unable to|src refspec"
                r"|you need to)"
            ),
            failing,
        ),
        (re.compile(r"(?:On branch \S+|HEAD detached (?:at|from) \S+)$"), status),
        (re.compile(r"\t(?:both (?:modified|added)|deleted by \w+): +(?P<name>.+)$"), unmerged),
        (re.compile(r"nothing to commit.*|nothing added to commit.*|no changes added to commit.*"), idle),
        (
            re.compile(
                r"Already up to date\.|Fast-forward$|Merge made by the .*|Successfully rebased and updated .*"
                r"|Switched to (?:a new )?branch .*|Saved working directory .*|HEAD is now at .*"
                r"|Everything up-to-date$"
            ),
            done,
        ),
    )


def read(page: Page) -> Iterable[Report]:
    """What git says of itself."""
    return runs_of(page, _Git)
