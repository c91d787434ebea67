"""What git says that a run changed, which counts before what its tools were told to do."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from blackbird.artifacts import paths
from blackbird.artifacts.model import Change
from blackbird.artifacts.scene import Run

#: The statement at the end of a run.
CHANGES = "run.changes"


def corrected(files: tuple[Change, ...], run: Run, cwd: str | None) -> tuple[Change, ...]:
    """The files of a run as git has them, each with the call that changed it where that is known.

    A file that differed before the run counts only if a call changed it; one that git does not name, as it is ignored
    or lies outside, counts by the call's word.
    """
    told = next((stated for stated in reversed(run.stated) if stated.event == CHANGES), None)
    if told is None:
        return files
    known = {change.path: change for change in files}
    found: list[Change] = []
    for file, path in _named(told.data, _root(run), cwd):
        change = known.pop(path, None)
        if change is None and file.get("was_changed") is True:
            continue
        change = change or Change(path=path, action="created" if file.get("untracked") is True else "edited")
        found.append(msgspec.structs.replace(change, added=_count(file, "added"), removed=_count(file, "removed")))
    return (*found, *known.values())


def _named(data: Mapping[str, Any], root: str | None, cwd: str | None) -> Iterator[tuple[dict[str, Any], str]]:
    files = data.get("files")
    for file in files if isinstance(files, list) else ():
        path = file.get("path") if isinstance(file, dict) else None
        if isinstance(path, str) and path:
            yield file, paths.relative(f"{root.rstrip('/')}/{path}" if root else path, cwd)


def _root(run: Run) -> str | None:
    roots = (stated.data.get("root") for stated in run.stated if stated.event == "run.context")
    return next((root for root in roots if isinstance(root, str) and root), None)


def _count(file: Mapping[str, Any], key: str) -> int | None:
    count = file.get(key)
    return count if isinstance(count, int) else None
