"""Where things are."""

import os
import tempfile
from pathlib import Path

import pytest

from blackbird import home as homes
from blackbird.config.load import nearest_project
from blackbird.home import Home, working_folder
from blackbox.redaction.place import config_path


def test_everything_is_below_the_folder_that_was_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLACKBIRD_HOME", str(tmp_path))
    home = homes.find()
    assert home == Home(tmp_path, tmp_path / "config.toml")
    assert (home.trace, home.run) == (tmp_path / "trace", tmp_path / "run")
    assert (home.log, home.pid_file) == (tmp_path / "run" / "recorder.log", tmp_path / "run" / "recorder.pid")
    assert home.recorder_json == tmp_path / "run" / "recorder.json"


def test_a_relative_folder_is_one_of_the_current(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BLACKBIRD_HOME", "here")
    assert homes.find() == Home(tmp_path / "here", tmp_path / "here" / "config.toml")


def test_without_a_choice_it_is_the_platforms_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BLACKBIRD_HOME")
    home = homes.find()
    assert home.path.is_absolute()
    assert home.path.name == "blackbird"
    assert home.config_file == config_path()


def test_a_socket_has_a_short_path() -> None:
    short = Home(Path("/" + "a" * 82), Path("/config.toml"))
    assert short.control_socket == short.path / "run" / "control.sock"
    long = Home(Path("/" + "a" * 83), Path("/config.toml"))
    assert long.control_socket.parent.parent == Path(tempfile.gettempdir())
    assert long.control_socket.name == "control.sock"
    other = Home(Path("/" + "b" * 83), Path("/config.toml"))
    assert long.control_socket != other.control_socket


def test_the_working_folder_is_text_whatever_its_name_and_nothing_if_it_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    odd.mkdir()
    monkeypatch.chdir(odd)
    assert working_folder() == f"{tmp_path}/caf\N{REPLACEMENT CHARACTER}"
    odd.rmdir()
    assert working_folder() is None
    assert nearest_project() is None
