"""The comments that carry data. Anything else behind a `#` is a remark, kept as text."""

import decimal
import re
from collections.abc import Callable
from typing import Any

import msgspec

from blackbox.syntax.escape import unescape
from blackbox.syntax.results import Blob
from blackbox.syntax.tokens import Token, Value, lex
from blackbox.syntax.values import clock, integer, money


class Remark(msgspec.Struct, frozen=True):
    """A comment for people."""

    text: str


class Fields(msgspec.Struct, frozen=True):
    """A comment made of `key=value` pairs that no other comment type claims."""

    values: dict[str, Value]


class Elapsed(msgspec.Struct, frozen=True):
    """`# t=HH:MM:SS`: time since the session began."""

    seconds: int | None
    text: str


class Metrics(msgspec.Struct, frozen=True):
    """`# metrics …`: what one step used. Short and long names mean the same."""

    step: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: decimal.Decimal | None = None
    completion_token_ids: Blob | None = None
    prompt_token_ids: Blob | None = None
    logprobs: Blob | None = None
    extra: dict[str, str] = msgspec.field(default_factory=dict)
    other: dict[str, str] = msgspec.field(default_factory=dict)


class Budget(msgspec.Struct, frozen=True):
    """`# budget: $50.00 remaining=$47.23 tokens=12847`."""

    total: decimal.Decimal | None
    remaining: decimal.Decimal | None
    tokens: int | None


class ModelSwitch(msgspec.Struct, frozen=True):
    """`# model: haiku reason="topic detection"`."""

    model: str
    reason: str | None


class Note(msgspec.Struct, frozen=True):
    """`# notes: …`: an explanation of something odd in the log."""

    text: str


class Condense(msgspec.Struct, frozen=True):
    """`# condense range=50-100 detail=summary`."""

    first: int | None
    last: int | None
    detail: str | None


class Anchor(msgspec.Struct, frozen=True):
    """`# anchor step=75 reason="…"`: a step to keep when context is dropped."""

    step: int | None
    reason: str | None


class MemoryStore(msgspec.Struct, frozen=True):
    """`# memory store=all target=vectordb`."""

    store: str | None
    target: str | None


class FileSnapshot(msgspec.Struct, frozen=True):
    """`# file-snapshot: <message id> files=<count>`."""

    message_id: str
    files: int | None


class QueueOperation(msgspec.Struct, frozen=True):
    """`# queue: enqueue "text"` and `# queue: remove`."""

    action: str
    message: str | None


#: What a raw event is labelled with unless its source is known by another label.
RAW_SOURCE = "codex"


class RawEvent(msgspec.Struct, frozen=True):
    """`# codex: {…}`: an event of the imported log, kept as its JSON text."""

    source: str
    json: str

    @property
    def value(self) -> Any:
        """The event decoded; None if its text is no whole JSON value, as in a log of shortened lines."""
        try:
            return msgspec.json.decode(self.json.encode(errors="surrogatepass"))
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return None


class Status(msgspec.Struct, frozen=True):
    """`# status: Compacting`."""

    text: str


class Totals(msgspec.Struct, frozen=True):
    """The closing metrics line: `# tokens=4770 tools=14 … cost=$0.12 redactions=0`."""

    tokens: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tools: int | None = None
    skills: int | None = None
    mcp: int | None = None
    subagents: int | None = None
    plans: int | None = None
    duration: str | None = None
    cost: decimal.Decimal | None = None
    redactions: int | None = None
    other: dict[str, str] = msgspec.field(default_factory=dict)


Comment = (
    Remark
    | Fields
    | Elapsed
    | Metrics
    | Budget
    | ModelSwitch
    | Note
    | Condense
    | Anchor
    | MemoryStore
    | FileSnapshot
    | QueueOperation
    | RawEvent
    | Status
    | Totals
)

_KEYWORD = re.compile(r"(t=|metrics\b|condense\b|anchor\b|memory\b|[a-z][a-z-]*:)[ \t]*")
_PAIRS = re.compile(r"[A-Za-z_][\w.]*=")
_TOTALS = frozenset({"tokens", "tokens_in", "tokens_out", "tools", "redactions"})
_METRIC_NAMES = {
    "prompt": "prompt_tokens",
    "prompt_tokens": "prompt_tokens",
    "completion": "completion_tokens",
    "completion_tokens": "completion_tokens",
    "cached": "cached_tokens",
    "cached_tokens": "cached_tokens",
    "cost": "cost_usd",
    "cost_usd": "cost_usd",
}
#: The metrics whose value is a pointer to a blob.
METRIC_BLOBS = ("completion_token_ids", "prompt_token_ids", "logprobs")


def parse_comment(text: str, *, escaped: bool = False) -> Comment:
    """Tell what the text behind `#` is; `text` has its continuations joined and is not unescaped yet."""
    head, _, _ = text.partition("\n")
    match = _KEYWORD.match(text)
    if match is not None:
        parsed = _keyword(match[1], text[match.end() :], head[match.end() :], escaped)
        if parsed is not None:
            return parsed
    if _PAIRS.match(text):
        tokens = lex(head, 0, len(head), escaped=escaped)
        if all(token.key is not None for token in tokens):
            return _pairs(tokens)
    return Remark(unescape(text) if escaped else text)


