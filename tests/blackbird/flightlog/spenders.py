"""Sessions that spend tokens in every way, and their companions counted as tools for Claude Code's logs do it."""

import re
from pathlib import Path
from typing import Any

import msgspec

from blackbird.canon.model import Usage
from blackbird.flightlog import files
from blackbird.timeline.session import Session
from blackbird.timeline.timeline import Timeline
from tests.blackbird.flights import Flight

#: What a cache was read and written for, in the words of each provider.
CACHED: dict[str, dict[str, Any]] = {
    "messages": {
        "input_tokens": 11,
        "cache_read_input_tokens": 7000,
        "cache_creation_input_tokens": 500,
        "cache_creation": {"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 200},
        "output_tokens": 40,
    },
    "chat": {"prompt_tokens": 900, "completion_tokens": 40, "prompt_tokens_details": {"cached_tokens": 600}},
    "responses": {"input_tokens": 900, "output_tokens": 40, "input_tokens_details": {"cached_tokens": 600}},
    "gemini": {"promptTokenCount": 900, "candidatesTokenCount": 40, "cachedContentTokenCount": 600},
    "ollama": {"prompt_eval_count": 900, "eval_count": 40},
}
#: ccusage takes no other time, and drops the whole line.
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{3})?Z")
_VERSION = re.compile(r"\d+\.\d+\.\d+")


def spender(dialect: str) -> Timeline:
    """Calls without a word, a refused and a broken attempt, a sub-agent, and an answer in words alone."""
    cached = CACHED[dialect]
    client = [("user-agent", "claude-cli/2.1.197"), ("x-claude-code-session-id", "harbour")]
    flight = Flight(dialect, model="claude-opus-4-1", headers=client)
    flight.turn("Fix the test.", calls=[("read_file", {"path": "calc.py"})], thinks="Read first.", usage=cached)
    flight.turn(results=["a - b"], status=429)
    flight.turn(says="Cut.", cut=3, usage=cached)
    both = [("read_file", {"path": "a"}), ("run_command", {"command": "ls"})]
    flight.turn(says="Two at once.", calls=both, usage=cached)
    errand = flight.beside(headers=[*client, ("x-claude-code-agent-id", "a7352")])
    errand.turn("Look around.", says="Nothing.", usage=cached)
    flight.turn(results=["x", "y"], calls=[("edit_file", {"path": "calc.py"})], usage=cached)
    flight.turn(results=["done"], says="It works.\nReally.", usage=cached)
    session = Session("harbour", lambda text: text)
    news = [item for exchange in flight.exchanges for item in session.exchange(exchange)]
    return session.timeline(news + session.rest())


def export(timeline: Timeline, folder: Path) -> list[Path]:
    """Its companions."""
    written = files.write_rlog(timeline, folder / "harbour.rlog")
    return [path for path in written.files if path.suffix == ".jsonl"]


def count(paths: list[Path]) -> Usage:
    """What ccusage 18 counts: lines of a message with usage, once for each pair of message id and request id.

    A line that has a field of another shape is left out as a whole, and so is one without a time.
    """
    total = Usage()
    known: set[tuple[str, str]] = set()
    for path in paths:
        for text in path.read_bytes().splitlines():
            line = msgspec.json.decode(text)
            if not _is_taken(line):
                continue
            pair = (line["message"].get("id"), line.get("requestId"))
            if None not in pair:
                if pair in known:
                    continue
                known.add(pair)
            used = line["message"]["usage"]
            total += Usage(
                input=used["input_tokens"],
                output=used["output_tokens"],
                cache_read=used.get("cache_read_input_tokens", 0),
                cache_write=used.get("cache_creation_input_tokens", 0),
            )
    return total


def _is_taken(line: Any) -> bool:
    message = line.get("message")
    if not isinstance(message, dict) or not isinstance(message.get("usage"), dict):
        return False
    counts = [message["usage"].get(key) for key in ("input_tokens", "output_tokens")]
    words = [line.get(key, "") for key in ("cwd", "timestamp")]
    names = [
        owner[key] for owner in (line, message) for key in ("sessionId", "requestId", "id", "model") if key in owner
    ]
    content = message.get("content", [])
    is_content = isinstance(content, list) and all(isinstance(each.get("text", ""), str) for each in content)
    is_named = all(isinstance(word, str) for word in words) and all(isinstance(name, str) and name for name in names)
    is_versioned = "version" not in line or _VERSION.match(line["version"]) is not None
    is_timed = isinstance(line.get("timestamp"), str) and _TIME.fullmatch(line["timestamp"]) is not None
    return all(isinstance(one, int) for one in counts) and is_content and is_named and is_versioned and is_timed
