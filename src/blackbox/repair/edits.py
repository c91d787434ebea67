"""Edits: replacements of stretches of physical lines, so that everything else keeps its very bytes."""

import itertools
from collections.abc import Iterable

import msgspec

from blackbox.document.document import Document, parse
from blackbox.document.scanner import BOM


class Edit(msgspec.Struct, frozen=True):
    """Replace columns `start` to `end` (from 0, end exclusive) of a physical line (from 1) by `text`.

    An edit of the line behind the last one appends `text` as lines of its own.
    """

    line: int
    start: int
    end: int
    text: str


class Change(msgspec.Struct, frozen=True):
    """A physical line before and after all edits; `before` is None for a line that was added."""

    line: int
    before: str | None
    after: str


def apply_edits(document: Document, edits: Iterable[Edit]) -> Document:
    """The document with the edits made. Edits that overlap are a fixer's mistake, and refused."""
    sources = list(document.physical_lines)
    appended: list[str] = []
    ordered = sorted(edits, key=lambda edit: (edit.line, edit.start, edit.end))
    for edit, following in itertools.pairwise(ordered):
        if edit.line == following.line and edit.end > following.start:
            raise ValueError(f"{edit} and {following} overlap")
    for edit in reversed(ordered):
        if edit.line > len(sources):
            appended.insert(0, edit.text)
        else:
            source = sources[edit.line - 1]
            sources[edit.line - 1] = source[: edit.start] + edit.text + source[edit.end :]
    final_newline = document.final_newline or bool(appended)
    text = "\n".join([*sources, *appended]) + ("\n" if final_newline and (sources or appended) else "")
    data = text.encode(errors="surrogateescape")
    return parse(BOM + data if document.has_bom else data)


def changes_between(before: Document, after: Document) -> list[Change]:
    """The lines that differ. Fixers never remove or reorder lines, so lines correspond by number."""
    old, new = list(before.physical_lines), list(after.physical_lines)
    changed = [Change(n, a, b) for n, (a, b) in enumerate(zip(old, new, strict=False), 1) if a != b]
    return changed + [Change(n, None, text) for n, text in enumerate(new[len(old) :], len(old) + 1)]
