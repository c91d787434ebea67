"""`blackbird up` and `blackbird down`."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from blackbird.recorder import program
from tests.blackbird.cli.command import Place, place
from tests.blackbird.recorder.twin import listening, scripted

READY = """echo '{"ready":true,"listen":"127.0.0.1:5","pid":'$$'}'"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    path = tmp_path / program.PROGRAM
    path.write_text(f"#!/bin/sh\n{READY}\n", encoding="utf-8")
    path.chmod(0o700)
    monkeypatch.setattr(program, "find", lambda: path)
    return place(tmp_path, monkeypatch, capsys)


def handed_over(here: Place) -> Any:
    return json.loads(here.home.recorder_json.read_bytes())


def test_up_says_where_and_what_is_next(here: Place) -> None:
    done = here.run("up", "--json")
    pid = done.json["pid"]
    os.waitpid(pid, 0)
    assert done.json == {"schema": "up/1", "listen": "127.0.0.1:5", "pid": pid, "was_running": False}
    done = here.run("up")
    lines = done.out.splitlines()
    assert lines[0].startswith("✓ Recording on http://127.0.0.1:5 (process ")
    assert lines[1:] == ['  Point agents at it: eval "$(blackbird env)"']


@pytest.mark.parametrize(
    ("options", "key", "value"),
    [
        (["--port", "5151"], "listen", "127.0.0.1:5151"),
        (["--port", "0"], "listen", "127.0.0.1:0"),
        (["--listen", "[::1]:5151"], "listen", "[::1]:5151"),
        (["--upstream-url", "https://box.example"], "default_upstream", "https://box.example"),
        (["--mode", "privacy"], "mode", "privacy"),
    ],
)
def test_options_of_up_reach_the_recorder(here: Place, options: list[str], key: str, value: str) -> None:
    assert here.run("up", *options).code == 0
    assert handed_over(here)[key] == value


def test_upstreams_can_be_added(here: Place) -> None:
    assert here.run("up", "--upstream", "a=http://a", "--upstream", "openai=http://b/v1").code == 0
    upstreams = handed_over(here)["upstreams"]
    assert (upstreams["a"], upstreams["openai"]) == ("http://a", "http://b/v1")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--upstream", "a"], "--upstream: `a` has no `=`"),
        (["--upstream", "bb=http://a"], "--upstream: there is no setting upstreams.bb"),
        (["--upstream", "a=http://a", "--upstream", "a=http://b"], "--upstream: upstreams.a is given twice"),
        (["--port", "1", "--listen", "127.0.0.1:2"], "--listen and --port exclude each other"),
        (["--mode", "secret"], "--mode: proxy.mode: the value 'secret' is none of full, privacy, passthrough"),
        (["--listen", "0.0.0.0:4141"], "--listen: proxy.listen: 0.0.0.0:4141 can be reached from other machines"),
    ],
)
def test_options_of_up_that_cannot_be_used(here: Place, options: list[str], said: str) -> None:
    done = here.run("up", *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"✗ {said}")
    assert not here.home.recorder_json.exists()


def test_up_with_one_running_says_so(here: Place) -> None:
    with listening(here.home.control_socket, scripted()[0]):
        plain, changed = here.run("up"), here.run("up", "--mode", "privacy")
    assert plain == (0, "! A recorder runs already on http://127.0.0.1:4141 (process 4001)\n", "")
    assert changed.out == plain.out + "  It keeps its settings; blackbird down and blackbird up give it new ones.\n"


def test_up_in_the_foreground_becomes_the_recorder(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    became: list[list[str]] = []

    def execute(_: str, command: list[str]) -> None:
        became.append(command)
        raise SystemExit(0)

    monkeypatch.setattr(os, "execv", execute)
    assert here.run("up", "--foreground").code == 0
    assert became == [[str(program.find()), "serve", "--config", str(here.home.recorder_json)]]


def test_up_in_the_foreground_beside_another_is_refused(here: Place) -> None:
    with listening(here.home.control_socket, scripted()[0]):
        done = here.run("up", "--foreground")
    assert done == (3, "", "✗ a recorder runs already, on 127.0.0.1:4141\n  blackbird down stops it\n")


def test_down_without_a_recorder(here: Place) -> None:
    assert here.run("down") == (0, "No recorder was running\n", "")
    assert here.run("down", "--json").json == {"schema": "down/1", "stopped": False, "pid": None, "runs": []}
