"""Artifacts that have some of the words of a question, and how much the words say of each.

A piece of a transcript is read with what stands around it: an answer is found by the words of the question before it.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from blackbird.retrieve import scoping
from blackbird.retrieve.model import Asked
from blackbird.retrieve.plan import Plan, Term
from blackbird.retrieve.weights import Limits, Weights
from blackbird.store.index import quoted
from blackbird.store.memory import Memory, Stored
from blackbird.store.texts import CONCLUDED, fields


class Words(NamedTuple):
    """The words that were searched for: which of them each artifact has, and how much each says."""

    #: `all`: every artifact here has all of them; `any`: some; `none`: nothing was found.
    way: str
    #: By the number of the artifact: the places of the words in the plan.
    held: dict[int, list[int]]
    worth: dict[int, float]
    pruned: tuple[str, ...] = ()
    #: What was not looked at, in words.
    left_out: tuple[str, ...] = ()


class Near(NamedTuple):
    """An artifact with what stands around it: by word, how often and how near."""

    number: int
    around: dict[int, float]


def matches(memory: Memory, plan: Plan, asked: Asked, documents: int, limits: Limits) -> Words:
    """What has all words, if that is enough; else what has some."""
    within = scoping.within(asked)
    late = _late(memory, plan, asked, limits)
    every = [term.expression for term in plan.terms]
    found = memory.matching(_all([within, quoted(CONCLUDED), *every]), limits.whole)
    more = memory.matching(_all([within, *every]), limits.whole)
    whole = {number: list(range(len(every))) for number in (*found, *more)}
    whole |= {number: held for number, held in late.held.items() if len(held) == len(every)}
    if len(whole) >= asked.k:
        is_cut = limits.whole in (len(found), len(more))
        cut = (f"all but the last {limits.whole} artifacts with all words",) if is_cut else ()
        return Words("all", whole, dict.fromkeys(range(len(every)), 1.0), left_out=(*cut, *late.left_out))
    some = _some(memory, plan, within, documents, limits)
    held = whole | late.held
    for place, numbers in some.found.items():
        for number in numbers:
            if number not in whole:
                held.setdefault(number, []).append(place)
    counts = Counter(place for places in late.held.values() for place in places)
    worth = {place: _worth(len(numbers) + counts[place], documents) for place, numbers in some.found.items()}
    # What was left out counts where it is known to stand: in artifacts that have all words, or are not indexed yet.
    least = _worth(limits.most(documents), documents)
    worth |= {place: least for place in range(len(every)) if place not in worth}
    return Words("any" if held else "none", held, worth, some.pruned, (*some.left_out, *late.left_out))


def coarse(words: Words, concluded: Iterable[int], limits: Limits) -> list[int]:
    """The artifacts whose words say most, and those among what was concluded."""
    value = {number: sum(words.worth[place] for place in held) for number, held in words.held.items()}

    def best(numbers: Iterable[int]) -> list[int]:
        return heapq.nlargest(limits.coarse, numbers, key=lambda number: (value[number], number))

    return list(dict.fromkeys([*best(value), *best(number for number in concluded if number in value)]))


def concluded(memory: Memory, plan: Plan, words: Words, within: str, limits: Limits) -> list[int]:
    """Which of the artifacts are no transcript, if there are too many for all of them to be looked at."""
    if len(words.held) <= limits.coarse:
        return []
    searched = [plan.terms[place].expression for place in words.worth if plan.terms[place].word not in words.pruned]
    some = f"({' OR '.join(searched)})" if searched else ""
    return memory.matching(_all([within, quoted(CONCLUDED), some]), limits.occurrences)


def neighbourhoods(memory: Memory, words: Words, numbers: Sequence[int], weights: Weights) -> list[Near]:
    """Each artifact with what stands around it; and the neighbours of each, which may be what is sought."""
    around: dict[int, dict[int, float]] = {number: {} for number in numbers}
    for stretch in memory.stretches(numbers, len(weights.window)):
        for number in stretch.values():
            around.setdefault(number, {})
        for place, number in stretch.items():
            for distance, weight in enumerate(weights.window, 1):
                other = stretch.get(place + distance)
                if other is not None:
                    _lend(words.held.get(number, ()), around[other], weight)
                    _lend(words.held.get(other, ()), around[number], weight)
    return [Near(number, found) for number, found in around.items() if found or number in words.held]


def _lend(held: Iterable[int], around: dict[int, float], weight: float) -> None:
    for word in held:
        around[word] = around.get(word, 0.0) + weight


def value(
    own: Mapping[int, float], around: Mapping[int, float], worth: Mapping[int, float], saturation: float
) -> float:
    """How much the words say of an artifact: one if each stands in it, once and nowhere around."""
    total = sum(worth.values())
    found = 0.0
    for word in own.keys() | around.keys():
        weight = own.get(word, 0.0) + around.get(word, 0.0)
        found += worth[word] * weight / (weight + saturation)
    return found * (1 + saturation) / total if total else 0.0


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
    held: dict[int, list[int]]
    left_out: tuple[str, ...] = ()


def _late(memory: Memory, plan: Plan, asked: Asked, limits: Limits) -> _Late:
    """What waits for the index, read without one."""
    waiting = memory.waiting(limits.waiting)
    cut = (f"all but the last {limits.waiting} artifacts that are not indexed yet",)
    found = ((number, each) for number, each in waiting.items() if scoping.is_asked(each.artifact, asked))
    held = {number: held for number, each in found if (held := _held(memory, plan.terms, each))}
    return _Late(held, cut if len(waiting) == limits.waiting else ())


def _held(memory: Memory, terms: Sequence[Term], stored: Stored) -> list[int]:
    stems = set(memory.tokenizer.stems("\n".join(fields(stored.artifact)[1:])))
    return [place for place, term in enumerate(terms) if term.stands(stems)]


def _worth(count: int, documents: int) -> float:
    return math.log(1 + (max(documents, count) - count + 0.5) / (count + 0.5))


def _all(expressions: Iterable[str]) -> str:
    return " AND ".join(filter(None, expressions))
