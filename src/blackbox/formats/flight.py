"""A session apart from its spelling: header fields and events with their metadata, and what a change of form lost."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from blackbox.document.document import Document
from blackbox.document.line import Line
from blackbox.errors import UsageError
from blackbox.events.build import Event, Unparsed
from blackbox.events.comments import Comment, Remark
from blackbox.syntax.header import HeaderValue
from blackbox.syntax.kinds import Kind
from blackbox.syntax.results import Result
from blackbox.write.render import render_event

#: What a change of form may lose, and how it is told.
TOLD = {
    "bad-lines": "{n} line{s} that {are} no JSON object, left out",
    "blank-lines": "{n} blank line{s}",
    "bodies": "bodies of {n} result{s}",
    "comment-words": "words of {n} comment{s} that its kind has no place for",
    "cut-texts": "ends of {n} text{s}, cut in the .rlog (the .jsonl has them)",
    "header-comments": "{n} comment line{s} of the header",
    "line-breaks": "line breaks of {n} result{s}",
    "made-up-fields": "{n} header field{s} that the source does not have, written as `unknown`",
    "native-fields": "fields of {n} line{s} that a log has no place for",
    "no-line": "{n} event{s} that no line can hold, kept as comments",
    "todo-states": "states in {n} todo list{s}",
    "units": "units of {n} count{s}",
    "unknown-lines": "{n} line{s} of no known type, kept as comments",
}

#: Metadata in the order it is written in, whatever order it was read in; the rest follows by name.
_ORDER = (
    *("id", "tid", "span", "parent", "model", "sig", "level", "attempt", "latency_ms"),
    *("tokens_in", "tokens_out", "tokens_cached", "tokens_cache_create"),
)
_RANK = {key: rank for rank, key in enumerate(_ORDER)}
_PAIR = re.compile(r"[A-Za-z_][\w.\-]*=")


class Entry(NamedTuple):
    """An event and its metadata as the words a line carries."""

    event: Event
    meta: dict[str, str]


class Flight(NamedTuple):
    """A session: the fields of its header, and its entries in order."""

    header: dict[str, HeaderValue]
    entries: list[Entry]


class Loss(msgspec.Struct, frozen=True):
    """What did not come through a change of form: a key of `TOLD`, how often, and the first lines it was on."""

    what: str
    count: int
    lines: tuple[int, ...] = ()

    @property
    def told(self) -> str:
        """One sentence part: `102 blank lines`."""
        plural = self.count != 1
        text = TOLD[self.what].format(n=self.count, s="s" if plural else "", are="are" if plural else "is")
        if not self.lines:
            return text
        more = ", …" if self.count > len(self.lines) else ""
        return f"{text} (line{'s' if plural else ''} {', '.join(map(str, self.lines))}{more})"


class Losses:
    """Losses while they are counted."""

    _SHOWN = 5

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lines: dict[str, list[int]] = {}

    def add(self, what: str, line: int | None = None, count: int = 1) -> None:
        """Count one more, and where it was."""
        if not count:
            return
        self._counts[what] += count
        lines = self._lines.setdefault(what, [])
        if line is not None and len(lines) < self._SHOWN:
            lines.append(line)

    @property
    def found(self) -> list[Loss]:
        """All of them, by name."""
        return [Loss(what, self._counts[what], tuple(self._lines[what])) for what in sorted(self._counts)]


class Reading(NamedTuple):
    """What was read of a session, and what of its source the session does not hold."""

    flight: Flight
    losses: list[Loss]


def flight_of(document: Document) -> Reading:
    """The session of a parsed log."""
    losses = Losses()
    entries = [entry for line in document.lines if (entry := _entry(line, losses)) is not None]
    header: dict[str, HeaderValue] = {}
    if document.header is not None:
        # How the body is spelled is a matter of the form.
        header = {key: value for key, value in document.header.fields.items() if key != "escape"}
        remarks = [source for source in document.header.sources if source.lstrip().startswith("#")]
        losses.add("header-comments", count=len(remarks))
    return Reading(Flight(header, entries), losses.found)


def _entry(line: Line, losses: Losses) -> Entry | None:
    event = line.event
    if isinstance(event, Unparsed):
        if event.kind is Kind.BLANK and not line.more:
            losses.add("blank-lines")
            return None
        # A stray indented block, a blank line that owns one, or something no prefix starts.
        losses.add("unknown-lines", line.number)
        return Entry(Remark("\n".join(source.rstrip("\r") for source in line.physical_lines)), {})
    if isinstance(event, Comment):
        return Entry(_sayable(event, line, losses), {})
    return Entry(event, dict(line.parts.raw_meta))


def _sayable(comment: Comment, line: Line, losses: Losses) -> Comment:
    """The comment, or its text where the typed one could not be written again, as with `# t=soon`."""
    text = line.text
    try:
        written = render_event(comment)
    except UsageError:
        return Remark(text)
    if len(written.removeprefix("#").split()) < len(text.split()):
        losses.add("comment-words", line.number)
    return comment


def plain(event: Event) -> Event:
    """An event without the spelling of its result, which is the writer's business."""
    result: Result | None = getattr(event, "result", None)
    if result is None or not result.raw:
        return event
    return msgspec.structs.replace(event, result=msgspec.structs.replace(result, raw=""))


def is_same(one: Entry, other: Entry) -> bool:
    """Whether two entries say the same, the fields of a structured result included."""
    return one.meta == other.meta and plain(one.event) == plain(other.event) and _fields(one) == _fields(other)


def _fields(entry: Entry) -> object:
    result: Result | None = getattr(entry.event, "result", None)
    return None if result is None else fields_of(result)


def fields_of(result: Result) -> object:
    """The fields of a structured result. A text that only mentions `key=value` somewhere has none worth comparing."""
    return result.fields if _PAIR.match(result.text) else None


def merge(*groups: Iterable[Loss]) -> list[Loss]:
    """The losses of several steps as one list."""
    merged = Losses()
    for loss in (loss for group in groups for loss in group):
        merged.add(loss.what, count=loss.count - len(loss.lines))
        for line in loss.lines:
            merged.add(loss.what, line)
    return merged.found


def ordered(meta: dict[str, str]) -> dict[str, str]:
    """Metadata in one order, so that the same entry is always the same line."""
    return {key: meta[key] for key in sorted(meta, key=lambda key: (_RANK.get(key, len(_RANK)), key))}
