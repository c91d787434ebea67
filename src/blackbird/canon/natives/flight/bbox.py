"""A flight log, `.bbox` or `.rlog`, line by line.

An entry of such a log goes on in the indented lines below it, so it is told when the next one begins. Its evidence is
the line that it begins with, that of a result the part behind the arrow; texts that go on in further lines have no
spans.
"""

import re
from functools import partial
from pathlib import PurePath
from typing import Any

from blackbird.canon.model import Evidence, Span
from blackbird.canon.natives.flight.telling import Teller, Told
from blackbird.canon.natives.jsonl import encode
from blackbird.canon.seen import Entry
from blackbox.document.line import Line
from blackbox.document.scanner import Scanner

#: The fields of a header, by the facts they state; of several, the first that is there counts.
_FACTS = {
    "client": ("agent", "runner"),
    "version": ("client_version", "version"),
    "cwd": ("cwd",),
    "branch": ("branch",),
    "sha": ("repo_sha",),
    "repository": ("repo",),
    "slug": ("slug",),
    "title": ("title",),
    "model": ("model",),
    "sandbox": ("sandbox_id",),
    "goal": ("goal",),
}


#: What stands for something that nobody knew; a commit is then all zeros.
_PLACEHOLDER = re.compile(r"(?:unknown|0{7,})?")
#: The list that costs were calculated from.
_PRICES = "extra.prices"


def facts_of(header: dict[str, Any]) -> dict[str, str]:
    """The facts that a header states; a placeholder states none."""
    found = {}
    for name, keys in _FACTS.items():
        values = (header.get(key) for key in keys)
        stated = (value for value in values if isinstance(value, str) and not _PLACEHOLDER.fullmatch(value))
        value = next(stated, None)
        if value is not None:
            found[name] = value
    return found


def is_priced(header: dict[str, Any]) -> bool:
    """Whether the costs in a log were calculated from a list of prices."""
    return header.get(_PRICES) is not None


class Owner:
    """Whose log it is: a session's, or that of a sub-agent of one."""

    def __init__(self, file: str) -> None:
        self.session = PurePath(file).name.partition(".")[0]
        self.thread: str | None = None
        self.kind: str | None = None

    def read(self, header: dict[str, Any]) -> None:
        """Take the ids of a header."""
        name = header.get("id")
        parent, kind = (header.get(f"extra.{key}") or header.get(key) for key in ("parent_session", "agent_type"))
        if isinstance(parent, str) and isinstance(name, str):
            self.session, self.thread = parent, name
        elif isinstance(name, str) and name:
            self.session = name
        self.kind = kind if isinstance(kind, str) else None

    def make(self, evidence: Evidence, **fields: Any) -> Entry:
        """An entry of this log; a line's own thread is one inside of it."""
        thread = fields.pop("thread", None)
        kind = fields.pop("kind", None)
        return Entry(
            session=self.session,
            thread=thread or self.thread,
            kind=kind if thread else self.kind,
            evidence=evidence,
            **fields,
        )


class Reader:
    """Reads one log."""

    def __init__(self, source: str, file: str) -> None:
        self._owner = Owner(file)
        self._source = source
        self._scanner = Scanner()
        self._teller = Teller()
        self._count = 0
        self._has_header = False
        #: Where the lines stand that are not told yet.
        self._places: dict[int, Evidence] = {}
        self._last: Evidence | None = None

    def line(self, text: str, evidence: Evidence) -> list[Entry]:
        """What the entries say that end where this line begins."""
        self._last = evidence
        for _ in range(1 + text.count("\n")):
            self._count += 1
            self._places[self._count] = evidence
        return self._tell(self._scanner.feed(encode(text) + b"\n"), evidence)

    def end(self) -> list[Entry]:
        """What the last entry says."""
        if self._last is None:
            return []
        return self._tell(self._scanner.close(), self._last) + self._teller.end()

    def _tell(self, lines: list[Line], evidence: Evidence) -> list[Entry]:
        entries = self._header(evidence)
        for line in lines:
            place = self._places[line.number]
            event = line.event
            meta = {} if line.kind.value == "comment" else dict(line.parts.raw_meta)
            make = partial(self._owner.make, place)
            name = f"{self._source}:{line.number}"
            told = Told(event, meta, make, partial(_spans, line, place), name, place.start + _result_start(line))
            entries += self._teller.tell(told)
            for number in range(line.number, line.last_number + 1):
                self._places.pop(number, None)
        return entries

    def _header(self, evidence: Evidence) -> list[Entry]:
        header = self._scanner.header
        if header is None or self._has_header:
            return []
        self._has_header = True
        fields: dict[str, Any] = dict(header.fields)
        self._owner.read(fields)
        self._teller.model = header.model
        self._teller.is_priced = is_priced(fields)
        place = self._places.get(header.first_line, evidence)
        return [self._owner.make(place, about=facts_of(fields), data=fields)]


def _result_start(line: Line) -> int:
    """The byte at which the result of a line begins, or the line ends."""
    start = line.parts.result_start
    return len(encode(line.source if start < 0 else line.source[:start]))


def _spans(line: Line, evidence: Evidence, text: str) -> tuple[Span, ...]:
    """Where a text stands in the line, if it stands there as it is."""
    if not text or line.more:
        return ()
    at = line.source.find(text)
    if at < 0:
        return ()
    start = evidence.start + len(encode(line.source[:at]))
    return (Span(0, len(text), start, start + len(encode(text))),)
