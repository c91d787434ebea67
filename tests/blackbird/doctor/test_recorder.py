"""What is said of the recorder: facts as they are found, and what they mean."""

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from blackbird.authority.problems import Level
from blackbird.config import render
from blackbird.config.load import load
from blackbird.doctor.checks.recorder import check
from blackbird.doctor.facts import recorder
from blackbird.doctor.facts.recorder import Owner, RecorderFacts, find_owner
from blackbird.home import Home
from tests.blackbird.recorder.twin import RUNNING, home_in, listening, scripted

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the recorder is not built on Windows")

STATUS = {key: value for key, value in RUNNING.items() if key != "ok"}
WELL = RecorderFacts("0.1.0", "127.0.0.1:4141", status=STATUS)
DOWN = RecorderFacts("0.1.0", "127.0.0.1:4141")


def levels(facts: RecorderFacts) -> dict[str, str]:
    return {each.id: each.level.value for each in check(facts)}


def running(**more: Any) -> RecorderFacts:
    return msgspec.structs.replace(WELL, status={**STATUS, **more})


def test_a_recorder_that_is_well() -> None:
    assert levels(WELL) == {"recorder": "ok", "recording": "ok", "reach": "ok"}


@pytest.mark.parametrize(
    ("facts", "name", "level"),
    [
        (DOWN, "recorder-down", "warning"),
        (msgspec.structs.replace(DOWN, port_taken=True), "port-taken", "error"),
        (msgspec.structs.replace(DOWN, failure="it did not answer"), "recorder-silent", "error"),
        (msgspec.structs.replace(DOWN, silent_pid=12), "recorder-silent", "error"),
        (msgspec.structs.replace(DOWN, config_error="x.toml:1: no"), "config", "error"),
        (msgspec.structs.replace(DOWN, installed=False), "recorder-missing", "error"),
        (running(supervisor_pid=None), "supervisor-gone", "warning"),
        (running(restarts=2), "recorder-restarts", "warning"),
        (running(version="0.0.9"), "version-differs", "warning"),
        (running(recording=False, last_error="disk full"), "not-recording", "error"),
        (running(lost_records=3), "records-lost", "error"),
        (running(last_error="disk full"), "trouble-over", "note"),
        (running(dropped_chunks=1), "bodies-left-out", "warning"),
        (running(listen="0.0.0.0:4141"), "reach", "warning"),
        (msgspec.structs.replace(WELL, changed=["listen", "mode"]), "settings-differ", "note"),
    ],
)
def test_each_trouble_has_a_finding(facts: RecorderFacts, name: str, level: str) -> None:
    assert levels(facts)[name] == level


def test_a_recorder_that_is_down_is_started_by_running_an_agent() -> None:
    (found,) = [each for each in check(DOWN) if each.id == "recorder-down"]
    assert found.remedy.startswith("blackbird run -- AGENT ")


def test_every_trouble_but_a_broken_file_has_a_remedy() -> None:
    facts = [DOWN, msgspec.structs.replace(DOWN, port_taken=True, installed=False), running(restarts=1, version="0")]
    found = [each for one in facts for each in check(one) if each.level is not Level.OK]
    assert [each.id for each in found if not each.remedy] == []


def test_who_has_the_port_is_told() -> None:
    facts = msgspec.structs.replace(DOWN, port_taken=True, port_owner=Owner(77, "nginx"))
    assert [each.evidence for each in check(facts) if each.id == "port-taken"] == ["nginx (process 77)"]
    unseen = msgspec.structs.replace(DOWN, port_taken=True)
    assert [each.evidence for each in check(unseen) if each.id == "port-taken"] == [
        "a program that cannot be seen from here"
    ]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.chdir(tmp_path)
    return home_in(tmp_path / "home")


def test_a_port_that_is_taken_is_seen_with_its_owner(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        home.config_file.write_text(f'[proxy]\nlisten = "127.0.0.1:{port}"\n', encoding="utf-8")
        facts = recorder.gather(home)
    assert (facts.status, facts.port_taken) == (None, True)
    if Path("/proc/net/tcp").exists():
        assert facts.port_owner is not None
        assert Path(f"/proc/{facts.port_owner.pid}").exists()
    assert not recorder.gather(home).port_taken


def test_an_owner_is_found_by_the_tables_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    row = "   0: 0100007F:102D 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1\n"
    other = row.replace("4242", "4243").replace(" 0A ", " 01 ")
    (tmp_path / "net" / "tcp").write_text("header\n" + other + row, encoding="ascii")
    (tmp_path / "31" / "fd").mkdir(parents=True)
    (tmp_path / "31" / "comm").write_text("nc\n", encoding="ascii")
    (tmp_path / "31" / "fd" / "3").symlink_to("socket:[4242]")
    assert find_owner(4141, tmp_path) == Owner(31, "nc")
    assert find_owner(4142, tmp_path) is None


def test_a_running_recorder_and_its_settings_are_compared(home: Home) -> None:
    settings = load(home, [("--mode", "proxy.mode", "privacy")], variables={}, folder=home.path)
    render.write(settings, home)
    given = json.loads(home.recorder_json.read_bytes())
    home.recorder_json.write_text(json.dumps({**given, "token": "a-long-random-word"}), encoding="utf-8")
    with listening(home.control_socket, scripted()[0]):
        facts = recorder.gather(home)
    assert facts.status == STATUS
    assert facts.changed == ["mode", "token"]
    assert b"a-long-random-word" not in msgspec.json.encode(facts)


def test_a_configuration_that_cannot_be_read_is_a_fact(home: Home) -> None:
    home.config_file.write_text("[proxy\n", encoding="utf-8")
    facts = recorder.gather(home)
    assert str(home.config_file) in str(facts.config_error)
    assert [each.level for each in check(facts) if each.id == "config"] == [Level.ERROR]


def test_a_process_that_is_a_recorder_and_does_not_answer_is_silent(home: Home, tmp_path: Path) -> None:
    home.pid_file.write_text("1", encoding="ascii")
    assert recorder.gather(home).silent_pid is None
    program = tmp_path / "blackbird-recorder"
    shutil.copy("/bin/sleep", program)
    with subprocess.Popen([program, "60"]) as process:
        home.pid_file.write_text(str(process.pid), encoding="ascii")
        found = recorder.gather(home)
        process.kill()
    assert found.silent_pid == process.pid
