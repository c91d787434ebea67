"""What is said of a session, whether or not a recorder runs."""

import threading

import pytest

from blackbird.config.load import load
from blackbird.errors import RecorderRefused
from blackbird.harness.stating import Statements
from blackbird.home import Home
from blackbird.recorder import control, process
from blackbird.sessions.survey import survey
from blackbird.trace.folder import Trace


def goals(home: Home) -> dict[str | None, str | None]:
    return {row.filing.session: row.goal for row in survey(Trace(home.trace)).rows.rows()}


@pytest.mark.parametrize("is_up", [False, True])
def test_what_is_said_is_on_the_disk_when_the_block_ends(home: Home, is_up: bool) -> None:
    config = load(home)
    if is_up:
        process.up(home, config)
    with Statements(home, config, "harbour") as told:
        told.state("goal", text="the lamps burn")
        last = told.state("goal", text="the crane lifts again", why=None)
    synced = Trace(home.trace).synced()
    assert synced is not None
    assert synced.sequence >= last
    assert goals(home) == {"harbour": "the crane lifts again"}
    assert (control.status(home) is not None) is is_up


def test_two_that_need_the_trace_at_once_wait_for_each_other(home: Home) -> None:
    config = load(home)

    def other() -> None:
        with Statements(home, config, "quay") as told:
            told.state("goal", text="the other goal")

    thread = threading.Thread(target=other)
    with Statements(home, config, "harbour") as told:
        told.state("goal", text="the goal")
        thread.start()
        thread.join(0.5)
        assert thread.is_alive()
    thread.join(20)
    assert goals(home) == {"harbour": "the goal", "quay": "the other goal"}


def test_what_the_recorder_refuses_is_told(home: Home) -> None:
    with pytest.raises(RecorderRefused, match="is no id"), Statements(home, load(home), "no id") as told:
        told.state("goal", text="the goal")
