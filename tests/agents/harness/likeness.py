"""Whether two flights are alike: what is volatile by nature is taken out, and the rest compared. Pure."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from blackbird.provider import Received, encoding
from blackbird.provider.routes import DIALECTS
from tests.recorder.trace_view import Exchange

#: What differs between any two runs of a client, with a recorder or without, and what stands for it.
_VOLATILE: tuple[tuple[re.Pattern[str], str], ...] = (
    # made up by the client for each session, message and part
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "‹uuid›"),
    (re.compile(r"\b(ses|msg|prt|evt|per|que|tool|user)_[0-9A-Za-z]{20,}"), r"‹\1›"),
    (re.compile(r"\b01[0-9a-hjkmnp-tv-z]{24}\b"), "‹ulid›"),
    (re.compile(r"Chunk ID: [0-9a-f]{6}"), "Chunk ID: ‹id›"),
    (re.compile(r"^[0-9a-f]{8}$"), "‹id›"),
    # made by the scripted provider out of the request, so they follow the client's own ids
    (re.compile(r"\b(msg|req|toolu|call|fc|ctc|rs|resp|gen|chatcmpl)_[0-9a-f]{20}"), r"‹\1›"),
    # clocks, some of them in the ids of calls
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d[:-]\d\d[:-]\d\d(?:[.,-]\d+)?(?:Z|[+-]\d\d:?\d\d)?"), "‹time›"),
    (re.compile(r"(?<!\d)\d\d:\d\d:\d\d(?!\d)"), "‹time›"),
    (re.compile(r"(?<![0-9A-Za-z.])1[6-9]\d{11}(?![0-9A-Za-z.])"), "‹clock›"),
    # durations in words
    (re.compile(r"(?i)\b(in|took|after|for|time:?|duration) +[\d.,]+ ?(?:ms|s|seconds)\b"), r"\1 ‹duration›"),
    (re.compile(r"(prev-tool-durations: ).*"), r"\1‹durations›"),
    # ports of loopback are given by the system
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:‹port›"),
    # digests of what is named above, and of random material
    (re.compile(r"\b[0-9a-f]{32,64}\b"), "‹digest›"),
    (re.compile(r"\bcch=[0-9a-f]+"), "cch=‹digest›"),
    # processes
    (re.compile(r"\b(PGID|PID): \d+"), r"\1: ‹number›"),
)
#: Lists in prompts that a client makes in the order in which it found their files.
_UNORDERED = (
    re.compile(r"(?<=\(Available: )[^)]+(?=\))"),
    re.compile(r"(?:\s*<skill>(?:(?!</skill>).)*</skill>)+", re.DOTALL),
)
#: Fields that belong to one connection, or are random by definition.
_FIELDS_OF_A_CONNECTION = frozenset(
    (
        "accept-encoding",  # of the connection, too: Node offers br under TLS alone
        "connection",
        "content-length",
        "keep-alive",
        "sec-websocket-key",
        "traceparent",
        "transfer-encoding",
    )
)
#: Numbers under such names are durations, and numbers of processes or places in a log that several tasks write.
_VOLATILE_KEYS = re.compile(
    r"(?i).*(duration|elapsed|latency|ttft|_ms$|[a-z]Ms$|_nanos$|^nanos$|^secs$|^pid$|process_?id|prompt_?id|ordinal|FileSizeBytes|content_length).*"
)
#: What Gemini CLI says of its own start, if it was slow.
_ASIDE = re.compile(r"\[STARTUP\] ")
_EARLIEST, _LATEST = 1_600_000_000, 2_000_000_000


def settle(text: str) -> str:
    """A text without what is volatile."""
    for pattern, stand_in in _VOLATILE:
        text = pattern.sub(stand_in, text)
    for pattern in _UNORDERED:
        text = pattern.sub(_in_order, text)
    return text


def _in_order(found: re.Match[str]) -> str:
    return " ".join(sorted(re.split(r",?\s+(?=['<])", found[0])))


def settled(value: Any, key: str = "") -> Any:
    """The same for a JSON value. Lists are put in order: results of parallel calls come as they are ready."""
    if isinstance(value, Mapping):
        # The mark of what is to be cached stands on whichever result came last.
        dropped = "cache_control" if value.get("type") == "tool_result" else None
        within = {"tokens": "token"}.get(key)
        return {settle(name): settled(part, within or name) for name, part in value.items() if name != dropped}
    if isinstance(value, list):
        return sorted((settled(part, key) for part in value), key=_spell)
    if _VOLATILE_KEYS.fullmatch(key):
        return "‹volatile›"
    if isinstance(value, str):
        return settle(value)
    if "token" in key.lower() and isinstance(value, int | float):
        return "‹count›"  # four letters a token, so it follows the length of what is volatile
    is_clock = isinstance(value, int | float) and any(_EARLIEST < value / unit < _LATEST for unit in (1, 1000))
    return "‹clock›" if is_clock else value


def _spell(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def lines(text: str) -> Counter[str]:
    """The lines of a log, however they are ordered: clients write side by side from several tasks."""
    return Counter(_line(line) for line in text.splitlines() if line.strip() and not _ASIDE.match(line))


def _line(line: str) -> str:
    try:
        return _spell(settled(json.loads(line)))
    except ValueError:
        return settle(line).rstrip()


def log(text: str) -> Counter[str]:
    """A client's own log: a JSON document, or lines."""
    try:
        return Counter([_spell(settled(json.loads(text)))])
    except ValueError:
        return lines(text)


