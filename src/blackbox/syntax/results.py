"""What stands behind an arrow: the shorthands, blob pointers and free text, told apart."""

import enum
import re

import msgspec

from blackbox.syntax.escape import unescape
from blackbox.syntax.tokens import Token, Value, lex, split_items
from blackbox.syntax.values import integer


class ResultKind(enum.StrEnum):
    """What a result says about its call."""

    OK = "ok"
    ERR = "err"
    SKIP = "skip"
    RUNNING = "running"
    STARTED = "started"
    PENDING = "pending"
    RETRY = "retry"
    COUNT = "count"
    LINES = "lines"
    BLOB = "blob"
    SELECTED = "selected"
    AUTO = "auto"
    TEXT = "text"


#: What stands behind `[skip]` for a call that was begun, and of which nobody knows how it came out.
NOT_RECORDED = "no result was recorded"
#: The call these answer is still under way: a later line has its outcome.
OPEN_RESULTS = frozenset({ResultKind.RUNNING, ResultKind.STARTED, ResultKind.PENDING, ResultKind.RETRY})

# An enum's member is looked up through its metaclass; `quick_kind` runs for every call of a long log.
_TEXT, _LINES, _COUNT_KIND = ResultKind.TEXT, ResultKind.LINES, ResultKind.COUNT
_WORDS = {
    "ok": ResultKind.OK,
    "done": ResultKind.OK,
    "err": ResultKind.ERR,
    "error": ResultKind.ERR,
    "skip": ResultKind.SKIP,
    "running": ResultKind.RUNNING,
    "started": ResultKind.STARTED,
    "launched": ResultKind.STARTED,
    "pending": ResultKind.PENDING,
    "selected": ResultKind.SELECTED,
    "auto": ResultKind.AUTO,
}
_SHORTHANDS = {f"[{word}]": kind for word, kind in _WORDS.items()}
_LONGEST = max(len(shorthand) for shorthand in _SHORTHANDS)
_COUNT = re.compile(r"(\d{1,18}|no)(?:[ \t]++(\D.*))?")
_RETRY = re.compile(r"retry[ \t]+(\d{1,9})(?:/(\d{1,9}))?")
_MARK = re.compile(r"\[[ \t]*([a-z]+)[ \t]*(?:\]|:)")
_REASON = re.compile(r'(?:(?<=[, \t])|\A)reason=(?:"(.*)"|(.*))\Z', re.DOTALL)
_LINES_MARK = re.compile(r"\[\d{1,18}(?: (?:(lines?)|[a-z]+))?\]", re.ASCII)
_BRACKETS = re.compile(r"[\[\]]")
_ESCAPED_BRACKETS = re.compile(r"\\.|[\[\]]", re.DOTALL)
BLOB = re.compile(r"@blob[ \t]+sha256=([^ \t\r\]]*)(?:[ \t]+bytes=(\d{1,18}))?(?:[ \t]+mime=([^ \t\r\]]+))?")


class Blob(msgspec.Struct, frozen=True):
    """A pointer to content stored outside the log."""

    sha256: str
    bytes: int | None = None
    mime: str | None = None


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """A result: its kind, the text as written, and what the shorthand says.

    `detail` is the message of `[err: …]` and `[selected: …]`, or the text behind `[ok]`. `count` and `unit` are set
    for `[12 matches]` and `[200 lines]`, `attempt` and `attempts` for `[retry 2/3]`.
    """

    kind: ResultKind
    text: str
    detail: str = ""
    word: str = ""
    count: int | None = None
    unit: str | None = None
    attempt: int | None = None
    attempts: int | None = None
    blob: Blob | None = None
    choices: tuple[str, ...] = ()
    reason: str | None = None
    #: The text before unescaping, where that makes a difference: structured results are lexed from it.
    raw: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the outcome is still to come."""
        return self.kind in OPEN_RESULTS or (self.kind is ResultKind.AUTO and not self.detail)

    @property
    def fields(self) -> dict[str, Value]:
        """The `key=value` pairs of a structured result: `session_id=… path=… summary="…"`."""
        return {token.key: token.value for token in self.tokens if token.key is not None}

    @property
    def tokens(self) -> list[Token]:
        """The words of the result's first line, lexed like arguments."""
        line = (self.raw or self.text).partition("\n")[0]
        return lex(line, 0, len(line), escaped=bool(self.raw))