def _keyword(keyword: str, rest: str, head: str, escaped: bool) -> Comment | None:
    if keyword == "t=":
        word = head.split(" ", 1)[0].strip()
        return Elapsed(clock(word), word)
    parser = _TOKEN_COMMENTS.get(keyword)
    if parser is not None:
        return parser(lex(head, 0, len(head), escaped=escaped))
    text = unescape(rest) if escaped else rest
    if keyword == "notes:":
        return Note(text)
    if keyword == "codex:" or (keyword == "claude:" and text.startswith("{")):
        return RawEvent(keyword[:-1], text)
    return Status(text) if keyword == "status:" else None


def _pairs(tokens: list[Token]) -> Comment:
    keys = {token.key for token in tokens}
    if not keys & _TOTALS:
        return Fields({str(token.key): token.value for token in tokens})
    raw = {str(token.key): token.text for token in tokens}
    counts = (
        "tokens",
        "tokens_in",
        "tokens_out",
        "tools",
        "skills",
        "mcp",
        "subagents",
        "plans",
        "redactions",
    )
    known = {*counts, "duration", "cost"}
    return Totals(
        **{key: integer(raw[key]) for key in counts if key in raw},
        duration=raw.get("duration"),
        cost=money(raw.get("cost")),
        other={key: value for key, value in raw.items() if key not in known},
    )


def parse_metrics(tokens: list[Token]) -> Metrics:
    """The words of a metrics comment, inline or standalone. A blob pointer spans several words."""
    numbers: dict[str, int | None] = {}
    blobs: dict[str, Blob] = {}
    extra: dict[str, str] = {}
    other: dict[str, str] = {}
    cost = None
    pointer: str | None = None
    for token in tokens:
        key, value = token.key, token.text
        if key is None:
            continue
        name = _METRIC_NAMES.get(key, key)
        if key in METRIC_BLOBS:
            pointer = key
            if value != "@blob":
                other[key] = value
        elif pointer is not None and key in ("sha256", "bytes", "mime"):
            blobs[pointer] = _extend(blobs.get(pointer), key, value)
        elif name == "cost_usd":
            cost = money(value)
        elif name == "step" or name in _METRIC_NAMES.values():
            numbers[name] = integer(value)
        elif key.startswith("extra."):
            extra[key[6:]] = value
        else:
            other[key] = value
    return Metrics(**numbers, **blobs, cost_usd=cost, extra=extra, other=other)  # type: ignore[arg-type]


def _extend(blob: Blob | None, key: str, value: str) -> Blob:
    blob = blob or Blob("")
    if key == "sha256":
        return Blob(value, blob.bytes, blob.mime)
    if key == "bytes":
        return Blob(blob.sha256, integer(value), blob.mime)
    return Blob(blob.sha256, blob.bytes, value)


def _budget(tokens: list[Token]) -> Budget:
    fields = _fields(tokens)
    total = next((token.text for token in tokens if token.key is None), None)
    return Budget(money(total), money(fields.get("remaining")), integer(fields.get("tokens")))


def _condense(tokens: list[Token]) -> Condense | None:
    fields = _fields(tokens)
    if "range" not in fields:
        return None
    first, _, last = fields.get("range", "").partition("-")
    return Condense(integer(first), integer(last or first), fields.get("detail"))


def _anchor(tokens: list[Token]) -> Anchor | None:
    fields = _fields(tokens)
    if "step" not in fields:
        return None
    return Anchor(integer(fields.get("step")), fields.get("reason"))


def _memory(tokens: list[Token]) -> MemoryStore | None:
    fields = _fields(tokens)
    if not fields.keys() & {"store", "target"}:
        return None
    return MemoryStore(fields.get("store"), fields.get("target"))


def _model(tokens: list[Token]) -> ModelSwitch | None:
    name = next((token.text for token in tokens if token.key is None), None)
    return ModelSwitch(name, _fields(tokens).get("reason")) if name else None


def _file_snapshot(tokens: list[Token]) -> FileSnapshot:
    name = next((token.text for token in tokens if token.key is None), "")
    return FileSnapshot(name, integer(_fields(tokens).get("files")))


def _queue(tokens: list[Token]) -> QueueOperation | None:
    words = [token.text for token in tokens if token.key is None]
    return QueueOperation(words[0], " ".join(words[1:]) if len(words) > 1 else None) if words else None


def _fields(tokens: list[Token]) -> dict[str, str]:
    return {token.key: token.text for token in tokens if token.key is not None}


def _metrics(tokens: list[Token]) -> Metrics | None:
    return parse_metrics(tokens) if any(token.key is not None for token in tokens) else None


_TOKEN_COMMENTS: dict[str, Callable[[list[Token]], Comment | None]] = {
    "metrics": _metrics,
    "budget:": _budget,
    "condense": _condense,
    "anchor": _anchor,
    "memory": _memory,
    "model:": _model,
    "file-snapshot:": _file_snapshot,
    "queue:": _queue,
}
