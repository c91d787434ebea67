"""Many questions over one connection, and what is said when nobody answers."""

from pathlib import Path

import pytest

from blackbird.config.load import load
from blackbird.errors import RecorderFailed, RecorderRefused
from blackbird.recorder import program
from blackbird.recorder.feed import Feed
from tests.blackbird.recorder.twin import home_in, listening, scripted


def test_each_question_is_answered_in_turn(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    answer, asked = scripted({"ok": True, "sequence": 1}, {"ok": True, "sequence": 2})
    with listening(home.control_socket, answer), Feed(home, load(home)) as feed:
        assert feed.send({"op": "event", "event": "a"}) == {"sequence": 1}
        assert feed.send({"op": "event", "event": "b"}) == {"sequence": 2}
    assert [op["event"] for op in asked] == ["a", "b"]


def test_a_refusal_has_the_recorders_own_words(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    answer, _ = scripted({"ok": False, "code": "bad_value", "message": "no lines", "remedy": "give some"})
    with (
        listening(home.control_socket, answer),
        Feed(home, load(home)) as feed,
        pytest.raises(RecorderRefused) as caught,
    ):
        feed.send({"op": "import"})
    assert (caught.value.code, caught.value.message) == ("bad_value", "no lines")


def test_a_recorder_that_breaks_off_is_said_with_what_to_do(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    with (
        listening(home.control_socket, lambda _: b""),
        Feed(home, load(home)) as feed,
        pytest.raises(RecorderFailed) as caught,
    ):
        feed.send({"op": "import"})
    assert caught.value.message == "the recorder broke off: it gave no answer"
    assert "goes on from there" in caught.value.remedy


def test_nothing_is_started_before_something_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "find", lambda: pytest.fail("it was looked for"))
    home = home_in(tmp_path)
    with Feed(home, load(home)):
        assert not home.recorder_json.exists()


def test_what_a_process_says_before_it_gives_up_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = tmp_path / "recorder"
    stand_in.write_text('#!/bin/sh\necho "{}" >&2\necho "the trace is in use by another process." >&2\nexit 3\n')
    stand_in.chmod(0o700)
    monkeypatch.setattr(program, "find", lambda: stand_in)
    home = home_in(tmp_path / "home")
    with Feed(home, load(home)) as feed, pytest.raises(RecorderFailed) as caught:
        feed.send({"op": "import"})
    assert caught.value.message.endswith("broke off: the trace is in use by another process.")
