"""The bytes of a whole file without its secrets: a log stays a log, JSON Lines stay JSON, other text stays text."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from blackbox.redaction.redactor import Found, Redactor, count, replace

Shape = Literal["log", "json-lines", "text"]
#: Where one message ends and the next begins; a secret never reaches across.
_BORDERS = {"log": re.compile(rb"\n(?!  |\t)"), "json-lines": re.compile(rb"\n"), "text": None}
_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?---\r?\n(.{0,65536}?)\n---\r?\n", re.DOTALL)
_ESCAPES_ON = re.compile(rb"(?m)^escape:[ \t]*['\"]?1['\"]?[ \t]*\r?$")
#: The escapes of a log that stand in front of a character which means itself.
_ESCAPED = re.compile(rb"\\(?=[^A-Za-z0-9\s])")


class CleanFile(NamedTuple):
    """The bytes without secrets, the line and kind of each secret, and the count of each kind."""

    data: bytes
    places: list[tuple[int, str]]
    counts: dict[str, int]


def redact_file(redactor: Redactor, data: bytes, shape: Shape | None = None) -> CleanFile:
    """Hide the secrets of a file. Its shape is told by its beginning if the caller does not know it."""
    shape = shape or shape_of(data)
    found = _within_messages(redactor, data, shape)
    if shape == "log" and _has_escapes(data):
        found = _merged([*found, *_behind_escapes(redactor, data, shape)])
    if not found:
        return CleanFile(data, [], {})
    places, line, behind = [], 1, 0
    for secret in found:
        line += data.count(b"\n", behind, secret.start)
        behind = secret.start
        places.append((line, secret.kind))
    clean = _redact_json(redactor, data, found) if shape == "json-lines" else replace(data, found)
    return CleanFile(clean, places, count(found))


def shape_of(data: bytes) -> Shape:
    """What kind of file begins like this."""
    beginning = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if beginning.startswith(b"---"):
        return "log"
    return "json-lines" if beginning.startswith(b"{") else "text"


def _within_messages(redactor: Redactor, data: bytes, shape: Shape) -> list[Found]:
    found = redactor.find(data)
    border = _BORDERS[shape]
    if border is None or not any(border.search(data, secret.start, secret.end) for secret in found):
        return found
    # Rare: a key that was cut off in one message, and the end of another key behind it. Then each message by itself.
    kept = []
    start = 0
    for end in (*(match.start() for match in border.finditer(data)), len(data)):
        kept += [Found(start + at, start + to, kind) for at, to, kind in redactor.find(data[start:end])]
        start = end
    return kept


def _has_escapes(data: bytes) -> bool:
    header = _HEADER.match(data)
    return header is not None and _ESCAPES_ON.search(header[1]) is not None


def _behind_escapes(redactor: Redactor, data: bytes, shape: Shape) -> Iterator[Found]:
    r"""What is found once `\=`, `\"` and the like are plain, where it stands in the escaped bytes."""
    removed = [match.start() - number for number, match in enumerate(_ESCAPED.finditer(data))]
    if not removed:
        return
    for start, end, kind in _within_messages(redactor, _ESCAPED.sub(b"", data), shape):
        # A backslash in front of the first byte stays, one in front of the last is hidden with it.
        yield Found(start + bisect_right(removed, start), end + bisect_right(removed, end - 1), kind)


def _merged(found: list[Found]) -> list[Found]:
    kept: list[Found] = []
    for secret in sorted(found):
        if kept and secret.start < kept[-1].end:
            kept[-1] = kept[-1]._replace(end=max(secret.end, kept[-1].end))
        else:
            kept.append(secret)
    return kept


def _redact_json(redactor: Redactor, data: bytes, found: list[Found]) -> bytes:
    """Replace, and where that would break the JSON of a line, redact its strings one by one instead."""
    parts: list[bytes] = []
    done = 0
    secrets = iter([*found, Found(len(data) + 1, 0, "")])
    secret = next(secrets)
    while secret.start < len(data):
        start = data.rfind(b"\n", done, secret.start) + 1 or done
        end = data.find(b"\n", secret.end)
        end = len(data) if end < 0 else end
        inside = []
        while secret.start < end:
            inside.append(Found(secret.start - start, secret.end - start, secret.kind))
            secret = next(secrets)
        line = data[start:end]
        parts += (data[done:start], _redact_line(redactor, line, inside))
        done = end
    return b"".join((*parts, data[done:]))


def _redact_line(redactor: Redactor, line: bytes, found: list[Found]) -> bytes:
    clean = replace(line, found)
    if _decoded(clean) is not None:
        return clean
    value = _decoded(line)
    if value is None:
        return clean
    return json.dumps(_redact_strings(redactor, value), ensure_ascii=False).encode("utf-8", "surrogatepass")


def _decoded(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _redact_strings(redactor: Redactor, value: Any, key: str = "") -> Any:
    if isinstance(value, str):
        return redactor.redact_value(key, value).text if key else redactor.redact(value).text
    if isinstance(value, list):
        return [_redact_strings(redactor, item, key) for item in value]
    if isinstance(value, dict):
        return {redactor.redact(name).text: _redact_strings(redactor, item, name) for name, item in value.items()}
    return value
