"""`blackbird up --systemd`: a unit is written, told about, and started only if asked for."""

import os
import sys
from pathlib import Path

import pytest

from blackbird.service import systemd, unit
from tests.blackbird.cli.command import Place, place
from tests.blackbird.recorder.twin import listening, scripted

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="systemd is of Linux")

START = "systemctl --user daemon-reload && systemctl --user enable --now blackbird.service"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(systemd, "find_command", lambda: Path("/opt/bin/blackbird"))
    systemctl(monkeypatch, tmp_path, "exit 3")
    return place(tmp_path, monkeypatch, capsys)


def systemctl(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> Path:
    """A program in place of systemctl, which notes what it was told."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    path = programs / "systemctl"
    path.write_text(f'#!/bin/bash\necho "$@" >> {folder / "told"}\n{script}\n', encoding="utf-8")
    path.chmod(0o700)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return folder / "told"


def path_in(folder: Path) -> Path:
    return folder / "config" / "systemd" / "user" / unit.NAME


def test_the_unit_is_written_and_what_to_type_is_told(here: Place, tmp_path: Path) -> None:
    done = here.run("up", "--systemd", "--port", "5151", "--upstream", "local=http://127.0.0.1:8000")
    path = path_in(tmp_path)
    assert (done.code, done.out) == (0, f"✓ {path} is written\n  Start it: {START}\n")
    words = "up --foreground --listen 127.0.0.1:5151 --upstream local=http://127.0.0.1:8000"
    assert f"ExecStart=/opt/bin/blackbird {words}\n" in path.read_text("utf-8")
    assert f"Environment=BLACKBIRD_HOME={here.home.path}\n" in path.read_text("utf-8")
    assert (tmp_path / "told").read_text("utf-8") == f"--user is-active --quiet {unit.NAME}\n"
    assert here.run("up", "--systemd", "--json").json == {
        "schema": "up-systemd/1",
        "unit": str(path),
        "state": "replaced",
        "started": False,
        "command": START,
        "left_out": [],
    }


def test_settings_of_the_environment_are_the_units_too(
    here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "a-long-random-word"
    for name, value in {
        "BLACKBIRD_PROXY_LISTEN": "127.0.0.1:5252",
        "BLACKBIRD_PROXY_TOKEN": token,
        "BLACKBIRD_UPSTREAMS_LAB": "http://127.0.0.1:8000/a%20b",
        "BLACKBIRD_PROXY_MODE": "",
        "BLACKBIRD_SESSION": "harbour",
        "BLACKBIRD_TASK": "crane",
        "BLACKBIRD_RUN": "run_1",
    }.items():
        monkeypatch.setenv(name, value)
    done = here.run("up", "--systemd")
    text = path_in(tmp_path).read_text("utf-8")
    assert [line for line in text.splitlines() if "=BLACKBIRD_" in line or '="BLACKBIRD_' in line] == [
        f"Environment=BLACKBIRD_HOME={here.home.path}",
        "Environment=BLACKBIRD_PROXY_LISTEN=127.0.0.1:5252",
        'Environment="BLACKBIRD_UPSTREAMS_LAB=http://127.0.0.1:8000/a%%20b"',
    ]
    assert token not in text + done.out + done.err
    assert done.out.splitlines()[1:3] == [
        "! BLACKBIRD_PROXY_TOKEN is a secret, and not in the unit",
        f"  put proxy.token into {here.home.config_file}, or the recorder starts without it",
    ]
    assert here.run("up", "--systemd", "--json").json["left_out"] == ["BLACKBIRD_PROXY_TOKEN"]


def test_a_unit_that_could_not_start_without_the_secret_is_not_written(
    here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLACKBIRD_PROXY_TOKEN", "a-long-random-word")
    done = here.run("up", "--systemd", "--listen", "0.0.0.0:5252")
    assert (done.code, path_in(tmp_path).exists()) == (2, False)
    assert done.err.splitlines() == [
        (
            "✗ BLACKBIRD_PROXY_TOKEN is a secret that no unit may hold, and without it: --listen: proxy.listen: "
            "0.0.0.0:5252 can be reached from other machines, and proxy.token is not set"
        ),
        f"  put proxy.token into {here.home.config_file}, and type this again",
    ]


def test_a_secret_that_the_file_has_as_well_is_not_missed(
    here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.home.config_file.write_text('[proxy]\ntoken = "a-long-random-word"\n', encoding="utf-8")
    monkeypatch.setenv("BLACKBIRD_PROXY_TOKEN", "a-long-random-word")
    assert here.run("up", "--systemd").out == f"✓ {path_in(tmp_path)} is written\n  Start it: {START}\n"


def test_it_is_started_if_asked_for(here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = systemctl(monkeypatch, tmp_path, "[ $2 != is-active ]")
    done = here.run("up", "--systemd", "--now")
    assert (done.code, done.out.splitlines()[1]) == (0, "✓ systemd runs the recorder, now and whenever you log in")
    assert told.read_text("utf-8").splitlines()[1:] == [
        "--user daemon-reload",
        f"--user enable --now {unit.NAME}",
    ]


def test_what_systemd_refuses_is_told(here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    systemctl(monkeypatch, tmp_path, "echo Failed to connect to bus >&2; exit 1")
    done = here.run("up", "--systemd", "--now", "--json")
    assert done.code == 3
    assert done.error["message"] == "systemctl --user daemon-reload: Failed to connect to bus"
    assert path_in(tmp_path).exists()
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = here.run("up", "--systemd", "--now", "--json")
    assert (missing.code, missing.error["message"]) == (2, "there is no systemctl here")


def test_a_recorder_that_runs_already_is_in_the_way(here: Place, tmp_path: Path) -> None:
    with listening(here.home.control_socket, scripted()[0]):
        refused = here.run("up", "--systemd", "--now")
        written = here.run("up", "--systemd")
    assert (refused.code, refused.err) == (
        3,
        (
            "✗ a recorder runs already, on 127.0.0.1:4141, and not by systemd\n"
            "  blackbird down stops it; then type this again\n"
        ),
    )
    assert written.code == 0
    assert "! A recorder runs already on 127.0.0.1:4141: first blackbird down\n" in written.out


def test_one_that_systemd_runs_is_told_how_to_get_the_new_settings(
    here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    systemctl(monkeypatch, tmp_path, "exit 0")
    with listening(here.home.control_socket, scripted()[0]):
        done = here.run("up", "--systemd", "--now")
    assert done.code == 0
    assert done.out.splitlines()[-1] == "  systemctl --user restart blackbird.service gives it the new settings"


@pytest.mark.parametrize(
    "words", [["--systemd", "--foreground"], ["--now"], ["--force"], ["--systemd", "--listen", "0.0.0.0:1"]]
)
def test_what_makes_no_sense_is_refused(here: Place, tmp_path: Path, words: list[str]) -> None:
    assert here.run("up", *words).code == 2
    assert not path_in(tmp_path).exists()


def test_a_unit_of_somebody_else_stays_without_force(here: Place, tmp_path: Path) -> None:
    path = path_in(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text("[Service]\n", encoding="utf-8")
    refused = here.run("up", "--systemd")
    assert (refused.code, path.read_text("utf-8")) == (2, "[Service]\n")
    assert here.run("up", "--systemd", "--force").code == 0
    assert unit.is_ours(path.read_text("utf-8"))
