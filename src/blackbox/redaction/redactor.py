"""Text in, text without secrets out, with what was found."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from blackbox.redaction.finders import BlockFinder, EntropyFinder, Hit, RuleFinder, Span, Whole
from blackbox.redaction.rules import Block, Entropy, Item, Rule, RuleClass, RuleSet, built_in
from blackbox.redaction.search import Positions

_MARKER = re.compile(rb"\[redacted:[a-z][a-z0-9_]*\]")


class Found(NamedTuple):
    """A secret: where it stands in the bytes, and its kind."""

    start: int
    end: int
    kind: str


class Redacted(NamedTuple):
    """A text without its secrets, and how many of each kind it had."""

    text: str
    counts: dict[str, int]


class Redactor:
    """Finds and hides secrets by the rules that are on."""

    def __init__(
        self,
        rules: RuleSet | None = None,
        *,
        on: Collection[str] = (),
        off: Collection[str] = (),
        more: tuple[Rule, ...] = (),
        allow: tuple[str, ...] = (),
    ) -> None:
        """`on` and `off` switch classes, `more` are the user's rules, `allow` are patterns of secrets to keep."""
        self._rules = rules or built_in()
        self._on, self._off = frozenset(on), frozenset(off)
        self._more, self._allow = more, allow
        #: The classes as they are switched.
        self.classes = tuple(
            RuleClass(entry.name, (entry.on or entry.name in on) and entry.name not in off, entry.help)
            for entry in self._rules.classes
        )
        silent = {entry.name for entry in self.classes if not entry.on}.union(off)
        #: What is looked for, by rank.
        self.items: tuple[Item, ...] = tuple(
            item for item in (*self._rules.items, *more) if item.class_name not in silent
        )

    @staticmethod
    def nothing() -> "Redactor":
        """A redactor that finds nothing."""
        return Redactor(RuleSet(built_in().version, (), (), ()))

    @property
    def version(self) -> str:
        """The version of the rules, to be kept beside what was redacted."""
        return self._rules.version

    def without(self, off: Collection[str]) -> "Redactor":
        """The same redactor with some classes switched off."""
        return self._switched((), off)

    def for_profile(self, name: str) -> "Redactor":
        """The same redactor for one use, which the rule file names. What was switched off before stays off."""
        profile = next(profile for profile in self._rules.profiles if profile.name == name)
        return self._switched(profile.on, profile.off)

    def for_text(self, data: bytes) -> "Redactor":
        """A redactor of the rules that can find something in `data`, where it finds what this one finds.

        To prepare all rules takes longer than to look at a short text: whoever has no more than that prepares these.
        """
        lower = data.lower()
        narrowed = self._switched((), ())
        narrowed.items = tuple(
            item for item, needles in self._needles if not needles or any(needle in lower for needle in needles)
        )
        return narrowed

    @cached_property
    def _needles(self) -> list[tuple[Item, list[bytes]]]:
        """What is looked for, with the words in lower case of which one stands in each match; none: nobody knows."""
        return [
            (item, [anchor.encode().lower() for anchor in item.anchors] if isinstance(item, Rule) else [])
            for item in self.items
        ]

    def _switched(self, on: Collection[str], off: Collection[str]) -> "Redactor":
        return Redactor(
            self._rules, on=self._on.union(on), off=self._off.union(off), more=self._more, allow=self._allow
        )

    def find(self, data: bytes) -> list[Found]:
        """The secrets in `data`, in order and without overlap."""
        return merge(Found(start, end, self.items[rank].kind) for start, rank, end in sorted(self._spans(data)))

    def redact_bytes(self, data: bytes) -> tuple[bytes, dict[str, int]]:
        """`data` with each secret replaced by its marker, and the count of each kind."""
        found = self.find(data)
        return (replace(data, found), count(found)) if found else (data, {})

    def redact(self, text: str) -> Redacted:
        """`text` with each secret replaced by its marker."""
        found = self.find(data := _encode(text))
        return Redacted(_decode(replace(data, found)), count(found)) if found else Redacted(text, {})

    def redact_value(self, key: str, value: str) -> Redacted:
        """The value of `key=value`: a name such as `password` tells what its value is."""
        data = _encode(value)
        # In quotes a value may hold spaces; one that has quotes itself is read as on a command line.
        quote = b"" if any(sign in data for sign in (b'"', b"\\", b"\n")) else b'"'
        lead = _encode(key) + b"=" + quote
        size = len(lead)
        found = [
            Found(max(0, start - size), min(end - size, len(data)), kind)
            for start, end, kind in self.find(lead + data + quote)
            if end > size and start < size + len(data)
        ]
        return Redacted(_decode(replace(data, found)), count(found)) if found else Redacted(value, {})

    @cached_property
    def _anchored(self) -> list[tuple[int, RuleFinder]]:
        """The rules with anchors, each with its rank. They are only asked where one of their anchors stands."""
        return [
            (rank, RuleFinder(item))
            for rank, item in enumerate(self.items)
            if isinstance(item, Rule) and item.anchors
        ]

    @cached_property
    def _others(self) -> list[tuple[int, RuleFinder | BlockFinder | EntropyFinder]]:
        """All that has to look at every text, each with its rank."""
        found: list[tuple[int, RuleFinder | BlockFinder | EntropyFinder]] = []
        for rank, item in enumerate(self.items):
            if isinstance(item, Block):
                found.append((rank, BlockFinder(item)))
            elif isinstance(item, Entropy):
                found.append((rank, EntropyFinder(item)))
            elif not item.anchors:
                found.append((rank, RuleFinder(item)))
        return found

    @cached_property
    def _positions(self) -> Positions:
        return Positions([item for item in self.items if isinstance(item, Rule) and item.anchors])

    @cached_property
    def _allowed(self) -> Whole:
        return Whole(self._allow)

    def _spans(self, data: bytes) -> Iterator[tuple[int, int, int]]:
        """Each span that a rule found, as its start, its rank and its end."""
        markers = [match.span() for match in _MARKER.finditer(data)] if b"[redacted:" in data else []
        for rank, (start, end, begin) in self._candidates(data):
            if markers and not isinstance(self.items[rank], Block) and _explain(markers, start, end, begin):
                continue
            if not self._allowed.match(data[start:end]):
                yield start, rank, end

    def _candidates(self, data: bytes) -> Iterator[tuple[int, Hit]]:
        """What each rule finds by itself, with its rank."""
        for number, positions in self._positions.find(data).items():
            rank, finder = self._anchored[number]
            for hit in finder.find(data, positions):
                yield rank, hit
        for rank, other in self._others:
            for hit in other.find(data):
                yield rank, hit


