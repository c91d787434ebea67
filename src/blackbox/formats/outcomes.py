"""Results as JSON values: a word, a count by its unit, an error, free text; and a long text apart from its frame."""

from typing import Any

import msgspec

from blackbox.formats.flight import fields_of
from blackbox.syntax.results import Blob, Result, ResultKind, parse_result
from blackbox.write import results, scalars, spelling

#: A string that is one of these is `[word]`; any other string is free text.
WORDS = frozenset(
    {
        *("ok", "done", "err", "error", "skip", "running", "started", "launched", "pending", "retry", "selected"),
        "auto",
    }
)
_MAX_COUNT = 10**18


def encode(result: Result) -> Any:
    """The JSON value that reads as `result`: the plainest that does."""
    value = _plainest(result)
    if value is not None and _same(decode(value), result):
        return value
    source = result.raw or "\n".join(spelling.block(result.text))
    if not _same(parse_result(source, escaped=True), result):
        # Put together by hand: as the writer would spell it.
        first, rest = results.spell_result(result)
        source = "\n".join([first, *rest] if first else rest)
    return {"raw": source}


def decode(value: Any) -> Result:
    """The result that a JSON value stands for; what has no meaning of its own is free text."""
    if isinstance(value, str):
        return parse_result(f"[{value}]") if value in WORDS else results.text(value)
    if isinstance(value, dict):
        found = _decode_object(value)
        if found is not None:
            return found
    return results.text(scalars.text_of(value))


def split(value: Any) -> tuple[Any, str]:
    """A JSON result as its frame and the one text in it that may be long."""
    if isinstance(value, str):
        return (value, "") if value in WORDS else ("text", value)
    if isinstance(value, dict):
        if len(value) == 1:
            key, content = next(iter(value.items()))
            if isinstance(content, str) and content and (key in WORDS or key in ("text", "raw")):
                return key, content
        elif isinstance(value.get("text"), str) and value["text"]:
            return {key: item for key, item in value.items() if key != "text"}, value["text"]
    return value, ""


def join(frame: Any, content: str) -> Any:
    """The JSON result that `split` took apart."""
    if isinstance(frame, str):
        if frame == "text":
            return {"text": content} if content in WORDS else content
        return {frame: content} if content else frame
    return {**frame, "text": content} if content and isinstance(frame, dict) else frame


def _plainest(result: Result) -> Any:
    match result.kind:
        case ResultKind.TEXT:
            return join("text", result.text)
        case ResultKind.RETRY:
            total = "" if result.attempts is None else f"/{result.attempts}"
            return {"retry": f"{result.attempt}{total}"}
        case ResultKind.COUNT | ResultKind.LINES:
            unit = "count" if result.unit is None else result.unit
            mark = f"[{result.count}]" if result.unit is None else f"[{result.count} {result.unit}]"
            return join({unit: result.count}, _behind(mark, result.text))
        case ResultKind.BLOB:
            return {"blob": {key: item for key, item in _asdict(result.blob).items() if item is not None}}
        case ResultKind.SELECTED | ResultKind.AUTO:
            if not result.choices and result.reason is None:
                return result.kind.value
            reason = {} if result.reason is None else {"reason": result.reason}
            return {result.kind.value: list(result.choices), **reason}
        case _:
            if result.word == "err" and result.detail and result.text == f"[err: {result.detail}]":
                return {"err": result.detail}
            return join(result.word, _behind(f"[{result.word}]", result.text))


def _asdict(blob: Blob | None) -> dict[str, Any]:
    return {} if blob is None else msgspec.structs.asdict(blob)


def _behind(mark: str, text: str) -> str:
    """What stands behind a mark; a text on the lines below it begins with its line feed."""
    return text[len(mark) :].removeprefix(" ")


def _decode_object(value: dict[str, Any]) -> Result | None:
    match value:
        case {"raw": str(source)}:
            return parse_result(source, escaped=True)
        case {"text": str(content)} if len(value) == 1:
            return results.text(content)
        case {"blob": {"sha256": str(digest)} as pointer}:
            return _blob(digest, pointer)
        case {"selected": list(chosen)}:
            return results.selected(*map(scalars.text_of, chosen))
        case {"auto": list(chosen)}:
            reason = value.get("reason")
            return results.auto(
                *map(scalars.text_of, chosen), reason=None if reason is None else scalars.text_of(reason)
            )
        case {"err": str(message)}:
            return results.err(message)
        case {"retry": str(attempt)} if len(value) == 1:
            return parse_result(f"[retry {attempt}]")
    return _counted_or_marked(value)


def _blob(digest: str, pointer: dict[str, Any]) -> Result:
    size, mime = pointer.get("bytes"), pointer.get("mime")
    words = [f"@blob sha256={digest}"]
    words += [f"bytes={size}"] if isinstance(size, int) else []
    words += [f"mime={mime}"] if isinstance(mime, str) else []
    return parse_result(" ".join(words))


def _counted_or_marked(value: dict[str, Any]) -> Result | None:
    detail = value.get("text", "")
    key, given = next(((key, item) for key, item in value.items() if key != "text"), ("", None))
    if len(value) - ("text" in value) != 1 or not isinstance(detail, str):
        return None
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < _MAX_COUNT:
        if not key or key[0].isdigit():
            return None
        count = results.count(given, None if key == "count" else key)
        return _marked(count.raw or count.text, detail)
    if isinstance(given, str) and key in WORDS:
        return _marked(f"[{key}]", given)
    return None


def _marked(mark: str, detail: str) -> Result:
    if not detail:
        return parse_result(mark, escaped=True)
    first, *rest = spelling.block(detail)
    head = mark if detail.startswith("\n") else f"{mark} {spelling.keep_start(first)}"
    return parse_result("\n".join([head, *rest]), escaped=True)


def _same(one: Result, other: Result) -> bool:
    if msgspec.structs.replace(one, raw="") != msgspec.structs.replace(other, raw=""):
        return False
    return fields_of(one) == fields_of(other)
