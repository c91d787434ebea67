"""The entry point: overview, help, version, usage errors."""

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import pytest
import typer

from blackbox.cli.app import app
from tests.blackbox.cli.command import run, write_log

COMMANDS = [
    *("validate", "stats", "parse", "tail", "grep", "audit", "cost", "apm", "fix", "redact", "export", "explain"),
    *("tour", "blobs"),
]
GROUP: Any = typer.main.get_command(app)


def parameters_of(command: str) -> list[Any]:
    """The arguments and options of a command; of a group, those of all its commands."""
    found = GROUP.commands[command]
    return [parameter for one in (found, *getattr(found, "commands", {}).values()) for parameter in one.params]


def test_commands_are_those_tested_here() -> None:
    assert list(GROUP.commands) == COMMANDS


@pytest.mark.requirement("CMD-04")
def test_without_a_command_the_help_and_the_logs_below_are_shown(tmp_path: Path) -> None:
    write_log(tmp_path, "logs/a.bbox")
    done = run(folder=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Usage: blackbox [OPTIONS] COMMAND [ARGS]...\n")
    assert all(f"\n  {command} " in done.out for command in COMMANDS)
    assert done.out.endswith("\n1 log(s) nearby. Try: blackbox validate logs/a.bbox\n")


def test_without_logs_the_tour_is_offered(tmp_path: Path) -> None:
    done = run(folder=tmp_path)
    assert done.code == 0
    assert done.out.endswith("\nNo log is nearby. Try: blackbox tour\n")


def test_version() -> None:
    assert run("--version") == (0, f"blackbox {importlib.metadata.version('blackbird')}\n", "")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.requirement("CMD-09")
def test_help_of_a_command_has_examples(command: str) -> None:
    done = run(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: blackbox {command} [OPTIONS]")
    _, _, examples = done.out.partition("\n  Examples:\n")
    assert f"blackbox {command}" in examples.split("\nOptions:", maxsplit=1)[0]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.requirement("CMD-09")
def test_every_option_and_argument_is_documented(command: str) -> None:
    parameters = [parameter for parameter in parameters_of(command) if parameter.name != "help"]
    assert parameters
    assert [parameter.name for parameter in parameters if not parameter.help] == []


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "tour"])
@pytest.mark.requirement("CMD-02")
def test_every_reading_command_has_json(command: str) -> None:
    assert "--json" in {name for parameter in parameters_of(command) for name in parameter.opts}


def test_exit_codes_are_told_in_the_help() -> None:
    words = " ".join(run("--help").out.split())
    assert (
        "Exit codes: 0 done, 1 a log has errors (with --strict: warnings too) or nothing was found, 2 wrong usage, "
        "3 a file could not be read or written, 4 what was kept does not match its hash." in words
    )


@pytest.mark.parametrize(
    ("arguments", "message", "command"),
    [
        (["--nope"], "No such option: --nope", "blackbox"),
        (["frob"], "No such command 'frob'.", "blackbox"),
        (["stats", "--nope"], "No such option: --nope", "blackbox stats"),
        (["tour", "extra"], "Got unexpected extra argument(s) (extra)", "blackbox tour"),
    ],
)
@pytest.mark.requirement("CMD-04")
def test_wrong_usage(arguments: list[str], message: str, command: str) -> None:
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"✗ {message}\n  {command} --help shows how it is used\n"


@pytest.mark.requirement("CMD-03", "CMD-04")
def test_wrong_usage_in_json() -> None:
    done = run("stats", "--json", "--nope")
    assert (done.code, done.out) == (2, "")
    assert json.loads(done.err) == {
        "code": "usage",
        "message": "No such option: --nope",
        "remedy": "blackbox stats --help shows how it is used",
    }
