"""Real clients with the memory: the pack in the bytes they sent, the tool's answer, and what is not done again."""

import collections
import functools
import re
from pathlib import Path

import pytest

from blackbird.canon.model import Call, Result
from blackbird.provider.jobs import LOOK_UP, REVIEW
from blackbird.timeline import gather
from blackbird.timeline.timeline import Timeline
from blackbird.trace.folder import Trace
from blackbird.trace.ids import request_name
from tests.agents.harness import ledger, tasks
from tests.agents.harness.cases import PROMPT, cases
from tests.agents.harness.tasks import Done, Task
from tests.agents.test_flights import FLIGHTS
from tests.recorder import trace_view

#: What the user does first, for clients that can be told nothing for one child.
BEFORE = {"gemini": [["install", "gemini", "--yes"]]}
CLIENTS = ("claude", "codex-http", "gemini", "opencode", "qwen", "pi", "copilot")
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
#: Those whose model has the tools at hand, or is scripted to find them.
WITH_TOOLS = ("claude", "codex-http", "gemini", "opencode", "copilot")
each_client = pytest.mark.parametrize("name", CLIENTS)


def folder(name: str) -> Path:
    return FLIGHTS / f"{name}-memory"


@functools.cache
def flown(name: str) -> list[Done]:
    """Four tasks of one session; one flight serves all tests."""
    return tasks.fly(cases()[name], TASKS, folder(name), BEFORE.get(cases()[name].agent, ()))


@functools.cache
def exchanges(name: str) -> list[trace_view.Exchange]:
    return [each for each in trace_view.exchanges(folder(name) / "bb" / "trace") if each.start]


def sent(name: str, task: int) -> list[bytes]:
    """The bodies of what a client sent to the model in a task, as the trace has them."""
    run = flown(name)[task].told["run"]
    return [each.request for each in exchanges(name) if each.start["run"] == run]


@functools.cache
def timeline(name: str) -> Timeline:
    return gather.load(Trace(folder(name) / "bb" / "trace"))


def called(name: str, *, memory: bool) -> dict[str, list[tuple[str, str]]]:
    """The calls of each task, of the memory's tools or of all others, each with what came of it."""
    results = {item.call_id: item.result.text for item in timeline(name).items if isinstance(item, Result)}
    found: dict[str, list[tuple[str, str]]] = collections.defaultdict(list)
    for item in timeline(name).items:
        if isinstance(item, Call) and ("memory_" in item.call.name) is memory:
            found[_task(name, item)].append((item.call.name, results.get(item.call_id, "")))
    return found


def _task(name: str, item: Call) -> str:
    requests: dict[str, str] = {request_name(each.id): each.start["task"] for each in exchanges(name)}
    return next(requests[pointer.source] for pointer in item.evidence if pointer.source in requests)


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


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_the_memory_tool_answers_what_the_model_asks(name: str) -> None:
    asked = called(name, memory=True)
    assert list(asked) == ["task2"]
    search, get = (answer for _, answer in asked["task2"])
    assert DECIDED.decode() in search
    assert DECIDED.decode() in get


@each_client
@pytest.mark.requirement("CORE-08")
def test_what_the_pack_names_is_not_read_and_not_run_again(name: str) -> None:
    """The model is scripted: it looks at no file and runs no command that its pack names, and at all of them without.

    So this shows that the pack reaches the model and names what the task before has read and run; how much a real
    model makes of that, it does not show.
    """
    done = called(name, memory=False)
    counts = {"with": len(done["task3"]), "without": len(done["task4"])}
    ledger.enter(f"{name}/memory", counts)
    assert counts == {"with": 0, "without": 3}
