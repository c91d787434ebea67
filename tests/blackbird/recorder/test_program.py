"""Finding the recorder program."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from blackbird.errors import RecorderMissing
from blackbird.recorder import program

needs_recorder = pytest.mark.skipif(sys.platform == "win32", reason="the recorder is not built on Windows")


def place(folder: Path) -> Path:
    folder.mkdir(parents=True)
    path = folder / (f"{program.PROGRAM}.exe" if sys.platform == "win32" else program.PROGRAM)
    path.touch()
    return path


def test_first_folder_that_has_it_wins(tmp_path: Path) -> None:
    place(tmp_path / "later")
    first = place(tmp_path / "first")
    assert program.find([tmp_path / "absent", tmp_path / "first", tmp_path / "later"]) == first


def test_a_folder_of_that_name_is_not_a_program(tmp_path: Path) -> None:
    (tmp_path / program.PROGRAM).mkdir()
    with pytest.raises(RecorderMissing):
        program.find([tmp_path])


def test_missing_names_every_folder_searched(tmp_path: Path) -> None:
    folders = (tmp_path / "one", tmp_path / "two")
    with pytest.raises(RecorderMissing) as caught:
        program.find(folders)
    assert caught.value.searched == folders
    assert all(str(folder) in str(caught.value) for folder in folders)


@needs_recorder
def test_installed_recorder_says_the_version_of_this_package() -> None:
    said = subprocess.run([program.find(), "--version"], capture_output=True, text=True, check=True).stdout
    assert said == f"blackbird-recorder {version('blackbird')} (wal/1)\n"
