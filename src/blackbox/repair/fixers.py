"""The fixers: pure functions from a document to the edits that mend one kind of fault."""

import bisect
import re
from collections.abc import Callable

import msgspec

from blackbox.check.lines import find_ascii_arrow
from blackbox.document.document import Document
from blackbox.document.line import Line
from blackbox.events.comments import Anchor, Condense, Metrics
from blackbox.repair.edits import Edit, apply_edits
from blackbox.session.matching import Matcher
from blackbox.syntax.kinds import CALLS, Kind

_STEP = re.compile(r"(?<![^ \t])step=(\d{1,18})(?![^ \t\r])")
_RANGE = re.compile(r"(?<![^ \t])range=(\d{1,18})-(\d{1,18})(?![^ \t\r])")
_STEPS_IN_RESULT = re.compile(r"\bsteps? (\d{1,18}(?:, ?\d{1,18})*)")
_NUMBER = re.compile(r"\d+")
_END = '@end summary="added by blackbox fix: the log had no end"'


class Fixer(msgspec.Struct, frozen=True):
    """One kind of repair: its option, what it is called, and how its result is told."""

    name: str
    help: str
    told: str
    find: Callable[[Document], list[Edit]]


def renumber_steps(document: Document) -> list[Edit]:
    """Number steps 1, 2, 3 … in order of first use. Equal old numbers stay equal, and references follow."""
    places = [place for line in document.lines for place in _step_places(line)]
    numbers: dict[int, int] = {}
    for place in places:
        numbers.setdefault(place.number, len(numbers) + 1)
    edits = [_renumbered(place, numbers[place.number]) for place in places]
    known = sorted(numbers)
    for line in document.lines:
        edits += _reference_edits(line, numbers, known)
    return [edit for edit in edits if edit is not None]


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
        match = _STEP.search(line.source) if isinstance(line.event, Metrics) else None
        return [_Place(line.number, match.start(1), match.end(1), int(match[1]))] if match else []
    parts = line.parts
    tokens = [token for token in (*parts.tokens, *parts.run_tokens, *parts.metrics) if token.key == "step"]
    return [
        _Place(line.number, token.start + len("step="), token.end, int(token.text))
        for token in tokens
        if _STEP.fullmatch(line.source, token.start, token.end) and not token.quoted_key
    ]


def _reference_edits(line: Line, numbers: dict[int, int], known: list[int]) -> list[Edit | None]:
    if line.kind is Kind.COMMENT and isinstance(line.event, Anchor):
        match = _STEP.search(line.source)
        return [_follow(line, match, 1, numbers)] if match else []
    if line.kind is Kind.COMMENT and isinstance(line.event, Condense):
        match = _RANGE.search(line.source)
        return _range_edits(line, match, numbers, known) if match else []
    if line.kind is Kind.RECALL and line.parts.result_start >= 0:
        parts = line.parts
        return [
            _follow(line, number, 0, numbers)
            for match in _STEPS_IN_RESULT.finditer(line.source, parts.result_start, parts.result_end)
            for number in _NUMBER.finditer(line.source, match.start(1), match.end(1))
        ]
    return []


def _follow(line: Line, match: re.Match[str], group: int, numbers: dict[int, int]) -> Edit | None:
    old = int(match[group])
    new = numbers.get(old, old)
    return Edit(line.number, match.start(group), match.end(group), str(new)) if new != old else None


def _range_edits(line: Line, match: re.Match[str], numbers: dict[int, int], known: list[int]) -> list[Edit | None]:
    """A range keeps the steps it covers: its ends move to the first and last of them."""
    first, last = int(match[1]), int(match[2])
    covered = known[bisect.bisect_left(known, first) : bisect.bisect_right(known, last)]
    if not covered:
        return []
    new = [numbers[step] for step in covered]
    text = f"{min(new)}-{max(new)}"
    return [Edit(line.number, match.start(1), match.end(2), text)] if text != f"{first}-{last}" else []


def add_end(document: Document) -> list[Edit]:
    """Close a session that was started and never ended."""
    names = {line.name for line in document.lines if line.kind is Kind.LIFECYCLE}
    if "start" not in names or names & {"end", "rotate"}:
        return []
    return [Edit(document.line_count + 1, 0, 0, _END)]


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
    taken = {line.id for line in document.lines if line.id}
    matcher = Matcher()
    given: dict[str, str] = {}
    counters = {"call": 0, "sub": 0}
    edits = []
    for line in document.lines:
        match = matcher.feed(line)
        if match is None or line.kind not in CALLS or not line.name or line.head.metadata.get("id"):
            continue
        # Retries and answers carry the key of a call that was seen before; its id may be its own key.
        name = match.key if match.key in taken else given.get(match.key)
        if name is None:
            name = _free_id("sub" if line.kind is Kind.SUBAGENT else "call", counters, taken)
            given[match.key] = name
        edits.append(Edit(line.number, line.parts.start, line.parts.start, f" id={name}"))
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
        Edit(number, len(source) - 1, len(source), "")
        for number, source in enumerate(document.physical_lines, 1)
        if source.endswith("\r")
    ]


#: In the order they are applied: each works on what the ones before it left.
FIXERS = (
    Fixer("line-ends", "Turn CR LF into LF", "Unified {n} line ends", unify_line_ends),
    Fixer("arrows", "Turn -> into → on call lines that have no →", "Replaced {n} arrows", replace_arrows),
    Fixer("call-ids", "Give an id to every call that has none", "Filled in {n} call ids", fill_call_ids),
    Fixer(
        "renumber-steps",
        "Number steps 1, 2, 3 …; equal numbers stay equal, references follow",
        "Renumbered {n} step references",
        renumber_steps,
    ),
    Fixer("add-end", "Add a missing @end to a session that has an @start", "Added {n} @end", add_end),
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
