"""The results a harness writes: one constructor a kind, and the spelling of any result."""

import re

import msgspec

from blackbox.errors import UsageError
from blackbox.syntax.escape import escape_controls, number_controls
from blackbox.syntax.results import Blob, Result, ResultKind, parse_result, quick_kind
from blackbox.syntax.tokens import Value
from blackbox.write import spelling

#: What a method takes for a result: one built here, or free text as it is.
Outcome = Result | str | None

_SHA256 = re.compile(r"[0-9a-f]{64}")
_MIME = re.compile(r"[^\s\\\]\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+", re.ASCII)
_SPACE = re.compile(r"[ \t]")
_MAX_COUNT = 10**18


def ok(detail: str = "") -> Result:
    """`[ok]` or `[ok] 128 tests passed`."""
    return _marked("[ok]", detail)


def done(detail: str = "") -> Result:
    """`[done]`: a sub-agent has finished."""
    return _marked("[done]", detail)


def err(message: str = "") -> Result:
    """`[err: permission denied]`."""
    return parse_result(f"[err: {_inside(message)}]" if message else "[err]", escaped=True)


def error(detail: str = "") -> Result:
    """`[error] …`: an error whose words take several lines; they stand behind the mark and below it."""
    return _marked("[error]", detail)


def skip(detail: str = "") -> Result:
    """`[skip]`: skipped or answered from a cache."""
    return _marked("[skip]", detail)


def running(detail: str = "") -> Result:
    """`[running]`: an observation will follow."""
    return _marked("[running]", detail)


def started(detail: str = "") -> Result:
    """`[started]`: an observation or a closing line will follow."""
    return _marked("[started]", detail)


def pending(detail: str = "") -> Result:
    """`[pending]`: a question that waits for its answer."""
    return _marked("[pending]", detail)


def retry(attempt: int, attempts: int | None = None) -> Result:
    """`[retry 2/3]`."""
    for name, number in (("attempt", attempt), ("attempts", attempts)):
        if number is not None and not 0 <= number < 10**9:
            raise UsageError(f"{name} {number} is out of range", "count attempts from 1 to 999999999")
    return parse_result(f"[retry {attempt}]" if attempts is None else f"[retry {attempt}/{attempts}]")


def count(number: int, unit: str | None = None) -> Result:
    """`[12 matches]`, or `[12]` without a unit."""
    if not 0 <= number < _MAX_COUNT:
        raise UsageError(f"count {number} is out of range", "give a count from 0 to 10^18 - 1")
    if unit is None:
        return parse_result(f"[{number}]")
    if not unit or unit[0].isdigit():
        raise UsageError(f"unit {unit!r} would be read as part of the number", "name a unit, such as `files`")
    return parse_result(f"[{number} {_inside(unit)}]", escaped=True)


def lines(number: int, body: str = "") -> Result:
    """`[186 lines]`, with `body` on the lines below it."""
    head = count(number, "line" if number == 1 else "lines")
    return _marked(head.text, "\n" + body) if body else head


def blob(sha256: str, size: int | None = None, mime: str | None = None) -> Result:
    """`@blob sha256=… bytes=48219 mime=text/plain`: content kept outside the log."""
    return parse_result(spell_blob(Blob(sha256, size, mime)))


def text(content: str) -> Result:
    """Free text, whatever it looks like."""
    return parse_result(_source(Result(ResultKind.TEXT, content)), escaped=True)


def fields(**values: Value | None) -> Result:
    """`session_id=sess_7 path=logs/sess_7.bbox summary="3 failures"`; what is None is left out."""
    pairs = [spelling.pair(key, value) for key, value in values.items() if value is not None]
    return parse_result(" ".join(pairs), escaped=True)


def selected(*choices: str) -> Result:
    """`[selected: Auth, API]`."""
    return parse_result(f"[selected: {spelling.choices(choices)}]" if choices else "[selected]", escaped=True)


def auto(*choices: str, reason: str | None = None) -> Result:
    """`[auto: OAuth, reason="already in use"]`; without a choice the question stays open and blocks nobody."""
    parts = [spelling.choices(choices)] if choices else []
    if reason is not None:
        parts.append("reason=" + spelling.balance(spelling.quoted(reason)))
    return parse_result(f"[auto: {', '.join(parts)}]" if parts else "[auto]", escaped=True)


def answer(content: str) -> Result:
    """A free-text answer to a question: `"About 1000 req/s"`."""
    inside = "\n".join(spelling.block(content)).replace('"', '\\"') if content else ""
    return parse_result(f'"{inside}"', escaped=True)


