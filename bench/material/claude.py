"""A made-up log of Claude Code: a session with sub-agents, of any size, the same bytes for the same seed."""

import datetime as dt
import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.corpus import prose

SESSION = "5f0c2a9e-7b1d-4c36-9a52-3d8e6f104b77"
MODEL = "claude-opus-4-8"
_BEGIN = dt.datetime(2026, 11, 16, 8, tzinfo=dt.UTC)
_FOLDER = "/home/dev/tidepool"
#: So many responses until a sub-agent is sent out, and until the next words of the user.
_DELEGATION, _PROMPT = 60, 25
_ERRAND = 12


class Log:
    """One file of the session: its own, or that of a sub-agent."""

    def __init__(self, rng: random.Random, agent: str | None = None) -> None:
        self._rng = rng
        self._agent = agent
        self._count = 0
        self._last: str | None = None

    def lines(self) -> Iterator[tuple[dict[str, Any], str | None]]:
        """Endless lines; with the one that sends out a sub-agent comes the id of that."""
        yield {"type": "mode", "mode": "normal", "sessionId": SESSION}, None
        while True:
            if self._count % _PROMPT == 0:
                yield self._line("user", message={"role": "user", "content": prose(self._rng, 40)}), None
            self._count += 1
            is_errand = self._agent is None and self._count % _DELEGATION == 0
            yield from self._response(self._name("agent")[:17] if is_errand else None)

    def _response(self, agent: str | None) -> Iterator[tuple[dict[str, Any], str | None]]:
        """One line a block, with the same usage on each, then the result of the call."""
        rng, call = self._rng, f"toolu_{self._name('call')[:24]}"
        name, given, outcome = _errand(rng, agent) if agent is not None else _tool(rng)
        blocks: list[dict[str, Any]] = [
            {"type": "thinking", "thinking": prose(rng, 30), "signature": self._name("signed") * 8},
            {"type": "text", "text": prose(rng, 20)},
            {"type": "tool_use", "id": call, "name": name, "input": given},
        ]
        about = {
            "id": f"msg_{self._name('message')[:24]}",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": _usage(rng),
        }
        request = f"req_{self._name('request')[:24]}"
        for block in blocks:
            yield self._line("assistant", message={**about, "content": [block]}, requestId=request), None
        text = outcome.get("stdout") or outcome.get("content") or outcome["file"]["content"]
        result = {"tool_use_id": call, "type": "tool_result", "content": text}
        yield self._line("user", message={"role": "user", "content": [result]}, toolUseResult=outcome), agent

    def _line(self, kind: str, **fields: Any) -> dict[str, Any]:
        parent, self._last = self._last, self._uuid()
        sidechain = {} if self._agent is None else {"agentId": self._agent}
        at = _BEGIN + dt.timedelta(seconds=self._count * 7)
        return {
            "parentUuid": parent,
            "isSidechain": self._agent is not None,
            **sidechain,
            "type": kind,
            **fields,
            "uuid": self._last,
            "timestamp": at.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": _FOLDER,
            "sessionId": SESSION,
            "version": "2.1.197",
            "gitBranch": "main",
        }

    def _uuid(self) -> str:
        name = self._rng.randbytes(16).hex()
        return f"{name[:8]}-{name[8:12]}-4{name[13:16]}-a{name[17:20]}-{name[20:]}"

    def _name(self, kind: str) -> str:
        return hashlib.sha256(f"{kind} {self._agent} {self._count}".encode()).hexdigest()


def write(folder: Path, size: int, seed: int = 1) -> Path:
    """A project with one session of about `size` bytes; returns the file of the session."""
    project = folder / "projects" / "-home-dev-tidepool"
    (project / SESSION / "subagents").mkdir(parents=True)
    main, rng = project / f"{SESSION}.jsonl", random.Random(seed)
    written = 0
    with main.open("wb") as file:
        for line, agent in Log(rng).lines():
            written += file.write(_dump(line))
            if agent is not None:
                path = project / SESSION / "subagents" / f"agent-{agent}.jsonl"
                path.write_bytes(b"".join(_errand_lines(rng, agent)))
                written += path.stat().st_size
            if written >= size:
                return main
    raise AssertionError("the lines do not end")


def _errand_lines(rng: random.Random, agent: str) -> Iterator[bytes]:
    for at, (line, _) in enumerate(Log(rng, agent).lines()):
        if at > _ERRAND * 4:
            return
        yield _dump(line)


def _dump(line: dict[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _usage(rng: random.Random) -> dict[str, Any]:
    written = rng.randint(100, 4000)
    return {
        "input_tokens": rng.randint(1, 20),
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": rng.randint(10_000, 150_000),
        "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
        "output_tokens": rng.randint(20, 900),
        "service_tier": "standard",
    }


def _tool(rng: random.Random) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """A name, what it is given and what comes back, as the client keeps it."""
    if rng.random() < 0.5:
        text = "\n".join(prose(rng, 9) for _ in range(rng.randint(5, 90)))
        path = f"{_FOLDER}/src/queue.rs"
        file = {"filePath": path, "content": text, "numLines": text.count("\n") + 1, "startLine": 1}
        return "Read", {"file_path": path}, {"type": "text", "file": file}
    out = "\n".join(f"test {prose(rng, 1)}_{at} ... ok" for at in range(rng.randint(2, 60)))
    given = {"command": f"cargo test {prose(rng, 1)}", "description": prose(rng, 5)}
    return "Bash", given, {"stdout": out, "stderr": "", "interrupted": False, "isImage": False}


def _errand(rng: random.Random, agent: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
    prompt = prose(rng, 40)
    given = {"subagent_type": "Explore", "description": prose(rng, 4), "prompt": prompt}
    outcome = {"status": "completed", "prompt": prompt, "agentId": agent, "agentType": "Explore"}
    return "Agent", given, {**outcome, "content": prose(rng, 80), "totalToolUseCount": _ERRAND}
