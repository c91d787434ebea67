"""The demo from start to stop, with the real recorder."""

import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from blackbird.demo import command, tour
from blackbird.demo.agent import API_KEY
from blackbird.demo.workshop import PLANTED
from blackbird.exchange.catalog import load
from blackbird.exchange.exchange import Exchange
from blackbird.home import Home
from blackbird.recorder import control
from blackbird.trace import ids
from blackbird.trace.folder import Trace
from blackbox.errors import UsageError


@pytest.fixture
def home() -> Iterator[Home]:
    with tempfile.TemporaryDirectory(prefix="bb") as folder:
        yield Home(Path(folder), Path(folder) / "config.toml")


def tellers(steps: list[str], told: list[Exchange]) -> tour.Tellers:
    return tour.Tellers(steps.append, lambda _: None, lambda _: None, told.append)


def test_everything_is_recorded_whole_and_without_secrets(home: Home) -> None:
    steps: list[str] = []
    told: list[Exchange] = []
    seen = tour.run(home, tellers(steps, told))
    assert seen.is_good
    assert told == seen.requests
    assert [exchange.status for exchange in told] == [200, 200, 529, *[200] * 12]
    assert [each.task for each in seen.flown] == ["repair", "extend", "cover"]
    for each in seen.flown:
        assert {(one.session, one.task, one.run) for one in each.requests} == {("demo", each.task, each.run)}
    assert {exchange.attribution for exchange in told} == {"run"}
    assert steps[-1] == "Agent, recorder and provider have stopped"
    assert control.status(home) is None
    trace = Trace(home.trace)
    identifier = ids.from_text(told[1].request_id.removeprefix("req_"))
    assert identifier is not None
    second = load(trace, identifier)
    assert second is not None
    assert b"deploy token: [redacted:github_token]" in second.request_body.data
    assert b"message_stop" in second.response_body.data
    for path in home.path.rglob("*"):
        if path.is_file():
            assert API_KEY.encode() not in path.read_bytes()
            assert PLANTED.encode() not in path.read_bytes()


def test_each_task_is_told_of_those_before_it(home: Home) -> None:
    seen = tour.run(home, tellers([], []))
    first, second, third = (
        {section.name: " ".join(line.text for line in section.lines) for section in each.pack.sections}
        for each in seen.flown
    )
    assert list(first) == ["goal"]
    assert "Use integer cents for amounts." in second["decisions"]
    assert "Use decimal.Decimal for amounts instead of integer cents." in third["decisions"]
    assert "Use integer cents" not in third["decisions"]
    assert third["constraints"] == second["constraints"]
    assert seen.found.cards[0].title == "Use decimal.Decimal for amounts instead of integer cents."
    assert [piece.quote for piece in seen.evidence] == ["Use decimal.Decimal for amounts instead of integer cents."]


def test_the_command_says_what_to_type_next(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    command.demo(home.path, pace="0")
    said = capsys.readouterr().out
    assert said.count("  recorded  req_") == 15
    assert "The trace is whole" in said
    assert "  found     art_" in said
    folder = Path(sysconfig.get_path("scripts"))
    here = f"BLACKBIRD_HOME={home.path} blackbird"
    shown = [line.strip() for line in said.partition("Look at it:")[2].splitlines() if line.startswith("    ")]
    assert shown.pop(4).startswith(f"{here} evidence art_")
    assert shown == [
        f". {folder / 'activate'}",
        f"{here} show",
        f"{here} task list demo",
        f"{here} mem search decimal --session demo",
        f"{here} pack --session demo --explain",
        f"{here} export",
        f"{here} trace verify",
        "blackbird run -- claude",
    ]


def test_a_command_that_is_found_needs_no_activation(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", sysconfig.get_path("scripts"))
    command.demo(home.path, pace="0")
    assert "activate" not in capsys.readouterr().out


def test_a_leak_is_told_and_fails(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tour, "_SECRETS", ("blackbird",))
    with pytest.raises(typer.Exit):
        command.demo(home.path, pace="0")
    assert "A planted secret is on the disk" in capsys.readouterr().out


def test_a_pace_that_is_none_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="'soon' is no duration"):
        command.demo(pace="soon")
