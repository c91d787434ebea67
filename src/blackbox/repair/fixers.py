"""The fixers: pure functions from a document to the edits that mend one kind of fault."""

import bisect
import re
from collections.abc import Callable, Iterable

import msgspec

from blackbox.check.lines import find_ascii_arrow
from blackbox.document.document import Document
from blackbox.document.line import Line
from blackbox.events.comments import Anchor, Condense, Metrics
from blackbox.repair.edits import Edit, apply_edits
from blackbox.session.matching import Matcher, Role
from blackbox.syntax.kinds import CALLS, PROSE, Kind
from blackbox.syntax.tokens import Token, lex
from blackbox.syntax.values import integer

_RANGE = re.compile(r'range="?(\d{1,18})(?:-(\d{1,18}))?"?', re.ASCII)
_STEPS_IN_RESULT = re.compile(r"\bsteps? (\d{1,18}(?:(?:, ?|-| and |, and )\d{1,18})*)(?!\d)", re.ASCII)
_NUMBER = re.compile(r"\d+", re.ASCII)
_END = '@end summary="added by blackbox fix: the log had no end"'


class Fixer(msgspec.Struct, frozen=True):
    """One kind of repair: its option, what it is called, and what it does to what."""

    name: str
    help: str
    verb: str
    noun: str
    find: Callable[[Document], list[Edit]]

    def told(self, count: int) -> str:
        """What was done: `Renumbered 119 step references`."""
        return f"{self.verb} {count} {self.noun}{'' if count == 1 else 's'}"


def renumber_steps(document: Document) -> list[Edit]:
    """Number steps 1, 2, 3 … in order of first use. Equal old numbers stay equal, and references follow."""
    places = [place for line in document.lines for place in _step_places(line)]
    if _is_later_part(document, places):
        return []
    numbers: dict[int, int] = {}
    for place in places:
        numbers.setdefault(place.number, len(numbers) + 1)
    edits = [_renumbered(place, numbers[place.number]) for place in places]
    known = sorted(numbers)
    for line in document.lines:
        edits += _reference_edits(line, numbers, known)
    return [edit for edit in edits if edit is not None]


def _is_later_part(document: Document, places: list["_Place"]) -> bool:
    """Whether the steps are in order and go on from another file: a rotated session counts through its parts."""
    steps = sorted({place.number for place in places})
    started = any(line.kind is Kind.LIFECYCLE and line.name == "start" for line in document.lines)
    in_order = [place.number for place in places] == sorted(place.number for place in places)
    return not started and in_order and len(steps) > 1 and steps[-1] - steps[0] == len(steps) - 1


class _Place(msgspec.Struct, frozen=True):
    line: int
    start: int
    end: int
    number: int


def _renumbered(place: _Place, number: int) -> Edit | None:
    return Edit(place.line, place.start, place.end, str(number)) if place.number != number else None


def _step_places(line: Line) -> list[_Place]:
    """Where a line states its own step: in its metadata, or as the step its metrics are for."""
    if "step=" not in line.source:
        return []
    if line.kind is Kind.COMMENT:
        matches = _steps(line, _comment_tokens(line)) if isinstance(line.event, Metrics) else []
    else:
        parts = line.parts
        called = () if line.kind in PROSE else parts.tokens
        matches = _steps(line, (*called, *parts.run_tokens, *parts.metrics))
    return [_Place(line.number, match.start(), match.end(), int(match[0])) for match in matches]


def _steps(line: Line, tokens: Iterable[Token]) -> list[re.Match[str]]:
    """The numbers of the pairs `step=N`. What is quoted as a whole is text."""
    found = []
    for token in tokens:
        if token.key == "step" and not token.quoted_key and integer(token.text) is not None:
            match = _NUMBER.search(line.source, token.start + len("step="), token.end)
            if match is not None and int(match[0]) == integer(token.text):
                found.append(match)
    return found


def _comment_tokens(line: Line) -> list[Token]:
    return lex(line.source, line.source.index("#") + 1, len(line.source), escaped=line.escaped)


def _reference_edits(line: Line, numbers: dict[int, int], known: list[int]) -> list[Edit | None]:
    if line.kind is Kind.COMMENT and isinstance(line.event, Anchor):
        return [_follow(line, match, numbers) for match in _steps(line, _comment_tokens(line))]
    if line.kind is Kind.COMMENT and isinstance(line.event, Condense):
        ranges = (_RANGE.fullmatch(line.source, token.start, token.end) for token in _comment_tokens(line))
        return [edit for match in ranges if match for edit in _range_edits(line, match, numbers, known)]
    if line.kind is Kind.RECALL and line.parts.result_start >= 0:
        parts = line.parts
        return [
            _follow(line, number, numbers)
            for match in _STEPS_IN_RESULT.finditer(line.source, parts.result_start, parts.result_end)
            for number in _NUMBER.finditer(line.source, match.start(1), match.end(1))
        ]
    return []


