"""The conversation with a running recorder."""

import json
import socket
import sys
import threading
from pathlib import Path

import pytest

from blackbird.errors import RecorderDown, RecorderFailed, RecorderRefused
from blackbird.recorder import control
from tests.blackbird.recorder.twin import RUNNING, home_in, listening, scripted

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the recorder is not built on Windows")


def test_an_answer_comes_back_without_its_ok(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    answer, asked = scripted({"ok": True, "sealed": []})
    with listening(home.control_socket, answer):
        assert control.request(home, {"op": "seal"}) == {"sealed": []}
        assert asked == [{"op": "seal"}]


def test_the_status_of_a_recorder_that_runs(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    with listening(home.control_socket, scripted()[0]):
        assert control.status(home) == {key: value for key, value in RUNNING.items() if key != "ok"}


def test_without_a_socket_there_is_no_recorder(tmp_path: Path) -> None:
    assert control.status(home_in(tmp_path)) is None
    with pytest.raises(RecorderDown) as caught:
        control.request(home_in(tmp_path / "more"), {"op": "seal"})
    assert caught.value.message == f"no recorder runs for {tmp_path / 'more'}"
    assert caught.value.remedy == "blackbird up starts it"


def test_without_a_home_there_is_no_recorder(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    home.run.rmdir()
    assert control.status(home) is None


def test_a_socket_that_was_left_behind_is_no_recorder(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(home.control_socket))
    assert control.status(home) is None


def test_a_refusal_keeps_its_words(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    said = {"ok": False, "code": "busy", "message": "the trace is busy", "remedy": "wait"}
    with listening(home.control_socket, scripted(said)[0]), pytest.raises(RecorderRefused) as caught:
        control.request(home, {"op": "seal"})
    assert (caught.value.code, caught.value.message, caught.value.remedy) == ("busy", "the trace is busy", "wait")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", "closed the connection in the middle of its answer"),
        (b'{"ok":true', "closed the connection in the middle of its answer"),
        (b"HTTP/1.1 400 Bad Request\r\n", "what answered is no recorder"),
        (b"[]\n", "what answered is no recorder"),
        (b"\xff\n", "what answered is no recorder"),
        (b"{}\n", "says neither yes nor no"),
        (b'{"ok":1}\n', "says neither yes nor no"),
        (b'{"ok":false,"code":7}\n', "what answered is no recorder"),
    ],
)
def test_what_is_no_answer_is_told(tmp_path: Path, answer: bytes, reason: str) -> None:
    home = home_in(tmp_path)
    with listening(home.control_socket, lambda _: answer), pytest.raises(RecorderFailed, match=reason):
        control.request(home, {"op": "status"})


def test_silence_ends(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    release = threading.Event()

    def wait(_: object) -> bytes:
        release.wait()
        return b""

    with listening(home.control_socket, wait):
        with pytest.raises(RecorderFailed, match=r"did not answer `status` within 0\.05 s"):
            control.request(home, {"op": "status"}, timeout=0.05)
        release.set()


def test_a_long_answer_arrives_whole(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    body = {"ok": True, "text": "x" * 1_000_000}
    with listening(home.control_socket, scripted(body)[0]):
        assert control.request(home, {"op": "seal"})["text"] == body["text"]


def test_the_socket_is_where_the_recorder_was_told_to_listen(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    home.recorder_json.write_text(json.dumps({"control_socket": str(elsewhere / "c")}), encoding="utf-8")
    with listening(elsewhere / "c", scripted()[0]):
        assert control.status(home) is not None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"control_socket": 3}'])
def test_a_broken_configuration_is_passed_over(tmp_path: Path, text: str) -> None:
    home = home_in(tmp_path)
    home.recorder_json.write_text(text, encoding="utf-8")
    assert control.socket_path(home) == home.control_socket


@pytest.mark.requirement("SEC-01")
def test_a_folder_that_others_can_write_to_is_not_trusted(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    home.run.chmod(0o770)
    with (
        listening(home.control_socket, scripted()[0]),
        pytest.raises(RecorderFailed, match=r"run is not a folder of yours alone"),
    ):
        control.status(home)


def test_a_link_in_place_of_the_folder_is_not_trusted(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    link = tmp_path / "link"
    link.symlink_to(home.run)
    with pytest.raises(RecorderFailed, match="is not a folder of yours alone"):
        control.check_folder(link)
