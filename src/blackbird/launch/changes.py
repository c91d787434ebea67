"""What a run changed in its repository, from what git says before and after it. Pure."""

from collections.abc import Iterator
from typing import Any

import msgspec

#: How many files are named; the sums are over all.
MOST = 200
#: The tree of a repository without a commit.
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_RENAMED = "2"
_UNTRACKED = "?"
#: In which field of a line the path stands, by the line's first character.
_FIELDS = {"1": 8, _RENAMED: 9, "u": 10, _UNTRACKED: 1}


class State(msgspec.Struct, frozen=True):
    """A repository at one moment: its commit, its branch, and the paths that differ from the commit."""

    sha: str | None
    branch: str | None
    changed: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()

    @property
    def is_dirty(self) -> bool:
        """Whether anything differs from the commit."""
        return bool(self.changed or self.untracked)

    def spelled(self) -> dict[str, Any]:
        """As it is stated."""
        return {"sha": self.sha, "branch": self.branch, "dirty": self.is_dirty}


def read_state(told: str) -> State:
    """From `git status --porcelain=v2 --branch -z`."""
    heads: dict[str, str] = {}
    changed: list[str] = []
    untracked: list[str] = []
    pieces = iter(told.split("\0"))
    for piece in pieces:
        kind = piece[:1]
        if kind == "#":
            key, _, value = piece[2:].partition(" ")
            heads[key] = value
        elif kind in _FIELDS:
            path = piece.split(" ", _FIELDS[kind])[-1]
            (untracked if kind == _UNTRACKED else changed).append(path)
            if kind == _RENAMED:
                changed.append(next(pieces, ""))
    sha, branch = heads.get("branch.oid"), heads.get("branch.head")
    return State(
        sha=None if sha == "(initial)" else sha,
        branch=None if branch == "(detached)" else branch,
        changed=tuple(path for path in changed if path),
        untracked=tuple(untracked),
    )


def read_numstat(told: str) -> Iterator[tuple[str, int | None, int | None]]:
    """Path, added and removed lines of each file, from `git diff --numstat -z`; no lines of a binary file."""
    for piece in told.split("\0"):
        added, _, rest = piece.partition("\t")
        removed, _, path = rest.partition("\t")
        if path:
            yield path, _number(added), _number(removed)


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def compare(before: State, after: State, numstat: str | None) -> dict[str, Any]:
    """What is stated at the end of a run. Without `numstat`, git took too long to count lines."""
    files: dict[str, dict[str, Any]] = {}
    for path, added, removed in read_numstat(numstat or ""):
        files[path] = {"path": path, "added": added, "removed": removed}
    for path in after.untracked:
        files.setdefault(path, {"path": path, "added": None, "removed": None, "untracked": True})
    earlier = {*before.changed, *before.untracked}
    for path in files.keys() & earlier:
        # It differed already, and may not have been touched since.
        files[path]["was_changed"] = True
    named = sorted(files.values(), key=lambda file: file["path"])
    return {
        "before": before.spelled(),
        "after": after.spelled(),
        "counted": numstat is not None,
        "files": named[:MOST],
        "more_files": max(0, len(named) - MOST),
        "added": sum(file["added"] or 0 for file in named),
        "removed": sum(file["removed"] or 0 for file in named),
    }
