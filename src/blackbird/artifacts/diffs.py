"""Diffs and diffstats: which files changed, by how much, how, and which functions and types in them."""

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

import msgspec

from blackbird.artifacts import git_names, symbols

Action = Literal["created", "edited", "deleted", "renamed"]

#: So many names of a file are told.
MOST_SYMBOLS = 50
_CLIP = 1000


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """A file that changed. Counts that the text does not give are None; `old_path` is that of a renamed one."""

    path: str
    added: int | None = None
    removed: int | None = None
    action: Action = "edited"
    symbols: tuple[str, ...] = ()
    old_path: str | None = None


class Totals(NamedTuple):
    """The last line of a diffstat."""

    files: int
    added: int
    removed: int


_TOTALS = re.compile(
    r" ?(\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?$", re.MULTILINE
)


def totals(text: str) -> Totals | None:
    """What a diffstat adds up to; the last one, if there are several."""
    every = _TOTALS.findall(text)
    return Totals(*(int(number or 0) for number in every[-1])) if every else None


def read(text: str) -> tuple[Changed, ...]:
    """The files that a diff, a diffstat, a patch or a status names, in order, each once."""
    reading = _Reading()
    for line in re.split(r"\r?\n", text):
        reading.take(line)
    return reading.changed()


class _File:
    """What is known of a file so far."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.old_path: str | None = None
        self.action: Action = "edited"
        self.added: int | None = None
        self.removed: int | None = None
        #: How good the counts are: those of lines that were seen are better than those of a diffstat.
        self.rank = 0
        self.symbols: dict[str, None] = {}
        self.language = symbols.language_of(path)

    def count(self, added: int | None, removed: int | None, rank: int) -> None:
        if rank > self.rank or (self.added is None and self.removed is None):
            self.added, self.removed, self.rank = added, removed, rank
        elif rank == self.rank == _SEEN:
            self.added = (self.added or 0) + (added or 0)
            self.removed = (self.removed or 0) + (removed or 0)

    def name(self, symbol: str | None) -> None:
        if symbol is not None and len(self.symbols) < MOST_SYMBOLS:
            self.symbols[symbol] = None

    def changed(self) -> Changed:
        return Changed(
            path=self.path,
            added=self.added,
            removed=self.removed,
            action=self.action,
            symbols=tuple(self.symbols),
            old_path=self.old_path,
        )


_STATED, _SEEN = 1, 2


class _Hunk:
    """The lines of one place. `left`: how many old and new ones its head promised; None if it promised none."""

    def __init__(self, file: _File, parents: int, left: tuple[int, int] | None, context: str) -> None:
        self.file = file
        self.parents = parents
        self.old, self.new = left or (0, 0)
        self.is_counted = left is not None and parents == 1
        self.enclosing: tuple[str, int] | None = None
        self._enter(context)

    def _enter(self, line: str) -> str | None:
        name = symbols.defined(self.file.language, line) if self.file.language else None
        if name is not None:
            self.enclosing = (name, _indentation(line))
        return name

    def take(self, line: str) -> bool:
        """Whether the line still belongs to it."""
        if self.is_counted and self.old <= 0 and self.new <= 0:
            return line.startswith("\\")
        signs, body = line[: self.parents], line[self.parents :][:_CLIP]
        if line and signs.strip(" +-\\"):
            return False
        if not line and self.parents > 1:
            return False
        is_added, is_removed = "+" in signs, "-" in signs
        self.old -= not is_added and not signs.startswith("\\")
        self.new -= not is_removed and not signs.startswith("\\")
        if is_added or is_removed:
            self._change(body, added=is_added and not is_removed)
        else:
            self._enter(body)
        return True

    def _change(self, body: str, *, added: bool) -> None:
        self.file.count(int(added), int(not added), _SEEN)
        name = self._enter(body)
        if name is not None:
            self.file.name(name)
        elif self.enclosing is not None and body.strip() and _indentation(body) > self.enclosing[1]:
            self.file.name(self.enclosing[0])


class _Reading:
    """Lines in, files out. One line is looked at once."""

    def __init__(self) -> None:
        self.files: dict[str, _File] = {}
        self.file: _File | None = None
        self.hunk: _Hunk | None = None
        self.old_name: str | None = None
        self.is_patch = False
        self.is_untracked = False
        self.lines = 0
        self.statuses: list[tuple[str, str]] = []

    def changed(self) -> tuple[Changed, ...]:
        # Two letters before a word may stand in any text: they are a status if it consists of such lines.
        if 2 * len(self.statuses) >= self.lines:
            for code, path in self.statuses:
                self._set_status(code, path)
        return tuple(file.changed() for file in self.files.values())

    def take(self, line: str) -> None:
        if self.hunk is not None:
            if self.hunk.take(line):
                return
            self.hunk = None
        if not line.strip():
            self.is_untracked = self.is_untracked and not line
            return
        line = line[:_CLIP]
        for pattern, act in _RULES:
            found = pattern.match(line)
            if found is not None and act(self, found) is not False:
                return
        self.lines += 1
        self.is_untracked = False

    def _at(self, path: str) -> _File:
        self.file = self.files.setdefault(path, _File(path))
        return self.file

    # Unified diffs

    def git(self, found: re.Match[str]) -> None:
        self.old_name = None
        self._at(git_names.same_name(found[1]))

    def combined(self, found: re.Match[str]) -> None:
        self.old_name = None
        self._at(git_names.unquoted(found[1]))

    def old(self, found: re.Match[str]) -> bool | None:
        self.old_name = git_names.behind_sign(found[1])
        return None

    def new(self, found: re.Match[str]) -> bool | None:
        if self.old_name is None:
            return False
        old, new = git_names.without_prefixes(self.old_name, git_names.behind_sign(found[1]))
        self.old_name = None
        if new == "/dev/null":
            self._rename(old).action = "deleted"
        elif old == "/dev/null":
            self._rename(new).action = "created"
        elif old != new and self.file is None:
            file = self._at(new)
            file.old_path, file.action = old, "renamed"
        else:
            self._rename(new)
        return None

    def _rename(self, path: str) -> _File:
        """The file of the git head above has this name, which can be read without doubt."""
        file = self.file
        if file is None or file.rank or file.path == path:
            return self._at(path)
        del self.files[file.path]
        file.path, file.language = path, symbols.language_of(path)
        self.files[path] = self.file = self.files.get(path, file)
        return self.file

    def created(self, _: re.Match[str]) -> bool | None:
        return self._act("created")

    def deleted(self, _: re.Match[str]) -> bool | None:
        return self._act("deleted")

    def _act(self, action: Action) -> bool | None:
        if self.file is None:
            return False
        self.file.action = action
        return None

    def renamed_from(self, found: re.Match[str]) -> bool | None:
        if self.file is None:
            return False
        self.file.old_path, self.file.action = git_names.unquoted(found[1]), "renamed"
        return None

    def renamed_to(self, found: re.Match[str]) -> bool | None:
        if self.file is None:
            return False
        self._rename(git_names.unquoted(found[1]))
        return None

    def binary(self, found: re.Match[str]) -> bool | None:
        old, new = git_names.without_prefixes(git_names.unquoted(found[1]), git_names.unquoted(found[2]))
        if self.file is None:
            self._at(old if new == "/dev/null" else new)
        return None

    def begin_hunk(self, found: re.Match[str]) -> bool | None:
        if self.file is None:
            return False
        ranges = re.findall(r"[-+]\d+(?:,(\d+))?", found["ranges"])
        counts = [int(count or 1) for count in ranges]
        self.hunk = _Hunk(self.file, len(counts) - 1, (counts[0], counts[-1]), found["context"])
        self.file.count(0, 0, _SEEN)
        return None

    def loose_hunk(self, found: re.Match[str]) -> bool | None:
        """A place in a patch that is found by its words, not by its number."""
        if not self.is_patch or self.file is None:
            return False
        self.hunk = _Hunk(self.file, 1, None, found[1] or "")
        return None

    # Patches of agents

    def patch_file(self, found: re.Match[str]) -> None:
        self.is_patch = True
        file = self._at(found[2].strip())
        file.action = _PATCH_ACTIONS[found[1]]
        if file.action != "deleted":
            self.hunk = _Hunk(file, 1, None, "")
            file.count(0, 0, _SEEN)

    def patch_move(self, found: re.Match[str]) -> bool | None:
        if not self.is_patch or self.file is None:
            return False
        file = self.file
        old, file.action = file.path, "renamed"
        del self.files[old]
        file.path, file.old_path = found[1].strip(), old
        self.files[file.path] = file
        self.hunk = _Hunk(file, 1, None, "")
        return None

    # Diffstats

    def stat(self, found: re.Match[str]) -> None:
        old, path = git_names.arrow(git_names.unquoted(found["path"].strip()))
        file = self._at(path)
        if old is not None:
            file.old_path, file.action = old, "renamed"
        if found["count"]:
            file.count(*_shares(int(found["count"]), found["graph"]), _STATED)
        elif found[0].endswith(" 0"):
            file.count(0, 0, _STATED)

    def numbers(self, found: re.Match[str]) -> None:
        old, path = git_names.arrow(git_names.unquoted(found["path"]))
        file = self._at(path)
        if old is not None:
            file.old_path, file.action = old, "renamed"
        if found["added"] != "-":
            file.count(int(found["added"]), int(found["removed"]), _STATED)

    def mode(self, found: re.Match[str]) -> None:
        file = self._at(git_names.unquoted(found["path"]))
        if found["word"] != "mode change":
            file.action = "created" if found["word"].startswith("create") else "deleted"

    def stat_rename(self, found: re.Match[str]) -> None:
        old, path = git_names.arrow(found[1])
        file = self._at(path)
        file.old_path, file.action = old, "renamed"

    # Statuses

    def status(self, found: re.Match[str]) -> None:
        self.lines += 1
        self.statuses.append((found[1], found[2]))

    def branch(self, _: re.Match[str]) -> None:
        """The head of a short status, or a hint of a long one."""

    def status_2(self, found: re.Match[str]) -> None:
        self._set_status(found["code"], found["path"])

    def renamed_2(self, found: re.Match[str]) -> None:
        self._set_status(found["code"], f"{found['old']} -> {found['path']}")

    def untracked_2(self, found: re.Match[str]) -> None:
        self._set_status("??", found[1])

    def long_status(self, found: re.Match[str]) -> None:
        self._set_status(_LONG_CODES.get(found[1], "M"), found[2].strip())

    def untracked(self, _: re.Match[str]) -> None:
        self.is_untracked = True

    def untracked_file(self, found: re.Match[str]) -> bool | None:
        if not self.is_untracked:
            return False
        self._set_status("??", found[1])
        return None

    def _set_status(self, code: str, name: str) -> None:
        old, arrow, path = name.partition(" -> ")
        file = self._at(git_names.unquoted(path if arrow and code.strip(" M.D")[:1] in ("R", "C") else name))
        if "R" in code:
            file.old_path, file.action = git_names.unquoted(old), "renamed"
        elif "D" in code:
            file.action = "deleted"
        elif file.action != "renamed" and ("A" in code or "C" in code or code == "??"):
            file.action = "created"


_PATCH_ACTIONS: dict[str, Action] = {"Update": "edited", "Add": "created", "Delete": "deleted"}
_LONG_CODES = {"new file": "A", "deleted": "D", "renamed": "R", "copied": "C"}

_RULES: tuple[tuple[re.Pattern[str], Callable[[_Reading, re.Match[str]], bool | None]], ...] = (
    (re.compile(r"diff --git (.+)$"), _Reading.git),
    (re.compile(r"diff --(?:cc|combined) (.+)$"), _Reading.combined),
    (re.compile(r"--- (\S.*)$"), _Reading.old),
    (re.compile(r"\+\+\+ (\S.*)$"), _Reading.new),
    (re.compile(r"@@+ (?P<ranges>(?:[-+]\d+(?:,\d+)? ){2,9})@@+ ?(?P<context>.*)$"), _Reading.begin_hunk),
    (re.compile(r"@@(?: (.*)|())$"), _Reading.loose_hunk),
    (re.compile(r"new file mode \d+"), _Reading.created),
    (re.compile(r"deleted file mode \d+"), _Reading.deleted),
    (re.compile(r"(?:rename|copy) from (.+)$"), _Reading.renamed_from),
    (re.compile(r"(?:rename|copy) to (.+)$"), _Reading.renamed_to),
    (re.compile(r"Binary files (.+) and (.+) differ$"), _Reading.binary),
    (re.compile(r"\*\*\* (Update|Add|Delete) File: (.+)$"), _Reading.patch_file),
    (re.compile(r"\*\*\* Move to: (.+)$"), _Reading.patch_move),
    (
        re.compile(
            r" (?P<path>\S.*?) +\| +"
            r"(?:0|(?P<count>[1-9]\d*) (?P<graph>[+-]+)|Bin(?: \d+ -> \d+ bytes)?|Unmerged)$"
        ),
        _Reading.stat,
    ),
    (re.compile(r"(?P<added>\d+|-)\t(?P<removed>\d+|-)\t(?P<path>\S.*)$"), _Reading.numbers),
    (re.compile(r" (?P<word>create mode|delete mode|mode change) \d+ (?:=> \d+ )?(?P<path>.+)$"), _Reading.mode),
    (re.compile(r" (?:rename|copy) (.+ => .+) \(\d+%\)$"), _Reading.stat_rename),
    (
        re.compile(r"2 (?P<code>[.MTADRC]{2}) \S+(?: \d{6}){3} \w+ \w+ [RC]\d+ (?P<path>[^\t]+)\t(?P<old>.+)$"),
        _Reading.renamed_2,
    ),
    (re.compile(r"1 (?P<code>[.MTADRC]{2}) \S+(?: \d{6}){3} \w+ \w+ (?P<path>.+)$"), _Reading.status_2),
    (re.compile(r"u (?P<code>[.MTADU]{2}) \S+(?: \d{6}){4} \w+ \w+ \w+ (?P<path>.+)$"), _Reading.status_2),
    (re.compile(r"\? (\S.*)$"), _Reading.untracked_2),
    (re.compile(r"#{1,2} (?:branch\.|[\w./-]+(?:\.\.\.| *$)|No commits yet|HEAD )"), _Reading.branch),
    (re.compile(r"( [MTDA]|[MTADRC] |[MTARC][MTD]|D[DU]|A[AU]|U[UAD]|\?\?) (\S.*)$"), _Reading.status),
    (re.compile(r"\t(modified|new file|deleted|renamed|copied|both \w+|typechange): +(.+)$"), _Reading.long_status),
    (re.compile(r"Untracked files:$"), _Reading.untracked),
    (re.compile(r"  \(use \"git .*\)$"), _Reading.branch),
    (re.compile(r"\t(\S.*)$"), _Reading.untracked_file),
)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _shares(count: int, graph: str) -> tuple[int | None, int | None]:
    """Lines that came and went, as far as a graph shows it: one that was shortened does not."""
    if len(graph) == count or len(set(graph)) == 1:
        added = count if set(graph) == {"+"} else graph.count("+")
        return added, count - added
    return None, None
