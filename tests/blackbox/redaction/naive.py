"""A plain reading of docs/formats/redaction-1.md, slow and obvious, which the real engine is compared with."""

import math
import re
from collections import Counter
from collections.abc import Iterator

from blackbox.redaction.redactor import Found
from blackbox.redaction.rules import Block, Entropy, Rule

_MARKER = re.compile(rb"\[redacted:[a-z][a-z0-9_]*\]")
_NEEDS = {"upper": range(0x41, 0x5B), "lower": range(0x61, 0x7B), "digit": range(0x30, 0x3A)}


def find(items: tuple[Rule | Block | Entropy, ...], data: bytes) -> list[Found]:
    """Steps 1 to 4 of the page."""
    spans: list[tuple[int, int, int]] = []
    markers = [match.span() for match in _MARKER.finditer(data)]
    for rank, item in enumerate(items):
        if isinstance(item, Block):
            spans += ((start, rank, end) for start, end in _of_block(item, data))
            continue
        found = _of_rule(item, data) if isinstance(item, Rule) else _of_entropy(item, data)
        spans += (
            (start, rank, end)
            for start, end, begin in found
            if not any(end >= first and start <= last for first, last in markers)
            and not any(first <= begin < last for first, last in markers)
        )
    kept: list[Found] = []
    for start, rank, end in sorted(spans):
        if kept and start < kept[-1].end:
            kept[-1] = kept[-1]._replace(end=max(end, kept[-1].end))
        else:
            kept.append(Found(start, end, items[rank].kind))
    return kept


def _of_rule(rule: Rule, data: bytes) -> Iterator[tuple[int, int, int]]:
    pattern = re.compile(rule.pattern.encode(), re.IGNORECASE if rule.fold else 0)
    for match in pattern.finditer(data):
        start, end = match.span("secret" if "secret" in pattern.groupindex else 0)
        if not _is_ignored(rule.ignore, data[start:end]):
            yield start, end, match.start()


def _of_block(block: Block, data: bytes) -> Iterator[tuple[int, int]]:
    begin, end, body = (re.compile(text.encode()) for text in (block.begin, block.end, block.body))
    position = 0
    while first := begin.search(data, position):
        position = first.end()
        last = end.search(data, position, position + block.limit) or body.match(data, position)
        if last:
            position = last.end()
            yield first.start(), position


def _of_entropy(entry: Entropy, data: bytes) -> Iterator[tuple[int, int, int]]:
    alphabet = entry.alphabet.encode()
    start = 0
    while start < len(data):
        if data[start] not in alphabet:
            start += 1
            continue
        end = start
        while end < len(data) and data[end] in alphabet:
            end += 1
        if _is_random(entry, data[start:end]) and not any(data[:start].endswith(b.encode()) for b in entry.behind):
            yield start, end, start
        start = end


def _is_random(entry: Entropy, word: bytes) -> bool:
    if not entry.least <= len(word) <= entry.most or _is_ignored(entry.ignore, word):
        return False
    if not all(any(byte in _NEEDS[need] for byte in word) for need in entry.needs):
        return False
    left = _term(len(word)) - sum(_term(count) for count in Counter(word).values())
    return left * 1000 >= entry.bits * len(word) * 65536


def _term(count: int) -> int:
    return math.floor(65536 * count * math.log2(count))


def _is_ignored(patterns: tuple[str, ...], secret: bytes) -> bool:
    return any(re.fullmatch(pattern.encode(), secret) for pattern in patterns)
