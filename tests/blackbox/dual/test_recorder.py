"""The dual recorder: two files of one session, and one for each sub-agent."""

import datetime as dt
import json
import os
from pathlib import Path
from typing import Any

import pytest

from blackbox import Durability, parse, validate
from blackbox.check.findings import Severity
from blackbox.dual import DualRecorder
from blackbox.errors import ClosedError, UsageError, WriteError
from blackbox.formats.companion import from_companion
from blackbox.formats.flight import flight_of, is_same
from blackbox.redaction.redactor import Redacted, Redactor
from blackbox.write import results
from blackbox.write.render import render_event

WHEN = dt.datetime(2025, 12, 22, 12, 34, 56, tzinfo=dt.UTC)
TIME = "2025-12-22T12:34:56Z"
NAME = "123456-task-name"
ID = f"20251222-{NAME}"


def record(root: Path, **options: Any) -> DualRecorder:
    return DualRecorder("Task name", root=root, clock=lambda: WHEN, repo_sha="abc1234", **options)


def rendered(path: Path) -> list[str]:
    """The events of a companion as lines of a log."""
    return [render_event(entry.event, entry.meta) for entry in from_companion(path.read_bytes()).flight.entries]


@pytest.mark.requirement("DUAL-01", "DUAL-04")
def test_two_files_under_one_id(tmp_path: Path) -> None:
    with record(tmp_path / "logs", model="m") as log:
        log.user("Hello")
    folder = tmp_path / "logs" / "20251222"
    assert sorted(path.name for path in folder.iterdir()) == [f"{NAME}.jsonl", f"{NAME}.rlog"]
    assert (log.id, log.path, log.companion) == (ID, folder / f"{NAME}.rlog", folder / f"{NAME}.jsonl")
    assert log.path.read_text() == (
        f"---\nformat: rlog/1\nid: {ID}\nmodel: m\nrepo_sha: abc1234\nescape: 1\n---\n\n"
        f"@start id={ID} step=1 ts={TIME}\nu: Hello step=2 ts={TIME}\n@end step=2 ts={TIME}\n"
        "# tools=0 skills=0 mcp=0 subagents=0 plans=0 duration=0s redactions=0\n"
    )
    first = json.loads(log.companion.read_text().splitlines()[0])
    assert (first["sessionId"], first["message"]["header"]["id"]) == (ID, ID)
    if os.name == "posix":
        assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600, 0o600]
        assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.requirement("DUAL-04")
def test_the_default_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with DualRecorder("Task name", clock=lambda: WHEN, repo_sha="abc1234") as log:
        assert log.path == Path("docs/logs/20251222") / f"{NAME}.rlog"


@pytest.mark.requirement("DUAL-02", "DUAL-03")
def test_the_rlog_is_cut_and_the_companion_is_not(tmp_path: Path) -> None:
    with record(tmp_path, steps=False, timestamps=False, start=False) as log:
        log.user("u" * 201)
        log.thinking("t" * 151)
        log.tool("Read", path="p" * 101, result="r" * 101)
        log.observe("call_1", results.ok("o" * 101))
    assert log.path.read_text().splitlines()[6:11] == [
        "",
        f"u: {'u' * 200}...",
        f"th: {'t' * 150}...",
        f"t:Read id=call_1 path={'p' * 100}... → {'r' * 100}...",
        f"o: id=call_1 → [ok] {'o' * 100}...",
    ]
    assert rendered(log.companion)[:4] == [
        f"u: {'u' * 201}",
        f"th: {'t' * 151}",
        f"t:Read id=call_1 path={'p' * 101} → {'r' * 101}",
        f"o: id=call_1 → [ok] {'o' * 101}",
    ]


