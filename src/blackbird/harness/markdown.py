"""A plan in Markdown: headings and lists as a tree of tasks, check boxes as their states, text as descriptions."""

import re
from typing import NamedTuple

from blackbird.artifacts.plan import State
from blackbird.harness.drafts import Draft, Written
from blackbox.errors import UsageError

_HEADING = re.compile(r"(#{1,6})\s+(\S.*)$")
_ENTRY = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])\s+(.*)$")
_BOX = re.compile(r"\[([ xX~-])\](?:\s+(.*))?$")
_ID = re.compile(r"\{#([^\s{}]+)\}$")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_BOLD = re.compile(r"(\*\*|__)(.+)\1$")
_STATES = {"x": State.DONE, "X": State.DONE, "~": State.DROPPED, "-": State.DROPPED}
_TAB = 4
#: Entries stand below all headings.
_DEEPEST_HEADING = 6


class _Open(NamedTuple):
    """A task that may get parts: by the level of its heading, or by how far its entry is indented."""

    level: int
    draft: Draft
    words: list[str]


def read(text: str) -> Written:
    """A plan in Markdown. A first heading that all else stands below is what the plan is for, and no task.

    Raises `UsageError` if there is no task in it.
    """
    root = Draft(title="")
    opened = [_Open(-1, root, [])]
    all_: list[_Open] = []
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark is not None and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            opened[-1].words.append(line.strip())
            continue
        found = _task(line) if not fence else None
        if found is None:
            _describe(opened, line)
            continue
        while opened[-1].level >= found.level:
            opened.pop()
        opened[-1].draft.tasks.append(found.draft)
        opened.append(found)
        all_.append(found)
    for task in all_:
        task.draft.description = "\n".join(task.words).strip() or None
    return _titled(root, all_)


def _task(line: str) -> _Open | None:
    heading = _HEADING.match(line)
    if heading is not None:
        return _Open(len(heading[1]) - 1, _draft(heading[2].rstrip().rstrip("#"), None), [])
    entry = _ENTRY.match(line)
    if entry is None:
        return None
    box = _BOX.match(entry[2])
    title, state = (box[2] or "", _STATES.get(box[1])) if box is not None else (entry[2], None)
    if not title.strip():
        return None
    return _Open(_DEEPEST_HEADING + len(entry[1].expandtabs(_TAB)), _draft(title, state), [])


def _draft(text: str, state: State | None) -> Draft:
    text = text.strip()
    named = _ID.search(text)
    title = text[: named.start()].strip() if named is not None else text
    bold = _BOLD.fullmatch(title)
    return Draft(
        title=bold[2] if bold is not None else title, id=named[1] if named is not None else None, state=state
    )


def _describe(opened: list[_Open], line: str) -> None:
    """A text belongs to the task above it; one at the margin behind an empty line, to the heading."""
    words = opened[-1].words
    is_apart = bool(line.strip()) and not line[0].isspace() and bool(words) and not words[-1]
    while is_apart and opened[-1].level >= _DEEPEST_HEADING:
        opened.pop()
    opened[-1].words.append(line.strip())


def _titled(root: Draft, found: list[_Open]) -> Written:
    if not found:
        raise UsageError("there is no task in this plan", "write tasks as headings or as entries of a list")
    first = found[0]
    is_title = len(root.tasks) == 1 and first.level < _DEEPEST_HEADING and bool(first.draft.tasks)
    return Written(tasks=first.draft.tasks, goal=first.draft.title) if is_title else Written(tasks=root.tasks)
