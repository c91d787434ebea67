"""`blackbox parse`: every line with its type, or the whole structure as JSON."""

import re
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
import typer

from blackbox.document.line import Line
from blackbox.document.scanner import Scanner
from blackbox.errors import UsageError
from blackbox.events.build import Unparsed
from blackbox.syntax.header import FENCE, Header
from blackbox.syntax.kinds import Kind
from blackbox.terminal import inputs, output

_WIDTH = 100
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


def command(
    logs: Annotated[
        list[str] | None, typer.Argument(help="Logs, folders or patterns; `-` is standard input.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON array with an object a line.")] = False,
    header_only: Annotated[bool, typer.Option("--header", help="The header only.")] = False,
    body_only: Annotated[bool, typer.Option("--body", help="The body only.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Do not shorten long lines.")] = False,
) -> None:
    """Show every line with its type.

    Without arguments, all logs below this folder.

    Examples:

      blackbox parse session.bbox

      blackbox parse session.bbox --json | jq '.[] | select(.type == "tool")'
    """
    if header_only and body_only:
        raise UsageError("--header and --body exclude each other", "leave both out to see everything")
    names = inputs.find_logs(logs or [])
    show = _Array(names) if as_json else _Listing(names, full=full)
    try:
        inputs.each_log(
            names,
            lambda name: show.log(name, _rows(name, with_header=not body_only, with_body=not header_only)),
            as_json=as_json,
        )
    finally:
        show.close()


class _Listing:
    """`Line N: Type(content)` for each row; several logs are told apart by their names."""

    def __init__(self, names: list[str], *, full: bool) -> None:
        self._several = len(names) > 1
        self._full = full
        self._console = output.stdout()
        self._first = True

    def log(self, name: str, rows: Iterator[dict[str, Any]]) -> None:
        """Show one log."""
        for index, row in enumerate(rows):
            if index == 0 and self._several:
                between = "" if self._first else "\n"
                output.write_text(f"{between}File: {output.printable(inputs.shown(name))}\n\n")
                self._first = False
            output.write_text(f"Line {row['line']}: {_shown(row, full=self._full)}\n")

    def close(self) -> None:
        """Nothing stands below a listing."""


class _Array:
    """One JSON array over all logs; of several, each row names its own."""

    def __init__(self, names: list[str]) -> None:
        self._several = len(names) > 1
        self._count = 0

    def log(self, name: str, rows: Iterator[dict[str, Any]]) -> None:
        """Add the rows of one log."""
        for row in rows:
            named = {"file": name, **row} if self._several else row
            output.write((b",\n " if self._count else b"[\n ") + output.to_json(named).encode())
            self._count += 1

    def close(self) -> None:
        """End the array."""
        output.write(b"\n]\n" if self._count else b"[]\n")


def _rows(name: str, *, with_header: bool, with_body: bool) -> Iterator[dict[str, Any]]:
    """One row a physical line, while the log is being read."""
    scanner = Scanner()
    header_done = False
    for block in _blocks_and_end(name):
        lines = scanner.close() if block is None else scanner.feed(block)
        if not header_done and (scanner.header is not None or lines or block is None):
            header_done = True
            if with_header and scanner.header is not None:
                yield from _header_rows(scanner.header)
        if with_body:
            for line in lines:
                yield from _line_rows(line)
        elif header_done:
            return


def _blocks_and_end(name: str) -> Iterator[bytes | None]:
    yield from inputs.read_blocks(name)
    yield None


def _header_rows(header: Header) -> Iterator[dict[str, Any]]:
    fields = {field.line: field for field in header.items}
    last = len(header.sources) - 1
    for index, source in enumerate(header.sources):
        number = header.first_line + index
        field = fields.get(number)
        if field is not None:
            yield {"line": number, "type": "header_field", "key": field.key, "value": field.value}
        elif index == 0 or (index == last and header.closed and source.strip() == FENCE):
            yield {"line": number, "type": "header_start" if index == 0 else "header_end"}
        elif source.strip():
            yield {"line": number, "type": "header_text", "text": source}


def _line_rows(line: Line) -> Iterator[dict[str, Any]]:
    if line.kind is Kind.BLANK:
        return
    row: dict[str, Any] = {"line": line.number, "type": line.kind.value}
    if line.kind is Kind.COMMENT:
        row["name"] = _snake(type(line.event).__name__)
    elif line.name:
        row["name"] = line.name
    if line.head.metadata:
        row["metadata"] = line.head.metadata
    event = line.event
    if not isinstance(event, Unparsed):
        row["event"] = msgspec.to_builtins(event, enc_hook=output.to_plain)
    row["source"] = line.source
    if line.more:
        row["last_line"] = line.last_number
    yield row
    for number, source in enumerate(line.more or (), line.number + 1):
        yield {"line": number, "type": "continuation", "of": line.number, "source": source}


def _snake(name: str) -> str:
    return _WORDS.sub("_", name).lower()


def _shown(row: dict[str, Any], *, full: bool) -> str:
    kind: str = row["type"]
    if kind in ("header_start", "header_end"):
        return kind.replace("_", " ").capitalize()
    if kind == "header_field":
        return f"HeaderField({row['key']} = {_short(_plain(row['value']), full)})"
    if kind == "header_text":
        return f"HeaderText({_short(row['text'].strip(), full)})"
    text = row["source"].strip(" \t\r")
    label = Kind(kind).label
    prefix = {"comment": "#", "lifecycle": "", "phase": "", "continuation": "", "unknown": ""}.get(kind)
    if prefix is None:
        text = text.partition(":")[2].strip(" \t")
    elif prefix:
        text = text[1:].strip(" \t")
    return f"{label}({_short(text, full)})"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else output.to_json(value)


def _short(text: str, full: bool) -> str:
    text = output.printable(text)
    return text if full or len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."
