"""Starting, stopping and maintaining, with programs that behave as a recorder would or badly."""

import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from blackbird.config.load import load
from blackbird.config.resolve import Config
from blackbird.errors import RecorderFailed, RecorderRefused
from blackbird.home import Home
from blackbird.recorder import process, program
from blackbird.recorder.alive import is_alive
from tests.blackbird.recorder.twin import RUNNING, home_in, listening, scripted

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the recorder is not built on Windows")

READY = """echo '{"ready":true,"listen":"127.0.0.1:5","pid":'$$'}'"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return home_in(tmp_path / "home")


def settings(home: Home, listen: str = "127.0.0.1:0") -> Config:
    return load(home, [("--listen", "proxy.listen", listen)], variables={}, folder=home.path)


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> Path:
    """A program in place of the recorder."""
    path = folder / program.PROGRAM
    path.write_text(f"#!/bin/bash\n{script}\n", encoding="utf-8")
    path.chmod(0o700)
    monkeypatch.setattr(program, "find", lambda: path)
    return path


def test_up_starts_it_with_its_configuration_and_waits_for_ready(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tmp_path, f'echo "$@" > {tmp_path}/arguments; pwd > {tmp_path}/folder; cat; {READY}')
    started = process.up(home, settings(home))
    assert (started.listen, started.was_running) == ("127.0.0.1:5", False)
    os.waitpid(started.pid, 0)
    assert (tmp_path / "arguments").read_text("utf-8") == f"serve --config {home.recorder_json}\n"
    assert (tmp_path / "folder").read_text("utf-8") == f"{home.path}\n"
    assert json.loads(home.recorder_json.read_bytes())["listen"] == "127.0.0.1:0"
    assert stat.S_IMODE(home.log.stat().st_mode) == 0o600


def test_up_leaves_a_recorder_that_runs_alone(home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, tmp_path, "exit 9")
    with listening(home.control_socket, scripted()[0]):
        assert process.up(home, settings(home)) == ("127.0.0.1:4141", 4001, True)
    assert not home.recorder_json.exists()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'the disk is full' >&2; exit 3", "the recorder did not start: the disk is full"),
        ("exit 3", "the recorder did not start: it ended with 3 and said nothing"),
        ("echo nonsense", "the recorder did not start: it said `nonsense` and not that it is ready"),
    ],
)
def test_what_keeps_it_from_starting_is_told(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    install(monkeypatch, tmp_path, script)
    with pytest.raises(RecorderFailed) as caught:
        process.up(home, settings(home))
    assert caught.value.message == reason
    assert caught.value.remedy == "blackbird up --foreground shows all it says"


def test_what_earlier_ones_said_is_not_told_again(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.log.write_text('{"level":"warning"}\nAn old complaint.\n', encoding="utf-8")
    install(monkeypatch, tmp_path, """echo '{"level":"info"}' >&2; echo 'A new one.' >&2; exit 3""")
    with pytest.raises(RecorderFailed, match=r"^the recorder did not start: A new one\.$"):
        process.up(home, settings(home))
    assert home.log.read_text("utf-8").splitlines() == [
        '{"level":"warning"}',
        "An old complaint.",
        '{"level":"info"}',
        "A new one.",
    ]


def test_a_long_log_is_put_aside(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_LONGEST_LOG", 10)
    home.log.write_bytes(b"x" * 11)
    install(monkeypatch, tmp_path, f"echo hello >&2; {READY}")
    os.waitpid(process.up(home, settings(home)).pid, 0)
    assert home.log.read_bytes() == b"hello\n"
    assert home.log.with_name("recorder.log.old").read_bytes() == b"x" * 11


def test_one_that_never_gets_ready_is_ended(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "START_SECONDS", 0.2)
    install(monkeypatch, tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 100")
    with pytest.raises(RecorderFailed, match=r"did not start: it was not ready within 0\.2 s"):
        process.up(home, settings(home))
    pids = tmp_path / "pid"
    assert not pids.exists() or not is_alive(int(pids.read_text("utf-8")))


def test_a_taken_port_is_named(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path, "echo 'Address already in use (os error 98)' >&2; exit 3")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        listen = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(RecorderFailed) as caught:
            process.up(home, settings(home, listen))
    assert caught.value.message == f"{listen} is in use by another program"
    assert "blackbird up --port 4151" in caught.value.remedy


def sleeper(name: str, before: str = "") -> subprocess.Popen[bytes]:
    """A process that goes by that name and ends when it is asked to, unless something else was said before."""
    return subprocess.Popen(["/bin/bash", "-c", f"{before} exec -a {name} sleep 100"])


def wait_for_name(pid: int, name: str) -> None:
    while name.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:1]:
        pass


needs_proc = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are named by /proc here")


@needs_proc
def test_down_ends_a_recorder_that_does_not_answer(home: Home) -> None:
    with sleeper(program.PROGRAM) as recorder:
        wait_for_name(recorder.pid, program.PROGRAM)
        home.pid_file.write_text(f"{recorder.pid}\n", encoding="ascii")
        assert process.down(home) == recorder.pid
    assert not home.pid_file.exists()


@needs_proc
def test_down_asks_first_and_waits(home: Home) -> None:
    with sleeper(program.PROGRAM) as recorder:

        def answer(op: dict[str, Any]) -> bytes:
            if op["op"] == "stop":
                recorder.terminate()
            return json.dumps({**RUNNING, "supervisor_pid": recorder.pid}).encode() + b"\n"

        with listening(home.control_socket, answer):
            assert process.down(home) == recorder.pid


@needs_proc
def test_down_tells_of_one_that_does_not_stop(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_TERM_SECONDS", 0.1)
    home.recorder_json.write_text('{"drain_seconds": 0}', encoding="utf-8")
    with sleeper(program.PROGRAM, "trap '' TERM;") as recorder:
        wait_for_name(recorder.pid, program.PROGRAM)
        home.pid_file.write_text(str(recorder.pid), encoding="ascii")
        with pytest.raises(RecorderFailed, match=rf"the recorder \(process {recorder.pid}\) does not stop"):
            process.down(home)
        recorder.kill()


@needs_proc
def test_down_never_ends_what_is_no_recorder(home: Home) -> None:
    with sleeper("somebody-else") as other:
        wait_for_name(other.pid, "somebody-else")
        home.pid_file.write_text(str(other.pid), encoding="ascii")
        assert process.down(home) is None
        assert other.poll() is None
        other.kill()
    assert not home.pid_file.exists()


@needs_proc
def test_up_does_not_start_a_second_one_beside_one_that_does_not_answer(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tmp_path, READY)
    with sleeper(program.PROGRAM) as recorder:
        wait_for_name(recorder.pid, program.PROGRAM)
        home.pid_file.write_text(str(recorder.pid), encoding="ascii")
        with pytest.raises(RecorderFailed, match=f"process {recorder.pid}.* is there and does not answer"):
            process.up(home, settings(home))
        recorder.kill()


@pytest.mark.parametrize("left", ["999999999", "0x", ""])
def test_down_clears_away_what_was_left_behind(home: Home, left: str) -> None:
    home.pid_file.write_text(left, encoding="ascii")
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(home.control_socket))
    assert process.down(home) is None
    assert list(home.run.iterdir()) == []


def test_a_process_that_ended_and_was_not_collected_is_not_alive() -> None:
    ended = subprocess.Popen(["/bin/true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(ended.pid)
    ended.wait()


def test_maintenance_is_done_by_the_recorder_that_runs(home: Home) -> None:
    answer, asked = scripted({"ok": True, "sealed": []})
    with listening(home.control_socket, answer):
        assert process.maintain(home, settings(home), {"op": "seal"}) == {"sealed": []}
    assert asked == [{"op": "seal"}]


def test_maintenance_without_one_starts_the_program_for_it(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(
        monkeypatch, tmp_path, f"""printf '%s\\n' "$@" > {tmp_path}/arguments; echo '{{"ok":true,"sealed":[]}}'"""
    )
    assert process.maintain(home, settings(home), {"op": "pin", "session": "a"}) == {"sealed": []}
    said = (tmp_path / "arguments").read_text("utf-8").splitlines()
    assert said == ["maintain", "--config", str(home.recorder_json), "pin", '{"session":"a"}']


def test_a_refused_maintenance_keeps_its_words(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = '{"ok":false,"code":"busy","message":"in use","remedy":"wait"}'
    install(monkeypatch, tmp_path, f"echo '{refusal}'; exit 3")
    with pytest.raises(RecorderRefused) as caught:
        process.maintain(home, settings(home), {"op": "seal"})
    assert (caught.value.code, caught.value.message, caught.value.remedy) == ("busy", "in use", "wait")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'the trace is locked by process 7' >&2; exit 3", "seal: the trace is locked by process 7"),
        ("exit 1", "seal: the recorder ended with 1 and said nothing"),
        ("echo '{}'", "seal: the recorder ended with 0 and said nothing"),
        ("""echo '{"ok":true}'; exit 1""", "seal: the recorder ended with 1 and said nothing"),
    ],
)
def test_a_failed_maintenance_is_told(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    install(monkeypatch, tmp_path, script)
    with pytest.raises(RecorderFailed) as caught:
        process.maintain(home, settings(home), {"op": "seal"})
    assert caught.value.message == reason
