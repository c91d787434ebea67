"""The bytes of a whole file without its secrets: a log stays a log, JSON Lines stay JSON, other text stays text."""

import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from blackbox.redaction.redactor import Found, Redactor, count, marker, merge, replace

Shape = Literal["log", "json-lines", "text"]
#: Where one message ends and the next begins; a secret never reaches across.
_ENTRY_END = re.compile(rb"\n(?!  |\t)")
_BORDERS = {"log": _ENTRY_END, "json-lines": re.compile(rb"\n"), "text": None}
_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?---\r?\n(.{0,65536}?)\n---\r?\n", re.DOTALL)
_ESCAPES_ON = re.compile(rb"(?m)^escape:[ \t]*['\"]?1['\"]?[ \t]*\r?$")
#: The escapes of a log that stand in front of a character which means itself.
_ESCAPED = re.compile(rb"\\(?=[^A-Za-z0-9\s])")
#: The metadata behind the first line of a text that goes on below it.
_METADATA = re.compile(
    rb"(?: (?:id|step|ts|tid|span|parent|latency_ms|attempt|level|model|sig|tokens_[a-z_]+|extra\.[\w.-]+)=\S+)+\Z"
)
_INDENT = re.compile(rb"(?<=\n)(?:  |\t)")
#: Escapes of JSON for characters that need none: some writers have them, and a secret may be full of them.
_NEEDLESS = re.compile(rb"\\(?:/|u00[2-7])")
_MARKER = re.compile(r"\[redacted:([a-z][a-z0-9_]*)\]")


class CleanFile(NamedTuple):
    """The bytes without secrets, the line and kind of each secret, and the count of each kind."""

    data: bytes
    places: list[tuple[int, str]]
    counts: dict[str, int]


class _View(NamedTuple):
    """Some entries of a log as they read: without escapes, indents, and metadata in the middle of a text."""

    data: bytes
    #: Where each piece begins, in the view and in the file.
    starts: list[int]
    origins: list[int]
    #: Where each entry begins in the view.
    entries: list[int]
    #: Metadata that a text runs around, as it stands in the file. It stays.
    metadata: list[tuple[int, int]]

    def origin(self, at: int) -> int:
        """Where a byte of the view stands in the file."""
        piece = bisect_right(self.starts, at) - 1
        return self.origins[piece] + at - self.starts[piece]


class _Rewritten(NamedTuple):
    """A line of JSON that was decoded to be cleaned: where it stood, what it is now, the kinds of its secrets."""

    start: int
    end: int
    line: bytes
    kinds: list[str]


def redact_file(redactor: Redactor, data: bytes, shape: Shape | None = None) -> CleanFile:
    """Hide the secrets of a file. Its shape is told by its beginning if the caller does not know it."""
    shape = shape or shape_of(data)
    found = _within_messages(redactor, data, shape)
    if shape == "json-lines":
        return _redact_json_lines(redactor, data, found)
    metadata: list[tuple[int, int]] = []
    if shape == "log":
        view = _view_of(data)
        metadata = view.metadata
        found = merge(sorted([*found, *_seen_in(redactor, view)]))
    if not found:
        return CleanFile(data, [], {})
    return CleanFile(_replace_around(data, found, metadata), _places(data, found), count(found))


def _places(data: bytes, found: Iterable[Found]) -> list[tuple[int, str]]:
    places, line, behind = [], 1, 0
    for secret in found:
        line += data.count(b"\n", behind, secret.start)
        behind = secret.start
        places.append((line, secret.kind))
    return places


def is_text(data: bytes) -> bool:
    """Whether the rules can read a file at all: not if it is in UTF-16, or binary."""
    beginning = data[:8192]
    return not data.startswith((b"\xff\xfe", b"\xfe\xff")) and beginning.count(b"\0") * 10 <= len(beginning)


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


def _view_of(data: bytes) -> _View:
    """The entries of a log that are spelled otherwise than they read."""
    has_escapes = _has_escapes(data)
    pieces: list[bytes] = []
    view = _View(b"", [], [], [], [])
    size = start = 0
    for end in (*(match.start() for match in _ENTRY_END.finditer(data)), len(data)):
        entry = data[start:end]
        if b"\n" in entry[1:] or (has_escapes and b"\\" in entry):
            behind = 0
            view.entries.append(size)
            for at, to in (*_hidden(entry, start, view, has_escapes=has_escapes), (len(entry), len(entry))):
                view.starts.append(size)
                view.origins.append(start + behind)
                pieces.append(entry[behind:at])
                size += at - behind
                behind = to
        start = end
    return view._replace(data=b"".join(pieces))


