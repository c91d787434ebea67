"""What a provider streams as server-sent events, put together into one message."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any


class BrokenStream(Exception):
    """A stream that ended before its message did, or that told of an error."""


@dataclass(slots=True)
class Message:
    """A message as its events build it up."""

    content: list[dict[str, Any]] = field(default_factory=list)
    stop_reason: str | None = None
    _arguments: dict[int, str] = field(default_factory=dict)

    def take(self, event: dict[str, Any]) -> None:
        """The next event."""
        kind = event["type"]
        if kind == "content_block_start":
            self.content.append(dict(event["content_block"]))
        elif kind == "content_block_delta":
            self._add(event["index"], event["delta"])
        elif kind == "message_delta":
            self.stop_reason = event["delta"]["stop_reason"]
        elif kind == "error":
            raise BrokenStream(f"the provider tells of an error: {event['error']['message']}")

    def _add(self, index: int, delta: dict[str, Any]) -> None:
        if delta["type"] == "text_delta":
            self.content[index]["text"] += delta["text"]
        elif delta["type"] == "input_json_delta":
            self._arguments[index] = self._arguments.get(index, "") + delta["partial_json"]
            if delta["partial_json"].endswith("}"):
                self._finish(index)

    def _finish(self, index: int) -> None:
        try:
            self.content[index]["input"] = json.loads(self._arguments[index])
        except json.JSONDecodeError:
            return  # a brace inside the arguments; the last one is still to come

    @property
    def text(self) -> str:
        """What was said."""
        return "".join(block["text"] for block in self.content if block["type"] == "text")

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The tool calls, in order."""
        return [block for block in self.content if block["type"] == "tool_use"]


def events(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The data of each event; the names of events say nothing more."""
    for line in lines:
        if line.startswith(b"data:"):
            yield json.loads(line[5:])


def assemble(lines: Iterable[bytes]) -> Message:
    """The message of one stream, which is read to its end: to stop at the last event would be to hang up."""
    message, complete = Message(), False
    for event in events(lines):
        message.take(event)
        complete = complete or event["type"] == "message_stop"
    if not complete:
        raise BrokenStream("the stream ended in the middle of a message")
    return message
