"""`blackbox stats`: exact output and schema."""

import json
from pathlib import Path

import pytest

from tests.blackbox.cli.command import NIGHT_SHIFT, run, write_log
from tests.blackbox.cli.test_validate import check_statistics

NIGHT = """\
Header:
  format: bbox/1
  id: sess_12h
  mode: auto
  model: gannet-3
  repo: harbourlight/tidepool
  repo_sha: 4be19d07c2f8
  branch: main
  budget: $50
  duration: 12h

Statistics:
  Total lines:      692
  Content lines:    476
  Blank lines:      98
  Comment lines:    118

  User messages:    3
  Agent messages:   14
  Tool calls:       54
  Observations:     11
  MCP calls:        21
  Subagents:        2
  Skills:           2
  Plans:            6
  Mode changes:     3
  Lifecycle:        23
  Memory recalls:   5
  Questions:        5
  Phases:           5

Metadata:
  Call IDs:         77 unique
  Step range:       1-121
  Timestamps:       yes (171 with ts=)
  Blob references:  4
  Redacted values:  1

Tools used:
  read:  13 calls
  edit:  11 calls
  shell: 10 calls
  test:   6 calls
  write:  4 calls
  git:    3 calls
  grep:   3 calls
  build:  1 call
  curl:   1 call
  glob:   1 call
  patch:  1 call
"""


@pytest.mark.requirement("STATS-01", "STATS-03", "STATS-04", "STATS-05")
def test_all_figures_of_the_night_shift() -> None:
    assert run("stats", NIGHT_SHIFT) == (0, f"File: {NIGHT_SHIFT}\n\n{NIGHT}", "")


def test_log_without_steps_times_and_tools(tmp_path: Path) -> None:
    write_log(tmp_path, "a.bbox")
    done = run("stats", "a.bbox", folder=tmp_path)
    assert done.out.endswith(
        "  Memory recalls:   0\n"
        "\n"
        "Metadata:\n"
        "  Call IDs:         0 unique\n"
        "  Step range:       -\n"
        "  Timestamps:       no\n"
        "  Blob references:  0\n"
        "  Redacted values:  0\n"
    )


@pytest.mark.requirement("STATS-06", "CMD-01")
def test_several_logs_give_a_block_each_and_a_total(tmp_path: Path) -> None:
    write_log(tmp_path, "a.bbox", "t:read a → [ok] step=3\n")
    write_log(tmp_path, "b.bbox", "t:read a → [ok] step=5\nt:git b → [ok]\n")
    done = run("stats", "a.bbox", "b.bbox", folder=tmp_path)
    assert done.code == 0
    first, second, total = done.out.split("\n\nFile: ")[0], *done.out.partition("\n\nFile: ")[2].split("\n\nTotal: ")
    assert first.startswith("File: a.bbox\n")
    assert second.startswith("b.bbox\n")
    assert total.startswith("2 logs\n\nStatistics:\n  Total lines:      19\n")
    assert "\n  Tool calls:       3\n" in total
    assert "\n  Step range:       3-5\n" in total
    assert total.endswith("\nTools used:\n  read: 2 calls\n  git:  1 call\n")


@pytest.mark.requirement("CMD-02", "CMD-03")
def test_json_is_one_object_a_log_with_its_schema(tmp_path: Path) -> None:
    write_log(tmp_path, "a.bbox")
    write_log(tmp_path, "b.bbox", "a: Hi\n")
    done = run("stats", "--json", "a.bbox", "b.bbox", folder=tmp_path)
    assert (done.code, done.err) == (0, "")
    objects = [json.loads(line) for line in done.out.splitlines()]
    assert [(each["schema"], each["file"]) for each in objects] == [
        ("blackbox.stats/1", "a.bbox"),
        ("blackbox.stats/1", "b.bbox"),
    ]
    for each in objects:
        assert each.keys() == {"schema", "file", "header", "statistics"}
        assert each["header"]["id"] == "sess_1"
        check_statistics(each["statistics"])


@pytest.mark.requirement("CMD-06", "CMD-07")
def test_unreadable_log_among_many(tmp_path: Path) -> None:
    write_log(tmp_path, "a.bbox")
    write_log(tmp_path, "b.bbox")
    done = run("stats", "a.bbox", "nope.bbox", "b.bbox", folder=tmp_path)
    assert done.code == 3
    assert done.err == "✗ nope.bbox: no such file\n  check the path\n"
    assert "File: a.bbox\n" in done.out
    assert "File: b.bbox\n" in done.out
    assert "\nTotal: 2 logs\n" in done.out
