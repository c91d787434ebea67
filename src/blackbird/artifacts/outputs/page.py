"""An output as the lines that a person saw: no colours, no overwritten progress, no line numbers put before them.

Each line knows where it stands in the text, and gives no more than its first characters to the readers: patterns that
are tried on bounded lines take time in proportion to the text, whatever it contains.
"""

import re
from typing import NamedTuple

from blackbird.artifacts.outputs.report import Stretch

#: So much of a line is looked at; none of the tools says anything of use behind it.
CLIP = 500
#: So much of a text is quoted.
LONGEST = 1000

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[@-Z\\^_])")
_BREAK = re.compile(r"\r\n?|\n")
_PREFIXES = (
    # `cat -n`, `grep -n`, and what agents' own readers put before a line.
    re.compile(r"\s{0,8}(?P<number>\d{1,7})(?:→|\t|[:|] ?)"),
    # What CI puts there: job, step, time.
    re.compile(r"(?:[^\t]{1,99}\t[^\t]{1,99}\t)?\ufeff?(?P<number>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z) "),
)
_SAMPLE = 40
_CUT = re.compile(r"^\s*(?:\.{3}|…)\s*$|truncated|omitted|</persisted-output>|\[\.\.\.|<\.\.\.")


class Line(NamedTuple):
    """One line: what is seen of it, and where the whole of it stands in the text."""

    text: str
    first: int
    last: int


class Page:
    """The lines of an output. `words` are those of the command that printed it, as far as it is known."""

    def __init__(self, source: str, words: frozenset[str] = frozenset()) -> None:
        self.source = source
        self.words = words
        self.plain = plain(source)
        self.lines = _lines(source)
        #: Whether what came last may be missing: a tool without a last word may have failed there.
        self.ends_early = "head" in words or any(_CUT.search(line.text) for line in self.lines[-3:])

    def stretch(self, at: int, to: int | None = None) -> Stretch:
        """What the text has from one line to another, without blanks and colours around it."""
        first = self.lines[at].first
        last = min(self.lines[at if to is None else to].last, first + LONGEST)
        while first < last:
            if self.source[first].isspace():
                first += 1
            elif code := _ESCAPE.match(self.source, first, last):
                first = code.end()
            else:
                break
        last = _end(self.source, first, last)
        return Stretch(self.source[first:last], first, last)


def plain(text: str) -> str:
    """The text without colours and other codes for terminals."""
    return _ESCAPE.sub("", text) if "\x1b" in text else text


def _end(source: str, first: int, last: int) -> int:
    while first < last:
        if source[last - 1].isspace():
            last -= 1
            continue
        code = source.rfind("\x1b", first, last)
        if code < 0 or _ESCAPE.fullmatch(source, code, last) is None:
            break
        last = code
    return last


def _lines(source: str) -> tuple[Line, ...]:
    lines = []
    first = 0
    for found in _BREAK.finditer(source):
        lines.append(_line(source, first, found.start()))
        first = found.end()
    if first < len(source):
        lines.append(_line(source, first, len(source)))
    prefix = _prefix(lines)
    if prefix is None:
        return tuple(lines)
    return tuple(Line(prefix.sub("", line.text, count=1), line.first, line.last) for line in lines)


def _line(source: str, first: int, last: int) -> Line:
    text = source[first : min(last, first + CLIP)]
    if "\x1b" in text:
        # Colours take room: look further, so that as much is seen as without them.
        text = plain(source[first : min(last, first + 4 * CLIP)])[:CLIP]
    return Line(text, first, last)


def _prefix(lines: list[Line]) -> re.Pattern[str] | None:
    """What stands before every line, and was put there by whoever showed the output."""
    sample = [line.text for line in lines[: 2 * _SAMPLE] if line.text.strip()][:_SAMPLE]
    for pattern in _PREFIXES:
        found = [match["number"] for text in sample if (match := pattern.match(text))]
        keys = [number.zfill(7) for number in found]
        if len(found) >= max(3, len(sample) - 2) and keys == sorted(keys):
            return pattern
    return None
