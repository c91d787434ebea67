"""The agent really repairs the program, and stays in its workshop."""

from pathlib import Path

import pytest

from blackbird.demo.agent import Agent
from blackbird.demo.workshop import PLANTED, Workshop
from blackbird.errors import RecorderFailed
from blackbird.provider import Manner, Provider
from blackbird.provider.jobs import DONE, TEST_COMMAND


def workshop(folder: Path) -> Workshop:
    made = Workshop(folder)
    made.furnish()
    return made


def test_the_job_is_done_in_five_turns(tmp_path: Path) -> None:
    place = workshop(tmp_path)
    assert place.use("run_command", {"command": TEST_COMMAND}).startswith("exit code 1\n")
    said: list[str] = []
    with Provider() as provider:
        agent = Agent(provider.url, place, said.append)
        assert agent.work("mend it") == DONE
        assert agent.requests == len(provider.received) == 5
    assert "return a + b" in (tmp_path / "calc.py").read_text()
    assert place.use("run_command", {"command": TEST_COMMAND}).startswith("exit code 0\n")
    assert said[0] == "Step 1: read calc.py."
    assert said[-1] == "The test passes now."
    assert PLANTED.encode() in provider.received[1].body


def test_a_busy_provider_is_asked_again(tmp_path: Path) -> None:
    said: list[str] = []
    with Provider(turns={1: Manner(status=529, retry_after=0)}) as provider:
        agent = Agent(provider.url, workshop(tmp_path), said.append)
        assert agent.work("mend it") == DONE
        assert agent.requests == 6
        assert provider.received[0].body == provider.received[1].body
    assert said[0] == "  the provider is busy; asking again in 0 s"


@pytest.mark.parametrize(("status", "words"), [(529, "busy 3 times"), (401, "was 401")])
def test_a_provider_that_will_not_ends_the_job(tmp_path: Path, status: int, words: str) -> None:
    with Provider(manner=Manner(status=status, retry_after=0)) as provider:
        agent = Agent(provider.url, workshop(tmp_path), lambda _: None)
        with pytest.raises(RecorderFailed, match=words):
            agent.work("mend it")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_file", {"path": "../secret"}),
        ("read_file", {"path": "/etc/passwd"}),
        ("edit_file", {"path": "calc.py", "old": "not there", "new": "x"}),
        ("edit_file", {"path": "calc.py", "old": "", "new": "x"}),
        ("run_command", {"command": "rm -rf ."}),
        ("delete_file", {"path": "calc.py"}),
        ("read_file", {}),
    ],
)
def test_what_is_not_allowed_is_answered_with_an_error(tmp_path: Path, name: str, arguments: dict[str, str]) -> None:
    place = workshop(tmp_path)
    before = (tmp_path / "calc.py").read_text()
    assert place.use(name, arguments).startswith("error: ")
    assert (tmp_path / "calc.py").read_text() == before
