"""`blackbox redact`: the preview, writing, what it refuses, and that no secret is ever printed."""

import json
import os
from pathlib import Path

import pytest

from blackbox.redaction.rules import built_in
from tests.blackbox.cli.command import HEADER, environment, run, write_log

TOKEN = "ghp_" + "0aB1cD2eF3" * 4
BODY = f"u: use {TOKEN} please\nt:shell env → [ok]\n  DB_PASSWORD=hunter2\n  OTHER_PASSWORD=hunter3\n"
CLEAN = (
    HEADER
    + "u: use [redacted:github_token] please\nt:shell env → [ok]\n  DB_PASSWORD=[redacted:env_var]\n"
    + "  OTHER_PASSWORD=[redacted:env_var]\n"
)
PREVIEW = """\
Redacting a.bbox

  ✓ 2 × env_var
  ✓ 1 × github_token

  Total secrets: 3

  Line 9: github_token
  Line 11: env_var
  Line 12: env_var

"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path, "a.bbox", BODY)


@pytest.mark.requirement("REDACT-10")
def test_preview_tells_lines_and_kinds_and_no_secret(log: Path) -> None:
    done = run("redact", "a.bbox", folder=log.parent)
    assert done == (0, PREVIEW + "  ! Dry run - use --write to hide them\n", "")
    assert log.read_text() == HEADER + BODY


@pytest.mark.requirement("REDACT-10")
def test_write_changes_the_log(log: Path) -> None:
    done = run("redact", "a.bbox", "--write", folder=log.parent)
    assert done == (0, PREVIEW + "  ✓ Written to a.bbox\n", "")
    assert log.read_text() == CLEAN
    assert run("redact", "a.bbox", "--write", folder=log.parent) == (
        0,
        "Redacting a.bbox\n\n  No secret found\n\n",
        "",
    )
    if os.name == "posix":
        assert [path.name for path in log.parent.iterdir()] == ["a.bbox"]


@pytest.mark.requirement("REDACT-10")
def test_output_writes_elsewhere(log: Path) -> None:
    done = run("redact", "a.bbox", "--output", "b.bbox", folder=log.parent)
    assert (done.code, done.out) == (0, PREVIEW + "  ✓ Written to b.bbox\n")
    assert (log.parent / "b.bbox").read_text() == CLEAN
    assert log.read_text() == HEADER + BODY


@pytest.mark.requirement("REDACT-10")
def test_pipe(log: Path) -> None:
    done = run("redact", "-", "--output", "-", stdin=log.read_bytes())
    assert (done.code, done.out) == (0, CLEAN)
    assert done.err == PREVIEW.replace("a.bbox", "standard input")


def test_companion_stays_json(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": f"a\n{TOKEN}\nb"}) + "\n")
    assert run("redact", "a.jsonl", "-w", folder=tmp_path).code == 0
    assert json.loads((tmp_path / "a.jsonl").read_text()) == {"text": "a\n[redacted:github_token]\nb"}


@pytest.mark.requirement("REDACT-10")
def test_json_is_one_object_a_file(log: Path) -> None:
    done = run("redact", "--json", "a.bbox", folder=log.parent)
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == {
        "schema": "blackbox.redact/1",
        "file": "a.bbox",
        "rules_version": built_in().version,
        "total": 3,
        "counts": {"github_token": 1, "env_var": 2},
        "written": False,
        "found": [
            {"line": 9, "kind": "github_token"},
            {"line": 11, "kind": "env_var"},
            {"line": 12, "kind": "env_var"},
        ],
    }


@pytest.mark.requirement("REDACT-04")
def test_classes_can_be_left_out(log: Path) -> None:
    done = run("redact", "a.bbox", "--off", "assignments", "--off", "keys", folder=log.parent)
    assert done == (0, "Redacting a.bbox\n\n  No secret found\n\n", "")
    done = run("redact", "a.bbox", "--off", "colours", folder=log.parent)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("✗ no class of rules is called colours\n  the classes are assignments, entropy, ")


@pytest.mark.requirement("REDACT-04")
def test_rules_are_listed_with_their_version(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        "[redaction]\noff = ['entropy']\n[[redaction.rule]]\nid = 'mine'\nkind = 'mine'\npattern = 'hbr_[a-z]+'\n"
    )
    env = environment(BLACKBIRD_HOME=str(tmp_path))
    done = run("redact", "--rules", env=env)
    assert done.code == 0
    assert done.out.startswith(f"Redaction rules {built_in().version}\n\n  on  pem: ")
    assert "\n  off entropy: Words that look random; cautious, so that hashes and ids stay.\n" in done.out
    assert "\n        github-token → [redacted:github_token]\n" in done.out
    assert "\n  on  user: Your own rules.\n        mine → [redacted:mine]\n" in done.out
    listed = json.loads(run("redact", "--rules", "--json", env=env).out)
    assert listed["schema"] == "blackbox.redaction-rules/1"
    assert {"id": "mine", "class": "user", "kind": "mine"} in listed["rules"]


def test_broken_configuration_is_told(tmp_path: Path, log: Path) -> None:
    (tmp_path / "config.toml").write_text("[redaction]\noff = ['x']\n")
    done = run("redact", "a.bbox", folder=log.parent, env=environment(BLACKBIRD_HOME=str(tmp_path)))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"✗ {tmp_path / 'config.toml'}: [redaction]: no class `x`\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.bbox", "--write", "--output", "b.bbox"], "--write and --output exclude each other"),
        (["a.bbox", "c.bbox", "--output", "b.bbox"], "--output takes one log, 2 were given"),
        (["-", "--write"], "standard input cannot be changed in place"),
        (["a.bbox", "--json", "--output", "-"], "--json and --output - both need standard output"),
        (["a.bbox", "--output", "a.bbox"], "a.bbox is there already"),
    ],
)
def test_contradictions_are_usage_errors(log: Path, arguments: list[str], message: str) -> None:
    done = run("redact", *arguments, folder=log.parent)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert log.read_text() == HEADER + BODY


def test_file_that_the_rules_cannot_read_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("DB_PASSWORD=plum-tree-42", encoding="utf-16")
    (tmp_path / "b.txt").write_text("DB_PASSWORD=plum-tree-42")
    done = run("redact", "a.txt", "b.txt", folder=tmp_path)
    assert done.code == 3
    assert done.err == "✗ a.txt: no UTF-8 text, and not searched\n  convert it first: iconv -f UTF-16 -t UTF-8\n"
    assert "1 × env_var" in done.out
