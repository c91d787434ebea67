"""`blackbox validate`: exact output, schema and exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest

from blackbox.check.statistics import Statistics
from tests.blackbox.cli.command import HEADER, NIGHT_SHIFT, run, write_log

FIGURES = """\

  Statistics:
    Lines:        692
    User msgs:    3
    Agent msgs:   14
    Tool calls:   54
    Observations: 11
    Subagents:    2
    MCP calls:    21
    Call IDs:     77
    Max step:     121
    Timestamps:   yes
    Blobs:        4
    Redacted:     1

  ✓ Valid BlackBox file
"""
SMALL = """\
  Statistics:
    Lines:        9
    User msgs:    1
    Agent msgs:   0
    Tool calls:   0
    Observations: 0
    Subagents:    0
    MCP calls:    0
    Call IDs:     0
    Max step:     -
    Timestamps:   no
    Blobs:        0
    Redacted:     0
"""


@pytest.mark.requirement("VALID-01", "VALID-02", "VALID-03", "EXAMPLE-01", "EXAMPLE-02", "EXAMPLE-03")
def test_night_shift_prints_the_figures_of_the_founding_document() -> None:
    done = run("validate", NIGHT_SHIFT)
    hint = "    3 info findings: --verbose shows them\n"
    assert done == (0, f"✓ {NIGHT_SHIFT}\n{FIGURES}{hint}", "")


@pytest.mark.requirement("VALID-01")
def test_clean_log_prints_nothing_but_name_figures_and_verdict(tmp_path: Path) -> None:
    write_log(tmp_path, "session.bbox")
    done = run("validate", "session.bbox", folder=tmp_path)
    assert done == (0, f"✓ session.bbox\n\n{SMALL}\n  ✓ Valid BlackBox file\n", "")


@pytest.mark.requirement("VALID-05", "VALID-06", "BAD-11")
def test_findings_stand_between_figures_and_verdict(tmp_path: Path) -> None:
    write_log(tmp_path, "a.bbox", "u: Hello\nwhat\nt:read a -> [ok]\nu: a\0b\n@celebrate\n")
    done = run("validate", "a.bbox", folder=tmp_path)
    assert done.code == 1
    assert done.out.startswith("✗ a.bbox\n\n  Statistics:\n    Lines:        13\n")
    assert done.out.endswith(
        "    Redacted:     0\n"
        "\n"
        "  line 10: warning L001 unknown-line: no known prefix: what\n"
        "  line 11:10: warning L003 ascii-arrow: `->` does not mark a result; `→` does\n"
        "  line 12:5: error T005 nul-byte: 1 NUL byte(s)\n"
        "\n"
        "  ✗ Not a valid BlackBox file: 1 error\n"
        "    1 info finding: --verbose shows them\n"
        "    What to do: blackbox explain T005\n"
    )


@pytest.mark.requirement("VALID-02")
def test_verbose_adds_info_findings_and_the_table_of_types(tmp_path: Path) -> None:
    write_log(tmp_path, "a.bbox", "u: Hello\n@celebrate\n")
    done = run("validate", "--verbose", "a.bbox", folder=tmp_path)
    assert done.code == 0
    assert done.out.endswith(
        "    Redacted:     0\n"
        "\n"
        "  line 10: info L009 unknown-primitive: `@celebrate` is not a known primitive\n"
        "\n"
        "  Line types:\n"
        "    user:             1\n"
        "    lifecycle:        1\n"
        "\n"
        "  ✓ Valid BlackBox file\n"
        "    What to do: blackbox explain L009\n"
    )


@pytest.mark.requirement("CMD-05", "CMD-04")
def test_warnings_count_under_strict_only(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a.bbox", "what\n")
    assert run("validate", log).code == 0
    assert run("validate", "--strict", log).code == 1


@pytest.mark.requirement("CMD-05")
def test_info_does_not_count_under_strict(tmp_path: Path) -> None:
    assert run("validate", "--strict", write_log(tmp_path, "a.bbox", "@celebrate\n")).code == 0


def test_findings_beyond_a_thousand_of_a_rule_are_counted(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a.bbox", "what\n" * 1005)
    done = run("validate", log)
    assert "\n  … and 5 more of L001\n" in done.out
    assert json.loads(run("validate", "--json", log).out)["warnings"] == 1005


@pytest.mark.requirement("CMD-01", "CMD-07", "CMD-06", "CMD-04")
def test_many_logs_give_a_line_each_and_a_summary(tmp_path: Path) -> None:
    write_log(tmp_path, "a.bbox")
    write_log(tmp_path, "b.rlog", "u: a\0b\nwhat\n")
    done = run("validate", "a.bbox", "nope.bbox", "b.rlog", folder=tmp_path)
    assert done.code == 3
    assert done.out == (
        "✓ a.bbox\n"
        "✗ b.rlog\n"
        "  line 9:5: error T005 nul-byte: 1 NUL byte(s)\n"
        "  line 10: warning L001 unknown-line: no known prefix: what\n"
        "\n"
        "\n"
        "3 logs, 19 lines: 1 valid, 1 invalid, 1 unreadable; 1 warnings\n"
    )
    assert done.err == "✗ nope.bbox: no such file\n  check the path\n"


@pytest.mark.requirement("CMD-04")
def test_errors_in_one_of_many_give_exit_code_1(tmp_path: Path) -> None:
    write_log(tmp_path, "a.bbox")
    write_log(tmp_path, "b.bbox", "u: a\0b\n")
    assert run("validate", tmp_path).code == 1


def check_statistics(statistics: dict[str, Any]) -> None:
    """The schema of the figures: whole numbers, two of them maybe unknown, and two tables of whole numbers."""
    assert tuple(statistics) == Statistics.__struct_fields__
    for key, value in statistics.items():
        if key in ("tools", "line_types"):
            assert all(isinstance(name, str) and isinstance(count, int) for name, count in value.items())
        elif key in ("first_step", "max_step"):
            assert value is None or isinstance(value, int)
        else:
            assert isinstance(value, int)


@pytest.mark.requirement("VALID-19", "CMD-02", "CMD-03")
def test_json_is_one_object_a_log_with_its_schema(tmp_path: Path) -> None:
    write_log(tmp_path, "a.bbox", "what\nu: a\0b step=3\n@celebrate\n")
    write_log(tmp_path, "b.bbox")
    done = run("validate", "--json", "a.bbox", "b.bbox", folder=tmp_path)
    assert (done.code, done.err) == (1, "")
    first, second = map(json.loads, done.out.splitlines())
    check_statistics(first.pop("statistics"))
    assert first == {
        "schema": "blackbox.validate/1",
        "file": "a.bbox",
        "valid": False,
        "errors": 1,
        "warnings": 1,
        "infos": 1,
        "findings": [
            {
                "name": "unknown-line",
                "rule": "L001",
                "severity": "warning",
                "line": 9,
                "message": "no known prefix: what",
                "column": None,
                "end_column": None,
            },
            {
                "name": "nul-byte",
                "rule": "T005",
                "severity": "error",
                "line": 10,
                "message": "1 NUL byte(s)",
                "column": 5,
                "end_column": 6,
            },
            {
                "name": "unknown-primitive",
                "rule": "L009",
                "severity": "info",
                "line": 11,
                "message": "`@celebrate` is not a known primitive",
                "column": None,
                "end_column": None,
            },
        ],
        "findings_left_out": {},
        "header": {
            "format": "bbox/1",
            "id": "sess_1",
            "repo_sha": "4f2a9c1",
            "branch": "main",
            "runner": "local",
            "sandbox_id": "box_1",
        },
    }
    assert (second["file"], second["valid"], second["findings"]) == ("b.bbox", True, [])


@pytest.mark.requirement("CMD-03", "CMD-07")
def test_json_tells_an_unreadable_log_on_stderr_and_goes_on(tmp_path: Path) -> None:
    write_log(tmp_path, "a.bbox")
    done = run("validate", "--json", "nope.bbox", "a.bbox", folder=tmp_path)
    assert done.code == 3
    assert json.loads(done.out)["file"] == "a.bbox"
    assert json.loads(done.err) == {
        "code": "read_failed",
        "message": "nope.bbox: no such file",
        "remedy": "check the path",
    }


@pytest.mark.requirement("PROOF-08")
def test_several_processes_say_what_one_says(tmp_path: Path) -> None:
    long = "u: Hello\n" + "  word" * 20_000 + "\n"
    for n in range(20):
        write_log(tmp_path, f"{n:02}.bbox", long * 3 + f"what {n}\n" * n)
    write_log(tmp_path, "faulty.bbox", "u: a\0b\n" * 20)
    assert sum(log.stat().st_size for log in tmp_path.iterdir()) > 4 << 20
    one = run("validate", ".", "--verbose", "--jobs", "1", folder=tmp_path)
    assert one.code == 1
    assert one.out.count("✗") == 1
    assert run("validate", ".", "--verbose", "--jobs", "2", folder=tmp_path) == one


@pytest.mark.requirement("CMD-01")
def test_standard_input() -> None:
    done = run("validate", "-", stdin=HEADER.encode() + b"u: Hello\n")
    assert done == (0, f"✓ standard input\n\n{SMALL}\n  ✓ Valid BlackBox file\n", "")


def test_number_of_jobs_must_be_a_number(tmp_path: Path) -> None:
    done = run("validate", "--jobs", "-1", write_log(tmp_path, "a.bbox"))
    assert (done.code, done.out) == (2, "")
    assert "'--jobs' / '-j'" in done.err


@pytest.mark.requirement("SUBREF-05")
def test_logs_that_are_named_but_missing_are_told_and_stop_nothing(tmp_path: Path) -> None:
    log = tmp_path / "parent.bbox"
    log.write_text(
        "---\nformat: bbox/1\nid: sess_1\nrepo_sha: 4f2a9c1\n---\n"
        'x:explore id=s1 "look" → path=sub/s1.bbox summary="found"\nu: Go on\n@rotate file=part2.bbox\n',
        encoding="utf-8",
    )
    done = run("validate", str(log))
    assert (done.code, done.err) == (0, "")
    assert "  line 6: warning C009 reference-missing: sub/s1.bbox: no such file\n" in done.out
    assert "  line 8: warning C009 reference-missing: part2.bbox: no such file\n" in done.out
    assert "    User msgs:    1\n" in done.out


def test_loop_of_links_is_told_as_unreadable(tmp_path: Path) -> None:
    (tmp_path / "a.bbox").symlink_to("b.bbox")
    (tmp_path / "b.bbox").symlink_to("a.bbox")
    done = run("validate", "a.bbox", folder=tmp_path)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("✗ a.bbox: Too many levels of symbolic links\n")
