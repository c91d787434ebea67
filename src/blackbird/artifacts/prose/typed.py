"""What a human typed in a text under the user's name: not what was pasted, quoted, or written by a command or client.

It would rather leave out a doubtful paragraph than take a log, a plan or a review for the human's word.
"""

import functools
import importlib.resources
import itertools
import re
import tomllib
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from blackbird.artifacts.prose.hint import Stretch
from blackbird.canon import wrappers
from blackbird.canon.model import Origin, Role

#: A text with headings and so many lines is a document, and so many lines of prose are more than anyone types.
DOCUMENT_LINES = 12
TYPED_LINES = 40
#: Lines in a row, straight below one that ends with a colon, that are shown and not said.
SHOWN_LINES = 3
SHOWN_AT_MOST = 12

_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+\S")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\(?\d{1,3}[.)])[ \t]")
_INDENTED = re.compile(r"(?: {2,}|\t)\S")
_SAID = re.compile(r"[.!?:,;…\"')]\s*$")


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`pasted.toml`: what gives a line away."""

    machine: tuple[str, ...]
    prompt: tuple[str, ...]
    introduces: tuple[str, ...]
    command: tuple[str, ...]


class _Rules(NamedTuple):
    machine: re.Pattern[str]
    prompt: re.Pattern[str]
    introduces: re.Pattern[str]
    command: re.Pattern[str]


class _Line(NamedTuple):
    first: int
    last: int
    text: str
    #: Whether it stands in a code fence.
    is_fenced: bool


def typed(text: str) -> tuple[Stretch, ...]:
    """The characters that the human typed, in order; lines in a row are one stretch."""
    found: list[Stretch] = []
    for piece in wrappers.split(text, Role.USER):
        if piece.origin is Origin.USER:
            found += _typed_within(text, piece.first, piece.last)
    return tuple(found)


def _typed_within(text: str, first: int, last: int) -> list[Stretch]:
    rules = _rules()
    if rules.command.search(text, first, last):
        return []
    paragraphs = list(_paragraphs(_before_document(list(_lines(text, first, last)))))
    kept = [kept for kept in map(_kept, _not_shown(paragraphs, rules)) if kept]
    if sum(map(len, kept)) > TYPED_LINES:
        kept = [kept[0], kept[-1]] if len(kept) > 1 else []
    return [stretch for lines in kept for stretch in _stretches(text, lines)]


def _lines(text: str, first: int, last: int) -> Iterator[_Line]:
    lines: list[tuple[int, int]] = []
    at = first
    while at < last:
        end = text.find("\n", at, last)
        end = last if end < 0 else end
        lines.append((at, end))
        at = end + 1
    fenced = _fenced([text[start:end] for start, end in lines])
    for number, (start, end) in enumerate(lines):
        yield _Line(start, end, text[start:end].rstrip("\r"), number in fenced)


def _fenced(lines: list[str]) -> set[int]:
    """The numbers of lines in fenced code; a fence that is never closed fences nothing but itself."""
    found: set[int] = set()
    opened: tuple[int, str] | None = None
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark is None:
            continue
        if opened is None:
            opened = (number, mark[1])
            found.add(number)
        elif mark[1].startswith(opened[1]) and not line[mark.end() :].strip():
            found.update(range(opened[0], number + 1))
            opened = None
    return found


def _before_document(lines: list[_Line]) -> list[_Line]:
    """The lines up to where a pasted document begins: one with headings, and long."""
    headings = [at for at, line in enumerate(lines) if not line.is_fenced and _HEADING.match(line.text)]
    if not headings:
        return lines
    rest = sum(bool(line.text.strip()) for line in lines[headings[0] :])
    return lines[: headings[0]] if rest >= DOCUMENT_LINES or len(headings) > 2 else lines


def _paragraphs(lines: list[_Line]) -> Iterator[list[_Line]]:
    """Lines with no blank one between them; fenced code is a paragraph of its own."""
    for (is_words, _), group in itertools.groupby(lines, lambda line: (bool(line.text.strip()), line.is_fenced)):
        if is_words:
            yield list(group)


def _not_shown(paragraphs: list[list[_Line]], rules: _Rules) -> Iterator[list[_Line]]:
    """The paragraphs that are not what a machine printed and not what another line announces as somebody else's."""
    machine = [_is_machine(paragraph, rules) for paragraph in paragraphs]
    prompts = [at for at, lines in enumerate(paragraphs) if any(rules.prompt.match(line.text) for line in lines)]
    for at in prompts:
        machine[at] = True
    last_printed = max((at for at, is_printed in enumerate(machine) if is_printed), default=-1)
    for at, paragraph in enumerate(paragraphs):
        is_output = bool(prompts) and prompts[0] <= at <= last_printed
        if at and rules.introduces.search(paragraphs[at - 1][-1].text):
            # Nobody knows where it ends.
            return
        if not machine[at] and not is_output:
            yield paragraph


def _is_machine(paragraph: list[_Line], rules: _Rules) -> bool:
    """Whether a program printed most of a paragraph; what is indented counts if anything else gives it away."""
    printed = [line.is_fenced or bool(rules.machine.search(line.text)) for line in paragraph]
    aside = sum(
        bool(_INDENTED.match(line.text))
        for line, is_printed in zip(paragraph, printed, strict=True)
        if not is_printed
    )
    return any(printed) and (sum(printed) + aside) * 2 > len(paragraph)


def _kept(paragraph: list[_Line]) -> list[_Line]:
    """The lines of a paragraph that are typed: not those that are indented, as pasted text is, or merely shown."""
    rules = _rules()
    kept: list[_Line] = []
    is_list = False
    for at, line in enumerate(paragraph):
        if at and paragraph[at - 1].text.rstrip().endswith(":") and _are_shown(paragraph[at : at + SHOWN_AT_MOST]):
            break
        is_list = bool(_ITEM.match(line.text)) if not _INDENTED.match(line.text) else is_list
        is_indented = bool(_INDENTED.match(line.text)) and not is_list
        if not (line.is_fenced or is_indented or rules.machine.search(line.text)):
            kept.append(line)
    return kept


def _are_shown(lines: list[_Line]) -> bool:
    """Whether lines look like a copy of something: several, and hardly one that ends as a sentence does."""
    bare = sum(not _SAID.search(line.text) and not _ITEM.match(line.text) for line in lines)
    return len(lines) >= SHOWN_LINES and bare * 3 >= len(lines) * 2


def _stretches(text: str, lines: list[_Line]) -> Iterator[Stretch]:
    """Lines in a row as one stretch."""
    first = last = -1
    for line in lines:
        if last < 0 or text[last : line.first].strip(" \t\r\n") or text.count("\n", last, line.first) > 1:
            if last >= 0:
                yield Stretch(first, last)
            first = line.first
        last = line.first + len(line.text.rstrip())
    if last >= 0:
        yield Stretch(first, last)


@functools.cache
def _rules() -> _Rules:
    data = importlib.resources.files("blackbird.artifacts.prose").joinpath("pasted.toml").read_text("utf-8")
    table = msgspec.convert(tomllib.loads(data), _Table)
    return _Rules(
        *(re.compile("|".join(f"(?:{one})" for one in many), re.MULTILINE) for many in msgspec.structs.astuple(table))
    )