@pytest.mark.requirement("DUAL-03")
def test_short_events_are_the_same_in_both(tmp_path: Path) -> None:
    with record(tmp_path) as log:
        log.mode("plan")
        log.phase("explore")
        log.recall("auth", result=results.count(2, "matches"))
        log.plan("create", "Auth plan", result=results.ok())
        log.skill("deploy", "activate", result=results.ok())
        log.ask("Which?", options=["A", "B"]).select("A")
        running = log.start_tool("test", "cargo", "test")
        running.progress("1/2")
        running.done()
        log.mcp("gh", "issues", state="open", result=results.count(3, "issues"))
        log.todos([("pending", "Fix")])
        log.note("odd")
    shown = flight_of(parse(log.path.read_bytes())).flight
    kept = from_companion(log.companion.read_bytes()).flight
    assert len(shown.entries) == len(kept.entries) == 16
    assert all(is_same(one, other) for one, other in zip(shown.entries, kept.entries, strict=True))
    assert shown.header == kept.header
    assert [finding for finding in validate(parse(log.path.read_bytes())) if finding.severity is Severity.ERROR] == []


@pytest.mark.requirement("DUAL-08")
def test_each_line_has_its_time_and_each_answer_its_tokens(tmp_path: Path) -> None:
    with record(tmp_path) as log:
        log.agent("Hi", tokens_in=10, tokens_out=5, tokens_cached=3, tokens_cache_create=2)
        log.note("odd")
    lines = [json.loads(line) for line in log.companion.read_text().splitlines()]
    assert [line["timestamp"] for line in lines] == [TIME] * len(lines)
    assert lines[2]["message"]["usage"] == {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 2,
    }


@pytest.mark.requirement("DUAL-05", "DUAL-06", "DUAL-07")
def test_a_sub_agent_has_a_file_of_its_own(tmp_path: Path) -> None:
    with (
        record(tmp_path, steps=False, timestamps=False, start=False) as log,
        log.subagent("explore", "find auth", meta={"id": "abc123"}) as helper,
    ):
        helper.tool("grep", "auth", result=results.count(3, "files"))
        helper.close(summary="found 3 files matching pattern")
    path = log.path.with_name(f"{NAME}.sub-abc123.jsonl")
    assert helper.path == path
    assert path.read_text().splitlines()[0] == (
        f'{{"type":"header","session_id":"sub-abc123","parent_session":"{ID}","agent_type":"explore",'
        f'"started_at":"{TIME}"}}'
    )
    assert rendered(path) == [
        f"@start id=sub-abc123 ts={TIME}",
        f"t:grep id=call_1 auth step=1 ts={TIME} → [3 files]",
        f'@end summary="found 3 files matching pattern" step=1 ts={TIME}',
    ]
    lines = [
        'x:explore id=abc123 "find auth" → [started]',
        'x:explore id=abc123 → [done] summary="found 3 files matching pattern"',
    ]
    assert log.path.read_text().splitlines()[7:9] == lines
    assert rendered(log.companion)[:2] == lines


@pytest.mark.requirement("DUAL-05", "DUAL-06")
def test_sub_agents_have_sub_agents(tmp_path: Path) -> None:
    with record(tmp_path) as log, log.subagent("explore") as helper, helper.subagent("plan", "deeper") as deeper:
        deeper.agent("Hi")
    assert deeper.path.name == f"{NAME}.sub-{deeper.id}.jsonl"
    header = json.loads(deeper.path.read_text().splitlines()[0])
    assert (header["parent_session"], header["agent_type"]) == (f"sub-{helper.id}", "plan")
    assert f'x:plan id={deeper.id} "deeper" step=1 ts={TIME} → [started]' in rendered(helper.path)
    assert f"x:plan id={deeper.id} step=1 ts={TIME} → [done]" in rendered(helper.path)
    assert "x:plan" not in log.path.read_text()


def test_a_sub_agent_that_fails_says_so(tmp_path: Path) -> None:
    with (
        record(tmp_path, steps=False, timestamps=False) as log,
        pytest.raises(KeyError),
        log.subagent("explore", meta={"id": "a1"}),
    ):
        raise KeyError("secret detail")
    assert "x:explore id=a1 → [err: KeyError]\n" in log.path.read_text()


