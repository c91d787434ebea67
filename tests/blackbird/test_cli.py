"""The `blackbird` command, through the function that the console script calls."""

from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from blackbird import recorder
from blackbird.cli import app

runner = CliRunner()


def test_version() -> None:
    result = runner.invoke(app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"blackbird {version('blackbird')}\n")


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]], ids=["none", "long", "short"])
def test_help_lists_the_commands(arguments: list[str]) -> None:
    result = runner.invoke(app, arguments)
    assert result.exit_code == 0
    assert "recorder-path" in result.stdout


def test_unknown_command_is_a_usage_error() -> None:
    result = runner.invoke(app, ["record"])
    assert result.exit_code == 2
    assert "record" in result.stderr


def test_recorder_path_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "find", lambda: tmp_path / recorder.PROGRAM)
    result = runner.invoke(app, ["recorder-path"])
    assert (result.exit_code, result.stdout) == (0, f"{tmp_path / recorder.PROGRAM}\n")


def test_missing_recorder_is_an_environment_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "install_folders", lambda: (tmp_path,))
    result = runner.invoke(app, ["recorder-path"])
    assert result.exit_code == 3
    assert result.stdout == ""
    assert f"blackbird-recorder is not installed (looked in {tmp_path})" in result.stderr
