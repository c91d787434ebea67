"""Flight logs on disk: headers, frames, blobs, companions, and files that are not written over."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from blackbird.canon.model import Cost, Generation, Thread, Usage
from blackbird.flightlog import files
from blackbird.flightlog.header import header_of
from blackbird.timeline.timeline import Spent
from blackbox.check.validator import validate_bytes
from blackbox.errors import UsageError
from blackbox.session.load import load_session
from blackbox.vault.store import BlobStore
from tests.blackbird.flightlog.sessions import MAIN, agent, at, call, generation, mark, result, timeline, user

SECRET = "sk-ant-api03-" + "abcdefghij" * 4
USED = "tokens_in=520 tokens_out=30 tokens_cached=400"
SUB = Thread(id="sub", parent="main", call_id="c1", kind="Explore")
WITH_SUBAGENT = (
    call("c1", "Task", 1, given={"prompt": "find tests"}, generation="g1"),
    generation("g1", 1),
    user("m1", "find tests", 2, thread="sub"),
    generation("g2", 3, thread="sub", model="gannet-small"),
    call("c2", "Grep", 3, thread="sub", generation="g2"),
    result("c2", "3 files", 4, thread="sub"),
    result("c1", "Found 3", 5),
)


@pytest.mark.requirement("CONV-03")
def test_what_is_known_of_a_session_reaches_the_header() -> None:
    made = timeline(
        generation("g1"),
        client_version="2.0.71",
        slug="mighty-tern",
        cwd="/srv/harbour",
        branch="main",
        repository="quay/harbour",
        dirty=True,
        tools={"git": "2.50"},
        mcp=("forge",),
        skills=("pdf",),
        title="Fix it",
        runs=("run_a",),
        exit_code=1,
    )
    assert header_of(made, form="rlog") == {
        "format": "rlog/1",
        "id": "harbour",
        "model": "gannet-3",
        "agent": "pelican",
        "version": "2.0.71",
        "repo": "quay/harbour",
        "repo_sha": "4f2a9c1",
        "branch": "main",
        "dirty": True,
        "toolset": {"git": "2.50"},
        "skills": ("pdf",),
        "mcp": ("forge",),
        "client_version": "2.0.71",
        "slug": "mighty-tern",
        "cwd": "/srv/harbour",
        "tokens_total_in": 520,
        "tokens_total_out": 30,
        "tokens_cached": 400,
        "tokens_cache_create": 20,
        "extra": {"title": "Fix it", "runs": ["run_a"], "prices": "prices 1", "exit_code": 1},
    }
    assert header_of(timeline(mark("k", "mode", "plan")), form="bbox")["mode"] == "plan"


@pytest.mark.parametrize("sha", [None, "unknown", "abc"])
def test_without_a_commit_the_header_says_that_it_has_a_placeholder(sha: str | None) -> None:
    header = header_of(timeline(sha=sha), form="bbox")
    assert header["repo_sha"] == "0000000"
    assert header["notes"] == "repo_sha 0000000 is a placeholder: the commit is not known"


@pytest.mark.requirement("CONV-08")
def test_start_and_end_frame_a_session() -> None:
    made = timeline(user("m1", "Hi", 1), generation("g1", 2), ended=at(95), exit_code=0, title="Greet")
    lines = files.bbox_bytes(made).decode().split("---\n\n")[1].splitlines()
    assert lines[0] == "@start id=harbour step=1 ts=2026-03-01T09:00:00.000Z"
    assert lines[-2:] == [
        f'@end summary="Greet; ended with exit code 0" {USED} ts=2026-03-01T09:01:35.000Z',
        "# tokens=550 tools=0 skills=0 mcp=0 subagents=0 plans=0 duration=1m35s cost=$0.00125 redactions=0",
    ]


def test_what_came_before_a_session_is_no_part_of_its_time_and_deeds() -> None:
    old = {"is_inherited": True}
    made = timeline(
        user("m1", "Before", -90, **old),
        call("c1", "Edit", -80, given={"file_path": "a.py"}, **old),
        result("c1", "done", -79, **old),
        user("m2", "Now", 5),
        call("c2", "Read", 6, given={"file_path": "a.py"}),
        result("c2", "text", 7),
        began=at(5),
        ended=at(7),
    )
    data = files.bbox_bytes(made)
    lines = data.decode().split("---\n\n")[1].splitlines()
    assert lines[0] == "@start id=harbour step=1 ts=2026-03-01T09:00:05.000Z"
    assert lines[1] == "u: Before id=m1 extra.inherited=true step=2 ts=2026-03-01T08:58:30.000Z"
    assert lines[-2:] == [
        "@end ts=2026-03-01T09:00:07.000Z",
        "# tools=1 skills=0 mcp=0 subagents=0 plans=0 duration=2s redactions=0",
    ]
    assert [one.rule for one in validate_bytes(data).findings if one.rule == "S005"] == []


def test_a_session_that_runs_and_models_without_a_price_are_told() -> None:
    made = timeline(generation("g1", cost=Cost(None, "p")), is_active=True)
    made = msgspec.structs.replace(made, spent=Spent(unknown=("gannet-3",), generations=1))
    text = files.bbox_bytes(made).decode()
    assert "# notes: no price is known for gannet-3: what they cost is in no figure here\n" in text
    assert '@end summary="still running when this was written"' in text
    assert " cost=" not in text


def test_what_is_long_is_kept_beside_the_log(tmp_path: Path) -> None:
    content, output = "x\n" * 900, "line\n" * 500
    made = timeline(
        user("m0", "Be brief. " * 200, origin="system"),
        call("c1", "Write", given={"path": "a", "content": content}),
        result("c1", output),
        mark("k1", "note", type="big", line="y" * 5000),
        user("m1", "z" * 300_000),
    )
    files.write_bbox(made, tmp_path / "a.bbox")
    digests = re.findall(r"@blob sha256=([0-9a-f]{64})", (tmp_path / "a.bbox").read_text())
    assert len(digests) == 5
    kept = {BlobStore.beside(tmp_path / "a.bbox").read(digest).decode() for digest in digests}
    assert {content, output, "system prompt: " + "Be brief. " * 200, "z" * 300_000} <= kept
    assert max(map(len, (tmp_path / "a.bbox").read_text().splitlines())) < 4000


def test_secrets_are_hidden_and_counted(tmp_path: Path) -> None:
    made = timeline(user("m1", f"my key is {SECRET}"), call("c1", "Bash", given={"key": SECRET}))
    written = files.write_bbox(made, tmp_path / "a.bbox")
    text = (tmp_path / "a.bbox").read_text()
    assert SECRET not in text
    assert sum(written.redactions.values()) == 2
    assert text.endswith(" redactions=2\n")
    assert (tmp_path / "a.bbox").stat().st_mode & 0o777 == 0o600


def test_a_name_that_is_a_secret_is_hidden_too() -> None:
    skill = call("c1", "Skill", given={"skill": SECRET})
    text = files.bbox_bytes(timeline(skill, result("c1", "ok"), mark("k1", "mode", SECRET))).decode()
    assert SECRET not in text
    assert "\ns:redacted:" in text
    assert "\nm:redacted:" in text


def test_a_file_that_is_there_stays_unless_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "a.bbox"
    path.write_text("mine")
    with pytest.raises(UsageError, match="there is such a file already"):
        files.write_bbox(timeline(), path)
    assert path.read_text() == "mine"
    files.write_bbox(timeline(), path, force=True)
    assert path.read_text().startswith("---\nformat: bbox/1\n")
    assert [found.name for found in tmp_path.iterdir()] == ["a.bbox"]
    (tmp_path / "b.jsonl").write_text("mine")
    with pytest.raises(UsageError, match=r"b\.jsonl"):
        files.write_rlog(timeline(), tmp_path / "b.rlog")
    assert not (tmp_path / "b.rlog").exists()


def test_each_sub_agent_has_a_companion_of_its_own(tmp_path: Path) -> None:
    written = files.write_rlog(timeline(*WITH_SUBAGENT, threads=(MAIN, SUB)), tmp_path / "a.rlog")
    assert [path.name for path in written.files] == ["a.rlog", "a.jsonl", "a.sub-c1.jsonl"]
    first, *rest = read_lines(tmp_path / "a.sub-c1.jsonl")
    assert {key: first[key] for key in ("type", "session_id", "parent_session", "agent_type", "started_at")} == {
        "type": "header",
        "session_id": "sub-c1",
        "parent_session": "harbour",
        "agent_type": "explore",
        "started_at": "2026-03-01T09:00:02.000Z",
    }
    assert rest[0]["message"] == {"role": "user", "content": "find tests"}
    log = (tmp_path / "a.rlog").read_text()
    assert 'x:explore id=c1 "find tests"' in log
    assert '→ session_id=sub-c1 summary="Found 3"' in log
    assert "Grep" not in log


def test_companions_are_lines_that_tools_for_usage_read(tmp_path: Path) -> None:
    title: Generation = generation("g3", 6, usage=Usage(input=7, output=1), provider_request="req_p3")
    made = timeline(*WITH_SUBAGENT, title, call("c4", "TodoWrite", 7), threads=(MAIN, SUB))
    written = files.write_rlog(made, tmp_path / "a.rlog")
    lines = [line for path in written.files[1:] for line in read_lines(path)]
    used = [line for line in lines if "usage" in line.get("message", {})]
    assert sorted(
        (
            line["message"]["id"],
            line["requestId"],
            line["message"]["model"],
            line["type"],
            line["sessionId"],
            *line["message"]["usage"].values(),
        )
        for line in used
    ) == [
        ("resp_g1", "req_g1", "gannet-3", "assistant", "harbour", 100, 30, 400, 20),
        ("resp_g2", "req_g2", "gannet-small", "assistant", "sub-c1", 100, 30, 400, 20),
        ("resp_g3", "req_p3", "gannet-3", "assistant", "harbour", 7, 1, 0, 0),
    ]
    assert all(line["timestamp"].endswith("Z") and "costUSD" not in line for line in used)


def test_an_rlog_shortens_and_its_companion_does_not(tmp_path: Path) -> None:
    text = "word " * 100
    files.write_rlog(timeline(agent("m1", text)), tmp_path / "a.rlog")
    assert "word ..." in (tmp_path / "a.rlog").read_text()
    said = [line["message"]["content"] for line in read_lines(tmp_path / "a.jsonl") if line["type"] == "assistant"]
    assert said == [[{"type": "text", "text": text}]]


def test_a_log_can_be_loaded_as_a_session(tmp_path: Path) -> None:
    files.write_bbox(timeline(*WITH_SUBAGENT, threads=(MAIN, SUB)), tmp_path / "a.bbox")
    session = load_session(tmp_path / "a.bbox")
    assert [(one.id, one.summary) for one in session.subagents] == [("c1", "Found 3")]


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