def _hidden(entry: bytes, start: int, view: _View, *, has_escapes: bool) -> list[tuple[int, int]]:
    """What of an entry is only spelling, in order."""
    first = entry.find(b"\n", 1)
    ranges = [match.span() for match in _INDENT.finditer(entry, 1)] if first >= 0 else []
    run = _METADATA.search(entry, 0, first) if first >= 0 else None
    if run is not None:
        ranges.append(run.span())
        view.metadata.append((start + run.start(), start + run.end()))
    if has_escapes:
        inside = run.span() if run is not None else (0, 0)
        escapes = (match.span() for match in _ESCAPED.finditer(entry))
        ranges += (span for span in escapes if not inside[0] <= span[0] < inside[1])
    return sorted(ranges)


def _seen_in(redactor: Redactor, view: _View) -> Iterator[Found]:
    """What is found in the entries of a view, where it stands in the file."""
    found = redactor.find(view.data)
    if any(bisect_right(view.entries, start) != bisect_right(view.entries, end - 1) for start, end, _ in found):
        # As in `_within_messages`: each entry by itself.
        found = [
            Found(at + start, at + end, kind)
            for at, to in pairwise((*view.entries, len(view.data)))
            for start, end, kind in redactor.find(view.data[at:to])
        ]
    for start, end, kind in found:
        # A backslash in front of the first byte stays, one in front of the last is hidden with it.
        yield Found(view.origin(start), view.origin(end - 1) + 1, kind)


def _replace_around(data: bytes, found: list[Found], metadata: list[tuple[int, int]]) -> bytes:
    """A marker for each secret; metadata in the middle of one stays, behind the marker."""
    parts: list[bytes] = []
    behind = 0
    for secret in found:
        inside = metadata[bisect_left(metadata, (secret.start, 0)) : bisect_left(metadata, (secret.end, 0))]
        parts += (data[behind : secret.start], marker(secret.kind), *(data[start:end] for start, end in inside))
        behind = secret.end
    return b"".join((*parts, data[behind:]))


def _redact_json_lines(redactor: Redactor, data: bytes, found: list[Found]) -> CleanFile:
    """Lines with needless escapes are decoded and cleaned as values, all others as they stand."""
    rewritten = list(_rewrite(redactor, data))
    taken = [line.start for line in rewritten]
    found = [secret for secret in found if not _is_inside(rewritten, taken, secret)]
    if not found and not rewritten:
        return CleanFile(data, [], {})
    places = [secret.start for secret in found]
    parts: list[bytes] = []
    behind = 0
    for start, end, line, _ in (*rewritten, _Rewritten(len(data), len(data), b"", [])):
        between = found[bisect_left(places, behind) : bisect_left(places, start)]
        within = [Found(at - behind, to - behind, kind) for at, to, kind in between]
        parts += (_redact_json(redactor, data[behind:start], within), line)
        behind = end
    every = sorted([*found, *(Found(line.start, line.end, kind) for line in rewritten for kind in line.kinds)])
    return CleanFile(b"".join(parts), _places(data, every), count(every))


def _rewrite(redactor: Redactor, data: bytes) -> Iterator[_Rewritten]:
    end = 0
    for match in _NEEDLESS.finditer(data):
        if match.start() < end:
            continue
        start = data.rfind(b"\n", 0, match.start()) + 1
        end = data.find(b"\n", match.start())
        end = len(data) if end < 0 else end
        value = _decoded(data[start:end])
        clean = _redact_strings(redactor, value)
        if clean != value:
            line = json.dumps(clean, ensure_ascii=False)
            kinds = Counter(_MARKER.findall(line)) - Counter(_MARKER.findall(json.dumps(value, ensure_ascii=False)))
            yield _Rewritten(start, end, line.encode("utf-8", "surrogatepass"), sorted(kinds.elements()))


def _is_inside(rewritten: list[_Rewritten], starts: list[int], secret: Found) -> bool:
    at = bisect_right(starts, secret.start) - 1
    return at >= 0 and secret.start < rewritten[at].end


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