def quick_kind(text: str, *, escaped: bool = False) -> ResultKind:
    """The kind alone, without building a result: what a scan over a long log needs."""
    if not text.startswith(("[", "@")):
        return _TEXT
    kind = _SHORTHANDS.get(text[: text.find("]", 0, _LONGEST) + 1])
    if kind is not None:
        return kind
    match = _MARK.match(text)
    if match is not None and match[1] in _WORDS:
        return _WORDS[match[1]]
    match = _LINES_MARK.match(text)
    if match is not None:
        return _LINES if match[1] else _COUNT_KIND
    return parse_result(text, escaped=escaped).kind


def parse_result(text: str, *, escaped: bool = False) -> Result:
    """Read the text behind an arrow, continuations already joined."""
    plain = unescape(text) if escaped else text
    result = _parse(text, plain, escaped)
    # Quotes are read differently under the escape rule even where nothing is escaped.
    return msgspec.structs.replace(result, raw=text) if plain != text or (escaped and '"' in text) else result


def _parse(text: str, plain: str, escaped: bool) -> Result:
    if text.startswith("@blob"):
        match = BLOB.match(text)
        if match is not None:
            blob = Blob(match[1], integer(match[2]), match[3])
            detail = text[match.end() :].strip(" \t\r\n")
            return Result(ResultKind.BLOB, plain, unescape(detail) if escaped else detail, blob=blob)
    if not text.startswith("["):
        return Result(ResultKind.TEXT, plain)
    closing = _closing(text, escaped)
    if closing >= 0:
        inside, rest = text[1:closing].strip(" \t"), text[closing + 1 :].strip(" \t")
        return _shorthand(plain, inside, rest, escaped)
    mark = _MARK.match(text)
    if mark is None or mark[1] not in _WORDS:
        return Result(ResultKind.TEXT, plain)
    # `[err: …` cut short before its bracket closes, as a log of shortened lines has it, is still an error.
    inside, _, rest = text[1:].partition("\n")
    return _shorthand(plain, inside.strip(" \t\r"), rest, escaped)


def _shorthand(text: str, inside: str, rest: str, escaped: bool) -> Result:
    word, colon, message = inside.partition(":")
    word = word.strip(" \t")
    kind = _WORDS.get(word)
    if kind is ResultKind.SELECTED or kind is ResultKind.AUTO:
        return _choice(kind, text, message.strip(" \t"), escaped)
    detail = message.strip(" \t") if colon and kind is not None else rest
    detail = unescape(detail) if escaped else detail
    if kind is not None:
        return Result(kind, text, detail, word)
    retry = _RETRY.fullmatch(inside)
    if retry is not None:
        attempt, attempts = integer(retry[1]), integer(retry[2])
        return Result(ResultKind.RETRY, text, detail, "retry", attempt=attempt, attempts=attempts)
    count = _COUNT.fullmatch(inside)
    if count is not None and (count[1] != "no" or count[2]):
        number = 0 if count[1] == "no" else int(count[1])
        unit = unescape(count[2]) if escaped and count[2] else count[2]
        kind = ResultKind.LINES if unit in ("lines", "line") else ResultKind.COUNT
        return Result(kind, text, detail, count=number, unit=unit)
    return Result(ResultKind.TEXT, text)


def _choice(kind: ResultKind, text: str, message: str, escaped: bool) -> Result:
    """`[selected: A, "B, C"]` and `[auto: A, reason="…"]`."""
    reason = None
    match = _REASON.search(message) if kind is ResultKind.AUTO else None
    if match is not None:
        message = message[: match.start()].rstrip(" \t").removesuffix(",")
        reason = match[1] if match[1] is not None else match[2]
        reason = unescape(reason) if escaped else reason
    choices = split_items(message, escaped=escaped)
    return Result(kind, text, ", ".join(choices), kind.value, choices=choices, reason=reason)


def _closing(text: str, escaped: bool) -> int:
    """The bracket that closes the one `text` starts with, or -1. It has to stand on the first line."""
    first = text.find("]")
    end = text.find("\n")
    if not (escaped and "\\" in text) and text.find("[", 1, first) < 0:
        return first if end < 0 or first < end else -1
    depth = 0
    pattern = _ESCAPED_BRACKETS if escaped else _BRACKETS
    for match in pattern.finditer(text, 0, len(text) if end < 0 else end):
        if match[0] == "[":
            depth += 1
        elif match[0] == "]":
            depth -= 1
            if depth == 0:
                return match.start()
    return -1
