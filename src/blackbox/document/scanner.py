"""Bytes in, entries out: the incremental scanner under every reader. Holds one entry and one incomplete line."""

from blackbox.document.line import Line
from blackbox.syntax import header as headers
from blackbox.syntax.header import Header
from blackbox.syntax.kinds import BY_THREE, BY_TWO, Kind, classify

BOM = b"\xef\xbb\xbf"


class Scanner:
    """Feed it bytes in any pieces; it returns the entries that are complete.

    An entry is complete when the next one begins, since continuation lines belong to it. The last physical line may
    be incomplete (no line feed yet): `pending` shows it, and that is a state, not an error.
    """

    def __init__(self) -> None:
        self.header: Header | None = None
        self.has_bom = False
        self.final_newline = True
        #: Physical lines seen so far, header included.
        self.line_count = 0
        #: The size of the last block of whole lines: no line in it is longer.
        self.block_size = 0
        #: What the blocks fed so far contain; a checker looks closer only where one of these is set.
        self.has_bad_utf8 = False
        self.has_nul = False
        self.has_carriage_return = False
        self._open: Line | None = None
        self._pieces: list[bytes] = []
        self._at_start = True
        self._header_sources: list[str] | None = None
        self._blank_sources: list[str] = []
        self._escaped = False

    @property
    def pending(self) -> bytes:
        """The bytes of the last physical line that has no line feed yet."""
        return b"".join(self._pieces)

    def feed(self, data: bytes) -> list[Line]:
        """Take the next bytes; return the entries they complete."""
        cut = data.rfind(b"\n") + 1
        if cut == 0:
            if data:
                self._pieces.append(data)
            return []
        block = b"".join((*self._pieces, data[:cut])) if self._pieces else data[:cut]
        self._pieces = [data[cut:]] if cut < len(data) else []
        sources = self._decode(block).split("\n")
        sources.pop()
        return self._take(sources)

    def close(self) -> list[Line]:
        """The input has ended: return what was held back."""
        entries: list[Line] = []
        if self._pieces:
            block = self.pending
            self._pieces = []
            self.final_newline = False
            entries = self._take([self._decode(block)])
        if self._header_sources is not None:
            entries += self._give_up_header()
        return entries + self.flush()

    def flush(self) -> list[Line]:
        """Hand out the open entry without waiting for what follows it; later continuations come as their own."""
        entries = [self._open] if self._open is not None else []
        self._open = None
        return entries

    def _decode(self, block: bytes) -> str:
        self.block_size = len(block)
        if self._at_start:
            self._at_start = False
            if block.startswith(BOM):
                self.has_bom = True
                block = block[len(BOM) :]
            if self._header_sources is None and self.header is None:
                self._header_sources = []
        try:
            text = block.decode()
        except UnicodeDecodeError:
            self.has_bad_utf8 = True
            text = block.decode(errors="surrogateescape")
        # In bytes: a search for NUL in a string of wide characters is twenty times as slow.
        self.has_nul = self.has_nul or b"\0" in block
        self.has_carriage_return = self.has_carriage_return or b"\r" in block
        return text

    def _take(self, sources: list[str]) -> list[Line]:
        if self._header_sources is not None:
            sources = self._take_header(sources)
        entries: list[Line] = [self._open] if self._open is not None else []
        last = self._open
        number = self.line_count
        escaped = self._escaped
        by_two, by_three, continuation, blank = BY_TWO, BY_THREE, Kind.CONTINUATION, Kind.BLANK
        for source in sources:
            number += 1
            kind = by_two.get(source[:2]) or by_three.get(source[:3]) or classify(source)
            if kind is continuation:
                if last is not None and last.kind is not blank and last.kind is not continuation:
                    if last.more is None:
                        last.more = []
                    last.more.append(source)
                    continue
                if not source.strip(" \t\r"):
                    kind = blank
            last = Line(kind, number, source, escaped)
            entries.append(last)
        self.line_count = number
        self._open = entries.pop() if entries else None
        return entries

    def _take_header(self, sources: list[str]) -> list[str]:
        """Move header lines out of `sources`; what remains is body."""
        collected = self._header_sources
        assert collected is not None  # noqa: S101 - the caller checked; this is for the type checker
        for index, source in enumerate(sources):
            is_fence = source.rstrip(" \t\r") == headers.FENCE
            if not collected and not source.strip(" \t\r"):
                self._blank_sources.append(source)
            elif not collected and not is_fence:
                return self._without_header() + sources[index:]
            else:
                collected.append(source)
                if is_fence and len(collected) > 1:
                    self._close_header(collected, closed=True)
                    return sources[index + 1 :]
                if len(collected) > headers.MAX_LINES:
                    return self._unclosed() + sources[index + 1 :]
        return []

    def _give_up_header(self) -> list[Line]:
        rest = self._unclosed() if self._header_sources else self._without_header()
        return self._take(rest)

    def _without_header(self) -> list[str]:
        blanks, self._blank_sources = self._blank_sources, []
        self._header_sources = None
        return blanks

    def _unclosed(self) -> list[str]:
        """No closing fence: the header ends where the first event stands."""
        sources = self._header_sources or []
        end = next((i for i, source in enumerate(sources) if i and _is_event(source)), len(sources))
        self._close_header(sources[:end], closed=False)
        return sources[end:]

    def _close_header(self, sources: list[str], *, closed: bool) -> None:
        first_line = len(self._blank_sources) + 1
        self.header = Header(sources, first_line=first_line, closed=closed)
        self.header.blank_lines_before = tuple(self._blank_sources)
        self.line_count = self.header.last_line
        self._blank_sources = []
        self._header_sources = None
        self._escaped = self.header.escaped


def _is_event(source: str) -> bool:
    kind = classify(source)
    return kind not in (Kind.UNKNOWN, Kind.COMMENT, Kind.CONTINUATION, Kind.BLANK)
