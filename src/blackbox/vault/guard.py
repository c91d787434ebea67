"""What every event passes before it is written: secrets are hidden, and long results become blobs."""

import re
from collections import Counter
from collections.abc import Mapping

from blackbox.errors import UsageError
from blackbox.events import calls
from blackbox.events.build import Event
from blackbox.events.rewrite import map_meta, map_texts, with_result
from blackbox.redaction.redactor import Redactor
from blackbox.syntax.kinds import classify
from blackbox.syntax.results import BLOB, Blob, Result, ResultKind, parse_result
from blackbox.syntax.tokens import REDACTED
from blackbox.vault.media import media_type
from blackbox.vault.store import BlobStore

#: Results longer than this go to the store unless the caller says otherwise.
THRESHOLD = 1024

_MOVED_CALLS = (
    calls.ToolCall,
    calls.McpCall,
    calls.Observation,
    calls.Skill,
    calls.Recall,
    calls.Subagent,
)
_MOVED_KINDS = frozenset({ResultKind.TEXT, ResultKind.OK, ResultKind.ERR, ResultKind.LINES, ResultKind.COUNT})
#: How much of an error stays in the line.
_EXCERPT = 160
_BRACKETS = str.maketrans("[]", "()")
_POINTER = re.compile(r"(sha256=[0-9a-f]{64})")
#: Keys of ids and signatures. Lines are joined by them, so they stay unless they have the shape of a secret.
_OPAQUE = frozenset({"id", "parent", "sig", "span", "tid"})
_NO_KIND = "unspecified"


class Guard:
    """Stands between a log and its file. A store is needed only for blobs; without one everything stays inline.

    Moved to the store is what came back from tools, MCP methods, skills, recalls and sub-agents, at once or as an
    observation, if its text is longer than `threshold` bytes in UTF-8: free text, and what stands behind `[ok]`,
    `[err]` and a count. Never moved are answers to questions and plans, which people read in the log; results of
    calls still under way; the fields of a sub-agent's result, which lead to its log; and what is a pointer already.
    """

    def __init__(
        self,
        redactor: Redactor,
        store: BlobStore | None = None,
        threshold: int | None = THRESHOLD,
        *,
        sync: bool = False,
    ) -> None:
        self.store = store
        #: The markers that went into blobs, by kind; those in the lines are counted where these are written.
        self.in_blobs: Counter[str] = Counter()
        self._redactor = redactor
        self._threshold = threshold
        self._sync = sync

    def admit(self, event: Event, meta: Mapping[str, str]) -> tuple[Event, dict[str, str]]:
        """The event and its metadata as they may be written. The blob it names is on disk when this returns."""
        event = map_texts(event, self.clean, self.clean_value)
        arguments = getattr(event, "arguments", None)
        if arguments is not None and len(arguments.positional) > 1:
            event = self._look_across(event, arguments)
        if self.store is not None and self._threshold is not None and isinstance(event, _MOVED_CALLS):
            event = self._move(event, self.store, self._threshold)
        return event, map_meta(meta, self.clean_value)

    def clean(self, text: str) -> str:
        """A text without its secrets."""
        return self._redactor.redact(text).text

    def clean_value(self, key: str, value: str) -> str:
        """The value of `key=value` without its secrets."""
        if key in _OPAQUE or key.endswith("_id"):
            # Random by nature: told from a secret by the key right in front of it, and by nothing else.
            return self.clean(f"{key}={value}").removeprefix(f"{key}=")
        return self._redactor.redact_value(key, value).text

    def look_again(self, entry: str) -> str:
        """A rendered entry without the secrets that show only there, such as a flag and its value side by side.

        It stays an entry of its kind, with the blobs it names.
        """
        seen = self.clean(entry)
        if seen == entry or _is_same_entry(seen, entry):
            return seen
        return "\n".join(self._look_within(line) for line in entry.split("\n"))

    def keep(self, data: bytes, mime: str | None = None) -> Blob:
        """Content that a harness hands over itself, without its secrets, in the store."""
        if self.store is None:
            raise UsageError(
                "this log has no folder for blobs", "write to a file, or put the content into the result"
            )
        try:
            data = self.clean(data.decode()).encode()
        except UnicodeDecodeError:
            data, _ = self._redactor.redact_bytes(data)
        self.in_blobs += count_markers(data.decode(errors="replace"))
        return self.store.put(data, mime, sync=self._sync)

    def _look_within(self, line: str) -> str:
        """One physical line searched on both sides of what has to stay: its first word, and the hashes of blobs."""
        head, space, rest = line.partition(" ")
        pieces = _POINTER.split(rest)
        return head + space + "".join(piece if at % 2 else self.clean(piece) for at, piece in enumerate(pieces))

    def _look_across(self, event: Event, arguments: calls.Arguments) -> Event:
        """Hide what is a secret only behind the argument before it: `--password` and then the password."""
        words = [value for value in arguments.positional if isinstance(value, str)]
        pieces = [word.encode(errors="surrogatepass") for word in words]
        found = self._redactor.find(b" ".join(pieces))
        hidden: dict[str, str] = {}
        start = 0
        for word, piece in zip(words, pieces, strict=True):
            cleaned = piece
            # From the last to the first, so that the places of those before stay right.
            for secret in reversed(found):
                first, last = max(secret.start - start, 0), min(secret.end - start, len(piece))
                if first < last:
                    cleaned = cleaned[:first] + f"[redacted:{secret.kind}]".encode() + cleaned[last:]
            if cleaned != piece:
                hidden[word] = cleaned.decode(errors="surrogatepass")
            start += len(piece) + 1
        # By value: the same word is the same secret wherever else in the event it stands.
        return _replace_words(event, hidden) if hidden else event

    def _move(self, event: "_Moved", store: BlobStore, threshold: int) -> "_Moved":
        result = event.result
        if result is None or result.kind not in _MOVED_KINDS or _is_reference(event):
            return event
        if len(result.text) <= threshold and len(_encode(result.text)) <= threshold:
            return event
        content = _content(result)
        blob = store.put(_encode(content), media_type(content, event), sync=self._sync)
        pointer = _pointer(result, blob)
        self.in_blobs += count_markers(content)
        self.in_blobs -= count_markers(pointer.text)
        return with_result(event, event.arguments, pointer)  # type: ignore[return-value]  # the same kind of call


