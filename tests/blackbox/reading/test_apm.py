"""`blackbox apm`: sessions with their actions a minute, from JSONL alone."""

import json
from pathlib import Path

import pytest

from tests.blackbox.cli.command import FEATURE, environment, run


def put(path: Path, *lines: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


def turn(second: int, message: str, **more: object) -> dict[str, object]:
    content = [{"type": "text", "text": "Hm."}, {"type": "tool_use", "id": f"t-{message}", "name": "Read"}]
    body = {"id": message, "content": content}
    return {"type": "assistant", "message": body, "timestamp": f"2025-12-22T10:00:{second:02}Z", **more}


@pytest.mark.requirement("APM-01")
def test_table(tmp_path: Path) -> None:
    one = put(tmp_path / "one.jsonl", turn(0, "m1"), turn(30, "m2"))
    two = put(tmp_path / "two.jsonl", turn(0, "m3"))
    done = run("apm", one, two)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "session     actions  messages  tool calls  minutes      apm  source\n"
        "one               4         2           2     0.50     8.00  companion\n"
        "two               2         1           1  unknown  unknown  companion\n"
        "2 sessions        6         3           3     0.50     8.00\n"
    )


@pytest.mark.requirement("APM-02")
def test_usual_places_in_their_order(tmp_path: Path) -> None:
    home, here = tmp_path / "home", tmp_path / "here"
    init = {"type": "system", "message": {"session_id": "s1"}, "timestamp": "2025-12-22T10:00:00Z"}
    put(here / "docs/logs/20251222/1000-task.jsonl", init, turn(30, "m1"))
    put(here / "docs/logs/20251222/1000-task.sub-x.jsonl", turn(40, "m2"))
    put(home / ".claude/projects/p/s1.jsonl", turn(30, "m1", sessionId="s1", version="2.1.0"))
    put(
        home / ".claude/projects/p/s2.jsonl", *(turn(at, f"m{at}", sessionId="s2", version="2.1.0") for at in (0, 30))
    )
    env = environment(HOME=str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        env.pop(name, None)
    done = run("apm", folder=here, env=env)
    rows = [line.split() for line in done.out.splitlines()[1:]]
    assert rows[0] == ["1000-task", "4", "2", "2", "0.67", "6.00", "companion"]
    assert rows[1] == ["s2", "4", "2", "2", "0.50", "8.00", "claude"]
    assert "docs/logs: 2 files\n" in done.err
    assert "1 file not counted: a companion has the session" in done.err
    value = json.loads(run("apm", "--json", folder=here, env=env).out)
    assert (value["schema"], value["total"]["sessions"]) == ("blackbox.apm/1", 2)
    assert [source["files"] for source in value["sources"]] == [2, 2, 0, 0]


@pytest.mark.requirement("APM-03")
def test_line_logs_are_refused(tmp_path: Path) -> None:
    done = run("apm", FEATURE)
    assert (done.code, done.out) == (2, "")
    assert "not counted from .bbox logs" in done.err
    put(tmp_path / "a.rlog")
    put(tmp_path / "a.jsonl", turn(0, "m1"))
    refused = run("apm", "a.rlog", folder=tmp_path)
    assert refused.code == 2
    assert refused.err.endswith("  use its companion: a.jsonl\n")


def test_bad_lines_and_unknown_files_are_told(tmp_path: Path) -> None:
    put(tmp_path / "good.jsonl", turn(0, "m1"), turn(30, "m2"), '{"cut of')
    put(tmp_path / "odd.jsonl", {"event": "x"})
    put(tmp_path / "void.jsonl")
    done = run("apm", ".", folder=tmp_path)
    assert done.code == 0
    assert done.err == (
        "! good.jsonl: 1 line is no JSON, left out\n"
        "! odd.jsonl: no line has a form that is known: companion, Claude Code or Codex\n"
        "! void.jsonl: empty\n"
    )


def test_nothing_anywhere_is_told(tmp_path: Path) -> None:
    done = run("apm", folder=tmp_path, env=environment(HOME=str(tmp_path)))
    assert (done.code, done.out) == (3, "")
    assert "no JSONL log in docs/logs" in done.err


def test_file_that_is_not_there(tmp_path: Path) -> None:
    done = run("apm", tmp_path / "none.jsonl", "--json")
    assert done.code == 3
    assert json.loads(done.err)["code"] == "read_failed"


@pytest.mark.requirement("APM-02")
def test_sessions_of_one_name_are_told_apart_by_their_folder(tmp_path: Path) -> None:
    for day in ("20260301", "20260302"):
        put(tmp_path / day / "090005-cron.jsonl", turn(0, "m1"), turn(30, "m2"))
    done = run("apm", ".", folder=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert [line.split()[:2] for line in done.out.splitlines()[1:]] == [
        ["20260301/090005-cron", "4"],
        ["20260302/090005-cron", "4"],
        ["2", "sessions"],
    ]


def test_line_log_that_is_not_there(tmp_path: Path) -> None:
    done = run("apm", "none.bbox", folder=tmp_path)
    assert (done.code, done.err) == (3, "✗ none.bbox: no such file\n  check the path\n")


def test_json_figures_are_rounded(tmp_path: Path) -> None:
    one = put(tmp_path / "one.jsonl", turn(0, "m1"), turn(7, "m2"))
    value = json.loads(run("apm", one, "--json").out)
    for figures in (value["sessions"][0], value["total"]):
        assert (figures["minutes"], figures["apm"]) == (0.116667, 34.285714)
