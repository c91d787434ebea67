"""A whole log in memory: the header, the entries, and the very bytes they came from."""

from collections.abc import Iterable, Iterator

from blackbox.document.line import Line
from blackbox.document.scanner import BOM, Scanner
from blackbox.syntax.header import Header
from blackbox.syntax.kinds import Kind


class Document:
    """What `parse` returns. `emit` gives back the input byte for byte, whatever it was."""

    def __init__(
        self,
        header: Header | None,
        lines: list[Line],
        *,
        has_bom: bool = False,
        final_newline: bool = True,
    ) -> None:
        self.header = header
        self.lines = lines
        self.has_bom = has_bom
        self.final_newline = final_newline

    def __repr__(self) -> str:
        name = self.header.id if self.header else None
        return f"Document(id={name!r}, entries={len(self.lines)}, lines={self.line_count})"

    @property
    def events(self) -> Iterator[Line]:
        """The entries that say something: no blank, unknown or stray lines."""
        return (line for line in self.lines if line.kind not in (Kind.BLANK, Kind.UNKNOWN, Kind.CONTINUATION))

    @property
    def line_count(self) -> int:
        """How many physical lines the log has, header included."""
        if self.lines:
            return self.lines[-1].last_number
        return self.header.last_line if self.header else 0

    @property
    def physical_lines(self) -> Iterator[str]:
        """Every physical line in order, without line feeds."""
        if self.header is not None:
            yield from self.header.blank_lines_before
            yield from self.header.sources
        for line in self.lines:
            yield from line.physical_lines

    def emit(self) -> bytes:
        """The log as bytes: exactly those it was parsed from."""
        text = "\n".join(self.physical_lines)
        if self.final_newline and self.line_count:
            text += "\n"
        return (BOM if self.has_bom else b"") + text.encode(errors="surrogateescape")


def parse(data: bytes | str) -> Document:
    """Read a log. Any bytes give a document; what is wrong with them, `validate` tells."""
    if isinstance(data, str):
        data = _encode(data)
    scanner = Scanner()
    lines = scanner.feed(data)
    lines += scanner.close()
    return document_of(scanner, lines)


def document_of(scanner: Scanner, lines: Iterable[Line]) -> Document:
    """The document of a scanner that has been fed everything."""
    return Document(scanner.header, list(lines), has_bom=scanner.has_bom, final_newline=scanner.final_newline)


def _encode(text: str) -> bytes:
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        # A lone surrogate that stands for no byte has no UTF-8 form; it is kept as bad UTF-8.
        return text.encode(errors="surrogatepass")
