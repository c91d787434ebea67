"""Timelines made by hand, for the tests of what is written of them."""

from decimal import Decimal
from typing import Any

from blackbird.canon.model import (
    Call,
    Cost,
    Generation,
    Item,
    Mark,
    Message,
    Origin,
    Outcome,
    Part,
    Purpose,
    Result,
    Role,
    Settings,
    Text,
    Thread,
    ToolCall,
    ToolResult,
    Usage,
)
from blackbird.timeline.timeline import About, Spent, Timeline

#: 2026-03-01T09:00:00Z in nanoseconds.
NOON = 1_772_355_600_000_000_000
MAIN = Thread(id="main")


def at(seconds: float) -> int:
    """So many seconds after the session began."""
    return NOON + int(seconds * 1000) * 1_000_000


def user(name: str, text: str, second: float = 0, **more: Any) -> Message:
    """What the user said."""
    given: dict[str, Any] = {"thread": "main", "role": Role.USER, "origin": Origin.USER, "parts": (Text(text),)}
    return Message(id=name, at=at(second), **{**given, **more})


def agent(name: str, *parts: Part | str, second: float = 0, **more: Any) -> Message:
    """What the agent said."""
    said = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    given: dict[str, Any] = {"thread": "main", "role": Role.ASSISTANT, "origin": Origin.AGENT, "parts": said}
    return Message(id=name, at=at(second), **{**given, **more})


def call(name: str, tool: str, second: float = 0, *, given: dict[str, Any] | None = None, **more: Any) -> Call:
    """A tool call; its call id is its name."""
    return Call(
        id=f"it_{name}",
        thread=more.pop("thread", "main"),
        at=at(second),
        call_id=name,
        call=ToolCall(tool, name, given if given is not None else {}),
        **more,
    )


def result(name: str, text: str, second: float = 0, *, error: bool | None = None, **more: Any) -> Result:
    """What came back from the call of that name."""
    details = more.pop("details", {})
    return Result(
        id=f"it_{name}_result",
        thread=more.pop("thread", "main"),
        at=at(second),
        call_id=name,
        result=ToolResult(name, text, error, details=details, name=more.pop("tool", None)),
        **more,
    )


def generation(name: str, second: float = 0, **more: Any) -> Generation:
    """One response."""
    given: dict[str, Any] = {
        "thread": "main",
        "purpose": Purpose.TURN,
        "outcome": Outcome.COMPLETE,
        "settings": Settings(),
        "model": "gannet-3",
        "usage": Usage(input=100, cache_read=400, cache_write=20, output=30, reasoning=5),
        "cost": Cost(Decimal("0.00125"), "prices 1"),
        "response_id": f"resp_{name}",
        "request_id": f"req_{name}",
    }
    return Generation(id=name, at=at(second), **{**given, **more})


def mark(name: str, kind: str, text: str = "", second: float = 0, **data: Any) -> Mark:
    """Something beside the conversation."""
    return Mark(id=name, thread="main", at=at(second), kind=kind, text=text, data=data)


def timeline(*items: Item, threads: tuple[Thread, ...] = (MAIN,), **about: Any) -> Timeline:
    """A session of these items."""
    generations = [item for item in items if isinstance(item, Generation)]
    usage = Usage()
    for one in generations:
        usage += one.usage or Usage()
    given: dict[str, Any] = {"session": "harbour", "sha": "4f2a9c1", "client": "pelican", "began": NOON}
    spent = Spent(usage=usage, generations=len(generations), usd=Decimal("0.00125"), prices="prices 1")
    return Timeline(about=About(**{**given, **about}), threads=threads, items=items, spent=spent)