def result_of(given: Outcome) -> Result | None:
    """A result as it was built, or free text."""
    return text(given) if isinstance(given, str) else given


def spell_blob(pointer: Blob) -> str:
    """A blob pointer; the hash has to be whole, since a prefix may come to mean two blobs."""
    if not _SHA256.fullmatch(pointer.sha256):
        raise UsageError(
            f"sha256 {pointer.sha256[:80]!r} is not 64 lower-case hexadecimal digits", "give hashlib's hexdigest()"
        )
    words = ["@blob", f"sha256={pointer.sha256}"]
    if pointer.bytes is not None:
        if not 0 <= pointer.bytes < _MAX_COUNT:
            raise UsageError(f"bytes {pointer.bytes} is out of range", "give the blob's length")
        words.append(f"bytes={pointer.bytes}")
    if pointer.mime is not None:
        words.append(f"mime={check_mime(pointer.mime)}")
    return " ".join(words)


def check_mime(mime: str) -> str:
    """A media type as it can stand in a line."""
    if not _MIME.fullmatch(mime):
        raise UsageError(f"mime {mime[:80]!r} is no media type", "write it as text/plain")
    return mime


def spell_result(result: Result, *, is_commented: bool = False, has_comment: bool = False) -> tuple[str, list[str]]:
    """What follows the arrow on the line itself, and the lines below it.

    Free text of several lines stands below as a block. `is_commented` says that the line's kind may end in a
    comment, `has_comment` that this one does.
    """
    first, *rest = _source(result).split("\n")
    if result.kind is ResultKind.TEXT and rest:
        return "", [first, *rest]
    first = spelling.keep_start(first)
    if is_commented:
        first = spelling.guard_comment(first, quotes=has_comment)
    # Last, since an escaped quote may make a pair of what was none. The first word is never metadata.
    space = _SPACE.search(first)
    if space is not None:
        first = spelling.guard_run(first, space.start())
    return first, rest


def _source(result: Result) -> str:
    """The escaped text that reads as `result`: the spelling it came with, its plain text, or one from its fields."""
    # A log may hold raw what a writer would escape, such as bytes that are no UTF-8.
    raw = number_controls(result.raw)
    if raw and _reads_as(raw, result):
        return raw
    plain = "\n".join(spelling.block(result.text))
    if _reads_as(plain, result):
        return plain
    if result.kind is ResultKind.TEXT:
        return "\\" + plain
    rebuilt = _rebuild(result)
    return rebuilt.raw or rebuilt.text


def _reads_as(source: str, result: Result) -> bool:
    first, _, _ = source.partition("\n")
    read = parse_result(source, escaped=True)
    if read.kind is ResultKind.TEXT and quick_kind(first, escaped=True) is not ResultKind.TEXT:
        return False
    return msgspec.structs.replace(read, raw="") == msgspec.structs.replace(result, raw="")


def _rebuild(result: Result) -> Result:
    """The result its fields describe, for one that was put together by hand."""
    match result.kind:
        case ResultKind.ERR:
            return err(result.detail)
        case ResultKind.RETRY:
            return retry(result.attempt or 1, result.attempts)
        case ResultKind.COUNT | ResultKind.LINES:
            head = count(result.count or 0, result.unit)
            return _marked(head.raw or head.text, result.detail)
        case ResultKind.BLOB if result.blob is not None:
            return parse_result(spell_blob(result.blob))
        case ResultKind.SELECTED:
            return selected(*result.choices)
        case ResultKind.AUTO:
            return auto(*result.choices, reason=result.reason)
        case ResultKind.BLOB:
            raise UsageError("a blob result without its blob", "build it with `blob(sha256, …)`")
        case _:
            return _marked(f"[{result.word or result.kind.value}]", result.detail)


def _marked(mark: str, detail: str) -> Result:
    if not detail:
        return parse_result(mark)
    first, *rest = spelling.block(detail)
    # A detail that begins with a line feed stands wholly below the mark.
    head = mark if first == spelling.EMPTY and rest else f"{mark} {spelling.keep_start(first)}"
    return parse_result("\n".join([head, *rest]), escaped=True)


def _inside(content: str) -> str:
    """Text within brackets, which close on the line they open on."""
    source = "\\n".join(escape_controls(content).split("\n"))
    first, last = source[:1], source[-1:]
    if last in (" ", "\t"):
        source = source[:-1] + spelling.word(last)
    if first in (" ", "\t"):
        source = spelling.keep_start(source)
    return spelling.balance(source)