def merge(found: Iterable[Found]) -> list[Found]:
    """Spans in order of their first byte, those that overlap joined into one of the first one's kind."""
    kept: list[Found] = []
    for secret in found:
        if kept and secret.start < kept[-1].end:
            kept[-1] = kept[-1]._replace(end=max(secret.end, kept[-1].end))
        else:
            kept.append(secret)
    return kept


def replace(data: bytes, found: Sequence[Found]) -> bytes:
    """`data` with a marker for each secret."""
    parts: list[bytes] = []
    behind = 0
    for start, end, kind in found:
        parts += (data[behind:start], marker(kind))
        behind = end
    return b"".join((*parts, data[behind:]))


def marker(kind: str) -> bytes:
    """What stands in the place of a secret."""
    return b"[redacted:%b]" % kind.encode()


def count(found: Sequence[Found]) -> dict[str, int]:
    """How many secrets there are of each kind."""
    return dict(Counter(secret.kind for secret in found))


def _explain(markers: list[Span], start: int, end: int, begin: int) -> bool:
    """Whether a secret was found because of a marker that stands in the text already.

    It overlaps one or has no byte between it and one, or the match that led to it began in one.
    """
    at = bisect_left(markers, (start, 0))
    if (at < len(markers) and markers[at][0] <= end) or (at > 0 and markers[at - 1][1] >= start):
        return True
    at = bisect_right(markers, begin, key=itemgetter(0))
    return at > 0 and begin < markers[at - 1][1]


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
