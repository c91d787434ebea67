"""`blackbird completion`: the scripts, asked by real shells where there are any."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from blackbird.service.inventory import COMPLETION_MARK
from tests.blackbird.cli.command import Place, place

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="these are shells of Unix")

_BASH = """
source <(blackbird completion bash)
COMP_WORDS=({words}) COMP_CWORD={at}
_blackbird_completion blackbird
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
_ZSH = """
autoload -Uz compinit && compinit -u -D
source <(blackbird completion zsh)
_arguments() {{ print -r -- "$@" }}
words=({words}) CURRENT={at}
_blackbird
"""
_ZSH_FILE = """
blackbird completion zsh > {folder}/_blackbird
fpath=({folder} $fpath)
autoload -Uz compinit && compinit -u -D
_arguments() {{ print -r -- "$@" }}
words=(blackbird unins) CURRENT=2
_blackbird
_blackbird
"""


def ask(shell: str, script: str, folder: Path) -> str:
    """What a shell says to a script, with the command of this environment on its path."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell} here")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = {"PATH": path, "HOME": str(folder), "BLACKBIRD_HOME": str(folder / "home"), "LANG": "C.UTF-8"}
    done = subprocess.run(
        [program, *(["--norc"] if shell == "bash" else ["-f"] if shell == "zsh" else []), "-c", script],
        capture_output=True,
        text=True,
        env=variables,
        cwd=folder,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    return place(tmp_path, monkeypatch, capsys)


def test_each_script_has_its_mark_and_installs_nothing(here: Place, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    for shell, first in (("bash", COMPLETION_MARK), ("zsh", "#compdef blackbird"), ("fish", COMPLETION_MARK)):
        done = here.run("completion", shell)
        assert (done.code, done.out.splitlines()[0]) == (0, first)
        assert COMPLETION_MARK in done.out
    assert sorted(tmp_path.rglob("*")) == before
    assert here.run("completion", "csh").code == 2


def test_a_shell_that_is_not_named_is_asked_for_in_one_line(here: Place) -> None:
    done = here.run("completion")
    assert (done.code, done.err.splitlines()[0]) == (2, "✗ Missing argument 'SHELL'. Choose from: bash, zsh, fish")


@pytest.mark.parametrize(
    ("words", "at", "expected"),
    [
        ("blackbird unins", 1, ["uninstall"]),
        ("blackbird ca re", 2, ["renew", "remove"]),
        ("blackbird doctor --da", 2, ["--days"]),
        ("blackbird completion ''", 2, ["bash", "zsh", "fish"]),
    ],
)
def test_bash_completes(tmp_path: Path, words: str, at: int, expected: list[str]) -> None:
    assert ask("bash", _BASH.format(words=words, at=at), tmp_path).split() == expected


def test_zsh_completes(tmp_path: Path) -> None:
    said = ask("zsh", _ZSH.format(words="blackbird unins", at=2), tmp_path)
    assert '"uninstall":' in said


def test_zsh_completes_by_a_file_of_its_own_again_and_again(tmp_path: Path) -> None:
    said = ask("zsh", _ZSH_FILE.format(folder=tmp_path), tmp_path)
    assert said.count('"uninstall":') == 2


def test_fish_completes(tmp_path: Path) -> None:
    said = ask("fish", "blackbird completion fish | source; complete -C 'blackbird unins'", tmp_path)
    assert [line.split("\t")[0] for line in said.splitlines()] == ["uninstall"]
