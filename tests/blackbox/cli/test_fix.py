"""`blackbox fix`: the preview, writing, and what it refuses."""

import json
import os
from pathlib import Path

import pytest

from tests.blackbox.cli.command import HEADER, run, write_log

BODY = "@start id=sess_1\nu: hi step=3\nt:read a -> [3 lines] step=7\n# metrics step=7 prompt_tokens=5\n"
MENDED = (
    HEADER
    + "@start id=sess_1\nu: hi step=1\nt:read id=call_1 a → [3 lines] step=2\n# metrics step=2 prompt_tokens=5\n"
    '@end summary="added by blackbox fix: the log had no end"\n'
)
RENUMBERED = """\
Fixing a.bbox

  ✓ Renumbered 3 step references

  Total changes: 3

  Line 10:
    - u: hi step=3
    + u: hi step=1

  Line 11:
    - t:read a -> [3 lines] step=7
    + t:read a -> [3 lines] step=2

  Line 12:
    - # metrics step=7 prompt_tokens=5
    + # metrics step=2 prompt_tokens=5

"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path, "a.bbox", BODY)


@pytest.mark.requirement("FIX-01", "FIX-02")
def test_preview_names_each_changed_line_and_writes_nothing(log: Path) -> None:
    done = run("fix", "a.bbox", "--renumber-steps", folder=log.parent)
    assert done == (0, RENUMBERED + "  ! Dry run - use --write to apply changes\n", "")
    assert log.read_text() == HEADER + BODY


@pytest.mark.requirement("FIX-02")
def test_preview_says_that_more_follows(tmp_path: Path) -> None:
    write_log(tmp_path, "a.bbox", "".join(f"u: x step={n * 2}\n" for n in range(1, 16)))
    done = run("fix", "a.bbox", "--renumber-steps", folder=tmp_path)
    assert done.out.startswith(
        "Fixing a.bbox\n\n  ✓ Renumbered 15 step references\n\n  Total changes: 15\n\n  Line 9:\n"
    )
    assert done.out.count("\n  Line ") == 10
    assert done.out.endswith("\n  ... and 5 more changed lines\n\n  ! Dry run - use --write to apply changes\n")


@pytest.mark.requirement("FIX-01", "FIX-02")
def test_without_a_choice_everything_that_could_be_mended_is_shown(log: Path) -> None:
    done = run("fix", "a.bbox", folder=log.parent)
    assert done.code == 0
    assert "  ✓ Replaced 1 arrow  (--arrows)\n" in done.out
    assert "\n  Total changes: 6\n" in done.out
    assert done.out.endswith("  ! Dry run - choose fixers and use --write to apply changes\n")
    assert log.read_text() == HEADER + BODY


@pytest.mark.requirement("FIX-03", "FIX-13")
def test_write_changes_the_log_and_keeps_its_mode(log: Path) -> None:
    log.chmod(0o640)
    done = run("fix", "a.bbox", "--all", "--write", folder=log.parent)
    assert done.code == 0
    assert done.out.endswith("  ✓ Written to a.bbox\n")
    assert log.read_text() == MENDED
    assert [path.name for path in log.parent.iterdir()] == ["a.bbox"]
    if os.name == "posix":
        assert log.stat().st_mode & 0o777 == 0o640
    again = run("fix", "a.bbox", "--all", "--write", folder=log.parent)
    assert again == (0, "Fixing a.bbox\n\n  Nothing to change\n\n", "")


@pytest.mark.requirement("FIX-04")
def test_output_writes_elsewhere_and_leaves_the_source(log: Path) -> None:
    done = run("fix", "a.bbox", "--all", "--output", "b.bbox", folder=log.parent)
    assert done.code == 0
    assert done.out.endswith("  ✓ Written to b.bbox\n")
    assert (log.parent / "b.bbox").read_text() == MENDED
    assert log.read_text() == HEADER + BODY


@pytest.mark.requirement("FIX-04", "CMD-01")
def test_output_to_a_pipe_is_the_log_alone(log: Path) -> None:
    done = run("fix", "-", "--all", "--output", "-", stdin=log.read_bytes())
    assert (done.code, done.out) == (0, MENDED)
    assert done.err.startswith("Fixing standard input\n")


@pytest.mark.requirement("FIX-11")
def test_line_ends() -> None:
    assert run("fix", "-", "--line-ends", "-o", "-", stdin=b"u: a\r\nu: b\r\n").out == "u: a\nu: b\n"


@pytest.mark.requirement("CMD-01", "CMD-07")
def test_many_logs_are_mended_and_an_unreadable_one_is_told(tmp_path: Path) -> None:
    one, two = write_log(tmp_path, "a.bbox", BODY), write_log(tmp_path, "b.bbox", BODY)
    done = run("fix", "--all", "--write", "a.bbox", "nope.bbox", "b.bbox", folder=tmp_path)
    assert done.code == 3
    assert done.err == "✗ nope.bbox: no such file\n  check the path\n"
    assert one.read_text() == two.read_text() == MENDED


@pytest.mark.requirement("CMD-02", "CMD-03")
def test_json_is_one_object_a_log_with_its_schema(log: Path) -> None:
    done = run("fix", "--json", "--arrows", "--add-end", "a.bbox", folder=log.parent)
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == {
        "schema": "blackbox.fix/1",
        "file": "a.bbox",
        "fixes": {"arrows": 1, "add-end": 1},
        "total": 2,
        "written": False,
        "changes": [
            {"line": 11, "before": "t:read a -> [3 lines] step=7", "after": "t:read a → [3 lines] step=7"},
            {"line": 13, "before": None, "after": '@end summary="added by blackbox fix: the log had no end"'},
        ],
    }


def test_json_says_whether_it_wrote(log: Path) -> None:
    arguments = ("fix", "--json", "--arrows", "--write", "a.bbox")
    assert json.loads(run(*arguments, folder=log.parent).out)["written"] is True
    assert json.loads(run(*arguments, folder=log.parent).out)["written"] is False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.bbox", "--write"], "nothing to mend was chosen"),
        (["a.bbox", "--output", "b.bbox"], "nothing to mend was chosen"),
        (["a.bbox", "--all", "--write", "--output", "b.bbox"], "--write and --output exclude each other"),
        (["a.bbox", "c.bbox", "--all", "--output", "b.bbox"], "--output takes one log, 2 were given"),
        (["-", "--all", "--write"], "standard input cannot be changed in place"),
        (["a.bbox", "--all", "--json", "--output", "-"], "--json and --output - both need standard output"),
    ],
)
@pytest.mark.requirement("CMD-04")
def test_contradictions_are_usage_errors(log: Path, arguments: list[str], message: str) -> None:
    done = run("fix", *arguments, folder=log.parent)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert log.read_text() == HEADER + BODY
    assert [path.name for path in log.parent.iterdir()] == ["a.bbox"]


@pytest.mark.requirement("BAD-12", "CMD-06")
def test_output_that_cannot_be_written(log: Path) -> None:
    done = run("fix", "a.bbox", "--all", "--output", "nowhere/b.bbox", folder=log.parent)
    assert done.code == 3
    assert done.err == (
        "✗ nowhere/b.bbox: could not be written: No such file or directory\n"
        "  check the folder's permissions and free space; nothing was changed\n"
    )


def test_output_does_not_overwrite_a_file(tmp_path: Path) -> None:
    other = tmp_path / "other.bbox"
    other.write_text("precious")
    (tmp_path / "a.bbox").write_text("t:read a -> [ok]\n")
    done = run("fix", "a.bbox", "--arrows", "--output", "other.bbox", folder=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err == "✗ other.bbox is there already\n  name a new file, or use --write to change a log in place\n"
    assert other.read_text() == "precious"


def test_change_far_behind_in_a_long_line_is_in_sight(tmp_path: Path) -> None:
    (tmp_path / "a.bbox").write_text(f"u: {'word ' * 60}step=7\na: Done step=9\n")
    done = run("fix", "a.bbox", "--renumber-steps", folder=tmp_path)
    assert f"    - ...{'word ' * 9}step=7\n" in done.out
    assert f"    + ...{'word ' * 9}step=1\n" in done.out
