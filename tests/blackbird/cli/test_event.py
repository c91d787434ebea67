"""`blackbird event`, and the library behind it: with a recorder and without."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from blackbird.provider import Provider
from blackbird.recorder import control, events
from blackbird.recorder.events import ToolEvent
from blackbird.timeline import gather
from blackbird.trace.folder import Trace
from tests.blackbird.cli.command import Place, place
from tests.blackbird.launch.cockpit import Cockpit
from tests.blackbird.recorder.twin import listening, scripted
from tests.docs.test_generated import Documented

TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    for name in ("BLACKBIRD_SESSION", "BLACKBIRD_TASK", "BLACKBIRD_RUN"):
        monkeypatch.delenv(name, raising=False)
    return place(tmp_path, monkeypatch, capsys)


@pytest.fixture
def alone() -> Iterator[Cockpit]:
    with tempfile.TemporaryDirectory(prefix="bb") as folder, Provider() as provider:
        cockpit = Cockpit(Path(folder), provider)
        yield cockpit
        cockpit.down()


@pytest.mark.requirement("TOOLEV-01")
def test_what_is_given_is_what_is_told(here: Place, tmp_path: Path) -> None:
    (tmp_path / "a.diff").write_text("+x\n")
    answer, asked = scripted({"ok": True, "sequence": 4})
    words = [
        "--command",
        "make",
        "--exit-code",
        "2",
        "--duration-ms",
        "12",
        "--read",
        "a",
        "--wrote",
        "b",
        "--wrote",
        "c",
    ]
    more = ["--input", '{"to": "harbour"}', "--patch", "a.diff", "--session", "s1", "--error", "no", "--output", "x"]
    with listening(here.home.control_socket, answer):
        done = here.run("event", "deploy", *words, *more, "--json")
    assert done.code == 0
    assert Documented().faults(done.json, "tool-event/1", "tool-event/1") == []
    assert done.json["kept"] == "trace"
    (order,) = asked
    told = json.loads(order["payload"])
    assert (order["op"], order["type"], len(told.pop("id")), told.pop("at") > 0) == ("append", "tool.event", 32, True)
    assert told == {
        "tool": "deploy",
        "event": "whole",
        "input": {"to": "harbour"},
        "command": "make",
        "cwd": str(tmp_path),
        "exit_code": 2,
        "duration_ms": 12.0,
        "error": "no",
        "output": "x",
        "reads": ["a"],
        "writes": ["b", "c"],
        "patch": "+x\n",
        "session": "s1",
    }


def test_it_belongs_to_the_run_that_it_is_started_in(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLACKBIRD_RUN", "run_1")
    monkeypatch.setenv("BLACKBIRD_SESSION", "s1")
    answer, asked = scripted({"ok": True, "sequence": 4})
    with listening(here.home.control_socket, answer):
        here.run("event", "deploy", "--when", "start")
    told = json.loads(asked[0]["payload"])
    assert (told["run"], told["session"], told["event"]) == ("run_1", "s1", "start")


@pytest.mark.parametrize(
    ("words", "code"),
    [(["--input", "[]"], 2), (["--input", "no"], 2), (["--run", "a b"], 2), (["--patch", "gone"], 3)],
)
def test_what_cannot_be_told(here: Place, words: list[str], code: int) -> None:
    assert here.run("event", "deploy", *words).code == code


@pytest.mark.requirement("TOOLEV-05")
def test_without_a_recorder_it_waits_and_is_redacted(here: Place) -> None:
    done = here.run("event", "deploy", "--output", f"is {TOKEN}")
    assert (done.code, done.out) == (0, "")
    assert "it waits in the spool" in done.err
    (line,) = (here.home.path / "spool.jsonl").read_bytes().splitlines()
    assert msgspec.json.decode(line)["output"] == "is [redacted:github_token]"


@pytest.mark.requirement("TOOLEV-02")
def test_a_harness_has_a_timeline_of_its_own(alone: Cockpit) -> None:
    alone.up()
    start = ToolEvent(tool="test", event="start", call_id="t1", session="s9", command="make")
    end = ToolEvent(tool="test", event="end", call_id="t1", session="s9", exit_code=1)
    assert [events.tell(event, alone.home, {}) for event in (start, end)] == ["trace", "trace"]
    assert control.status(alone.home) is not None
    alone.down()
    items = gather.load(Trace(alone.home.trace), "s9").items
    assert [type(item).__name__ for item in items] == ["Call", "Result"]
