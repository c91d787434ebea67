"""`blackbox audit`: the four answers as people and programs see them."""

import json
from pathlib import Path

import pytest

from blackbox import DualRecorder
from blackbox.write import results
from tests.blackbox.cli.command import EXAMPLES, NIGHT_SHIFT, run, write_log

BODY = """\
t:edit src/auth.rs old="x" → [ok]
t:write src/new.rs → [err: read-only]
t:shell "curl -s https://api.example.com/v1" → [ok]
c:forge.issues state=open → [2 issues]
t:frobnicate path=src/old.rs → [ok]
t:read .env → API_KEY=[redacted:env_var]
q: id=q1 "Which?" → [auto: B, reason="it was there"]
"""
SHOWN = """\
Audit of {log}

1. Files modified: 1
  src/auth.rs  edit  line 9
  Not modified, since every call failed: 1
    src/new.rs  write  line 10
  Not taken apart: 1 command that may have changed files too (line 11)
  Not known: 1 call that may have changed files too (frobnicate  line 13)

2. External servers called: 1 host, 1 MCP server
  api.example.com  shell  line 11
  MCP forge
    issues  1 call  line 12

3. Sensitive paths touched: 1
  .env  environment file: read line 14
  Redactions met: 1
    env_var  1  line 14
  Secrets in the clear: 0

4. Decisions: 1, 1 not confirmed by a human
  ! question  Which? → B (by the agent) not confirmed, because: it was there  line 15
"""


@pytest.mark.requirement("AUDIT-02", "AUDIT-03", "AUDIT-04", "AUDIT-05")
def test_four_answers_in_the_order_of_the_questions(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a.bbox", BODY)
    assert run("audit", log) == (0, SHOWN.format(log=log), "")


def test_of_a_call_without_a_result_nobody_knows_what_it_changed(tmp_path: Path) -> None:
    body = (
        "t!:edit id=c1 src/a.rs → [running]\no: id=c1 interrupted → [skip] no result was recorded\n"
        "t!:edit id=c2 src/b.rs → [running]\n"
        "t:edit id=c3 src/c.rs → [skip] not wanted\n"
        "t!:edit id=c4 src/d.rs → [running]\nt:edit src/d.rs → [ok]\n"
    )
    log = write_log(tmp_path, "a.bbox", body)
    shown = run("audit", log).out.splitlines()[2:9]
    assert shown == [
        "1. Files modified: 1",
        "  src/d.rs  edit  lines 13, 14",
        "  Not known whether modified, since no result was recorded: 2",
        "    src/a.rs  edit  line 9",
        "    src/b.rs  edit  line 11",
        "  Not modified, since every call failed: 1",
        "    src/c.rs  edit  line 12",
    ]
    files = json.loads(run("audit", log, "--json").out)["files"]
    assert [(file["is_modified"], file["is_unknown"]) for file in files] == [
        (False, True),
        (False, True),
        (False, False),
        (True, False),
    ]


def test_json_has_the_same_with_places(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a.bbox", BODY)
    value = json.loads(run("audit", log, "--json").out)
    assert (value["schema"], value["file"], value["session"]) == ("blackbox.audit/1", str(log), "sess_1")
    assert value["files"][0]["deeds"] == [
        {"place": {"line": 9, "part": None, "agent": None}, "tool": "edit", "access": "edit", "status": "ok"}
    ]
    assert [host["host"] for host in value["hosts"]] == ["api.example.com"]
    assert value["decisions"][0]["is_unconfirmed"] is True


def test_secret_in_the_clear_is_told_and_never_printed(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    log = write_log(tmp_path, "a.bbox", f'q: "{secret}?" → [pending]\n')
    done = run("audit", log)
    assert secret not in done.out + done.err
    assert "Secrets in the clear: 1" in done.out
    assert secret not in run("audit", log, "--json").out


def test_parts_and_sub_agents_belong_to_their_session() -> None:
    done = run("audit", EXAMPLES / "rotated" / "licence-audit.part1.bbox")
    assert "(3 logs)" in done.out
    assert "  backend/pyproject.toml  edit  line 2:22\n" in done.out


def test_part_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a.bbox", "@rotate file=b.bbox\n")
    assert "! b.bbox (line 9) could not be read: no such file" in run("audit", log).out


def test_standard_input() -> None:
    assert "Files modified: 12" in run("audit", "-", stdin=NIGHT_SHIFT.read_bytes()).out


def test_missing_log(tmp_path: Path) -> None:
    assert run("audit", tmp_path / "none.bbox").code == 3


def test_log_that_belongs_to_another_is_not_told_again() -> None:
    done = run("audit", EXAMPLES / "rotated")
    assert done.out.count("Audit of") == 1
    assert [line.partition(" is told with ")[0].rpartition("/")[2] for line in done.err.splitlines()] == [
        "licence-audit.part2.bbox",
        "licence-audit.sub_1.bbox",
    ]


@pytest.mark.requirement("AUDIT-01")
def test_sub_agents_that_have_only_a_companion_are_audited_along(tmp_path: Path) -> None:
    with (
        DualRecorder("boss", root=tmp_path, repo_sha="4f2a9c1") as log,
        log.subagent("explore", "find", meta={"id": "7"}) as helper,
    ):
        helper.tool("write", "src/b.py", result=results.ok())
    value = json.loads(run("audit", log.path, "--json").out)
    (file,) = value["files"]
    assert (file["path"], file["deeds"][0]["place"]["agent"], value["logs"]) == ("src/b.py", "sub-7", 2)
    exported = run("export", log.path.with_suffix(".sub-7.jsonl"), "--format", "bbox").out
    assert exported.splitlines()[file["deeds"][0]["place"]["line"] - 1].startswith("t:write ")
