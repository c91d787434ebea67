"""A stand-in for Claude Code: Messages, ids in fields and metadata, a sub-agent, a count of tokens."""

import json
import os
import uuid
from typing import Any

from tests.blackbird.stand_ins.programs.repair import PROMPT, Call, Turn, schema, tell, work
from tests.blackbird.stand_ins.programs.wire import Line, Seen, persist

#: What tells a machine from others; it is sent with each turn.
DEVICE = "3f" * 32
_MODEL = "claude-opus-4-8"
_TOOLS = [
    {"name": "Read", "description": "Read a file.", "input_schema": schema("file_path")},
    {"name": "Bash", "description": "Run a command.", "input_schema": schema("command")},
    {"name": "Edit", "description": "Edit a file.", "input_schema": schema("file_path", "old_string", "new_string")},
]


class Claude:
    """One session."""

    def __init__(self, session: str) -> None:
        base = os.environ.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com"
        self._line = Line(base.rstrip("/"), "NODE_EXTRA_CA_CERTS")
        self._fields = {
            "accept": "application/json",
            "accept-encoding": "gzip, deflate, br, zstd",
            "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14",
            "anthropic-version": "2023-06-01",
            "content-type": "application/json",
            "user-agent": "claude-cli/2.1.197 (external, sdk-cli)",
            "X-Claude-Code-Session-Id": session,
            "X-Stainless-Retry-Count": "0",
            "x-api-key": os.environ["ANTHROPIC_API_KEY"],
            "x-app": "cli",
        }
        known = {"device_id": DEVICE, "account_uuid": "", "session_id": session}
        self._metadata = {"user_id": json.dumps(known, separators=(",", ":"))}
        self._messages: list[dict[str, Any]] = [{"role": "user", "content": PROMPT}]

    def count(self) -> None:
        """What `/context` asks for; it has no metadata."""
        body = {"model": _MODEL, "messages": self._messages, "tools": _TOOLS}
        self._line.post("count", "/v1/messages/count_tokens?beta=true", self._fields, json.dumps(body).encode())

    def _delegate(self) -> None:
        """A sub-agent: the same session, and an id of its own."""
        fields = {**self._fields, "x-claude-code-agent-id": "a7352" + "0" * 12}
        system = [{"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.197; cc_is_subagent=true;"}]
        messages = [{"role": "user", "content": "Name the fault in calc.py."}]
        answer = self._ask("sub-agent", fields, {"system": system, "messages": messages})
        tell(f"sub-agent: {_turn(answer).text}")

    def ask(self, number: int) -> Turn:
        """The next turn; a sub-agent is asked after the first."""
        if number == 2:
            self._delegate()
        rest = {"tools": _TOOLS, "messages": self._messages}
        return _turn(self._ask(f"turn {number}", self._fields, rest))

    def _ask(self, what: str, fields: dict[str, str], rest: dict[str, Any]) -> Seen:
        """The whole answer; a stream that was cut is asked for again in one piece."""
        body = {"model": _MODEL, "max_tokens": 32000, "metadata": self._metadata, **rest}

        def attempt(was_cut: bool) -> Seen:
            whole = body if was_cut else {**body, "stream": True}
            return self._line.post(what, "/v1/messages?beta=true", fields, json.dumps(whole).encode())

        return persist(attempt)

    def report(self, turn: Turn, results: list[tuple[Call, str]]) -> None:
        blocks = [{"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in results]
        self._messages.append({"role": "assistant", "content": turn.content})
        self._messages.append({"role": "user", "content": blocks})


def _turn(seen: Seen) -> Turn:
    content = _from_events(seen) if seen.get("content-type").startswith("text/event-stream") else _from_json(seen)
    text = "".join(block["text"] for block in content if block["type"] == "text")
    calls = [Call(block["id"], block["name"], block["input"]) for block in content if block["type"] == "tool_use"]
    return Turn(text, calls, content)


def _from_json(seen: Seen) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = json.loads(seen.body)["content"]
    return content


def _from_events(seen: Seen) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for event in seen.events():
        if event["type"] == "content_block_start":
            blocks.append({**event["content_block"], "given": ""})
        elif event["type"] == "content_block_delta":
            delta = event["delta"]
            blocks[event["index"]]["given"] += delta.get("text", "") + delta.get("partial_json", "")
    for block in blocks:
        given = block.pop("given")
        block.update({"input": json.loads(given)} if block["type"] == "tool_use" else {"text": given})
    return blocks


def main(words: list[str]) -> int:
    if "--version" in words:
        tell("2.1.197 (Claude Code)")
        return 0
    session = words[words.index("--session-id") + 1] if "--session-id" in words else str(uuid.uuid4())
    claude = Claude(session)
    claude.count()
    return work(claude.ask, claude.report)
