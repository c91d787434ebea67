"""The recorder that is installed, started and stopped as the command does it."""

import os
import signal
import socket
import stat
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blackbird.config.load import load
from blackbird.config.resolve import Config
from blackbird.errors import RecorderFailed, RecorderRefused
from blackbird.home import Home
from blackbird.recorder import control, process
from blackbird.recorder.alive import is_alive

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the recorder is not built on Windows")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "home", tmp_path / "home" / "config.toml")
    yield home
    process.down(home)


def settings(home: Home, *more: tuple[str, str, str], listen: str = "127.0.0.1:0") -> Config:
    return load(home, [("--listen", "proxy.listen", listen), *more], variables={}, folder=home.path.parent)


def status(home: Home) -> dict[str, Any]:
    found = control.status(home)
    assert found is not None
    return found


def test_it_starts_answers_and_stops(home: Home) -> None:
    started = process.up(home, settings(home))
    assert process.up(home, settings(home)) == started._replace(was_running=True)
    with urllib.request.urlopen(f"http://{started.listen}/_blackbird/health", timeout=10) as answer:
        assert answer.status == 200
    found = status(home)
    assert (found["listen"], found["supervisor_pid"], found["mode"]) == (started.listen, started.pid, "full")
    assert process.down(home) == started.pid
    assert control.status(home) is None
    assert sorted(path.name for path in home.run.iterdir()) == ["recorder.json", "recorder.log", "supervisor.lock"]
    assert process.down(home) is None


@pytest.mark.requirement("SEC-01")
def test_all_it_makes_is_for_its_owner_alone(home: Home) -> None:
    process.up(home, settings(home))
    control.request(home, {"op": "register", "session": None, "task": None, "run": None, "data": {}})
    made = [home.path, *home.path.rglob("*")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_dir()} == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if not path.is_dir()} == {0o600}


@pytest.mark.requirement("SCOPE-04")
def test_ids_that_are_not_given_are_prefixed_ulids(home: Home) -> None:
    process.up(home, settings(home))
    run = control.request(home, {"op": "register", "session": "harbour", "task": None, "run": None, "data": {}})
    assert run["session"] == "harbour"
    prefixes = {key: value.partition("_") for key, value in run.items() if key != "session"}
    assert {key: (parts[0], len(parts[2])) for key, parts in prefixes.items()} == {
        "task": ("task", 26),
        "run": ("run", 26),
    }


@pytest.mark.requirement("SCOPE-04")
def test_the_recorder_refuses_an_id_that_is_none(home: Home) -> None:
    process.up(home, settings(home))
    with pytest.raises(RecorderRefused):
        control.request(home, {"op": "register", "session": "a/b", "task": None, "run": None, "data": {}})


@pytest.mark.requirement("CONFIG-10")
@pytest.mark.parametrize("mode", ["privacy", "passthrough"])
def test_the_mode_is_the_one_that_was_set(home: Home, mode: str) -> None:
    process.up(home, settings(home, ("--mode", "proxy.mode", mode)))
    assert status(home)["mode"] == mode


def test_a_setting_that_only_the_recorder_can_judge_is_told(home: Home) -> None:
    config = settings(home, ("--ca", "proxy.ca_file", "/nowhere/ca.pem"))
    with pytest.raises(RecorderFailed, match=r"^the recorder did not start: .*/nowhere/ca\.pem"):
        process.up(home, config)


@pytest.mark.requirement("CONFIG-09")
def test_an_older_rule_set_is_used_and_named(home: Home) -> None:
    process.up(home, settings(home, ("--rules", "redaction.ruleset_version", "2026.11.2")))
    assert status(home)["policy"] == "2026.11.2"


def test_a_rule_of_the_users_own_reaches_it(home: Home) -> None:
    home.path.mkdir(mode=0o700)
    rule = "[[redaction.rule]]\nid = 'harbour'\nkind = 'harbour'\npattern = 'hbr_[a-z0-9]{12}'\n"
    home.config_file.write_text(rule, encoding="utf-8")
    process.up(home, settings(home))
    assert "+user." in status(home)["policy"]


def test_a_taken_port_is_named(home: Home) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        listen = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(RecorderFailed, match=rf"^{listen} is in use by another program$"):
            process.up(home, settings(home, listen=listen))


def test_what_a_killed_recorder_left_behind_is_no_hindrance(home: Home) -> None:
    first = process.up(home, settings(home))
    worker = status(home)["pid"]
    os.kill(first.pid, signal.SIGKILL)
    os.kill(worker, signal.SIGKILL)
    while is_alive(first.pid) or is_alive(worker):
        time.sleep(0.01)
    assert home.pid_file.exists()
    second = process.up(home, settings(home))
    assert not second.was_running
    assert status(home)["supervisor_pid"] == second.pid


def test_a_home_with_a_long_name_has_its_socket_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 25)
    home = Home(folder, folder / "config.toml")
    try:
        process.up(home, settings(home))
        assert not home.control_socket.is_relative_to(folder)
        assert status(home)["mode"] == "full"
    finally:
        process.down(home)
        home.control_socket.parent.rmdir()


def test_maintenance_works_with_a_recorder_and_without(home: Home) -> None:
    config = settings(home)
    process.up(home, config)
    assert process.maintain(home, config, {"op": "pin", "session": "harbour"})["sequence"] == 1
    sealed = process.maintain(home, config, {"op": "seal"})["sealed"]
    assert [each["segment"] for each in sealed] == [1]
    process.down(home)
    assert process.maintain(home, config, {"op": "unpin", "session": "harbour"})["sequence"] > 1
    assert [each["segment"] for each in process.maintain(home, config, {"op": "seal"})["sealed"]] == [2]
    plan = process.maintain(home, config, {"op": "clean", "days": 1, "max_bytes": None, "dry_run": True})
    assert plan == {"removed": [], "kept_by_pin": [], "dry_run": True}
