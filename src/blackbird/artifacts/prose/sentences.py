"""Takes a text apart into sentences, list items and headings, each with its place; code and tables are left out."""

import enum
import re
from collections.abc import Iterator
from typing import NamedTuple

#: A line that is longer is data, whatever it looks like.
LONGEST = 4_000

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_RULE = re.compile(r"[ \t]*(?:-[ \t]*){3,}$|[ \t]*(?:\*[ \t]*){3,}$|[ \t]*(?:_[ \t]*){3,}$|[ \t]*={3,}[ \t]*$")
_TABLE = re.compile(r"[ \t]*\|")
_QUOTE = re.compile(r"[ \t]*>")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\(?\d{1,3}[.)]|\(?[a-hA-H][.)])[ \t]+(?:\[(?P<box>[ xX~-])\][ \t]+)?")
#: What may be a sentence's end: marks, then blanks.
_STOP = re.compile(r"(?<![.!?])[.!?]+[\"')\]*_”’]*(?=\s)")
_CODE = re.compile(r"`[^`\n]{1,200}`")
_CODE_APART = re.compile(r"(`[^`\n]*`)")
_MARKUP = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_QUOTED = re.compile(r"\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”")
_ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|fig|mr|mrs|ms|dr|incl)\.$", re.IGNORECASE)
_MARKS = " \t\r\n*_"


class Form(enum.StrEnum):
    """How a sentence stands in its text."""

    PLAIN = "plain"
    ITEM = "item"
    HEADING = "heading"
    #: A list item with a box that is not ticked, and with one that is.
    OPEN_BOX = "open_box"
    TICKED_BOX = "ticked_box"


class Sentence(NamedTuple):
    """A sentence: its characters, its form, and the last line above it that announces what follows."""

    first: int
    last: int
    form: Form
    lead: str


class _Block(NamedTuple):
    """Lines that belong together: a paragraph, an item, a heading."""

    first: int
    last: int
    form: Form


def sentences(text: str, first: int = 0, last: int | None = None) -> Iterator[Sentence]:
    """The sentences of a text or of a part of it, in order."""
    lead = ""
    for block in _blocks(text, first, len(text) if last is None else last):
        if block.form is Form.HEADING:
            lead = text[block.first : block.last]
        elif block.form is Form.PLAIN and not text[block.first : block.last].rstrip(_MARKS).endswith(":"):
            lead = ""
        for start, end in _split(text, block):
            yield Sentence(start, end, block.form, lead)
            if block.form is Form.PLAIN and text[start:end].rstrip(_MARKS).endswith(":"):
                lead = text[start:end]


def masked(text: str) -> str:
    """The same text, as long as before, with code and quoted words made unreadable: they are not the speaker's."""
    for pattern in (_CODE, _QUOTED):
        text = pattern.sub(lambda found: found[0][0] + "\u00a4" * (len(found[0]) - 2) + found[0][-1], text)
    return text


def plain(words: str) -> str:
    """Words on one line, without the marks of Markdown; what stands in backticks stays as it is."""
    pieces = _CODE_APART.split(words)
    return " ".join("".join(piece if piece.startswith("`") else _MARKUP.sub("", piece) for piece in pieces).split())


def _blocks(text: str, first: int, last: int) -> Iterator[_Block]:
    """Paragraphs, items and headings. A line that goes on with a paragraph or an item belongs to it."""
    under_way: _Block | None = None
    for start, end in _prose_lines(text, first, last):
        line = text[start:end]
        opened = _opened(line, start, end)
        if opened is None and under_way is not None and line.strip():
            under_way = under_way._replace(last=end)
            continue
        if under_way is not None:
            yield under_way
        under_way = opened or (_Block(start, end, Form.PLAIN) if line.strip() else None)
        if under_way is not None and under_way.form is Form.HEADING:
            yield under_way
            under_way = None
    if under_way is not None:
        yield under_way


def _opened(line: str, start: int, end: int) -> _Block | None:
    """The block that a line opens by its mark, if it has one."""
    if heading := _HEADING.match(line):
        return _Block(start + heading.end(), end, Form.HEADING)
    if item := _ITEM.match(line):
        box = item["box"]
        form = Form.ITEM if box is None else Form.OPEN_BOX if box == " " else Form.TICKED_BOX
        return _Block(start + item.end(), end, form)
    return None


def _prose_lines(text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """The lines that are prose; what is left out counts as a blank line."""
    fence: str | None = None
    at = first
    while at < last:
        end = text.find("\n", at, last)
        end = last if end < 0 else end
        line = text[at:end]
        mark = _FENCE.match(line)
        if fence is not None:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = None
            yield at, at
        elif mark:
            fence = mark[1]
            yield at, at
        else:
            is_prose = not (_TABLE.match(line) or _QUOTE.match(line) or _RULE.match(line) or len(line) > LONGEST)
            yield at, end if is_prose else at
        at = end + 1


def _split(text: str, block: _Block) -> Iterator[tuple[int, int]]:
    """The sentences of a block, without blanks around them."""
    inside = masked(text[block.first : block.last])
    at = 0
    for stop in _STOP.finditer(inside):
        if inside[stop.start()] == "." and _ABBREVIATED.search(inside, max(at, stop.start() - 8), stop.start() + 1):
            continue
        yield from _trimmed(text, block.first + at, block.first + stop.end())
        at = stop.end()
    yield from _trimmed(text, block.first + at, block.last)


def _trimmed(text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    words = text[first:last]
    first += len(words) - len(words.lstrip())
    last = first + len(words.strip())
    if first < last:
        yield first, last
