"""Lines with some colour on a terminal, and none in a pipe. No console is loaded: an agent waits for these."""

import os
import sys
from collections.abc import Iterable

from blackbox.terminal import output

#: A line: pieces of text, each with its style.
Line = tuple[tuple[str, str], ...]
INDENT = "    "
#: As rich names them.
_STYLES = {"bright_black": "90", "cyan": "36", "bold cyan": "1;36", "yellow": "33", "bold": "1"}
#: A terminal that says it is narrower does not know how wide it is.
_NARROWEST = 20
_USUAL = 80


def line(*pieces: tuple[str, str] | str) -> Line:
    """A line of pieces with and without a style, fit to be shown."""
    pairs = (piece if isinstance(piece, tuple) else (piece, "") for piece in pieces)
    return tuple((output.printable(text), style) for text, style in pairs if text)


def block(text: str, style: str = "") -> list[Line]:
    """A text of any length, indented; on a terminal broken between words."""
    return [line(INDENT, (part, style)) for each in text.split("\n") for part in _wrapped(output.printable(each))]


def show(lines: Iterable[Line]) -> None:
    """All of them, on standard output."""
    output.write(encode(spell(lines)))


def spell(lines: Iterable[Line]) -> str:
    """All of them, as standard output is to have them."""
    is_coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return "".join(_spelled(each, is_coloured=is_coloured) for each in lines)


def encode(text: str) -> bytes:
    """A text in the encoding of standard output; what that cannot show is replaced."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace" if encoding.lower() in ("utf-8", "utf8") else "replace")


def _spelled(pieces: Line, *, is_coloured: bool) -> str:
    if not is_coloured:
        return "".join(text for text, _ in pieces).rstrip() + "\n"
    return "".join(f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style else text for text, style in pieces) + "\n"


def _wrapped(text: str) -> list[str]:
    if not sys.stdout.isatty():
        return [text]
    import textwrap  # noqa: PLC0415 - a pipe needs none of it

    columns = os.get_terminal_size(sys.stdout.fileno()).columns
    width = columns if columns >= _NARROWEST else _USUAL
    return textwrap.wrap(text, width - len(INDENT)) or [""]
