"""How values are spelled in a log with `escape: 1`: lines of text, bare words, quoted strings, lists, todos."""

import re
from collections.abc import Iterable, Mapping

from blackbox.errors import UsageError
from blackbox.events.calls import Arguments
from blackbox.events.messages import Todo, Todos, parse_todos
from blackbox.syntax import metadata
from blackbox.syntax.escape import escape_controls
from blackbox.syntax.tokens import Value

#: Nothing at all, made visible: what an empty line is written as.
EMPTY = "\\e"
CONTINUATION = "  "
#: A key that needs no quotes.
PLAIN_KEY = re.compile(r"[A-Za-z_][\w.\-]*")

_NAMES = {" ": "\\s", "\t": "\\t", "\n": "\\n"}
_IN_WORD = re.compile(r'[ \t\n"→]|\A[\[{]')
_IN_QUOTES = re.compile(r'[\t\n"→]')
_PLAIN_WORD = re.compile(r'[^\s"\\\[\]{}→]+')
_PLAIN_ITEM = re.compile(r'[^\s"\\\[\]{},→]+')
_PLAIN_CHOICE = re.compile(r'[^\s"\\\[\]{},:=→]+(?: [^\s"\\\[\]{},:=→]+)*')
_KEY_LIKE = re.compile(r"[A-Za-z_][\w.\-]*=")
_KNOWN_PAIR = re.compile(rf"(?<![^ \t])({metadata.KEY})=")
_METRICS_LIKE = re.compile(r"(?<![^ \t])# metrics(?![^ \t])")
_COMMENT_LIKE = re.compile(r'(\\.|"(?:[^"\\]|\\.)*+")|"|(?<![^ \t])#(?![^ \t])')
_PRIORITY_LIKE = re.compile(r"(\bP\d+[ \t]*):")
#: Bare words that would not be read as an argument: a metadata flag, and the start of a trailing comment.
_NO_ARGUMENT = frozenset({"interrupted", "#"})
#: Arguments that people write in quotes even when one word would do.
_QUOTED_KEYS = frozenset({"options", "partial", "reason", "summary"})
#: Metadata that stands right behind the name; the rest follows the arguments, and these come last.
_LEADING = ("id", "tid", "span", "parent")
_LAST = ("step", "ts")
_FLAG = "interrupted"
_STATE = re.compile(r"[a-z][a-z_-]*")
#: Todo states that are read as such wherever they stand; any other has to begin a line.
_STATES = ("pending", "in_progress", "completed", "cancelled", "blocked")
_STATE_LIKE = re.compile(rf"\[(?=(?:{'|'.join(_STATES)})\])")
_STATE_AT_START = re.compile(r"(\n[ \t]*)\[(?=[a-z][a-z_-]*\])")


def block(text: str) -> list[str]:
    """The lines of a text, each spelled so that no reader or editor loses its end. Never an empty list."""
    return [_keep_end(line) or EMPTY for line in escape_controls(text).split("\n")]


def keep_start(line: str) -> str:
    """A first line whose leading space would be taken for the space behind the prefix."""
    return _NAMES[line[0]] + line[1:] if line[:1] in (" ", "\t") else line


def block_behind(text: str) -> list[str]:
    """The lines of a text whose first one stands behind a prefix, a label or a mark."""
    first, *rest = block(text)
    return [keep_start(first), *rest]


def _keep_end(line: str) -> str:
    return line[:-1] + _NAMES[line[-1]] if line[-1:] in (" ", "\t") else line


def guard_run(line: str, start: int = 0) -> str:
    """A line whose last words would be read as metadata, with the `=` of those words escaped."""
    if "=" not in line:
        return line
    while (run := metadata.run_start(line, start, len(line), escaped=True)) < len(line):
        line = line[:run] + _KNOWN_PAIR.sub(r"\1\\=", line[run:])
    return line


def guard_metrics(line: str) -> str:
    """An agent's line in which `# metrics` is only text."""
    return _METRICS_LIKE.sub(r"\\# metrics", line) if "# metrics" in line else line


def guard_comment(line: str, *, quotes: bool) -> str:
    """A result in which a lone `#` is only text; with `quotes`, a quote that never closes is spelled out too."""

    def spell(match: re.Match[str]) -> str:
        return match[0] if match[1] or (match[0] == '"' and not quotes) else "\\" + match[0]

    return _COMMENT_LIKE.sub(spell, line) if "#" in line or quotes else line


def word(text: str) -> str:
    """A value as one bare word: metadata and metrics are always written so."""
    return _IN_WORD.sub(lambda match: _NAMES.get(match[0], "\\" + match[0]), escape_controls(text))


