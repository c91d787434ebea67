"""Checks on single lines: prefixes, names, arrows, quotes, blobs, escapes."""

import re
from collections.abc import Callable

from blackbox.check.findings import Finding
from blackbox.check.rules import rule_named
from blackbox.document.line import Line
from blackbox.events import lifecycle
from blackbox.syntax.escape import bad_sequences
from blackbox.syntax.header import Header
from blackbox.syntax.kinds import PREFIXES, PROSE, Kind
from blackbox.syntax.results import BLOB
from blackbox.syntax.values import integer
from blackbox.vault.presence import Held, LookAt, Presence

_ASCII_ARROW = re.compile(r"(?<=[ \t])->(?=[ \t\r\[]|\Z)")
_QUOTED = re.compile(r'"[^"]*"')
_HEX = re.compile(r"[0-9A-Fa-f]*")
_SEEN = 40


class LineChecks:
    """Each line by itself. The cheap tests come first: most lines pass them and nothing is parsed."""

    def __init__(self, add: Callable[[Finding], None], look_at: LookAt | None) -> None:
        self._add = add
        self._look_at = look_at
        self._is_bbox = False
        #: How many blobs have no store to be looked up in, and where the first one is named.
        self._unchecked = 0
        self._first_unchecked = 0

    def begin(self, header: Header | None) -> None:
        """The header is known."""
        self._is_bbox = header is not None and header.format_name == "bbox"

    def handlers(self) -> dict[Kind, Callable[[Line], None]]:
        """What to call for which kind of line."""
        return {
            Kind.MODE: self._mode,
            Kind.LIFECYCLE: self._lifecycle,
            Kind.PHASE: self.quotes,
            Kind.THINKING: self._rlog_only,
            Kind.TODOS: self._rlog_only,
            Kind.UNKNOWN: self._unknown,
            Kind.CONTINUATION: self._stray,
        }

    def name(self, line: Line) -> None:
        """A line whose kind needs a name."""
        name = line.head.name
        if not name:
            self._add(
                rule_named("name-missing").finding(line.number, f"`{PREFIXES[line.kind]}` has no name behind it")
            )
        elif line.kind is Kind.MCP and "." not in name.strip("."):
            message = f"`c:{name}` names no server and method, as in `c:github.issues`"
            self._add(rule_named("name-missing").finding(line.number, message))

    def ascii_arrow(self, line: Line) -> None:
        """A line in a block that has `->` somewhere."""
        match = find_ascii_arrow(line)
        if match is not None:
            message = "`->` does not mark a result; `→` does"
            self._add(rule_named("ascii-arrow").finding(line.number, message, match.start() + 1, match.end() + 1))

    def quotes(self, line: Line) -> None:
        """A line with a call part, in which a quote may be open."""
        if line.source.count('"') % 2 == 0:
            return
        for token in line.parts.tokens:
            if isinstance(token.value, str) and token.value.startswith('"'):
                message = "this quote is never closed"
                found = rule_named("unclosed-quote").finding(line.number, message, token.start + 1, token.end + 1)
                self._add(found)
                return

    def _mode(self, line: Line) -> None:
        self.name(line)
        self.quotes(line)

    def _lifecycle(self, line: Line) -> None:
        self.quotes(line)
        name = line.parts.name
        if name not in lifecycle.KNOWN and not name.startswith("wait-"):
            self._add(rule_named("unknown-primitive").finding(line.number, f"`@{name}` is not a known primitive"))

    def _rlog_only(self, line: Line) -> None:
        if self._is_bbox:
            message = f"`{PREFIXES[line.kind]}` is part of rlog/1, this is bbox/1"
            self._add(rule_named("foreign-prefix").finding(line.number, message))

    def _unknown(self, line: Line) -> None:
        text = line.source.strip(" \t\r")
        if text == "---":
            self._add(rule_named("second-header").finding(line.number, "`---` in the body: is this a second log?"))
            return
        shown = _printable(text[:_SEEN]) + ("…" if len(text) > _SEEN else "")
        self._add(rule_named("unknown-line").finding(line.number, f"no known prefix: {shown}"))

    def _stray(self, line: Line) -> None:
        message = "an indented line with nothing above it to continue"
        self._add(rule_named("stray-continuation").finding(line.number, message))

    def indented(self, line: Line) -> None:
        """A line that may start with exactly one space."""
        if line.source[:1] == " " and line.kind not in (Kind.BLANK, Kind.UNKNOWN, Kind.CONTINUATION):
            self._add(rule_named("indented-by-one").finding(line.number, "one leading space is ignored", 1, 2))

    def escapes(self, line: Line) -> None:
        """A line that may have backslashes, in a file that uses the escape rule."""
        if "\\" not in line.source and line.more is None:
            return
        for number, source in enumerate(line.physical_lines, line.number):
            for column in bad_sequences(source):
                sequence = source[column : column + 2]
                message = f"`{_printable(sequence)}` is not an escape sequence"
                end = column + len(sequence) + 1
                self._add(rule_named("bad-escape").finding(number, message, column + 1, end))

    def blobs(self, line: Line) -> None:
        """A line that may have blob pointers."""
        if "@blob" not in line.source and line.more is None:
            return
        for number, source in enumerate(line.physical_lines, line.number):
            for match in BLOB.finditer(source):
                digits = match[1]
                place = match.start(1) + 1, match.end(1) + 1
                if not digits or len(digits) > 64 or not _HEX.fullmatch(digits):
                    message = f"`{_printable(digits)}` is not a SHA-256 in hexadecimal"
                    self._add(rule_named("blob-hash-malformed").finding(number, message, *place))
                    continue
                if len(digits) < 64:
                    message = f"a prefix of {len(digits)} digits instead of 64"
                    self._add(rule_named("blob-hash-short").finding(number, message, *place))
                if self._look_at is not None:
                    self._held(self._look_at(digits.lower()), match, number)

    def _held(self, held: Held, match: re.Match[str], number: int) -> None:
        """A blob that was looked up."""
        name = f"{match[1][:12]}…" if len(match[1]) > 12 else match[1]
        place = match.start(1) + 1, match.end(1) + 1
        stated = integer(match[2])
        if held.presence is Presence.NO_STORE:
            self._first_unchecked = self._first_unchecked or number
            self._unchecked += 1
        elif held.presence is Presence.MISSING:
            self._add(rule_named("blob-missing").finding(number, f"blob {name} is not in .bbox-blobs", *place))
        elif held.presence is Presence.AMBIGUOUS:
            message = f"{name} is the beginning of several blobs in .bbox-blobs"
            self._add(rule_named("blob-missing").finding(number, message, *place))
        elif held.presence is Presence.DAMAGED:
            message = f"the content kept as {name} has another hash"
            self._add(rule_named("blob-damaged").finding(number, message, *place))
        elif stated is not None and stated != held.size:
            message = f"blob {name} has {held.size} bytes, the log says {stated}"
            self._add(rule_named("blob-size").finding(number, message, *place))

    def finish(self) -> None:
        """Conclusions about the whole log."""
        if self._unchecked:
            count = f"{self._unchecked} blob pointer{'s' if self._unchecked > 1 else ''}"
            message = f"there is no .bbox-blobs beside the log: {count} not checked"
            self._add(rule_named("blobs-unchecked").finding(self._first_unchecked, message))


def find_ascii_arrow(line: Line) -> re.Match[str] | None:
    """The `->` outside quotes of a call line that has no `→`."""
    source = line.source
    if "->" not in source or "→" in source or line.kind in PROSE or line.kind not in PREFIXES:
        return None
    blanked = _QUOTED.sub(lambda match: " " * len(match[0]), source)
    comment = line.parts.comment_start
    return _ASCII_ARROW.search(blanked, line.parts.start, comment if comment >= 0 else len(blanked))


def _printable(text: str) -> str:
    return text.encode("unicode_escape").decode() if not text.isprintable() else text
