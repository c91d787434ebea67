"""What real clients say by their hooks, beside what git and the shell say of the same repair."""

import dataclasses
import functools
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from blackbird.canon.model import Call, Result, Side
from blackbird.provider.jobs import BROKEN, FIXED, TEST_COMMAND
from blackbird.recorder import program
from blackbird.timeline import evidence, gather
from blackbird.timeline.timeline import Timeline
from blackbird.trace.folder import Trace
from tests.agents.harness.cases import Case, cases
from tests.agents.harness.flight import Flight, fly
from tests.agents.test_flights import FLIGHTS

#: The clients that tell, and whether they edit by a tool of their own, and whether their exit codes are known.
CLIENTS = {
    "claude": (True, True),
    "codex-http": (False, True),
    # Its model writes code that calls tools; neither that nor its hook says how a command ended.
    "codex-websocket": (False, False),
    "gemini": (True, True),
    "opencode": (True, True),
}
each_client = pytest.mark.parametrize("name", CLIENTS)


def hooked(case: Case) -> Case:
    """Gemini CLI has no hooks that hold for one child: its user sets them up, as the page on clients tells."""
    if case.agent != "gemini":
        return case
    entry = {"matcher": "*", "hooks": [{"type": "command", "command": f"{program.find()} hook --client gemini"}]}
    path = ".gemini/settings.json"
    settings = json.loads(case.files[path]) | {"hooks": {"BeforeTool": [entry], "AfterTool": [entry]}}
    return dataclasses.replace(case, files={**case.files, path: json.dumps(settings)})


@functools.cache
def flown(name: str) -> Flight:
    """One flight of a client; its files are in the repository before it starts."""
    return fly(hooked(cases()[name]), "forward", FLIGHTS / f"{name}-tools", is_committed=True)


@functools.cache
def timeline(name: str) -> Timeline:
    return gather.load(trace(name))


def trace(name: str) -> Trace:
    return Trace(flown(name).folder / "bb" / "trace")


def told(name: str) -> Iterator[tuple[Call, Result]]:
    """The calls that a hook told of, with their results."""
    results = {item.call_id: item for item in timeline(name).items if isinstance(item, Result)}
    for item in timeline(name).items:
        if isinstance(item, Call) and any(pointer.side is Side.EVENT for pointer in item.evidence):
            yield item, results[item.call_id]


def git(name: str, *words: str) -> list[str]:
    work = flown(name).folder / "work"
    done = subprocess.run(["git", *words], cwd=work, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@each_client
def test_the_repair_is_done_and_every_tool_is_told_of(name: str) -> None:
    flight = flown(name)
    assert (flight.exit_code, flight.repaired, flight.test_passes, flight.leaks) == (0, True, True, [])
    assert len(list(told(name))) == 5


@each_client
@pytest.mark.requirement("TOOLEV-01")
def test_commands_ended_as_the_shell_says(name: str) -> None:
    _, has_codes = CLIENTS[name]
    details = [result.result.details for _, result in told(name)]
    tests = [each.get("exit_code") for each in details if TEST_COMMAND in each.get("command", "")]
    work = flown(name).folder / "work"
    mended = subprocess.run(TEST_COMMAND.split(), cwd=work, capture_output=True, check=False).returncode
    subprocess.run(["git", "stash", "--quiet"], cwd=work, check=True)
    broken = subprocess.run(TEST_COMMAND.split(), cwd=work, capture_output=True, check=False).returncode
    subprocess.run(["git", "stash", "pop", "--quiet"], cwd=work, check=True)
    assert (broken, mended) == (1, 0)
    assert tests == ([broken, mended] if has_codes else [None, None])


@each_client
@pytest.mark.requirement("TOOLEV-03")
def test_files_changed_as_git_says(name: str) -> None:
    edits, _ = CLIENTS[name]
    changed = git(name, "diff", "--name-only")
    counted = [line.split("\t") for line in git(name, "diff", "--numstat")]
    (stated,) = [each.data for each in timeline(name).stated if each.event == "run.changes"]
    assert [
        [str(file["added"]), str(file["removed"]), file["path"]]
        for file in stated["files"]
        if "untracked" not in file
    ] == counted
    assert stated["before"]["sha"] == stated["after"]["sha"] == git(name, "rev-parse", "HEAD")[0]
    details = [result.result.details for _, result in told(name)]
    written = {Path(path).name for each in details for path in each.get("writes", [])}
    assert written == (set(changed) if edits else set())
    patches = [each["patch"].splitlines() for each in details if "patch" in each]
    assert len(patches) == (1 if edits else 0)
    for lines in patches:
        assert [line for line in lines if line.startswith(("-", "+")) and "return" in line] == [
            f"-    {BROKEN}",
            f"+    {FIXED}",
        ]


@each_client
@pytest.mark.requirement("TOOLEV-02")
def test_what_was_told_is_found_at_its_place(name: str) -> None:
    for call, result in told(name):
        for pointer in (*call.evidence, *result.evidence):
            there = evidence.resolve(trace(name), pointer)
            assert there is not None
            assert len(there) == pointer.end - pointer.start