class Call(NamedTuple):
    """A request as the provider saw it, without what is volatile."""

    method: str
    host: str
    target: str
    body: str
    fields: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Method and address."""
        return f"{self.method} {self.host}{self.target}"


def call(request: Received) -> Call:
    """What of a request must be the same with a recorder and without."""
    method, target, _ = request.request_line
    body = encoding.decode(request.body, request.get("content-encoding", "identity").lower()) if request.body else b""
    said = [part.decode("utf-8", "replace") for part in (body, *request.messages) if part]
    fields = sorted(
        settle(f"{name.lower()}: {value}")
        for name, value in request.fields
        if name.lower() not in _FIELDS_OF_A_CONNECTION
    )
    return Call(method, request.get("host"), settle(target), "\n".join(map(_line, said)), tuple(fields))


def is_model_call(request: Received) -> bool:
    """Whether the model was asked, and not one of the other services that clients know."""
    method = request.request_line[0]
    asked = method == "POST" or request.get("upgrade").lower() == "websocket"
    return asked and any(dialect.matches(request.path) for dialect in DIALECTS)


def model_calls(received: Iterable[Received]) -> Counter[Call]:
    """The calls of the model; clients send some of them side by side, so their order says nothing."""
    return Counter(call(request) for request in received if is_model_call(request))


def recorded(exchanges: Iterable[Exchange]) -> Counter[str]:
    """What a trace tells of the requests to providers: method and URL. Connections that carried none have no URL."""
    return Counter(
        f"{each.start['method']} {each.start['url'].removeprefix('https://')}"
        for each in exchanges
        if each.start.get("via") != "tunnel" and each.start["url"] is not None
    )


def seen(received: Iterable[Received], hosts: Iterable[str], *, all_calls: bool) -> Counter[str]:
    """What the provider tells of them; without `all_calls` of the model alone."""
    known = set(hosts)
    chosen = (each for each in received if each.get("host") in known and (all_calls or is_model_call(each)))
    return Counter(f"{each.request_line[0]} {each.get('host')}{each.request_line[1]}" for each in chosen)


def difference(one: Counter[str], other: Counter[str], *, most: int = 8) -> list[str]:
    """What only one of them has, in short; of JSON that both have nearly alike, the places where it differs."""
    left, right = (sorted((mine - theirs).elements()) for mine, theirs in ((one, other), (other, one)))
    found: list[str] = []
    if len(left) == len(right):
        for ours, theirs in zip(left, right, strict=True):
            found += places(_read(ours), _read(theirs))
    else:
        found = [f"- {item}" for item in left] + [f"+ {item}" for item in right]
    return [item[:600] for item in found[:most]]


def body_difference(one: Counter[Call], other: Counter[Call]) -> list[str]:
    """Where the bodies of calls differ."""
    left, right = (sorted((mine - theirs).elements()) for mine, theirs in ((one, other), (other, one)))
    found = [f"{len(left)} calls against {len(right)}"] if len(left) != len(right) else []
    for ours, theirs in zip(left, right, strict=False):
        if ours.place != theirs.place:
            found.append(f"{ours.place} against {theirs.place}")
        else:
            found += [f"{ours.place}: {path}" for path in places(_read(ours.body), _read(theirs.body))]
            found += [f"{ours.place}: - {each}" for each in ours.fields if each not in theirs.fields]
            found += [f"{ours.place}: + {each}" for each in theirs.fields if each not in ours.fields]
    return found[:12]


def _read(text: str) -> Any:
    documents: list[Any] = []
    for line in text.splitlines():
        try:
            documents.append(json.loads(line))
        except ValueError:
            documents.append(line)
    return documents[0] if len(documents) == 1 else documents


def places(one: Any, other: Any, above: str = "") -> list[str]:
    """The paths at which two JSON values differ, and both values there in short."""
    if one == other:
        return []
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        keys = sorted({*one, *other})
        return [path for key in keys for path in places(one.get(key), other.get(key), f"{above}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [path for at, (ours, theirs) in pairs for path in places(ours, theirs, f"{above}[{at}]")]
    return [f"{above}: {str(one)[:120]!r} against {str(other)[:120]!r}"]
