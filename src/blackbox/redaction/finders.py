"""What one rule, one block and one entropy entry find in a text; each compiles its patterns when first needed."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from blackbox.redaction.patterns import literal_prefix, parse
from blackbox.redaction.rules import Block, Entropy, Rule
from blackbox.redaction.search import table_of, words

Span = tuple[int, int]
#: The first byte of a secret, the byte behind its last, and where the match began that led to it.
Hit = tuple[int, int, int]
_NEEDS = {"upper": re.compile(b"[A-Z]"), "lower": re.compile(b"[a-z]"), "digit": re.compile(b"[0-9]")}


class Whole:
    """Patterns that are held against whole secrets."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._texts = patterns

    @cached_property
    def _patterns(self) -> list[re.Pattern[bytes]]:
        return [re.compile(text.encode()) for text in self._texts]

    def match(self, secret: bytes) -> bool:
        """Whether one of the patterns is the whole secret."""
        return any(pattern.fullmatch(secret) for pattern in self._patterns)


class RuleFinder:
    """Finds by a pattern."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._ignore = Whole(rule.ignore)

    @cached_property
    def _pattern(self) -> re.Pattern[bytes]:
        return re.compile(self._rule.pattern.encode(), re.IGNORECASE if self._rule.fold else 0)

    def find(self, data: bytes, positions: list[int] | None = None) -> Iterator[Hit]:
        """The secrets; `positions` are the only places where a match can begin, None is anywhere."""
        matches = self._pattern.finditer(data) if positions is None else self._matches_at(data, positions)
        group = "secret" if "secret" in self._pattern.groupindex else 0
        for match in matches:
            start, end = match.span(group if match[group] is not None else 0)
            if not self._ignore.match(data[start:end]):
                yield start, end, match.start()

    def _matches_at(self, data: bytes, positions: list[int]) -> Iterator[re.Match[bytes]]:
        match_at = self._pattern.match
        behind = 0
        for position in sorted(positions):
            if position >= behind and (match := match_at(data, position)):
                behind = match.end()
                yield match


class BlockFinder:
    """Finds from a begin to an end."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._begin, self._end, self._body = (
            re.compile(text.encode()) for text in (block.begin, block.end, block.body)
        )
        self._begin_literal = literal_prefix(parse(block.begin))
        self._end_literal = literal_prefix(parse(block.end))

    def find(self, data: bytes) -> Iterator[Hit]:
        """The blocks."""
        position = next_end = 0
        while True:
            # A literal is found much faster than a pattern, and in most texts there is none.
            position = data.find(self._begin_literal, position)
            if position < 0:
                return
            begin = self._begin.match(data, position)
            if begin is None:
                position += 1
                continue
            position = begin.end()
            if 0 <= next_end < position:  # else it is still ahead, and many begins share one search
                next_end = data.find(self._end_literal, position)
            limit = position + self._block.limit
            last = self._end.search(data, next_end, limit) if 0 <= next_end < limit else None
            last = last or self._body.match(data, position)
            if last:
                position = last.end()
                yield begin.start(), position, begin.start()


class EntropyFinder:
    """Finds words that look random."""

    def __init__(self, entry: Entropy) -> None:
        self._entry = entry
        self._ignore = Whole(entry.ignore)
        self._table = table_of(entry.alphabet.encode())
        self._behind = tuple(text.encode() for text in entry.behind)
        self._longest_behind = max(map(len, self._behind), default=0)
        self._needs = [_NEEDS[need] for need in entry.needs]

    @cached_property
    def _terms(self) -> list[int]:
        """c·log2(c) in 1/65536 bit, for each count c that a word can have."""
        return [0, *(math.floor(65536 * count * math.log2(count)) for count in range(1, self._entry.most + 1))]

    def find(self, data: bytes) -> Iterator[Hit]:
        """The words."""
        seen: dict[bytes, bool] = {}
        for start, end in words(data, self._table, self._entry.least):
            if end - start <= self._entry.most:
                word = data[start:end]
                secret = seen.get(word)
                if secret is None:
                    secret = seen[word] = self._is_random(word) and not self._ignore.match(word)
                if secret and not data.endswith(self._behind, max(0, start - self._longest_behind), start):
                    yield start, end, start

    def _is_random(self, word: bytes) -> bool:
        if not all(need.search(word) for need in self._needs):
            return False
        terms = self._terms
        left = terms[len(word)] - sum(terms[count] for count in Counter(word).values())
        return left * 1000 >= self._entry.bits * len(word) * 65536
