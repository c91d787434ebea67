"""What the arguments name: files, folders, patterns and standard input."""

import os
from pathlib import Path

import pytest

from blackbox.errors import ReadError, UsageError
from blackbox.terminal.inputs import find_logs
from tests.blackbox.cli.command import run, write_log


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("b.bbox", "a.rlog", "deep/er/c.blackbox", "notes.txt", "deep/d.json", ".hidden/e.bbox"):
        write_log(tmp_path, name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.requirement("LAYOUT-03", "CMD-01")
def test_folder_stands_for_the_logs_below_it(folder: Path) -> None:
    expected = [".hidden/e.bbox", "a.rlog", "b.bbox", "deep/er/c.blackbox"]
    assert find_logs(["."]) == find_logs([]) == expected
    assert find_logs(["deep"]) == ["deep/er/c.blackbox"]


@pytest.mark.requirement("LAYOUT-03", "CMD-01")
@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.bbox", ["b.bbox"]),
        ("**/*.blackbox", ["deep/er/c.blackbox"]),
        ("[ab].*", ["a.rlog", "b.bbox"]),
        ("*.txt", ["notes.txt"]),
    ],
)
def test_pattern_stands_for_the_files_it_matches(folder: Path, pattern: str, found: list[str]) -> None:
    assert find_logs([pattern]) == found


@pytest.mark.requirement("CMD-01")
def test_named_file_may_have_any_extension(folder: Path) -> None:
    assert find_logs(["notes.txt"]) == ["notes.txt"]


def test_file_whose_name_looks_like_a_pattern(folder: Path) -> None:
    write_log(folder, "[1].bbox")
    assert find_logs(["[1].bbox"]) == ["[1].bbox"]


def test_log_named_twice_is_read_once(folder: Path) -> None:
    assert find_logs(["b.bbox", "*.bbox", "b.bbox"]) == ["b.bbox"]


def test_standard_input_is_read_once(folder: Path) -> None:
    assert find_logs(["-", "b.bbox"]) == ["-", "b.bbox"]
    with pytest.raises(UsageError, match="`-` is given more than once"):
        find_logs(["-", "-"])


def test_file_named_like_standard_input(folder: Path) -> None:
    assert find_logs(["./-"]) == ["./-"]


@pytest.mark.requirement("BAD-08")
def test_folder_without_logs(folder: Path) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(ReadError, match=r"empty: no \.bbox, \.blackbox, \.rlog file below it"):
        find_logs(["empty"])


def test_pattern_that_matches_nothing(folder: Path) -> None:
    with pytest.raises(ReadError, match=r"x\*: no file matches"):
        find_logs(["x*"])


@pytest.mark.requirement("CMD-01")
@pytest.mark.parametrize("command", ["validate", "stats", "parse", "fix"])
def test_every_command_takes_files_folders_patterns_and_standard_input(folder: Path, command: str) -> None:
    done = run(command, "--json", "b.bbox", "deep", "*.rlog", "-", stdin=b"u: Hello\n", folder=folder)
    assert done.code == (1 if command == "validate" else 0)
    for name in ("b.bbox", f"deep{os.sep}er{os.sep}c.blackbox", "a.rlog", "-"):
        assert f'"file":"{name}"' in done.out
