"""From a question to cards: the best first, each with why, and what was searched and left out for them."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from blackbird.artifacts.model import Segment
from blackbird.artifacts.shortening import one_line
from blackbird.config.units import counted
from blackbird.retrieve import candidates, occurrences, ranking, sameness, scoping
from blackbird.retrieve.candidates import Near
from blackbird.retrieve.cards import card
from blackbird.retrieve.model import Asked, Card, Found, Why
from blackbird.retrieve.occurrences import Words
from blackbird.retrieve.plan import Plan, Term, plan
from blackbird.retrieve.weights import LIMITS, RULINGS, WEIGHTS, Limits, Weights
from blackbird.store.memory import Memory, Stored
from blackbird.store.texts import Fields, fields
from blackbird.tokens import Counter

#: Words that are named as left out, and how much of each.
_MOST_NAMED = 8
_LONGEST_WORD = 80


def search(
    memory: Memory, asked: Asked, counter: Counter, *, weights: Weights = WEIGHTS, limits: Limits = LIMITS
) -> Found:
    """The artifacts that a question is about, as the memory is at this moment."""
    with memory.at_once():
        return _Search(memory, asked, counter, weights, limits).found()


class _Weighed(NamedTuple):
    stored: Stored
    near: Near
    score: float
    why: Why
    #: How many others say the same.
    same: int = 0


class _Search:
    """One search."""

    def __init__(self, memory: Memory, asked: Asked, counter: Counter, weights: Weights, limits: Limits) -> None:
        self._memory = memory
        self._asked = asked
        self._counter = counter
        self._weights = weights
        self._limits = msgspec.structs.replace(
            limits,
            coarse=max(limits.coarse, asked.k),
            read=max(limits.read, asked.k),
            close=max(limits.close, asked.k),
        )

    def found(self) -> Found:
        """The answer."""
        asked, limits = self._asked, self._limits
        planned = plan(asked.text, self._memory.tokenizer.tokens, limits.words)
        searched = self._searched()
        if not planned.terms or not searched:
            return Found(
                asked=asked,
                words=tuple(term.word for term in planned.terms),
                stopped=planned.stopped,
                searched=searched,
                left_out=self._left_out(planned, None, searched),
            )
        words = occurrences.find(self._memory, planned, asked, searched, limits)
        weighed = self._weigh(planned, words)
        cards = tuple(self._card(each, planned.terms) for each in weighed[: asked.k])
        return Found(
            asked=asked,
            cards=cards,
            way=words.way,
            words=tuple(term.word for term in planned.terms),
            stopped=planned.stopped,
            pruned=words.pruned,
            nowhere=words.nowhere,
            searched=searched,
            weighed=len(words.held),
            left_out=self._left_out(planned, words, searched),
            tokens=sum(self._counter.count(f"{each.title} {each.snippet}") for each in cards),
        )

    def _weigh(self, planned: Plan, words: Words) -> list[_Weighed]:
        """All that is worth a look, weighed by its words and then closely; the best first."""
        weights, limits = self._weights, self._limits
        kept = occurrences.concluded(self._memory, planned, self._asked, words, limits)
        chosen = candidates.coarse(words, kept, limits.coarse)
        near = candidates.neighbourhoods(self._memory, words, chosen, weights)
        values = {each.number: self._value(each, words) for each in near}
        ranked = sorted(near, key=lambda each: (-values[each.number], each.number))
        concluded = set(kept)
        read = [*ranked[: limits.read], *[each for each in ranked if each.number in concluded][: limits.read]]
        stored = {
            number: each
            for number, each in self._memory.numbered(each.number for each in read).items()
            if scoping.is_asked(each.artifact, self._asked)
        }
        newest = max((each.artifact.at for each in stored.values() if each.artifact.at is not None), default=None)
        weighed = [
            self._weighed(stored[each.number], each, values[each.number], newest, {})
            for each in {one.number: one for one in read}.values()
            if each.number in stored
        ]
        weighed += self._made_there(weighed, words, newest)
        weighed = _told_apart(_each_once(weighed))
        looked = [self._close(each, planned.terms, words, newest) for each in weighed[: limits.close]]
        return sorted(looked, key=_order)

    def _made_there(self, weighed: list[_Weighed], words: Words, newest: int | None) -> list[_Weighed]:
        """The rulings that were made in these pieces of transcripts and hold, each read with the talk around it."""
        pieces = [each for each in weighed if isinstance(each.stored.artifact.content, Segment)]
        moments = {(of.session, of.at) for each in pieces if (of := each.stored.artifact).at is not None}
        rulings = self._memory.made_at(moments, RULINGS, self._limits.made)
        holding = {
            number: each
            for number, each in rulings.items()
            if scoping.is_asked(each.artifact, self._asked) and not ranking.is_stale(each)
        }
        found = []
        for piece in pieces:
            made = [
                number
                for number, each in holding.items()
                if candidates.stands_in(each.artifact, piece.stored.artifact)
            ]
            for number in made:
                near = candidates.lent(number, piece.near, words, self._weights.lent / len(made))
                found.append(self._weighed(holding[number], near, self._value(near, words), newest, {}))
        return found

    def _value(self, near: Near, words: Words) -> float:
        own = dict.fromkeys(candidates.places(words.held.get(near.number, 0)), 1.0)
        return candidates.value(own, near.around, words.worth, self._weights.saturation)

    def _weighed(
        self, stored: Stored, near: Near, value: float, newest: int | None, matched: dict[str, tuple[str, ...]]
    ) -> _Weighed:
        artifact, weights = stored.artifact, self._weights
        why = Why(
            words=value,
            scope=ranking.of_scope(artifact, self._asked.scope, weights),
            recency=ranking.of_age(artifact.at, newest, weights),
            type=weights.of_type(artifact.type),
            state=weights.stale if ranking.is_stale(stored) else 1.0,
            matched=matched,
        )
        return _Weighed(stored, near, why.words * why.scope * why.recency * why.type * why.state, why)

    def _close(self, weighed: _Weighed, terms: tuple[Term, ...], words: Words, newest: int | None) -> _Weighed:
        """Read what an artifact says: in which field each word stands, and among how many others."""
        stems = {
            name: self._memory.tokenizer.stems(text) for name, text in _searchable(fields(weighed.stored.artifact))
        }
        sets = {name: frozenset(found) for name, found in stems.items()}
        weights = self._weights
        worth = {"paths": weights.paths, "symbols": weights.symbols, "errors": weights.errors}
        dilution = 1 + weights.dilution * math.log2(max(1.0, len(stems["text"]) / weights.length))
        own: dict[int, float] = {}
        matched: dict[str, tuple[str, ...]] = {}
        for name, found in sets.items():
            standing = [place for place, term in enumerate(terms) if term.stands(found)]
            if standing:
                matched[name] = tuple(terms[place].word for place in standing)
            for place in standing:
                own[place] = max(own.get(place, 0.0), worth.get(name, 1.0) / dilution)
        nearby = tuple(terms[place].word for place in sorted(weighed.near.around))
        if nearby:
            matched["nearby"] = nearby
        value = candidates.value(own, weighed.near.around, words.worth, weights.saturation)
        return self._weighed(weighed.stored, weighed.near, value, newest, matched)._replace(same=weighed.same)

    def _card(self, weighed: _Weighed, terms: tuple[Term, ...]) -> Card:
        return card(
            weighed.stored,
            self._counter,
            self._asked.max_snippet_tokens,
            score=round(weighed.score, 6),
            why=weighed.why,
            same=weighed.same,
            terms=terms,
            tokens=self._memory.tokenizer.tokens,
        )

    def _searched(self) -> int:
        """How many artifacts are in scope."""
        return self._memory.tally(sessions=scoping.only(self._asked.scope), kinds=self._asked.types)

    def _left_out(self, planned: Plan, words: Words | None, searched: int) -> tuple[str, ...]:
        """What was not looked at, in words."""
        others = self._memory.tally() - searched
        found = []
        if others:
            found.append(f"{counted(others, 'artifact')} outside of {scoping.named(self._asked)}")
        if planned.beyond:
            found.append(f"words beyond the first {self._limits.words}: {_listed(planned.beyond)}")
        if words is not None:
            found += words.left_out
        return tuple(found)


def _listed(words: Sequence[str]) -> str:
    """The first of some words, and how many more there are."""
    more = f" and {len(words) - _MOST_NAMED} more" if len(words) > _MOST_NAMED else ""
    return f"{', '.join(one_line(word, _LONGEST_WORD) for word in words[:_MOST_NAMED])}{more}"


def _each_once(weighed: list[_Weighed]) -> list[_Weighed]:
    """The best first, and each artifact once: with the surroundings that say most."""
    chosen: dict[str, _Weighed] = {}
    for each in sorted(weighed, key=_order):
        chosen.setdefault(each.stored.artifact.id, each)
    return list(chosen.values())


def _told_apart(weighed: list[_Weighed]) -> list[_Weighed]:
    """The first of those that say the same, which knows how many others do."""
    groups: dict[tuple[str, ...], list[_Weighed]] = {}
    for each in weighed:
        groups.setdefault(sameness.key(each.stored.artifact), []).append(each)
    return [group[0]._replace(same=len(group) - 1) for group in groups.values()]


def _order(weighed: _Weighed) -> tuple[float, int, str]:
    return -weighed.score, -(weighed.stored.artifact.at or 0), weighed.stored.artifact.id


def _searchable(found: Fields) -> list[tuple[str, str]]:
    return [(name, text) for name, text in found._asdict().items() if name != "scope"]
