"""What every dialect takes and gives."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from blackbird.provider.script import Ids, Prompt

JSON = "application/json"
SSE = "text/event-stream; charset=utf-8"
NDJSON = "application/x-ndjson"
#: When all answers were made: a fixed time, so that the same request gets the same answer.
CREATED = 1_767_225_600


@dataclass(frozen=True, slots=True)
class Ask:
    """A request for the model."""

    path: str
    query: Mapping[str, str]
    body: Mapping[str, Any]
    ids: Ids
    folder: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The body of an answer in pieces, and the piece that would tell of an error in its midst."""

    media_type: str
    pieces: tuple[bytes, ...]
    streamed: bool = False
    failure: bytes = b""


class Dialect(Protocol):
    """A module that speaks one."""

    def matches(self, path: str) -> bool:
        """Whether a path belongs to it, by its end."""

    def prompt(self, body: Any) -> Prompt:
        """What a request offers and brings."""

    def reply(self, ask: Ask) -> Reply:
        """What the model answers."""

    def error(self, status: int, message: str) -> dict[str, Any]:
        """The body that tells of an error."""


def compact(value: object) -> bytes:
    """JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def sse(value: object, name: str | None = None) -> bytes:
    """One server-sent event."""
    data = value.encode() if isinstance(value, str) else compact(value)
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + data + b"\n\n"


def whole(value: object) -> Reply:
    """An answer in one piece."""
    return Reply(JSON, (compact(value),))
