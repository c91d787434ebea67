"""Lines with some colour on a terminal, and none in a pipe: what needs no console does not wait for one."""

import importlib
import os
import sys
from collections.abc import Iterable

from blackbox.terminal import output

#: A line: pieces of text, each with its style.
Line = tuple[tuple[str, str], ...]
INDENT = "    "


def line(*pieces: tuple[str, str] | str) -> Line:
    """A line of pieces with and without a style, fit to be shown."""
    pairs = (piece if isinstance(piece, tuple) else (piece, "") for piece in pieces)
    return tuple((output.printable(text), style) for text, style in pairs if text)


def block(text: str, style: str = "") -> list[Line]:
    """A text of any length, indented; broken between words where a terminal would break them."""
    found: list[Line] = []
    for each in text.split("\n"):
        shown = output.printable(each)
        if not sys.stdout.isatty():
            found.append(line(INDENT, (shown, style)))
            continue
        width = max(os.get_terminal_size(sys.stdout.fileno()).columns - len(INDENT), 20)
        wrapped = importlib.import_module("textwrap").wrap(shown, width) or [""]
        found += [line(INDENT, (part, style)) for part in wrapped]
    return found


def show(lines: Iterable[Line]) -> None:
    """All of them, on standard output."""
    if not sys.stdout.isatty():
        output.write_text("".join("".join(text for text, _ in each).rstrip() + "\n" for each in lines))
        return
    console = output.stdout()
    assemble = importlib.import_module("rich.text").Text.assemble
    for each in lines:
        console.print(assemble(*each))
