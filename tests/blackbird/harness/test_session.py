"""A session as a harness works on it, with the real recorder and a scripted provider."""

import json
import os
import runpy
import socket
import sys
import urllib.request
from pathlib import Path

import pytest

from blackbird import derive
from blackbird.artifacts.model import Outcome, Status, Summary, Type
from blackbird.artifacts.plan import State
from blackbird.artifacts.proof import Proof
from blackbird.config.load import load
from blackbird.errors import NotFound
from blackbird.harness import Harness, Task
from blackbird.harness.drafts import Draft
from blackbird.home import Home
from blackbird.recall import Recall, pieces
from blackbird.recorder import control
from blackbird.store.memory import Reader, Stored
from blackbox.errors import UsageError

ROOT = Path(__file__).parents[3]


def stored(home: Home, kind: Type) -> list[Stored]:
    with Reader(home.derived) as reader:
        assert reader.memory is not None
        return reader.memory.find(kind=kind)


def dump(home: Home) -> list[bytes]:
    with Reader(home.derived) as reader:
        assert reader.memory is not None
        return [*reader.memory.dump(), repr(reader.memory.notes()).encode()]


def ask(task: Task, words: str) -> int:
    """An agent's request in the name of a task."""
    body = {"model": "scripted-1", "max_tokens": 99, "messages": [{"role": "user", "content": words}]}
    request = urllib.request.Request(  # noqa: S310 - the recorder of this test
        task.environment["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), {"x-api-key": "k"}
    )
    with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
        answer.read()
        status: int = answer.status
        return status


@pytest.mark.requirement("SCOPE-01", "HARNESS-01")
def test_a_session_is_planned_while_no_recorder_runs_and_none_is_started(home: Home) -> None:
    session = Harness.open("harbour", goal="the crane lifts again", home=home)
    assert session.add_task("Mend the crane", id="crane") == "crane"
    assert (
        session.add_task("Grease the winch", parent="crane", description="With the good grease.")
        == "grease-the-winch"
    )
    session.draw_up([Draft(title="Lamps", tasks=["Wicks", "Oil"])])
    session.finish("wicks", Status.FAIL, "no cotton")
    assert control.status(home) is None
    note = session.note()
    assert note is not None
    assert (note.goal, note.folder) == ("the crane lifts again", os.getcwd())  # noqa: PTH109 - as it was stated
    assert [(task.id, task.parent, task.state, task.status) for task in session.plan()] == [
        ("crane", None, State.OPEN, None),
        ("grease-the-winch", "crane", State.OPEN, None),
        ("lamps", None, State.OPEN, None),
        ("wicks", "lamps", State.DONE, Status.FAIL),
        ("oil", "lamps", State.OPEN, None),
    ]
    assert session.task("grease-the-winch").description == "With the good grease."


def test_what_cannot_be_is_refused(home: Home) -> None:
    session = Harness.open("harbour", home=home)
    session.add_task("Mend the crane", id="crane")
    session.add_task("Grease the winch", id="winch", parent="crane")
    with pytest.raises(UsageError, match="has a task crane already"):
        session.add_task("Another", id="crane")
    with pytest.raises(NotFound, match="no task nobody"):
        session.add_task("Another", parent="nobody")
    with pytest.raises(NotFound, match="no task nobody"):
        session.set_state("nobody", State.DONE)
    with pytest.raises(UsageError, match="no way to end"):
        session.finish("crane", Status.UNKNOWN)
    with pytest.raises(UsageError, match="needs words"):
        session.checkpoint(" ")
    with pytest.raises(UsageError, match="has parts"):
        session.start_task("Mend the crane", id="crane")
    with pytest.raises(UsageError, match="is no part of"):
        session.start_task("Grease the winch", id="winch", parent="winch")
    assert [task.id for task in session.plan()] == ["crane", "winch"]


@pytest.mark.requirement("HARNESS-01", "HARNESS-02", "HARNESS-03", "SCOPE-02", "SCOPE-03")
def test_tasks_run_one_after_the_other_and_each_knows_of_those_before(home: Home) -> None:
    with Harness.open("harbour", goal="the crane lifts again", home=home) as session:
        with session.start_task("Mend the crane", id="crane") as first:
            assert ask(first, "Mend the crane.") == 200
            first.record_outcome("fail", "the bolt is too short")
        again = session.start_task("Mend the crane, with a longer bolt", id="crane")
        again.record_outcome("success", "it lifts 5 t")
        again.end()
        again.end()
        session.checkpoint("The crane is mended; the winch is next.")
        winch = session.start_task("Grease the winch")
        assert winch.id == "grease-the-winch"
        assert winch.environment["BLACKBIRD_RUN"] == winch.run
        assert winch.environment["BLACKBIRD_HOME"] == str(home.path)
    plan = session.plan()
    assert [(task.id, task.state, [(run.run, run.status) for run in task.runs]) for task in plan] == [
        ("crane", State.DONE, [(first.run, Status.FAIL), (again.run, Status.SUCCESS)]),
        ("grease-the-winch", State.OPEN, [(winch.run, Status.UNKNOWN)]),
    ]
    note = session.note()
    assert note is not None
    assert (note.is_active, note.closed is not None) == (False, True)
    assert "the crane lifts again" in first.pack.text
    assert "it lifts 5 t" in winch.pack.text
    outcomes = [one.artifact for one in stored(home, Type.OUTCOME)]
    assert [(one.run, one.title) for one in outcomes if isinstance(one.content, Outcome)] == [
        (first.run, "Mend the crane"),
        (again.run, "Mend the crane, with a longer bolt"),
        (winch.run, "Grease the winch"),
    ]
    (summary,) = (one.artifact for one in stored(home, Type.SUMMARY))
    assert isinstance(summary.content, Summary)
    assert summary.content.checkpoint == "The crane is mended; the winch is next."
    assert {proof for one in (*outcomes, summary) for proof in pieces.proofs(home.trace, one)} == {Proof.FOUND}
    with Recall(home, load(home), door="harness") as recall:
        assert summary.id in [card.id for card in recall.search("mended", session="harbour").cards]
    assert [place.item.partition(":")[0] for place in summary.provenance[:2]] == ["goal", "checkpoint"]
    goal = next(line for section in winch.pack.sections if section.name == "goal" for line in section.lines)
    assert goal.ids == (summary.id,)
    before = dump(home)
    derive.rebuild(home)
    assert dump(home) == before


def test_a_task_that_breaks_off_has_failed(home: Home) -> None:
    session = Harness.open("harbour", home=home)
    with pytest.raises(LookupError), session, session.start_task("Mend the crane"):
        raise LookupError
    (task,) = session.plan()
    assert [(run.status, run.ended is not None) for run in task.runs] == [(Status.FAIL, True)]
    note = session.note()
    assert note is not None
    assert note.closed is None


def test_the_same_session_goes_on_and_nothing_is_said_twice(home: Home) -> None:
    Harness.open("harbour", "a goal", home)
    before = derive.catch_up(home)
    Harness.open("harbour", "a goal", home)
    assert derive.catch_up(home).sessions == 0
    assert before.sessions in (0, 1)


def test_secrets_in_what_is_said_are_no_part_of_the_trace(home: Home) -> None:
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    session = Harness.open("harbour", goal=f"use {secret}", home=home)
    session.add_task(f"Log in with {secret}", id="login", description=secret)
    session.finish("login", Status.SUCCESS, f"it was {secret}")
    session.checkpoint(secret)
    assert session.task("login").title == "Log in with [redacted:github_token]"
    kept = [path for path in home.path.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert kept == []


@pytest.mark.requirement("HARNESS-01")
def test_the_example_runs(home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("BLACKBIRD_HOME", str(home.path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-scripted")
    monkeypatch.setattr(sys, "argv", ["harness.py"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "examples" / "harness.py"), run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.count("── ") == 3
    plan = Harness(home, "harbour").plan()
    assert [(task.state, task.status) for task in plan] == [(State.DONE, Status.SUCCESS)] * 3
    derive.catch_up(home)
    (summary,) = (one.artifact for one in stored(home, Type.SUMMARY))
    assert isinstance(summary.content, Summary)
    assert summary.content.checkpoint == "3 of 3 tasks are done."


def test_the_example_says_in_a_sentence_what_it_lacks(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLACKBIRD_HOME", str(home.path))
    monkeypatch.setattr(sys, "argv", ["harness.py"])
    example = str(ROOT / "examples" / "harness.py")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(SystemExit, match=r"^set ANTHROPIC_API_KEY to a key of the provider$"):
        runpy.run_path(example, run_name="__main__")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-scripted")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        home.config_file.write_text(f'[proxy]\nlisten = "127.0.0.1:{port}"\n', encoding="utf-8")
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(example, run_name="__main__")
    assert str(ended.value.code).startswith(f"127.0.0.1:{port} is in use by another program: end that program, or ")