def test_ids_of_sub_agents_are_checked(tmp_path: Path) -> None:
    with record(tmp_path) as log:
        log.subagent("explore", meta={"id": "a1"})
        with pytest.raises(UsageError, match="there is such a file already"):
            log.subagent("explore", meta={"id": "a1"})
        with pytest.raises(UsageError, match="cannot be part of a file's name"):
            log.subagent("explore", meta={"id": "../a"})
        with pytest.raises(UsageError, match="agent_type"):
            log.subagent("two words", meta={"id": "a2"})
    assert [path.name for path in log.path.parent.glob("*.sub-*")] == [f"{NAME}.sub-a1.jsonl"]


def test_sub_agents_that_have_not_ended_are_cut_off(tmp_path: Path) -> None:
    with record(tmp_path) as log:
        helper = log.subagent("explore")
        helper.agent("Hi")
    with pytest.raises(ClosedError):
        helper.agent("more")
    helper.close(summary="too late")
    assert "[done]" not in log.path.read_text()


@pytest.mark.requirement("DUAL-04")
def test_sessions_of_one_second_get_numbers(tmp_path: Path) -> None:
    names = []
    for _ in range(3):
        with record(tmp_path) as log:
            names.append((log.id, log.path.name))
    assert names == [(ID + end, f"{NAME}{end}.rlog") for end in ("", "-2", "-3")]
    (tmp_path / "20251222" / f"{NAME}-4.rlog").write_text("mine")
    with record(tmp_path) as log:
        assert log.id == f"{ID}-5"
    assert not (tmp_path / "20251222" / f"{NAME}-4.jsonl").exists()


class _Hider(Redactor):
    def redact(self, text: str) -> Redacted:
        count = text.count("hunter2")
        return Redacted(text.replace("hunter2", "[redacted:word]"), {"word": count} if count else {})

    def redact_value(self, key: str, value: str) -> Redacted:  # noqa: ARG002 - the name tells this one nothing
        return self.redact(value)


def test_secrets_reach_no_file_and_no_name(tmp_path: Path) -> None:
    with DualRecorder(
        "use hunter2", root=tmp_path, clock=lambda: WHEN, redactor=_Hider(), repo_sha="abc1234", notes="hunter2"
    ) as log:
        log.user("hunter2")
        log.tool("curl", "hunter2", key="hunter2", result="hunter2" * 50)
        with log.subagent("explore", "hunter2") as helper:
            helper.agent("hunter2")
            helper.close(summary="hunter2")
    written = list((tmp_path / "20251222").iterdir())
    assert len(written) == 3
    assert not [path for path in written if "hunter2" in path.name or "hunter2" in path.read_text()]
    assert log.path.name == "123456-use-redacted-word.rlog"


@pytest.mark.requirement("DUAL-01")
def test_both_files_parse_wherever_a_crash_cut_them(tmp_path: Path) -> None:
    with record(tmp_path) as log:
        log.user("é→\nzwei")
        log.tool("read", "a", result="out\nput")
        log.agent("done", tokens_in=1, tokens_out=2)
    for path, read in ((log.path, _read_log), (log.companion, _read_companion)):
        data = path.read_bytes()
        whole = read(data)
        for end in range(len(data)):
            found = read(data[:end])
            # All but the entry that was being written are as they will be; the first byte of a continuation, a
            # single space, is a line of its own.
            assert found[:-2] == whole[: max(len(found) - 2, 0)]
            assert len(found) <= len(whole)


def _read_log(data: bytes) -> list[Any]:
    return [(line.event, line.parts.raw_meta) for line in parse(data).lines]


def _read_companion(data: bytes) -> list[Any]:
    return list(from_companion(data).flight.entries)


