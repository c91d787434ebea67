"""A client's own log, taken in, comes out again as a valid flight log."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from blackbird.canon.model import Call, Generation, Message, Result, Usage
from blackbird.flightlog import files
from blackbird.timeline import gather
from blackbird.timeline.timeline import Timeline
from blackbird.trace.folder import Trace
from blackbox import parse, validate
from tests.blackbird.flights import Flight
from tests.blackbird.logbook import Logbook

SESSION = "6f0c2d9d-530b-4396-8c12-d658a1be5a82"
MODEL = "claude-opus-4-5-20251101"
USAGE = {
    "input_tokens": 10,
    "cache_read_input_tokens": 4000,
    "cache_creation_input_tokens": 300,
    "cache_creation": {"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 100},
    "output_tokens": 50,
}


class Claude:
    """Writes a log line by line, as Claude Code does."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.last: str | None = None

    def add(self, kind: str, message: dict[str, Any], **more: Any) -> None:
        number = len(self.lines) + 1
        about = {"cwd": "/work/harbour", "sessionId": SESSION, "version": "2.0.71", "gitBranch": "main"}
        line = {"parentUuid": self.last, "type": kind, "message": message, "uuid": f"u-{number}", **about, **more}
        self.lines.append({**line, "timestamp": f"2026-11-16T10:00:{number:02}.000Z"})
        self.last = f"u-{number}"

    def user(self, content: Any, **more: Any) -> None:
        self.add("user", {"role": "user", "content": content}, **more)

    def agent(self, response: int, *blocks: dict[str, Any]) -> None:
        about = {"id": f"msg_{response}", "type": "message", "role": "assistant", "model": MODEL, "usage": USAGE}
        for block in blocks:
            message = {**about, "content": [block], "stop_reason": "tool_use"}
            self.add("assistant", message, requestId=f"req_{response}")

    def result(self, call: str, text: str, **more: Any) -> None:
        self.user([{"type": "tool_result", "tool_use_id": call, "content": text}], **more)


def call(name: str, number: int, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}


def claude_log() -> list[dict[str, Any]]:
    log = Claude()
    log.lines.append({"type": "file-history-snapshot", "messageId": "b2d8", "snapshot": {"trackedFileBackups": {}}})
    log.user("Mend the crane.")
    thought = {"type": "thinking", "thinking": "Where is it?", "signature": "Ep4E"}
    log.agent(1, thought, {"type": "text", "text": "I look."}, call("Read", 1, file_path="crane.py"))
    log.result("toolu_1", "def lift(): pass")
    todos = [{"content": "Mend lift", "status": "in_progress"}, {"content": "Test it", "status": "pending"}]
    log.agent(2, call("TodoWrite", 2, todos=todos))
    log.result("toolu_2", "Todos have been modified successfully.")
    log.agent(3, call("Bash", 3, command="pytest -q"))
    log.result(
        "toolu_3",
        "Exit code 1\nFAILED test_lift",
        toolUseResult={"stdout": "", "stderr": "FAILED test_lift", "interrupted": True},
    )
    log.agent(4, {"type": "text", "text": "It is mended."})
    return log.lines


def codex_log() -> list[dict[str, Any]]:
    thread = "01a1e1f6-e6d0-73d1-9957-daaf87030ee3"
    git = {"commit_hash": "a" * 40, "branch": "main", "repository_url": "https://example.org/harbour.git"}
    meta = {"id": thread, "session_id": thread, "cwd": "/work/harbour", "cli_version": "0.166.0", "git": git}
    items: list[tuple[str, dict[str, Any]]] = [
        ("session_meta", meta),
        ("turn_context", {"turn_id": "t1", "cwd": "/work/harbour", "model": "gpt-5.2-codex", "effort": "high"}),
        ("response_item", _said("user", "input_text", "Mend the crane.")),
        ("response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Where is it?"}]}),
        ("response_item", _said("assistant", "output_text", "I look.")),
        ("response_item", _called("exec_command", "call_1", '{"cmd":"cat crane.py"}')),
        ("token_usage_record", _used("resp_1")),
        ("response_item", {"type": "function_call_output", "call_id": "call_1", "output": "def lift(): pass"}),
        ("response_item", _said("assistant", "output_text", "It is mended.")),
        ("token_usage_record", _used("resp_2")),
    ]
    return [
        {"timestamp": f"2026-11-16T10:00:{number:02}.000Z", "type": kind, "payload": payload}
        for number, (kind, payload) in enumerate(items)
    ]


