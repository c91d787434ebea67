"""How an answer is given, apart from what it says: faults, coding, framing, pace, informational answers."""

import dataclasses
import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from blackbird.provider.pace import parse_duration


class Fault(enum.StrEnum):
    """What goes wrong in the middle of an answer."""

    CUT = "cut"  # the connection ends after `after` events
    RESET = "reset"  # it is reset after `after` events
    RESET_BEFORE_HEAD = "reset-before-head"
    RESET_AFTER_HEAD = "reset-after-head"
    ERROR = "error"  # after `after` events comes the dialect's error event, and the stream ends in good order
    CLOSE = "close"  # of a WebSocket: after `after` events it is closed with the code 1011
    STALL = "stall"  # after `after` events nothing comes until the client goes


class Framing(enum.StrEnum):
    """How the end of a body is told."""

    CHUNKED = "chunked"
    LENGTH = "length"
    CLOSE = "close"


class Continue(enum.StrEnum):
    """What a client gets that waits for `100 Continue`."""

    SEND = "send"
    NEVER = "never"  # the body is awaited without a word
    FINAL = "final"  # the final answer instead; the body is not read


class ScriptError(ValueError):
    """A request asks for a manner that does not exist."""


@dataclass(frozen=True, slots=True)
class Manner:
    """The manner of one answer. Every field can be asked for as `x-script-FIELD: VALUE` or `?script-FIELD=VALUE`."""

    status: int = 200
    fault: Fault | None = None
    after: int = 3
    encoding: str = "identity"  # a coding, or `accepted`: what the client takes
    framing: Framing | None = None  # none: chunked for streams, else a length
    gap: float = 0.0  # seconds between events
    trailer: tuple[tuple[str, str], ...] = ()
    field: tuple[tuple[str, str], ...] = ()
    hints: bool = False  # a 103 before the answer
    expect: Continue = Continue.SEND
    early: bool = False  # the answer is given before the body is read
    retry_after: int = 1
    upgrade: bool = True  # WebSockets are agreed to; if not, 426


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    pairs = [item.partition("=") for item in text.split(",")]
    return tuple((name.strip(), value) for name, _, value in pairs)


def _truth(text: str) -> bool:
    return {"1": True, "true": True, "0": False, "false": False}[text]


_READERS: Mapping[str, Callable[[str], Any]] = {
    "status": int,
    "fault": Fault,
    "after": int,
    "encoding": str,
    "framing": Framing,
    "gap": parse_duration,
    "trailer": _pairs,
    "field": _pairs,
    "hints": _truth,
    "expect": Continue,
    "early": _truth,
    "retry-after": int,
    "upgrade": _truth,
}


def ask(manner: Manner, wishes: Iterable[tuple[str, str]]) -> Manner:
    """The manner with what the request asked for, each wish by the name of its field."""
    changed: dict[str, Any] = {}
    for name, text in wishes:
        if name not in _READERS:
            raise ScriptError(f"there is no script-{name}; there are {', '.join(_READERS)}")
        try:
            changed[name.replace("-", "_")] = _READERS[name](text)
        except (ValueError, KeyError) as error:
            raise ScriptError(f"script-{name} cannot be {text!r}") from error
    return dataclasses.replace(manner, **changed)