def quoted(text: str) -> str:
    """A value in double quotes."""
    inside = _IN_QUOTES.sub(lambda match: _NAMES.get(match[0], "\\" + match[0]), escape_controls(text))
    return f'"{inside}"'


def value(given: Value, *, quote: bool = False) -> str:
    """The value of a keyword argument; `quote` asks for quotes where a bare word would do as well."""
    if isinstance(given, tuple):
        return "[" + ", ".join(_item(item, quote) for item in given) + "]"
    return quoted(given) if quote or not _is_plain(_PLAIN_WORD, given) else given


def positional(given: Value, *, quote: bool = False) -> str:
    """A positional argument, which must not look like a keyword argument or a flag."""
    if isinstance(given, str) and (given in _NO_ARGUMENT or _KEY_LIKE.match(given)):
        return quoted(given)
    return value(given, quote=quote)


def pair(key: str, given: Value) -> str:
    """A keyword argument. A key that is no plain word, or that names metadata, stands in quotes."""
    is_plain = PLAIN_KEY.fullmatch(key) and not metadata.is_known(key)
    return f"{key if is_plain else quoted(key)}={value(given, quote=key in _QUOTED_KEYS)}"


def arguments(given: Arguments, *, quote: bool = False) -> list[str]:
    """The words of a call's arguments; `quote` asks for quotes around every positional string."""
    words = [positional(item, quote=quote and isinstance(item, str)) for item in given.positional]
    return words + [pair(key, item) for key, item in given.keyword.items()]


def meta_words(meta: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The metadata of a call: what stands behind the name, and what stands behind the arguments."""
    leading = [f"{key}={word(meta[key])}" for key in _LEADING if key in meta]
    others = [key for key in meta if key not in _LEADING and key not in _LAST and key != _FLAG]
    trailing = [f"{key}={word(meta[key])}" for key in (*others, *(key for key in _LAST if key in meta))]
    if _FLAG in meta:
        # The flag is read as one only right behind a pair.
        (trailing or leading).append(_FLAG)
    return leading, trailing


def choices(given: Iterable[str]) -> str:
    """The options chosen, inside `[selected: …]`; spaces within one need no quotes there."""
    return ", ".join(item if _is_plain(_PLAIN_CHOICE, item) else _quoted_choice(item) for item in given)


def _quoted_choice(item: str) -> str:
    return balance(quoted(item).replace("=", "\\="))


def task(text: str) -> str:
    """One task of `@assess`: `, P1:` in it is only text, and commas at its ends are its own."""
    source = _PRIORITY_LIKE.sub(r"\1\\:", "\n".join(block_behind(text)))
    if source[-1:] in (",", ";"):
        # Separators are taken off both ends before escapes are undone, so the last one goes by number.
        source = f"{source[:-1]}\\x{ord(source[-1]):02x}"
    return "\\" + source if source[:1] in (",", ";") else source


def balance(text: str) -> str:
    """Escaped text that will stand in brackets: its own brackets are escaped unless they pair up."""
    depth = 0
    for character in re.sub(r"\\.", "", text):
        depth += (character == "[") - (character == "]")
        if depth < 0:
            break
    return re.sub(r"(\\.)|([\[\]])", lambda m: m[1] or "\\" + m[2], text, flags=re.DOTALL) if depth else text


def _item(item: str, quote: bool) -> str:
    return quoted(item) if quote or not _is_plain(_PLAIN_ITEM, item) else item


def _is_plain(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.fullmatch(text) is not None and escape_controls(text) == text


def todos_of(items: Iterable[Todo]) -> Todos:
    """The event that a list of todos is read back as."""
    return parse_todos(_todo_items(tuple(items)), escaped=True)


def todos(given: Todos) -> str:
    """A todo list as escaped text: as it stands where that reads the same, else from its items."""
    source = "\n".join(block(given.text))
    return source if parse_todos(source, escaped=True) == given else _todo_items(given.items)


def _todo_items(items: tuple[Todo, ...]) -> str:
    source = ""
    for item in items:
        between = "" if not source else " " if item.status in _STATES else "\n"
        source += between + _todo(item)
    return source or EMPTY


def _todo(item: Todo) -> str:
    if not _STATE.fullmatch(item.status):
        raise UsageError(
            f"status {item.status[:80]!r} is no todo state", f"use a lower-case word, such as {', '.join(_STATES)}"
        )
    if not item.text:
        return f"[{item.status}]"
    text = "\n".join(block_behind(item.text))
    return f"[{item.status}] " + _STATE_AT_START.sub(r"\1\\[", _STATE_LIKE.sub(r"\\[", text))
