"""The model calls that agents note in their own logs: when, and by which id they can be found in the trace.

Only ids and times are taken from a line; what was said in it is never kept.
"""

import datetime as dt
import enum
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec


class Client(enum.StrEnum):
    """The agents whose own logs are understood."""

    CLAUDE = "claude"
    CODEX = "codex"
    GEMINI = "gemini"


class NativeCall(msgspec.Struct, frozen=True):
    """A call as the agent's own log has it; `request` or `thread` is how the trace would know it."""

    client: Client
    at_ns: int
    request: str | None = None
    thread: str | None = None


class _Line(msgspec.Struct):
    """Of a line, what says whether it is a call; all else is skipped without being kept."""

    type: str | None = None
    timestamp: str | None = None
    id: str | None = None
    request: str | None = msgspec.field(default=None, name="requestId")
    payload: msgspec.Raw = msgspec.Raw(b"null")


class _Payload(msgspec.Struct):
    type: str | None = None
    id: str | None = None
    info: Any = None


_LINE = msgspec.json.Decoder(_Line)
_PAYLOAD = msgspec.json.Decoder(_Payload)


def claude_calls(lines: Iterable[bytes]) -> Iterator[NativeCall]:
    """One for each request id; a response with several blocks is noted in several lines."""
    seen: set[str] = set()
    for line in lines:
        about = _read(line) if b'"requestId"' in line else None
        if about is None or about.type != "assistant" or about.request is None or about.request in seen:
            continue
        at = _instant(about.timestamp)
        if at is not None:
            seen.add(about.request)
            yield NativeCall(Client.CLAUDE, at, request=about.request)


def codex_calls(lines: Iterable[bytes]) -> Iterator[NativeCall]:
    """One for each record of tokens; a log without those has the counts that came before them."""
    thread = None
    exact: list[NativeCall] = []
    counted: list[NativeCall] = []
    for line in lines:
        if not any(word in line for word in (b'"session_meta"', b'"token_usage_record"', b'"token_count"')):
            continue
        about = _read(line)
        at = None if about is None else _instant(about.timestamp)
        if about is None or at is None:
            continue
        payload = _payload(about.payload)
        if about.type == "session_meta":
            thread = payload.id
        elif about.type == "token_usage_record":
            exact.append(NativeCall(Client.CODEX, at, thread=thread))
        elif about.type == "event_msg" and payload.type == "token_count" and payload.info is not None:
            counted.append(NativeCall(Client.CODEX, at, thread=thread))
    yield from exact or counted


def gemini_calls(lines: Iterable[bytes]) -> Iterator[NativeCall]:
    """One for each message of the model; the log states a message anew when it changes."""
    seen: set[str] = set()
    for line in lines:
        about = _read(line) if b'"gemini"' in line else None
        at = None if about is None else _instant(about.timestamp)
        if about is None or at is None or about.type != "gemini" or about.id is None or about.id in seen:
            continue
        seen.add(about.id)
        yield NativeCall(Client.GEMINI, at)


READERS: dict[Client, Callable[[Iterable[bytes]], Iterator[NativeCall]]] = {
    Client.CLAUDE: claude_calls,
    Client.CODEX: codex_calls,
    Client.GEMINI: gemini_calls,
}


def _read(line: bytes) -> _Line | None:
    try:
        return _LINE.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _payload(raw: msgspec.Raw) -> _Payload:
    try:
        return _PAYLOAD.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Payload()


def _instant(text: str | None) -> int | None:
    try:
        time = dt.datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return int(time.timestamp() * 1000) * 1_000_000 if time.tzinfo is not None else None
