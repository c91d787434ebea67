"""The `blackbird` command: its entry point, its overview, and how errors are told."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from blackbird.cli import commands, settings
from blackbird.cli.trace import group
from blackbird.errors import NotFound, RecorderDown, RecorderMissing
from blackbird.recorder import program
from blackbox.errors import BlackboxError, IntegrityError, ReadError, UsageError
from tests.blackbird.cli.command import Place, place
from tests.blackbird.recorder.twin import listening, scripted


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    return place(tmp_path, monkeypatch, capsys)


def test_version(here: Place) -> None:
    assert here.run("--version") == (0, f"blackbird {version('blackbird')}\n", "")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_lists_the_commands(here: Place, option: str) -> None:
    done = here.run(option)
    assert done.code == 0
    for name in ("up", "down", "status", "env", "requests", "show", "config", "trace", "demo", "recorder-path"):
        assert f"\n  {name} " in done.out


def test_help_is_the_same_whether_the_commands_are_loaded_or_not() -> None:
    loaded, outlined = (CliRunner().invoke(each, ["--help"]) for each in (commands.build(), commands.outlined()))
    assert outlined.output == loaded.output


def test_help_and_version_load_no_command(tmp_path: Path) -> None:
    told = "import sys; sys.argv = ['blackbird', '{}']; from blackbird.cli import app\ntry: app.main()\n"
    told += "except SystemExit: print(sorted(sys.modules), file=sys.stderr)"
    for option, spared in (("--version", "typer"), ("--help", "blackbird.derive")):
        words = [sys.executable, "-c", told.format(option)]
        done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path)
        assert f"'{spared}'" not in done.stderr


def test_without_a_command_it_says_what_to_do_next(here: Place) -> None:
    done = here.run()
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("! No recorder runs: nothing is being recorded\n")
    assert "\n  blackbird up  " in done.out


def test_without_a_command_it_says_what_is_recorded(here: Place) -> None:
    with listening(here.home.control_socket, scripted()[0]):
        done = here.run()
    assert done.out.startswith("✓ Recording on http://127.0.0.1:4141\n")
    assert 'eval "$(blackbird env)"' in done.out
    assert "blackbird up" not in done.out


def test_unknown_command_is_a_usage_error(here: Place) -> None:
    done = here.run("zzz")
    assert (done.code, done.out) == (2, "")
    assert done.err == "✗ No such command 'zzz'.\n  blackbird --help shows how it is used\n"


def test_an_error_is_an_object_on_request(here: Place) -> None:
    done = here.run("config", "show", "--json", "--nonsense")
    assert (done.code, done.out) == (2, "")
    assert set(done.error) == {"code", "message", "remedy"}
    assert done.error["code"] == "usage"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NotFound("x"), 1),
        (UsageError("x"), 2),
        (ReadError("x"), 3),
        (RecorderDown("x"), 3),
        (RecorderMissing("x", []), 3),
        (IntegrityError("x"), 4),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_error_has_its_exit_code(
    here: Place, monkeypatch: pytest.MonkeyPatch, error: BlackboxError, code: int
) -> None:
    def fail() -> Path:
        raise error

    monkeypatch.setattr(program, "find", fail)
    assert here.run("recorder-path").code == code


def test_recorder_path_is_one_line(here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "find", lambda: tmp_path / program.PROGRAM)
    assert here.run("recorder-path") == (0, f"{tmp_path / program.PROGRAM}\n", "")


def test_missing_recorder_is_an_environment_error(
    here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "install_folders", lambda: (tmp_path,))
    done = here.run("recorder-path")
    assert (done.code, done.out) == (3, "")
    assert f"blackbird-recorder is not installed (looked in {tmp_path})" in done.err


def test_every_command_has_an_example() -> None:
    missing = []
    for each in (commands.build(), group.app, settings.app):
        for command in each.registered_commands:
            assert command.callback is not None
            if "\n    Example" not in (command.callback.__doc__ or ""):
                missing.append(command.name)
    assert missing == []


def test_trace_without_a_command_is_its_status(here: Place) -> None:
    assert here.run("trace") == here.run("trace", "status")
