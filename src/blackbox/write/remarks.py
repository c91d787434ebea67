"""The spelling of comments: the typed ones by their own grammar, remarks so that they stay remarks."""

import re

from blackbox.errors import UsageError
from blackbox.events import comments
from blackbox.events.comments import parse_comment
from blackbox.syntax.results import Blob
from blackbox.write import scalars, spelling
from blackbox.write.results import spell_blob

_METRIC_KEY = re.compile(r"[A-Za-z_][\w.\-]*")
_EXTRA_KEY = re.compile(r"[\w.\-]+")
_RESERVED = frozenset(
    {
        *("step", "prompt", "prompt_tokens", "completion", "completion_tokens", "cached", "cached_tokens"),
        *("cost", "cost_usd", "sha256", "bytes", "mime", "completion_token_ids", "prompt_token_ids", "logprobs"),
    }
)
_LONG_NAMES = (
    ("prompt_tokens", "prompt_tokens"),
    ("completion_tokens", "completion_tokens"),
    ("cached_tokens", "cached_tokens"),
)
_SHORT_NAMES = (("prompt", "prompt_tokens"), ("completion", "completion_tokens"), ("cached", "cached_tokens"))
_COUNTS = ("tokens", "tokens_in", "tokens_out", "tools", "skills", "mcp", "subagents", "plans")
_LABEL = re.compile(r"([a-z][a-z-]*):")
_FIRST_PAIR = re.compile(r"([A-Za-z_][\w.\-]*)=")


def spell_comment(comment: comments.Comment) -> list[str]:
    """The physical lines of a comment, the continuation indent included."""
    first, *rest = _lines(comment)
    source = "\n".join([first, *rest])
    if parse_comment(source, escaped=True) != comment:
        raise UsageError(
            f"this {type(comment).__name__} cannot be written so that it reads back the same",
            "check its fields: another comment of the format claims one of these keys or values",
        )
    return [f"# {first}".rstrip(" "), *(spelling.CONTINUATION + line for line in rest)]


def spell_metrics(metrics: comments.Metrics, *, is_inline: bool) -> list[str]:
    """The words behind `metrics`; an empty list when there is nothing to say."""
    words = [] if metrics.step is None else [f"step={scalars.whole('step', metrics.step)}"]
    for key, field in _SHORT_NAMES if is_inline else _LONG_NAMES:
        number: int | None = getattr(metrics, field)
        if number is not None:
            words.append(f"{key}={scalars.whole(field, number)}")
    if metrics.cost_usd is not None:
        cost = scalars.money("cost_usd", metrics.cost_usd, sign="")
        words.append(f"{'cost' if is_inline else 'cost_usd'}={cost}")
    for key, value in metrics.other.items():
        if key in _RESERVED or key.startswith("extra.") or not _METRIC_KEY.fullmatch(key):
            raise UsageError(f"{key!r} cannot be a metric of its own", "use the field of that name, or `extra`")
        words.append(f"{key}={spelling.word(value)}")
    for key, value in metrics.extra.items():
        if not _EXTRA_KEY.fullmatch(key):
            raise UsageError(f"extra key {key!r} is no plain name", "use letters, digits, `_`, `.` and `-`")
        words.append(f"extra.{key}={spelling.word(value)}")
    for key in ("completion_token_ids", "prompt_token_ids", "logprobs"):
        pointer: Blob | None = getattr(metrics, key)
        if pointer is not None:
            words.append(f"{key}={spell_blob(pointer)}")
    return words


def _lines(comment: comments.Comment) -> list[str]:
    match comment:
        case comments.Remark(text):
            return _remark(text)
        case comments.Note(text):
            return _labelled("notes:", text)
        case comments.Status(text):
            return _labelled("status:", text)
        case comments.RawEvent(source, json):
            return _labelled(f"{source}:", json)
        case _:
            return [_line(comment)]


def _line(comment: comments.Comment) -> str:
    match comment:
        case comments.Elapsed(_, text):
            return f"t={scalars.clock('elapsed', text)}"
        case comments.Metrics():
            return " ".join(["metrics", *spell_metrics(comment, is_inline=False)])
        case comments.Fields(values):
            return " ".join(spelling.pair(key, value) for key, value in values.items())
        case comments.Totals():
            return _totals(comment)
        case comments.Budget(total, remaining, tokens):
            words = [] if total is None else [scalars.money("total", total)]
            words += [] if remaining is None else [f"remaining={scalars.money('remaining', remaining)}"]
            words += [] if tokens is None else [f"tokens={scalars.whole('tokens', tokens)}"]
            return _words("budget:", *words)
        case _:
            return _pairs(comment)


def _pairs(comment: comments.Comment) -> str:
    match comment:
        case comments.ModelSwitch(model, reason):
            return _words("model:", spelling.positional(model), reason=reason)
        case comments.Condense(first, last, detail):
            return _words("condense", f"range={first}-{last}", detail=detail)
        case comments.Anchor(step, reason):
            return _words("anchor", f"step={step}", reason=reason)
        case comments.MemoryStore(store, target):
            return _words("memory", store=store, target=target)
        case comments.FileSnapshot(message_id, files):
            count = None if files is None else scalars.whole("files", files)
            return _words("file-snapshot:", spelling.positional(message_id), files=count)
        case comments.QueueOperation(action, message):
            words = [] if message is None else [spelling.positional(message, quote=True)]
            return _words("queue:", spelling.positional(action), *words)
        case _:
            raise UsageError(f"{type(comment).__name__} is no comment", "use `note` or `comment`")


def _totals(totals: comments.Totals) -> str:
    words = []
    for key in _COUNTS:
        number: int | None = getattr(totals, key)
        if number is not None:
            words.append(f"{key}={scalars.whole(key, number)}")
    if totals.duration is not None:
        words.append(f"duration={spelling.value(totals.duration)}")
    if totals.cost is not None:
        words.append(f"cost={scalars.money('cost', totals.cost)}")
    words += [spelling.pair(key, value) for key, value in totals.other.items()]
    if totals.redactions is not None:
        words.append(f"redactions={scalars.whole('redactions', totals.redactions)}")
    return " ".join(words)


def _words(*words: str, **pairs: str | None) -> str:
    return " ".join([*words, *(spelling.pair(key, value) for key, value in pairs.items() if value is not None)])


def _labelled(label: str, text: str) -> list[str]:
    if not text:
        return [label]
    first, *rest = spelling.block(text)
    return [f"{label} {spelling.keep_start(first)}", *rest]


def _remark(text: str) -> list[str]:
    if not text:
        return [""]
    first, *rest = spelling.block(text)
    lines = [spelling.keep_start(first), *rest]
    if parse_comment("\n".join(lines), escaped=True) == comments.Remark(text):
        return lines
    for pattern, mark in ((_LABEL, ":"), (_FIRST_PAIR, "=")):
        match = pattern.match(first)
        if match is not None:
            candidate = [f"{match[1]}\\{mark}{first[match.end() :]}", *rest]
            if parse_comment("\n".join(candidate), escaped=True) == comments.Remark(text):
                return candidate
    return [spelling.EMPTY + first, *rest]
