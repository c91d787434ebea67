"""Shortcuts for the plain majority of lines: each answers as the full parser would, or declines with None.

String methods instead of regular expressions, since a long log goes through here line by line.
"""

import re

import msgspec

from blackbox.syntax.kinds import NAMED, PREFIXES, Kind
from blackbox.syntax.metadata import is_known

_FLAG = "interrupted"
_NAME_STARTS = {kind: len(prefix) for kind, prefix in PREFIXES.items() if kind in NAMED}
#: The lines `call_head` is made for: a name or none, arguments, a result, and no trailing comment.
CALL_LIKE = NAMED - {Kind.MODE} | {Kind.OBSERVATION, Kind.RECALL, Kind.QUESTION}
_KEYS = frozenset({"id", "step", "ts", "tid", "span", "parent", "latency_ms", "attempt", "level", "model", "sig"})


_ARGUMENT = re.compile(r"[A-Za-z_][\w.\-]*")


class Head(msgspec.Struct, frozen=True, gc=False):
    """What a scan needs of a call line: its name, its metadata, and where its result starts (-1 without one)."""

    name: str
    metadata: dict[str, str]
    result_start: int


def call_head(kind: Kind, source: str, *, brief: bool = False) -> Head | None:
    """The head of a call line made of plain words, cleanly quoted values and a spaced arrow.

    With `brief`, metadata behind the result is read only if it may join the line with others or place it in time.
    """
    call, arrow, result = source.partition(" → ")
    if "→" in call or source[:1] == " " or "\t" in source or "\r" in source or result[:1] == " ":
        return None
    result_start = len(call) + 3
    if call[-1:] == " ":
        # Producers leave an empty place where a call has no arguments.
        call = call.rstrip(" ")
    start = _NAME_STARTS.get(kind)
    space = call.find(" ")
    if start is None:
        name, words = "", call[2:]
    elif space < 0:
        name, words = call[start:], ""
    else:
        name, words = call[start:space], call[space:]
    if start is not None and not name:
        return None
    # Quotes matter without any `=` too: the arrow may stand between two of them.
    metadata = _words_metadata(words) if "=" in words or '"' in words else {}
    if metadata is None:
        return None
    if not arrow:
        return Head(name, metadata, -1)
    if "=" in result and not (brief and _says_nothing_of_place(result)):
        space = source.find(" ", result_start)
        if space >= 0:
            trailing = trailing_metadata(source, space, len(source))
            if trailing is None:
                return None
            if trailing[1]:
                metadata = {**trailing[1], **metadata}
    return Head(name, metadata, result_start)


def message_head(source: str, start: int) -> Head | None:
    """The head of a message, whose text starts at `start`, with plain metadata at its end."""
    if "=" not in source:
        return _NO_METADATA
    if "# metrics" in source:
        return None
    trailing = trailing_metadata(source, start, len(source))
    return None if trailing is None else Head("", trailing[1], -1)


_NO_METADATA = Head("", {}, -1)
_STEP_AND_TIME = re.compile(r' step=([^ \t\r"\\]+) ts=([^ \t\r"\\]+)\Z')


def step_and_time(source: str) -> tuple[str, str] | None:
    """The step and time of a message that ends in both, in the usual order, and names neither before nor a thread."""
    start = source.find("step=") - 1
    if start < 0 or "tid=" in source or "# metrics" in source or source.find("ts=", 0, start) >= 0:
        return None
    match = _STEP_AND_TIME.match(source, start)
    return (match[1], match[2]) if match is not None else None


def _says_nothing_of_place(result: str) -> bool:
    return not ("id=" in result or "step=" in result or "ts=" in result or "span=" in result or "attempt=" in result)


def call_metadata(part: str) -> dict[str, str] | None:
    """The metadata of a call part made of plain words and cleanly quoted values."""
    return None if "\t" in part or "\r" in part else _words_metadata(part)


def _words_metadata(part: str) -> dict[str, str] | None:
    if "[" in part or "{" in part or "\\" in part or _FLAG in part:
        return None
    if '"' in part:
        pieces = part.split('"')
        if len(pieces) % 2 == 0 or not _quotes_are_clean(pieces):
            return None
        part = "".join(pieces[::2])
    found: dict[str, str] = {}
    for word in part.split(" "):
        if "=" in word:
            key, _, value = word.partition("=")
            if (key in _KEYS or is_known(key)) and key not in found:
                found[key] = value
    return found


def _quotes_are_clean(pieces: list[str]) -> bool:
    """Whether every quote opens behind a space or an argument's `=`, and closes before a space or the end."""
    last = len(pieces) - 1
    for index in range(0, last, 2):
        outside = pieces[index]
        if outside[-1:] == "=":
            # A quoted metadata value has its own reading, and behind `a=b=` a quote opens nothing.
            key = outside[outside.rfind(" ") + 1 : -1]
            if is_known(key) or not _ARGUMENT.fullmatch(key):
                return False
        elif outside[-1:] != " ":
            return False
        after = pieces[index + 2]
        if after and after[0] != " ":
            return False
    return True


def trailing_metadata(source: str, start: int, end: int) -> tuple[int, dict[str, str]] | None:
    """The run of plain pairs at the end of `source[start:end]`: where it begins (or `end`), and the pairs."""
    found: dict[str, str] = {}
    cut = run = end
    while cut > start:
        word = source.rfind(" ", start, cut) + 1
        if word == 0:
            return None
        text = source[word:cut]
        if not text or text == _FLAG or _is_odd(text):
            return None
        key, equals, value = text.partition("=")
        if not equals or not is_known(key):
            break
        found[key] = value
        run = word
        cut = word - 1
    return run, found


def _is_odd(word: str) -> bool:
    """Whether a character in it may make the word something else than it seems."""
    return '"' in word or "\\" in word or "[" in word or "{" in word or "\t" in word or "\r" in word
