"""Where the matches of many rules can begin, found with a few passes at the speed of memory.

A pattern is only tried where one of its anchors stands. Looking for each anchor in the whole text would still be too
slow, so the anchors go two ways. Most keys are one long stretch of letters, digits and few signs: such stretches are
cut out first, and their anchors are looked for in these alone. All others are found by a stem that they share
(`token`), in the text in lower case, and what follows the stem decides whether a pattern could match there.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from blackbox.redaction.patterns import ANY_BYTE, behind_anchors, least_run, parse
from blackbox.redaction.rules import Rule

_SIGNS = b"_.~-"
_STRETCH = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + _SIGNS
_STRETCH_MASK = sum(1 << byte for byte in _STRETCH)
#: As long as the shortest key that has a shape; shorter stretches are most of a text.
_LEAST_STRETCH = 20
#: Each is looked for once in the whole text. An anchor without one of them is looked for itself.
_STEMS = (
    b"pass", b"key", b"secret", b"token", b"session", b"auth", b"bearer ", b"cookie", b"pwd", b"sig=", b"://",
    b"webhook", b"signature", b"-u", b"-a ", b"-cli ", b"by '",
)  # fmt: skip


class _Place(NamedTuple):
    """An anchor, where the needle stands in it, and the numbers of the rules that it belongs to."""

    anchor: bytes
    offset: int
    rules: tuple[int, ...]


class _Stem(NamedTuple):
    """A needle with a look at the byte behind it, and the anchors that contain it."""

    pattern: re.Pattern[bytes]
    places: tuple[_Place, ...]


#: Where rules can match, by the number of the rule: positions in no order and perhaps repeated.
Places = dict[int, list[int]]


class Positions:
    """Finds where the rules can match."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        stretched: dict[bytes, list[int]] = {}
        plain: dict[bytes, list[int]] = {}
        gates: dict[bytes, int] = {}
        for number, rule in enumerate(rules):
            anchors = tuple(anchor.encode() for anchor in rule.anchors)
            node = parse(rule.pattern, fold=rule.fold)
            if not rule.fold and least_run(node, _STRETCH_MASK) >= _LEAST_STRETCH and all(map(_in_stretch, anchors)):
                for anchor in anchors:
                    stretched.setdefault(anchor, []).append(number)
                continue
            for anchor, mask in behind_anchors(node, anchors, fold=rule.fold).items():
                small = anchor.lower()
                plain.setdefault(small, []).append(number)
                gates[small] = gates.get(small, 0) | mask
        needles = _needles({_from_stretch(anchor) for anchor in stretched}, ())
        self._signed = _with_places([needle for needle in needles if set(needle) & set(_SIGNS)], stretched)
        self._unsigned = _with_places([needle for needle in needles if not set(needle) & set(_SIGNS)], stretched)
        self._stems = tuple(
            _Stem(re.compile(re.escape(needle) + _gate(needle, places, gates)), places)
            for needle, places in _with_places(_needles(plain, _STEMS), plain)
        )

    def find(self, data: bytes) -> Places:
        """For each rule that has one, the positions where an anchor of it stands."""
        found: Places = {}
        self._find_in_stretches(data, found)
        lower = data.lower()
        for stem in self._stems:
            _find_stem(lower, stem, found)
        return found

    def _find_in_stretches(self, data: bytes, found: Places) -> None:
        if not self._signed and not self._unsigned:
            return
        starts: dict[bytes, list[int]] = {}  # the same names stand in a log again and again
        for start, end in words(data, _STRETCH_TABLE, _LEAST_STRETCH):
            starts.setdefault(data[start:end], []).append(start)
        # Image data and hashes have no sign in them, and most anchors have one.
        signed = [stretch for stretch in starts if not stretch.isalnum()]
        for needles, stretches in ((self._signed, signed), (self._unsigned, list(starts))):
            joined = b" ".join(stretches)
            offsets = [0, *accumulate(len(stretch) + 1 for stretch in stretches)]
            for needle, places in needles:
                at = joined.find(needle)
                while at >= 0:
                    number = bisect_right(offsets, at) - 1
                    for start in starts[stretches[number]]:
                        _note(data, start + at - offsets[number], places, found)
                    at = joined.find(needle, at + 1)


def _find_stem(lower: bytes, stem: _Stem, found: Places) -> None:
    search = stem.pattern.search
    match = search(lower)
    while match:
        at = match.start()
        _note(lower, at, stem.places, found)
        match = search(lower, at + 1)


def _note(data: bytes, at: int, places: tuple[_Place, ...], found: Places) -> None:
    for anchor, offset, rules in places:
        if at >= offset and data.startswith(anchor, at - offset):
            for rule in rules:
                found.setdefault(rule, []).append(at - offset)


def words(data: bytes, table: bytes, least: int) -> list[tuple[int, int]]:
    """The stretches of at least `least` bytes that `table` maps to `a`, where it maps all others to a space."""
    mask = data.translate(table)
    needle = b"a" * least
    found = []
    start = mask.find(needle)
    while start >= 0:
        end = mask.find(b" ", start + least)
        if end < 0:
            end = len(mask)
        found.append((start, end))
        start = mask.find(needle, end)
    return found


def table_of(alphabet: bytes) -> bytes:
    """The table for `words` that finds words of an alphabet."""
    return bytes(0x61 if byte in alphabet else 0x20 for byte in range(256))


_STRETCH_TABLE = table_of(_STRETCH)


def _from_stretch(anchor: bytes) -> bytes:
    """The anchor without the bytes in front of the stretch."""
    return anchor.lstrip(bytes(set(range(256)) - set(_STRETCH)))


def _in_stretch(anchor: bytes) -> bool:
    inside = _from_stretch(anchor)
    return bool(inside) and all(byte in _STRETCH for byte in inside)


def _needles(anchors: Iterable[bytes], stems: Iterable[bytes]) -> list[bytes]:
    """A few byte strings of which each anchor contains at least one."""
    needles: list[bytes] = [stem for stem in stems if any(stem in anchor for anchor in anchors)]
    for anchor in sorted(anchors, key=lambda anchor: (len(anchor), anchor)):
        if not any(needle in anchor for needle in needles):
            needles.append(anchor)
    return needles


def _with_places(
    needles: list[bytes], anchors: dict[bytes, list[int]]
) -> tuple[tuple[bytes, tuple[_Place, ...]], ...]:
    return tuple(
        (
            needle,
            tuple(
                _Place(anchor, anchor.index(needle), tuple(rules))
                for anchor, rules in anchors.items()
                if needle in anchor
            ),
        )
        for needle in needles
    )


def _gate(needle: bytes, places: tuple[_Place, ...], behind: dict[bytes, int]) -> bytes:
    """A pattern for the byte (in lower case) behind the needle with which a match of some rule could go on."""
    mask = 0
    for anchor, offset, _ in places:
        end = offset + len(needle)
        mask |= 1 << anchor[end] if end < len(anchor) else behind[anchor]
    allowed = {bytes((byte,)).lower() for byte in range(256) if mask >> byte & 1}
    if mask == ANY_BYTE:  # then the match may also end here
        return b""
    return b"(?=[" + b"".join(b"\\x%02x" % byte[0] for byte in sorted(allowed)) + b"])"