_Moved = calls.ToolCall | calls.McpCall | calls.Observation | calls.Skill | calls.Recall | calls.Subagent


def count_markers(text: str) -> Counter[str]:
    """How many secrets of each kind were hidden in a text."""
    if "[redacted" not in text:
        return Counter()
    return Counter(match[1] or _NO_KIND for match in REDACTED.finditer(text))


def _replace_words(event: Event, hidden: Mapping[str, str]) -> Event:
    return map_texts(event, lambda text: hidden.get(text, text), lambda _key, value: hidden.get(value, value))


def _is_reference(event: _Moved) -> bool:
    if not isinstance(event, calls.Subagent):
        return False
    return event.session_id is not None or event.path is not None or event.summary is not None


def _content(result: Result) -> str:
    """What of a result goes into the blob: all that stands behind its mark, or the whole text if that says more."""
    detail = result.detail.removeprefix("\n")
    if result.kind is ResultKind.TEXT or not detail:
        return result.text
    marks = (
        f"[{result.word}: {result.detail}]",
        f"{_mark(result)} {result.detail}",
        f"{_mark(result)}{result.detail}",
    )
    return detail if result.text in marks else result.text


def _pointer(result: Result, blob: Blob) -> Result:
    """What stands in the line instead. A status stays, with the beginning of an error's message."""
    words = f"@blob sha256={blob.sha256} bytes={blob.bytes} mime={blob.mime}"
    plain = parse_result(words)
    if result.kind is ResultKind.TEXT:
        return plain
    marks = [f"[{result.word}: {_excerpt(result.detail)}]"] if result.kind is ResultKind.ERR else []
    for mark in (*marks, _mark(result)):
        pointer = parse_result(f"{mark} {words}")
        first = BLOB.search(pointer.text)
        # What was put in front must neither change what the result says, nor name a blob itself.
        if _status(pointer) == _status(result) and first is not None and first[1] == blob.sha256:
            return pointer
    return plain


def _status(result: Result) -> tuple[ResultKind, str, int | None, str | None]:
    return result.kind, result.word, result.count, result.unit


def _mark(result: Result) -> str:
    if result.count is None:
        return f"[{result.word or result.kind.value}]"
    return f"[{result.count}]" if result.unit is None else f"[{result.count} {result.unit}]"


def _excerpt(message: str) -> str:
    """The beginning of a message on one line, its brackets in pairs or none, no marker cut in two."""
    words = " ".join(message[: _EXCERPT * 4].split())
    if len(words) <= _EXCERPT:
        cut = words + ("…" if len(message) > _EXCERPT * 4 else "")
    else:
        end = words.rfind(" ", 0, _EXCERPT)
        end = end if end > _EXCERPT // 2 else _EXCERPT
        inside = next((mark for mark in REDACTED.finditer(words) if mark.start() < end < mark.end()), None)
        cut = words[: inside.start() if inside else end].rstrip() + "…"
    markers = REDACTED.findall(cut)
    return cut if cut.count("[") == cut.count("]") == len(markers) else cut.translate(_BRACKETS)


def _is_same_entry(seen: str, entry: str) -> bool:
    before, after = entry.split("\n"), seen.split("\n")
    return (
        classify(before[0]) == classify(after[0])
        and before[0].split(" ", 1)[0] == after[0].split(" ", 1)[0]
        and all(line.startswith("  ") for line in after[1:])
        and _POINTER.findall(entry) == _POINTER.findall(seen)
    )


def _encode(text: str) -> bytes:
    """A text as bytes: those that were no UTF-8 when they were read come out as they were."""
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return text.encode(errors="surrogatepass")
