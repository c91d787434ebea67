"""How much something has to do with the task ahead: its words, its files and symbols, how new and how sure it is.

All weights stand here. They order what is in one section; which section something is in, its type alone decides.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from blackbird.artifacts import paths

#: A share of the task's words, all of them found, weighs as much as so many steps back in time.
_WORDS = 3.0
#: For a file or a symbol that the task names.
_NAMED = 4.0
#: The newest counts this much more than the oldest.
_RECENT = 2.0
_OWN_TASK = 1.0
#: A description that is longer has said what it is about.
_LONGEST = 2_400

#: A word without what English adds at its end; crude, and the same on both sides.
_STEM = re.compile(r"(?<![^\W_])([^\W_]{3,}?)(?:ations?|ings?|ers|ies|ied|ed|es|er|s|e)?(?![^\W_])")
#: camelCase and snake_case, a dotted name, a call.
_SYMBOL = re.compile(r"\b[A-Za-z_]\w*(?:[._]\w+)+\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z]+[A-Z]\w*\b|\b\w+(?=\(\))")
_STOPPED = frozenset(
    _STEM.findall(
        "a an and are as at be but by can do does for from had has have how if in into is it its let like make more"
        " must new no not of on or our please should so than that the their them then there they this to up us use"
        " used using want was we what when where which while will with would you your add all also any each just need"
        " now one only some"
    )
)


class Task(NamedTuple):
    """The task ahead, as far as it is told: its words, and the files and symbols that it names."""

    words: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    id: str | None = None


class Weight(NamedTuple):
    """How much something matters, and in words why."""

    score: float
    why: tuple[str, ...]


def task(description: str | None, identifier: str | None = None) -> Task:
    """What a description tells of a task."""
    if not description:
        return Task(id=identifier)
    return Task(words(description), names(description), identifier)


def names(text: str) -> frozenset[str]:
    """The files and symbols that a text names, in small letters; of a path, its last part too."""
    found = {path.lower() for path in paths.mentioned(text)}
    found |= {symbol.lower() for symbol in _SYMBOL.findall(text)}
    return frozenset(found | {name.rpartition("/")[2] for name in found})


def weigh(
    ahead: Task, text: str, files: Iterable[str] = (), *, age: float = 0.0, task_id: str | None = None
) -> Weight:
    """`age` is 0 for the newest and 1 for the oldest of its kind."""
    score, why = _RECENT * (1.0 - age), []
    shared = sorted(ahead.words & words(text))
    if shared:
        score += _WORDS * len(shared) / len(ahead.words)
        why.append(f"words: {', '.join(shared[:4])}")
    said = f"{text}\n{' '.join(files)}"
    lower = said.lower()
    known = names(said) if any(name in lower for name in ahead.names) else frozenset()
    named = sorted(ahead.names & known, key=lambda name: (-len(name), name))
    if named:
        score += _NAMED
        why.append(f"names {named[0]}")
    if ahead.id is not None and task_id == ahead.id:
        score += _OWN_TASK
        why.append("the same task")
    return Weight(score, tuple(why))


def ages(times: Sequence[int | None]) -> list[float]:
    """For each of these times how old it is among them, from 0 to 1; by rank, so that no pause counts."""
    order = sorted({at for at in times if at is not None}, reverse=True)
    rank = {at: place / len(order) for place, at in enumerate(order)}
    return [rank[at] if at is not None else 1.0 for at in times]


def words(text: str) -> frozenset[str]:
    """The words of a text that say something, without their endings."""
    return frozenset(_STEM.findall(text[:_LONGEST].lower())) - _STOPPED
