"""A stand-in for opencode: Chat Completions, a title by a cheaper model beside turn 1, a child session."""

import json
import os
import threading
import uuid
from typing import Any

from tests.blackbird.stand_ins.programs.repair import PROMPT, Call, Turn, schema, tell, work
from tests.blackbird.stand_ins.programs.wire import Line, Seen, persist

_MODEL = "gpt-5.4"
_CHEAPER = "gpt-5.4-nano"
_PARAMETERS = {"read": ("filePath",), "bash": ("command",), "edit": ("filePath", "oldString", "newString")}
_TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": schema(*names)}}
    for name, names in _PARAMETERS.items()
]


def _new_id() -> str:
    return f"ses_{uuid.uuid4().hex[:26]}"


def _line() -> Line:
    """The base URL of the provider is a matter of configuration."""
    given = json.loads(os.environ.get("OPENCODE_CONFIG_CONTENT") or "{}")
    options = given.get("provider", {}).get("openai", {}).get("options", {})
    return Line(options.get("baseURL", "https://api.openai.com/v1"), "SSL_CERT_FILE")


class Session:
    """One session, of the user or below another, on a connection of its own."""

    def __init__(self, name: str, parent: str | None = None) -> None:
        self._id = name
        self._line = _line()
        self._fields = {
            "accept": "*/*",
            "accept-encoding": "gzip, deflate, br, zstd",
            "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}",
            "content-type": "application/json",
            "session-id": self._id,
            "user-agent": "opencode/1.18.33",
            "x-session-affinity": self._id,
            "x-session-id": self._id,
            **({} if parent is None else {"x-parent-session-id": parent}),
        }
        self._messages: list[dict[str, Any]] = [{"role": "user", "content": PROMPT}]

    def ask(self, number: int) -> Turn:
        """The next turn; a child session is asked after the first."""
        if number == 2:
            child = Session(_new_id(), parent=self._id)
            said = child.say("child", _MODEL, {"messages": [{"role": "user", "content": "Name the fault."}]})
            tell(f"child: {said.text}")
        return self.say(f"turn {number}", _MODEL, {"tools": _TOOLS, "messages": self._messages})

    def entitle(self) -> None:
        self.say("title", _CHEAPER, {"messages": [{"role": "user", "content": f"Title: {PROMPT}"}]})

    def say(self, what: str, model: str, rest: dict[str, Any]) -> Turn:
        body = {"model": model, "prompt_cache_key": self._id, "stream": True, **rest}
        sent = json.dumps({**body, "stream_options": {"include_usage": True}}).encode()

        def attempt(_: bool) -> Seen:
            return self._line.post(what, "/chat/completions", self._fields, sent)

        return _turn(persist(attempt))

    def report(self, turn: Turn, results: list[tuple[Call, str]]) -> None:
        self._messages.append({"role": "assistant", "content": turn.text, "tool_calls": turn.content})
        self._messages += [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in results]


def _turn(seen: Seen) -> Turn:
    deltas = [choice["delta"] for event in seen.events() for choice in event["choices"]]
    calls: list[dict[str, Any]] = []
    for piece in (piece for delta in deltas for piece in delta.get("tool_calls", ())):
        if piece["index"] == len(calls):
            calls.append({key: value for key, value in piece.items() if key != "index"})
        else:
            calls[piece["index"]]["function"]["arguments"] += piece["function"]["arguments"]
    found = [Call(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls]
    return Turn("".join(delta.get("content") or "" for delta in deltas), found, calls)


def main(words: list[str]) -> int:
    if "--version" in words:
        tell("1.18.33")
        return 0
    name = _new_id()
    beside = threading.Thread(target=Session(name).entitle)
    beside.start()
    session = Session(name)
    try:
        return work(session.ask, session.report)
    finally:
        beside.join()
