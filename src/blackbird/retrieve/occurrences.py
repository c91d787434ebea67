"""Which artifacts have which words of a question: all of them if that is enough, else some of the rarer ones."""

import functools
import math
import operator
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from blackbird.retrieve import scoping
from blackbird.retrieve.model import Asked
from blackbird.retrieve.plan import Plan, Term
from blackbird.retrieve.weights import Limits
from blackbird.store.index import quoted
from blackbird.store.memory import Memory, Stored
from blackbird.store.texts import CONCLUDED, fields


class Words(NamedTuple):
    """The words that were searched for: which of them each artifact has, and how much each says."""

    #: `all`: every artifact here has all of them; `any`: some; `none`: nothing was found.
    way: str
    #: By the number of the artifact: a bit for each word of the plan.
    held: dict[int, int]
    #: For each word of the plan.
    worth: tuple[float, ...]
    pruned: tuple[str, ...] = ()
    #: Words that stand in no artifact of the scope.
    nowhere: tuple[str, ...] = ()
    #: What was not looked at, in words.
    left_out: tuple[str, ...] = ()


def find(memory: Memory, plan: Plan, asked: Asked, documents: int, limits: Limits) -> Words:
    """What has all words, if that is enough; else what has some."""
    within = scoping.within(asked)
    late = _late(memory, plan, asked, limits)
    expressions = [term.expression for term in plan.terms]
    every = (1 << len(expressions)) - 1
    found = memory.matching(_all([within, *expressions]), limits.whole)
    is_cut = len(found) == limits.whole
    more = memory.matching(_all([within, quoted(CONCLUDED), *expressions]), limits.whole) if is_cut else []
    held = dict.fromkeys((*found, *more), every)
    if len(held) + sum(bits == every for bits in late.held.values()) >= asked.k:
        cut = (f"all but the last {limits.whole} artifacts with all words",) if is_cut else ()
        held |= {number: bits for number, bits in late.held.items() if bits == every}
        return Words("all", held, (1.0,) * len(expressions), left_out=(*cut, *late.left_out))
    some = _some(memory, plan, within, documents, limits)
    held |= late.held
    for place, numbers in some.found.items():
        bit = 1 << place
        for number in numbers:
            held[number] = held.get(number, 0) | bit
    worth = tuple(_worth(place, some, late, documents, limits) for place in range(len(expressions)))
    nowhere = _nowhere(plan, some, late)
    return Words("any" if held else "none", held, worth, some.pruned, nowhere, (*some.left_out, *late.left_out))


def concluded(memory: Memory, plan: Plan, asked: Asked, words: Words, limits: Limits) -> list[int]:
    """Which of the artifacts are no transcript, if there are too many for all of them to be looked at."""
    if len(words.held) <= limits.coarse:
        return []
    searched = [term.expression for term in plan.terms if term.word not in words.pruned]
    some = f"({(' OR ' if words.way == 'any' else ' AND ').join(searched)})" if searched else ""
    return memory.matching(_all([scoping.within(asked), quoted(CONCLUDED), some]), limits.occurrences)


class _Some(NamedTuple):
    found: dict[int, list[int]]
    pruned: tuple[str, ...]
    left_out: tuple[str, ...]


def _some(memory: Memory, plan: Plan, within: str, documents: int, limits: Limits) -> _Some:
    """For each word the artifacts that have it, without words that are in too many, the rarest first."""
    most = limits.most(documents)
    found = {
        place: memory.matching(_all([within, term.expression]), most + 1) for place, term in enumerate(plan.terms)
    }
    pruned = [place for place, numbers in found.items() if len(numbers) > most]
    unread, total = [], 0
    for place in sorted(found.keys() - set(pruned), key=lambda place: len(found[place])):
        if total and total + len(found[place]) > limits.occurrences:
            unread.append(place)
        total += len(found[place])
    for place in (*pruned, *unread):
        del found[place]
    left_out = []
    if pruned:
        left_out.append(f"words in more than {most} artifacts: {_listed(plan, pruned)}")
    if unread:
        left_out.append(f"words beyond {limits.occurrences} occurrences of rarer ones: {_listed(plan, unread)}")
    return _Some(found, tuple(plan.terms[place].word for place in sorted((*pruned, *unread))), tuple(left_out))


def _listed(plan: Plan, places: Iterable[int]) -> str:
    return ", ".join(plan.terms[place].word for place in sorted(places))


class _Late(NamedTuple):
    held: dict[int, int]
    left_out: tuple[str, ...] = ()


def _late(memory: Memory, plan: Plan, asked: Asked, limits: Limits) -> _Late:
    """What waits for the index, read without one."""
    waiting = memory.waiting(limits.waiting)
    cut = (f"all but the last {limits.waiting} artifacts that are not indexed yet",)
    found = ((number, each) for number, each in waiting.items() if scoping.is_asked(each.artifact, asked))
    held = {number: bits for number, each in found if (bits := _bits(memory, plan.terms, each))}
    return _Late(held, cut if len(waiting) == limits.waiting else ())


def _bits(memory: Memory, terms: Sequence[Term], stored: Stored) -> int:
    stems = set(memory.tokenizer.stems("\n".join(fields(stored.artifact)[1:])))
    return sum(1 << place for place, term in enumerate(terms) if term.stands(stems))


def _nowhere(plan: Plan, some: _Some, late: _Late) -> tuple[str, ...]:
    standing = functools.reduce(operator.or_, late.held.values(), 0)
    return tuple(
        plan.terms[place].word
        for place, numbers in sorted(some.found.items())
        if not numbers and not standing >> place & 1
    )


def _worth(place: int, some: _Some, late: _Late, documents: int, limits: Limits) -> float:
    """The rarer a word, the more it says. One that was left out counts where it is known to stand, and least."""
    found = some.found.get(place)
    if found is None:
        count = limits.most(documents)
    else:
        count = len(found) + sum(bits >> place & 1 for bits in late.held.values())
    return math.log(1 + (max(documents, count) - count + 0.5) / (count + 0.5))


def _all(expressions: Iterable[str]) -> str:
    return " AND ".join(filter(None, expressions))
