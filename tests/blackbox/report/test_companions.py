"""JSONL logs on disk: where they are found, and how bad ones are read."""

from decimal import Decimal
from pathlib import Path

import pytest

from blackbox.errors import ReadError, UsageError
from blackbox.report.companions import find_files, read_actions, read_subagents, usual_sources
from blackbox.session.load import load_session
from blackbox.session.usage import Cost, Source


def put(path: Path, text: str = "{}\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.requirement("APM-02")
def test_log_folder_comes_before_the_agents_own_folders(tmp_path: Path) -> None:
    here, home = tmp_path / "work", tmp_path / "home"
    first = put(here / "docs/logs/20251222/a.jsonl")
    sub = put(here / "docs/logs/20251222/a.sub-x.jsonl")
    put(here / "docs/logs/20251222/a.rlog")
    put(here / "elsewhere/b.jsonl")
    claude = put(home / ".claude/projects/-work/s.jsonl")
    seed = put(home / ".codex/projects/p.jsonl")
    codex = put(home / ".codex/sessions/2025/12/22/rollout-1.jsonl")
    put(home / ".codex/sessions/2025/12/22/other.jsonl")
    sources = usual_sources({}, home, here)
    assert [list(source.paths) for source in sources] == [
        [str(first), str(sub)],
        [str(claude)],
        [str(seed)],
        [str(codex)],
    ]


@pytest.mark.requirement("APM-02")
def test_agents_folders_follow_their_environment(tmp_path: Path) -> None:
    claude = put(tmp_path / "c/projects/s.jsonl")
    codex = put(tmp_path / "x/sessions/rollout-1.jsonl")
    environment = {"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "CODEX_HOME": str(tmp_path / "x")}
    sources = usual_sources(environment, tmp_path / "none", tmp_path)
    assert [list(source.paths) for source in sources] == [[], [str(claude)], [], [str(codex)]]


@pytest.mark.requirement("APM-03")
@pytest.mark.parametrize("suffix", [".rlog", ".bbox", ".blackbox"])
def test_line_log_is_refused_and_its_companion_named(tmp_path: Path, suffix: str) -> None:
    log = put(tmp_path / f"a{suffix}")
    with pytest.raises(UsageError, match="not counted from") as caught:
        find_files([str(log)])
    assert "blackbox export --format rlog" in caught.value.remedy
    companion = put(tmp_path / "a.jsonl")
    with pytest.raises(UsageError) as caught:
        find_files([str(log)])
    assert caught.value.remedy == f"use its companion: {companion}"


@pytest.mark.requirement("APM-03")
def test_folder_gives_its_jsonl_and_never_its_line_logs(tmp_path: Path) -> None:
    put(tmp_path / "a.rlog")
    with pytest.raises(ReadError, match=r"no \.jsonl file below it"):
        find_files([str(tmp_path)])
    found = put(tmp_path / "deep/a.jsonl")
    assert find_files([str(tmp_path), str(found)]) == [str(found)]


def test_pattern(tmp_path: Path) -> None:
    found = put(tmp_path / "a.jsonl")
    assert find_files([str(tmp_path / "*.jsonl")]) == [str(found)]
    with pytest.raises(ReadError, match="no file matches"):
        find_files([str(tmp_path / "*.nothing")])


def test_bad_lines_are_counted_and_the_others_read(tmp_path: Path) -> None:
    good = '{"type":"tool_use","id":"t1","timestamp":"2025-12-22T10:00:00Z"}\n'
    path = tmp_path / "a.jsonl"
    deep = "[" * 100_000
    path.write_bytes(f"{good}\nno json\n{deep}\n".encode() + b'{"type":"\xff"}\n' + good.encode()[:30])
    found = read_actions(str(path))
    assert (found.lines, found.bad_lines, len(found.done)) == (5, 4, 1)


def test_file_that_cannot_be_read_is_a_read_error(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such file"):
        read_actions(str(tmp_path / "none.jsonl"))


HEADER = '{"type":"header","session_id":"sub-7","parent_session":"a","started_at":"2026-03-01T09:00:00Z"}\n'
COST = '{"type":"system","message":{"subtype":"event","t":"#","c":"metrics step=1 prompt_tokens=9 cost_usd=0.25"}}\n'


def test_line_log_that_is_not_there_is_not_refused_for_its_form(tmp_path: Path) -> None:
    assert find_files([str(tmp_path / "none.bbox")]) == [str(tmp_path / "none.bbox")]


@pytest.mark.requirement("AUDIT-01")
def test_sub_agents_of_an_rlog_are_read_from_their_companions(tmp_path: Path) -> None:
    log = put(tmp_path / "a[1].rlog", 'x:explore id=7 "find" → [started]\n')
    put(tmp_path / "a[1].sub-7.jsonl", HEADER + COST)
    put(tmp_path / "a1.sub-8.jsonl", HEADER + COST)
    (member,) = read_subagents(str(log), load_session(log)).members
    assert (member.agent, member.session.cost) == ("sub-7", Cost(Source.METRICS, Decimal("0.25")))
    bbox = put(tmp_path / "a[1].bbox", "u: Hello.\n")
    assert read_subagents(str(bbox), load_session(bbox)) == ([], [])


def test_sub_agent_with_a_log_of_its_own_is_not_read_from_its_companion(tmp_path: Path) -> None:
    log = put(tmp_path / "a.rlog", "x:explore id=7 → [done] path=b.rlog\n")
    put(tmp_path / "b.rlog", "u: Find.\n")
    put(tmp_path / "a.sub-7.jsonl", HEADER + COST)
    assert read_subagents(str(log), load_session(log)) == ([], [])


def test_companion_of_a_sub_agent_that_holds_something_else_is_an_error(tmp_path: Path) -> None:
    log = put(tmp_path / "a.rlog", "u: Hello.\n")
    bad = put(tmp_path / "a.sub-7.jsonl", "")
    members, errors = read_subagents(str(log), load_session(log))
    assert (members, [error.message for error in errors]) == ([], [f"{bad}: it is empty"])
