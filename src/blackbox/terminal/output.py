"""How results are shown: coloured text on a terminal, plain text in a pipe, JSON on request."""

import decimal
import enum
import importlib
import os
import re
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from blackbox.errors import BlackboxError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

#: JSON escapes the other control characters itself; a terminal obeys these too.
_CONTROL = re.compile("[\x7f-\x9f]")
_STYLES = {"✓": "bold green", "✗": "bold red", "!": "bold yellow"}


def stdout() -> "Console":
    """The console for results."""
    return _console(sys.stdout, stderr=False)


def stderr() -> "Console":
    """The console for progress, status and errors."""
    return _console(sys.stderr, stderr=True)


def _console(stream: Any, *, stderr: bool) -> "Console":
    # Rich takes longer to load than many a command to run, and some need none of it.
    consoles = importlib.import_module("blackbox.terminal.consoles")
    made: Console = consoles.QuietConsole(_encodable(stream), stderr=stderr)
    return made


def write(data: bytes) -> None:
    """Bytes on standard output as they are, whatever its encoding."""
    try:
        sys.stdout.buffer.write(data)
    except BrokenPipeError:
        reader_gone()


def write_text(text: str) -> None:
    """Text on standard output; much cheaper than a console where no style is needed."""
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        reader_gone()


def write_json(value: Any) -> None:
    """One line of JSON on standard output. JSON is UTF-8, whatever the terminal is."""
    write(to_json(value).encode() + b"\n")


def reader_gone() -> NoReturn:
    """The reader of a pipe (`| head`) has seen enough: say nothing more, not even at shutdown."""
    mute()
    # Whoever has no reader any more has the time to load it.
    raise importlib.import_module("typer").Exit


def mute() -> None:
    """Let what still waits to be written to standard output go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _encodable(stream: Any) -> Any:
    """Let a stream in a narrow encoding show `?` for what it cannot show, instead of failing on `→`."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(
            errors="replace" if stream.encoding.lower().replace("-", "") != "utf8" else "backslashreplace"
        )
    return stream


def marked(mark: str, text: str) -> "Text":
    """A line that starts with a ✓, ✗ or !."""
    made: Text = importlib.import_module("rich.text").Text.assemble((mark, _STYLES[mark]), " ", text)
    return made


def printable(text: str) -> str:
    """Text without control characters: a log must not be able to steer the terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\t" else f"\\x{ord(c):02x}" if ord(c) < 256 else "�" for c in text)


def to_json(value: Any) -> str:
    """One line of JSON. Bytes that were no UTF-8 show as U+FFFD."""
    text = msgspec.json.encode(_clean(msgspec.to_builtins(value, enc_hook=to_plain))).decode()
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode() if _is_odd(value) else value
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value


def _is_odd(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def to_plain(value: object) -> object:
    """What msgspec does not know by itself, as JSON would have it."""
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, enum.Enum):
        return value.value
    raise TypeError(f"{type(value).__name__} has no JSON form")


def tell_error(error: BlackboxError, *, as_json: bool) -> None:
    """An error on standard error: one sentence and what to do, or an object."""
    if as_json:
        body = {"code": error.code, "message": printable(error.message), "remedy": printable(error.remedy)}
        sys.stderr.write(to_json(body) + "\n")
        return
    console = stderr()
    console.print(marked("✗", printable(error.message)))
    if error.remedy:
        console.print(f"  {printable(error.remedy)}")