def test_the_companion_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A companion that cannot be written keeps the line out of the .rlog, which never knows more."""

    def refuse(*_: object) -> None:
        raise WriteError("disk full")

    with record(tmp_path) as log:
        with monkeypatch.context() as patch:
            patch.setattr("blackbox.dual.files.write_lines", refuse)
            with pytest.raises(WriteError):
                log.user("Lost")
        log.user("Kept")
    assert "Lost" not in log.path.read_text() + log.companion.read_text()
    assert "Kept" in log.path.read_text()


def test_a_block_that_fails_ends_both_files(tmp_path: Path) -> None:
    log = record(tmp_path, steps=False, timestamps=False)
    with pytest.raises(RuntimeError), log:
        raise RuntimeError("boom")
    assert "# notes: the session was ended by an error: RuntimeError\n" in log.path.read_text()
    assert rendered(log.companion)[-2] == '@end summary="failed: RuntimeError"'
    with pytest.raises(ClosedError):
        log.user("more")
    log.close()


def test_a_bad_header_opens_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="repo_sha"):
        DualRecorder("x", root=tmp_path / "logs")
    assert not (tmp_path / "logs").exists()


def test_an_id_of_the_callers_own(tmp_path: Path) -> None:
    with record(tmp_path, id="sess_9", durability=Durability.FSYNC) as log:
        assert log.id == "sess_9"
    assert log.path.name == f"{NAME}.rlog"
    assert from_companion(log.companion.read_bytes()).flight.header["id"] == "sess_9"


def test_a_daily_job_has_an_id_a_day(tmp_path: Path) -> None:
    with record(tmp_path) as first:
        first.user("Hello")
    with DualRecorder("Task name", root=tmp_path, clock=lambda: WHEN.replace(day=23), repo_sha="abc1234") as second:
        second.user("Hello")
    assert (first.id, second.id) == ("20251222-123456-task-name", "20251223-123456-task-name")


def test_redactions_are_counted_in_the_whole_session(tmp_path: Path) -> None:
    with record(tmp_path, redactor=_Hider(), notes="hunter2") as log:
        log.tool("curl", "hunter2", result=results.text("x" * 200 + "hunter2 hunter2"))
        helper = log.subagent("explore")
        helper.agent("hunter2")
        helper.blob(b"hunter2 hunter2")
        assert log.redactions == helper.redactions == {"word": 7}
    assert log.path.read_text().count("[redacted:word]") == 2
    assert log.path.read_text().endswith(" redactions=7\n")
    assert rendered(log.companion)[-1].endswith(" redactions=7")


def test_the_closing_line_counts_what_sub_agents_used(tmp_path: Path) -> None:
    with record(tmp_path) as log:
        log.agent("Hi", tokens_in=10, tokens_out=5)
        log.plan("create", "One", result=results.ok())
        with log.subagent("explore") as helper:
            helper.tool("grep", "auth", result=results.count(3, "files"))
            helper.plan("create", "Two", result=results.ok())
            helper.metrics(prompt_tokens=100, completion_tokens=20, cost_usd="0.25")
            with helper.subagent("plan") as deeper:
                deeper.agent("Hi", tokens_in=1, tokens_out=1)
    assert log.path.read_text().splitlines()[-1] == (
        "# tokens=137 tools=1 skills=0 mcp=0 subagents=2 plans=2 duration=0s cost=$0.25 redactions=0"
    )
    assert "t:grep id=call_1 auth" in "\n".join(rendered(helper.path))


def test_a_blob_lies_beside_both_files(tmp_path: Path) -> None:
    with record(tmp_path, steps=False, timestamps=False, start=False) as log:
        log.tool("shot", result=log.blob(b"\x89PNG" * 100_000, "application/vnd.example.picture+png"))
        with log.subagent("explore", meta={"id": "a1"}) as helper:
            helper.tool("shot", result=helper.blob(b"small"))
        log.tool("read", result="r" * 5000)
    blobs = log.path.parent / ".bbox-blobs"
    names = {path.stat().st_size: path.name for path in blobs.iterdir() if path.name != ".gitignore"}
    assert set(names) == {400_000, 5}
    line = f"t:shot id=call_1 → @blob sha256={names[400_000]} bytes=400000 mime=application/vnd.example.picture+png"
    assert log.path.read_text().splitlines()[7] == line
    assert rendered(log.companion)[0] == line
    assert f"@blob sha256={names[5]} bytes=5" in "\n".join(rendered(helper.path))
    assert "r" * 5000 in log.companion.read_text()
