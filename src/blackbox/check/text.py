"""Checks on the text itself: encoding, line ends, holes, length, secrets."""

import re
from collections.abc import Callable

from blackbox.check.findings import Finding, Findings
from blackbox.check.rules import rule_named
from blackbox.document.line import Line
from blackbox.document.scanner import Scanner
from blackbox.redaction.redactor import Redactor
from blackbox.syntax.header import Header

LONG_LINE = 1 << 20
#: How much of a file's start decides whether it is text.
SAMPLE_SIZE = 8192
_BAD_BYTES = re.compile("[\udc80-\udcff]+")
_CONTROL = bytes(set(range(32)) - {9, 10, 13, 27}) + b"\x7f"


def looks_binary(block: bytes) -> bool:
    """Whether the start of a file is no text at all: NULs together with bad UTF-8, or mostly control bytes."""
    head = block[:SAMPLE_SIZE]
    control = len(head) - len(head.translate(None, _CONTROL))
    if control * 10 > len(head) * 3:
        return True
    if b"\0" not in head:
        return False
    # A multi-byte character may be cut at the end of the sample; that alone is not bad.
    return len(_BAD_BYTES.findall(head.decode(errors="surrogateescape"))) > 3


class TextChecks:
    """Looks at single lines only in batches where the scanner saw something odd."""

    def __init__(self, add: Callable[[Finding], None]) -> None:
        self._add = add
        self._first_carriage_return = 0
        #: The largest block that the entry still open stands in.
        self._open_size = 0

    def header(self, header: Header) -> None:
        """Check the lines of the header."""
        numbered = list(enumerate((*header.blank_lines_before, *header.sources), 1))
        self._long_lines(numbered)
        self._damage(numbered)
        self._carriage_return(numbered)

    def no_batch(self, size: int) -> None:
        """A block of this size only went on with the entry that was open."""
        self._open_size = max(self._open_size, size)

    def batch(self, scanner: Scanner, batch: list[Line]) -> None:
        """Check a batch of entries."""
        if max(self._open_size, scanner.block_size) > LONG_LINE:
            for line in batch:
                self._long_lines(_numbered(line))
        self._open_size = scanner.block_size
        if scanner.has_bad_utf8 or scanner.has_nul:
            for line in batch:
                self._damage(_numbered(line))
        if scanner.has_carriage_return and not self._first_carriage_return:
            for line in batch:
                self._carriage_return(_numbered(line))

    def _long_lines(self, numbered: list[tuple[int, str]]) -> None:
        for number, source in numbered:
            if len(source) > LONG_LINE:
                size = len(source.encode(errors="surrogateescape")) / LONG_LINE
                self._add(rule_named("long-line").finding(number, f"the line is {size:.1f} MiB long"))

    def _damage(self, numbered: list[tuple[int, str]]) -> None:
        for number, source in numbered:
            bad = _BAD_BYTES.search(source)
            if bad is not None:
                text = bad[0].encode(errors="surrogateescape").hex(" ")[:23]
                at_end = bad.end() == len(source.rstrip("\r"))
                message = f"bytes {text} are not UTF-8" + (" (cut at the end of the line)" if at_end else "")
                self._add(rule_named("bad-utf8").finding(number, message, bad.start() + 1, bad.end() + 1))
            nul = source.find("\0")
            if nul >= 0:
                count = source.count("\0")
                self._add(rule_named("nul-byte").finding(number, f"{count} NUL byte(s)", nul + 1, nul + 2))

    def _carriage_return(self, numbered: list[tuple[int, str]]) -> None:
        if not self._first_carriage_return:
            self._first_carriage_return = next((number for number, source in numbered if source.endswith("\r")), 0)

    def finish(self, scanner: Scanner, *, is_binary: bool, is_empty: bool) -> None:
        """Conclusions about the whole file."""
        if is_empty:
            self._add(rule_named("empty-file").finding(1, "the file is empty"))
        elif is_binary:
            self._add(rule_named("binary-file").finding(1, "this is a binary file, not a log"))
        else:
            if scanner.has_bom:
                self._add(rule_named("byte-order-mark").finding(1, "the file starts with a byte order mark"))
            if self._first_carriage_return:
                line = self._first_carriage_return
                self._add(rule_named("carriage-return").finding(line, "lines from here on end in CR LF"))
            if not scanner.final_newline:
                self._add(
                    rule_named("no-final-newline").finding(scanner.line_count, "the last line has no line feed")
                )


def _numbered(line: Line) -> list[tuple[int, str]]:
    return list(enumerate(line.physical_lines, line.number))


class SecretSearch:
    """Looks for secrets in the blocks of a log. A pass of its own, so that it can run beside the other checks."""

    def __init__(self, redactor: Redactor, kept_per_rule: int | None = None) -> None:
        self.findings = Findings(kept_per_rule)
        self._redactor = redactor
        self._pieces: list[bytes] = []
        self._number = 1

    def feed(self, block: bytes) -> None:
        """Search the next block. It is searched up to its last line feed; the rest waits for its own."""
        self._pieces.append(block)
        if b"\n" in block:
            data = b"".join(self._pieces)
            cut = data.rfind(b"\n") + 1
            self._pieces = [data[cut:]]
            self._search(data[:cut])

    def finish(self) -> Findings:
        """The log has ended: what was found."""
        self._search(b"".join(self._pieces))
        self._pieces = []
        return self.findings

    def _search(self, data: bytes) -> None:
        at = 0
        number = self._number
        for start, end, kind in self._redactor.find(data):
            number += data.count(b"\n", at, start)
            at = start
            line = data.rfind(b"\n", 0, start) + 1
            last = data.find(b"\n", start, end)
            column = _width(data[line:start]) + 1
            end_column = column + _width(data[start : end if last < 0 else last])
            message = f"a secret in the clear: {kind}"
            self.findings.add(rule_named("secret-in-clear").finding(number, message, column, end_column))
        self._number = number + data.count(b"\n", at)


def _width(data: bytes) -> int:
    return len(data.decode(errors="surrogateescape"))