def _follow(line: Line, match: re.Match[str], numbers: dict[int, int]) -> Edit | None:
    old = int(match[0])
    new = numbers.get(old, old)
    return Edit(line.number, match.start(), match.end(), str(new)) if new != old else None


def _range_edits(line: Line, match: re.Match[str], numbers: dict[int, int], known: list[int]) -> list[Edit | None]:
    """A range keeps the steps it covers: its ends move to the first and last of them."""
    first, last = int(match[1]), int(match[2] or match[1])
    covered = known[bisect.bisect_left(known, first) : bisect.bisect_right(known, last)]
    if not covered:
        return []
    new = [numbers[step] for step in covered]
    text = f"{min(new)}-{max(new)}" if match[2] else str(new[0])
    end = match.end(2) if match[2] else match.end(1)
    return [Edit(line.number, match.start(1), end, text)] if (min(new), max(new)) != (first, last) else []


def add_end(document: Document) -> list[Edit]:
    """Close a session that was started and never ended."""
    names = {line.name for line in document.lines if line.kind is Kind.LIFECYCLE}
    if "start" not in names or names & {"end", "rotate"}:
        return []
    line_end = "\r" if next(document.physical_lines, "").endswith("\r") else ""
    return [Edit(document.line_count + 1, 0, 0, _END + line_end)]


def replace_arrows(document: Document) -> list[Edit]:
    """Turn `->` into `→` where a call line without `→` seems to mean it."""
    edits = []
    for line in document.lines:
        match = find_ascii_arrow(line)
        if match is not None:
            edits.append(Edit(line.number, match.start(), match.end(), "→"))
    return edits


def fill_call_ids(document: Document) -> list[Edit]:
    """Give an id to every call that has none; the lines of one call get the same."""
    own = frozenset(line.id for line in document.lines if line.id)
    taken = set(own)
    matcher = Matcher()
    #: Ids by the key the matcher knows a call under, and by the span its lines share.
    given: dict[str, str] = {}
    by_span: dict[str, str] = {}
    counters = {"call": 0, "sub": 0}
    edits = []
    for line in document.lines:
        match = matcher.feed(line)
        if match is None or match.role is Role.ORPHAN:
            continue
        metadata = line.head.metadata
        span, name = metadata.get("span"), metadata.get("id")
        if not name and (line.kind is Kind.OBSERVATION or (line.kind in CALLS and line.name)):
            # The key is the call's own id, or an id was given for it; a closed call is known by its span alone.
            name = match.key if match.key in own else given.get(match.key) or by_span.get(span or "")
            if name is None:
                name = _free_id("sub" if line.kind is Kind.SUBAGENT else "call", counters, taken)
                given[match.key] = name
            edits.append(Edit(line.number, line.parts.start, line.parts.start, f" id={name}"))
        if span and name:
            by_span[span] = name
    return edits


def _free_id(prefix: str, counters: dict[str, int], taken: set[str]) -> str:
    while True:
        counters[prefix] += 1
        name = f"{prefix}_{counters[prefix]}"
        if name not in taken:
            taken.add(name)
            return name


def unify_line_ends(document: Document) -> list[Edit]:
    """Turn CR LF into LF."""
    return [
        Edit(number, len(source.rstrip("\r")), len(source), "")
        for number, source in enumerate(document.physical_lines, 1)
        if source.endswith("\r")
    ]


#: In the order they are applied: each works on what the ones before it left.
FIXERS = (
    Fixer("line-ends", "Turn CR LF into LF", "Unified", "line end", unify_line_ends),
    Fixer("arrows", "Turn -> into → on call lines that have no →", "Replaced", "arrow", replace_arrows),
    Fixer("call-ids", "Give an id to every call that has none", "Filled in", "call id", fill_call_ids),
    Fixer(
        "renumber-steps",
        "Number steps 1, 2, 3 …; equal numbers stay equal, references follow",
        "Renumbered",
        "step reference",
        renumber_steps,
    ),
    Fixer("add-end", "Add a missing @end to a session that has an @start", "Added", "@end", add_end),
)


class Repair(msgspec.Struct, frozen=True):
    """What a run of fixers did: the document it gave, and how many edits each fixer made."""

    document: Document
    counts: dict[str, int]

    @property
    def total(self) -> int:
        """How many edits were made."""
        return sum(self.counts.values())


def repair(document: Document, names: list[str]) -> Repair:
    """Run the named fixers, one after the other."""
    counts = {}
    for fixer in FIXERS:
        if fixer.name in names:
            edits = fixer.find(document)
            counts[fixer.name] = len(edits)
            if edits:
                document = apply_edits(document, edits)
    return Repair(document, counts)
