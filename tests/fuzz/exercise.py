"""Everything a reader may do with a log, on any bytes: what the fuzzer runs, and the tests on its findings."""

from pathlib import Path

import blackbox
from blackbox.document.files import EXTENSIONS
from blackbox.document.line import Line
from blackbox.document.scanner import Scanner

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("examples", "fixtures/log")
#: Short inputs run faster and reach as much of the grammar.
MAX_BYTES = 2048


class Broken(AssertionError):
    """A promise of the library does not hold for this input."""


def exercise(data: bytes) -> None:
    """Parse, emit, look at every line in every way, validate, and build the session. Raises if any of it fails."""
    document = blackbox.parse(data)
    if document.emit() != data:
        raise Broken("emit is not byte-exact")
    if [line.source for line in in_pieces(data)] != [line.source for line in document.lines]:
        raise Broken("pieces read differently")
    physical = list(document.physical_lines)
    for line in document.lines:
        look_at(line, physical)
    blackbox.validate(document)
    blackbox.Session(document)


def in_pieces(data: bytes) -> list[Line]:
    """The entries when the input arrives in pieces, of a size that its first byte decides."""
    scanner = Scanner()
    size = 1 + (data[0] if data else 0)
    lines = [line for at in range(0, len(data), size) for line in scanner.feed(data[at : at + size])]
    return lines + scanner.close()


def look_at(line: Line, physical: list[str]) -> None:
    """Ask one line for all it has; its elements must stand where their spans say."""
    for element in line.elements:
        if physical[element.span.line - 1][element.span.start - 1 : element.span.end - 1] != element.text:
            raise Broken(f"the span of {element!r} points elsewhere")
    if line.id != line.parts.raw_meta.get("id"):
        raise Broken(f"two ids: {line.id!r} and {line.parts.raw_meta!r}")
    repr((line.event, line.meta, line.text, line.name, line.step, line.result, line.result_kind, line.is_truncated))


def logs() -> list[Path]:
    """The logs of this repository."""
    return sorted(path for name in FOLDERS for path in (ROOT / name).rglob("*") if path.suffix in EXTENSIONS)


def seeds() -> list[bytes]:
    """Short logs whole, and every entry of all logs by itself."""
    found: set[bytes] = set()
    for path in logs():
        document = blackbox.read_document(path)
        header = "---\nescape: 1\n---\n" if document.header and document.header.escaped else ""
        entries = ("\n".join([header + line.source, *(line.more or ())]) for line in document.lines)
        found |= {document.emit(), *(entry.encode(errors="surrogateescape") for entry in entries)}
    return sorted(data for data in found if len(data) <= MAX_BYTES)