def _said(role: str, kind: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _called(name: str, call_id: str, arguments: str) -> dict[str, Any]:
    return {"type": "function_call", "name": name, "call_id": call_id, "arguments": arguments}


def _used(response: str) -> dict[str, Any]:
    usage = {"input_tokens": 500, "cached_input_tokens": 400, "output_tokens": 30, "reasoning_output_tokens": 10}
    return {"response_id": response, "usage": usage}


def taken_in(name: str, path: str, session: str, lines: list[dict[str, Any]], folder: Path) -> Timeline:
    book = Logbook()
    book.log(name, path, session, lines)
    return gather.load(Trace(book.save(folder)), session)


def exported(timeline: Timeline, folder: Path) -> str:
    path = folder / "session.bbox"
    files.write_bbox(timeline, path)
    data = path.read_bytes()
    findings = validate(parse(data))
    assert [finding for finding in findings if finding.severity != "info"] == []
    assert parse(data).emit() == data
    files.write_bbox(timeline, folder / "again.bbox")
    assert (folder / "again.bbox").read_bytes() == data
    return data.decode()


def starts(text: str) -> list[str]:
    """The kinds of the body's lines."""
    body = text.partition("\n---\n")[2].splitlines()
    return [line.partition(" ")[0] for line in body if line and not line.startswith("  ")]


@pytest.mark.requirement("CONV-01", "CONV-03", "CONV-06", "CONV-07", "CONV-08")
def test_a_claude_code_log(tmp_path: Path) -> None:
    path = f"/home/dev/.claude/projects/-work-harbour/{SESSION}.jsonl"
    timeline = taken_in("claude-code", path, SESSION, claude_log(), tmp_path / "trace")
    text = exported(timeline, tmp_path)
    header = text.partition("\n---\n")[0]
    for field in (
        f"id: {SESSION}",
        "client_version: 2.0.71",
        "cwd: /work/harbour",
        "branch: main",
        f"model: {MODEL}",
        "tokens_total_in: 17240",
        "tokens_total_out: 200",
        "tokens_cached: 16000",
        "tokens_cache_create: 1200",
    ):
        assert field in header.splitlines()
    kinds = starts(text)
    assert [kind for kind in kinds if not kind.startswith("#")] == [
        *("@start", "u:", "th:", "a:", "t:Read", "td:", "t:Bash", "a:", "@end")
    ]
    assert "# file-snapshot: b2d8 files=0" in text
    assert "sig=Ep4E" in next(line for line in text.splitlines() if line.startswith("th:"))
    assert " interrupted " in next(line for line in text.splitlines() if line.startswith("t:Bash"))
    assert "td: [in_progress] Mend lift [pending] Test it" in text
    assert "def lift(): pass" in text
    assert "FAILED test_lift" in text


@pytest.mark.requirement("CONV-02", "CONV-03")
def test_a_codex_log(tmp_path: Path) -> None:
    thread = "01a1e1f6-e6d0-73d1-9957-daaf87030ee3"
    path = f"/home/dev/.codex/sessions/2026/11/16/rollout-2026-11-16T10-00-00-{thread}.jsonl"
    timeline = taken_in("codex", path, thread, codex_log(), tmp_path / "trace")
    assert timeline.spent.usage == Usage(input=200, cache_read=800, output=60, reasoning=20)
    text = exported(timeline, tmp_path)
    header = text.partition("\n---\n")[0].splitlines()
    assert f"repo_sha: {'a' * 40}" in header
    assert {"branch: main", "client_version: 0.166.0", "model: gpt-5.2-codex", "cwd: /work/harbour"} <= {*header}
    kinds = [kind for kind in starts(text) if not kind.startswith("#")]
    assert kinds == ["@start", "u:", "th:", "a:", "t:exec_command", "a:", "@end"]


@pytest.mark.requirement("CANON-15")
def test_cost_equals_a_calculation_by_hand(tmp_path: Path) -> None:
    timeline = taken_in("claude-code", f"/x/{SESSION}.jsonl", SESSION, claude_log(), tmp_path / "trace")
    # Four responses, each: 10 fresh, 4,000 read, 200 written for five minutes and 100 for an hour, 50 put out.
    million = Decimal(1_000_000)
    one = (
        10 * Decimal(5) + 4000 * Decimal("0.5") + 200 * Decimal("6.25") + 100 * Decimal(10) + 50 * Decimal(25)
    ) / million
    assert timeline.spent.usd == 4 * one
    assert timeline.spent.unknown == ()


@pytest.mark.requirement("CANON-10", "CANON-15")
def test_a_session_seen_on_the_wire_and_on_disk_counts_once(tmp_path: Path) -> None:
    flight = Flight("messages", session=None, run=None, headers=[("X-Claude-Code-Session-Id", SESSION)])
    usage = {"input_tokens": 10, "cache_read_input_tokens": 4, "output_tokens": 5}
    flight.turn("Mend the crane.", says="I look.", calls=[("Read", {"file_path": "crane.py"})], usage=usage)
    flight.turn(results=["def lift(): pass"], says="It is mended.", usage=usage)
    book = Logbook()
    for exchange in flight.exchanges:
        book.exchange(exchange, client={"claude_code_session": SESSION})
    wire = gather.load(Trace(book.save(tmp_path / "wire")), SESSION)
    path = f"/home/dev/.claude/projects/-work-harbour/{SESSION}.jsonl"
    book.log("claude-code", path, SESSION, _as_logged(wire))
    both = gather.load(Trace(book.save(tmp_path / "both")), SESSION)
    assert both.spent.usage == wire.spent.usage == Usage(input=20, cache_read=8, output=10)
    texts = [item.text for item in both.items if isinstance(item, Message) and item.origin in ("user", "agent")]
    assert texts == ["Mend the crane.", "I look.", "It is mended."]
    results = [item for item in both.items if isinstance(item, Result)]
    assert [(item.result.text, item.is_joined) for item in results] == [("def lift(): pass", True)]
    assert {evidence.side for evidence in results[0].evidence} == {"request", "line"}


def _as_logged(wire: Timeline) -> list[dict[str, Any]]:
    """What Claude Code would have written of it."""
    first, second = (item for item in wire.items if isinstance(item, Generation))
    made = next(item for item in wire.items if isinstance(item, Call))
    log = Claude()
    log.user("Mend the crane.")
    for response, blocks in (
        (first, [{"type": "text", "text": "I look."}, _block(made)]),
        (second, [{"type": "text", "text": "It is mended."}]),
    ):
        for block in blocks:
            about: dict[str, Any] = {
                "id": response.response_id,
                "role": "assistant",
                "model": response.model,
                "content": [block],
            }
            usage = {"input_tokens": 10, "cache_read_input_tokens": 4, "output_tokens": 5}
            log.add("assistant", {**about, "usage": usage}, requestId=response.provider_request)
        if response is first:
            log.result(made.call_id, "def lift(): pass")
    return log.lines


def _block(made: Call) -> dict[str, Any]:
    return {"type": "tool_use", "id": made.call_id, "name": made.call.name, "input": made.call.arguments}
