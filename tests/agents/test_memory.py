"""Real clients with the memory: the pack in the bytes they sent, the tool's answer, and what is not done again."""

import functools
import re
from pathlib import Path

import pytest

from blackbird.canon.model import Call, Result
from blackbird.provider.jobs import LOOK_UP, REVIEW, TEST_COMMAND
from blackbird.timeline import gather
from blackbird.timeline.timeline import Timeline
from blackbird.trace.folder import Trace
from tests.agents.harness import ledger, tasks
from tests.agents.harness.cases import PROMPT, cases
from tests.agents.harness.tasks import Done, Task
from tests.agents.test_flights import FLIGHTS
from tests.recorder import trace_view

#: What the user does first, for clients that can be told nothing for one child.
BEFORE = {"gemini": [["install", "gemini", "--yes"]]}
CLIENTS = ("claude", "codex-http", "gemini", "opencode")
TASKS = (
    Task(PROMPT),
    Task(f"{LOOK_UP.cue} about it?"),
    Task(f"{REVIEW.cue}?"),
    Task(f"{REVIEW.cue}?", ("--no-pack",)),
)
REPAIRED, LOOKED_UP, INFORMED, UNINFORMED = range(len(TASKS))
PACK = re.compile(rb"<blackbird-context>.*?</blackbird-context>", re.DOTALL)
#: What the first task decided, as a pack says it again.
DECIDED = b"add() uses plain integer addition"
each_client = pytest.mark.parametrize("name", CLIENTS)


def folder(name: str) -> Path:
    return FLIGHTS / f"{name}-memory"


@functools.cache
def flown(name: str) -> list[Done]:
    """Four tasks of one session; one flight serves all tests."""
    return tasks.fly(cases()[name], TASKS, folder(name), BEFORE.get(cases()[name].agent, ()))


def sent(name: str, task: int) -> list[bytes]:
    """The bodies of what a client sent to the model in a task, as the trace has them."""
    run = flown(name)[task].told["run"]
    found = trace_view.exchanges(folder(name) / "bb" / "trace")
    return [each.request for each in found if each.start["run"] == run]


@functools.cache
def timeline(name: str) -> Timeline:
    return gather.load(Trace(folder(name) / "bb" / "trace"))


@each_client
def test_every_task_is_done(name: str) -> None:
    assert [done.exit_code for done in flown(name)] == [0, 0, 0, 0], [done.stderr[-2000:] for done in flown(name)]


@each_client
@pytest.mark.requirement("PACK-13")
@pytest.mark.requirement("HARNESS-04")
def test_the_pack_is_in_the_bytes_that_the_client_sent(name: str) -> None:
    for task in (LOOKED_UP, INFORMED):
        packs = [PACK.search(body.replace(b"\\n", b"\n")) for body in sent(name, task)]
        assert any(pack is not None and DECIDED in pack[0] for pack in packs), flown(name)[task].stderr
        assert flown(name)[task].told["pack"]["tokens"] > 0
    assert flown(name)[REPAIRED].told["pack"] is None
    assert not any(PACK.search(body) for body in sent(name, REPAIRED))
