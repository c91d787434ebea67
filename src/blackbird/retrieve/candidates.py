"""Artifacts that are worth a look, and how much the words of a question say of each.

A piece of a transcript is read with what stands around it: an answer is found by the words of the question before it.
What was concluded in such a piece is read with it, too: "yes, do that" is found by what it answers.
"""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from blackbird.artifacts.model import Artifact, Segment
from blackbird.artifacts.shortening import one_line
from blackbird.retrieve.occurrences import Words
from blackbird.retrieve.weights import Weights
from blackbird.store.memory import Memory


class Near(NamedTuple):
    """An artifact with what stands around it: by word, how often and how near."""

    number: int
    around: dict[int, float]


def coarse(words: Words, concluded: Iterable[int], most: int) -> list[int]:
    """The artifacts whose words say most, and those among what was concluded."""
    apart = {number: words.held[number] for number in concluded if number in words.held}
    return list(dict.fromkeys([*_best(words.held, words.worth, most), *_best(apart, words.worth, most)]))


def _best(held: Mapping[int, int], worth: Sequence[float], most: int) -> list[int]:
    """Those whose words say most. Many have the same words, so they are sorted together."""
    groups: dict[int, list[int]] = {}
    for number, bits in held.items():
        groups.setdefault(bits, []).append(number)
    found: list[int] = []
    for bits in sorted(groups, key=lambda bits: (-sum(worth[place] for place in places(bits)), bits)):
        found += heapq.nlargest(most - len(found), groups[bits])
        if len(found) >= most:
            break
    return found


@lru_cache(maxsize=4096)
def places(bits: int) -> tuple[int, ...]:
    """The words that the bits stand for."""
    return tuple(place for place in range(bits.bit_length()) if bits >> place & 1)


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
                    _lend(words.held.get(number, 0), around[other], weight)
                    _lend(words.held.get(other, 0), around[number], weight)
    return [Near(number, found) for number, found in around.items() if found or number in words.held]


def stands_in(artifact: Artifact, piece: Artifact) -> bool:
    """Whether what an artifact quotes stands in a piece of a transcript."""
    if artifact.session != piece.session or not isinstance(piece.content, Segment):
        return False
    items = {pointer.item for pointer in piece.provenance}
    text = one_line(piece.content.text, len(piece.content.text))
    return any(
        pointer.item in items and one_line(pointer.quote, len(pointer.quote)) in text
        for pointer in artifact.provenance
    )


def lent(number: int, piece: Near, words: Words, share: float) -> Near:
    """What was concluded in a piece of a transcript, with what stands there and around it."""
    around = {place: weight * share for place, weight in piece.around.items()}
    _lend(words.held.get(piece.number, 0), around, share)
    return Near(number, around)


def _lend(bits: int, around: dict[int, float], weight: float) -> None:
    for place in places(bits):
        around[place] = around.get(place, 0.0) + weight


def value(own: Mapping[int, float], around: Mapping[int, float], worth: Sequence[float], saturation: float) -> float:
    """How much the words say of an artifact: one if each stands in it, once and nowhere around."""
    total = sum(worth)
    found = 0.0
    for place in sorted({*own, *around}):
        weight = own.get(place, 0.0) + around.get(place, 0.0)
        found += worth[place] * weight / (weight + saturation)
    return found * (1 + saturation) / total if total else 0.0
