"""`blackbird session` and `blackbird task`: what a user says of sessions, and the plan that comes of it."""

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.blackbird.cli.command import Done, Place, place

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the recorder is not built on Windows")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    for name in ("SESSION", "TASK", "RUN"):
        monkeypatch.delenv(f"BLACKBIRD_{name}", raising=False)
    return place(tmp_path, monkeypatch, capsys)


def lines(done: Done) -> list[Any]:
    assert done.code == 0
    return [json.loads(line) for line in done.out.splitlines()]


@pytest.mark.requirement("SCOPE-01", "SCOPE-02")
def test_a_session_from_its_goal_to_its_last_task(here: Place) -> None:
    opened = here.run("session", "new", "harbour", "--goal", "the crane lifts again")
    assert (opened.code, opened.out) == (0, "harbour\n")
    assert "blackbird run --session harbour -- AGENT" in opened.err
    assert here.run("task", "add", "Mend the crane", "--id", "crane").out == "crane\n"
    assert here.run("task", "add", "Grease the winch", "--parent", "crane").out == "grease-the-winch\n"
    assert here.run("task", "add", "Paint it").out == "paint-it\n"
    done = here.run("task", "done", "grease-the-winch", "--summary", "with the good grease")
    assert done.out == "[x] grease-the-winch  Grease the winch  (success)\n"
    assert here.run("task", "drop", "paint-it").out == "[-] paint-it  Paint it\n"
    assert here.run("task").out == (
        "harbour: the crane lifts again\n"
        "[x] crane               Mend the crane\n"
        "  [x] grease-the-winch  Grease the winch  (success)\n"
        "[-] paint-it            Paint it\n"
    )
    assert here.run("task", "reopen", "paint-it").out == "[ ] paint-it  Paint it\n"
    blocked = here.run("task", "done", "paint-it", "--status", "blocked")
    assert blocked.out == "[x] paint-it  Paint it  (done; runs: blocked)\n"
    again = here.run("task", "reopen", "grease-the-winch")
    assert again.out == "[ ] grease-the-winch  Grease the winch  (open; runs: success)\n"
    assert here.run("session", "goal").out == "the crane lifts again\n"
    assert here.run("session", "goal", "harbour", "it is painted").out == "it is painted\n"
    assert [row["goal"] for row in lines(here.run("session", "list", "--json"))] == ["it is painted"]


def test_programs_get_tasks_as_objects(here: Place) -> None:
    opened = here.run("session", "new", "--goal", "g", "--json").json
    assert (opened["schema"], opened["goal"]) == ("session-opened/1", "g")
    assert re.fullmatch(r"sess_[0-9A-Z]{26}", opened["session"])
    added = here.run("task", "add", "Mend the crane", "--describe", "All of it.", "--json").json
    assert added == {
        "schema": "task/1",
        "session": opened["session"],
        "id": "mend-the-crane",
        "title": "Mend the crane",
        "description": "All of it.",
        "parent": None,
        "order": 1,
        "depth": 0,
        "leaf": True,
        "state": "open",
        "status": None,
        "runs": [],
    }
    assert lines(here.run("task", "list", "--json")) == [added]
    done = here.run("task", "done", "mend-the-crane", "--status", "fail", "--json").json
    (run,) = done.pop("runs")
    assert done == {key: value for key, value in added.items() if key != "runs"} | {"state": "done", "status": "fail"}
    assert run | {"outcome": "art"} == {
        "run": None,
        "status": "fail",
        "outcome": "art",
        "description": "Mend the crane",
        "began": None,
        "ended": None,
    }
    assert here.run("task", "show", "mend-the-crane", "--json").json["runs"] == [run]
    assert here.run("session", "goal", "--json").json == {
        "schema": "session-goal/1",
        "session": opened["session"],
        "goal": "g",
    }


def test_one_task_in_full(here: Place) -> None:
    here.run("session", "new", "harbour")
    here.run("task", "add", "Mend the crane", "--id", "crane", "--describe", "It lifts\nno more than 2 t.")
    here.run("task", "add", "Grease the winch", "--id", "winch", "--parent", "crane")
    assert here.run("task", "show", "crane").out == (
        "crane  Mend the crane\n"
        "  session   harbour\n"
        "  state     open\n"
        "  It lifts\n"
        "  no more than 2 t.\n"
        "\n"
        "  [ ] winch  Grease the winch\n"
    )
    here.run("task", "done", "winch", "--status", "blocked")
    shown = here.run("task", "show", "winch").out.splitlines()
    assert shown[:6] == [
        "winch  Grease the winch",
        "  session   harbour",
        "  state     done, blocked",
        "  below     crane",
        "",
        "without a run  blocked",
    ]
    (outcome,) = lines(here.run("artifacts", "harbour", "--type", "outcome", "--json"))
    assert (outcome["id"], outcome["content"]["status"]) == (shown[-1].split()[-1], "blocked")


PLAN = "# Harbour\n- [x] survey\n- crane {#crane}\n  - bolts\n"


def test_a_plan_is_taken_over_once(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    here.run("session", "new", "harbour")
    Path("plan.md").write_text(PLAN, encoding="utf-8")
    tried = here.run("task", "import", "plan.md", "--dry-run")
    assert tried.out == "+ survey   survey  (done)\n+ crane    crane\n+   bolts  bolts\n"
    assert tried.err == "3 of 3 tasks would change in harbour.\n"
    assert lines(here.run("task", "list", "--json")) == []
    taken = here.run("task", "import", "plan.md", "--json")
    assert [(step["schema"], step["what"], step["id"], step["parent"]) for step in lines(taken)] == [
        ("task-import/1", "added", "survey", None),
        ("task-import/1", "added", "crane", None),
        ("task-import/1", "added", "bolts", "crane"),
    ]
    same = lines(here.run("task", "import", "plan.md", "--json"))
    assert [(step["what"], step["state"]) for step in same] == [("same", "done"), ("same", "open"), ("same", "open")]
    Path("other.json").write_text('{"foo": 1}', encoding="utf-8")
    other = here.run("task", "import", "other.json")
    assert (other.code, other.err.splitlines()[0]) == (
        2,
        "✗ this is no plan in JSON: Object missing required field `tasks`",
    )
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PLAN.encode())))
    again = here.run("task", "import", "-")
    assert again.err == "0 of 3 tasks changed in harbour.\n"
    Path("plan.json").write_text('{"tasks": [{"id": "crane", "title": "The crane"}]}', encoding="utf-8")
    assert here.run("task", "import", "plan.json").out == "~ crane  The crane\n"
    assert [task["title"] for task in lines(here.run("task", "list", "--json"))] == ["survey", "The crane", "bolts"]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["task"], 1, "no session has tasks"),
        (["task", "list", "nobody"], 1, "there is no session nobody"),
        (["task", "add", "A"], 1, "no session is open"),
        (["task", "add", "A", "--session", "nobody"], 1, "there is no session nobody"),
        (["task", "add", "A", "--id", "a b"], 2, "--id: `a b` is no id"),
        (["task", "show", "a"], 1, "there is no task a"),
        (["task", "import", "nowhere.md"], 3, "nowhere.md: No such file or directory"),
        (["session", "goal"], 1, "no session is open"),
        (["session", "goal", "nobody", "x"], 1, "there is no session nobody"),
        (["session", "new", "a b"], 2, "ID: `a b` is no id"),
    ],
)
def test_what_cannot_be_is_refused(here: Place, words: list[str], code: int, told: str) -> None:
    done = here.run(*words)
    assert (done.code, done.err.splitlines()[0]) == (code, f"✗ {told}")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["session", "new", "harbour"], 2, "there is a session harbour already"),
        (["task", "add", "Crane"], 2, "the session harbour has a task crane already"),
        (["task", "add", "A", "--parent", "nobody"], 1, "the session harbour has no task nobody"),
        (["task", "done", "nobody", "--session", "harbour"], 1, "the session harbour has no task nobody"),
        (["task", "import", "p.md", "--parent", "crane"], 2, "crane would be a part of itself"),
        (["task", "import", "empty.md"], 2, "there is no task in this plan"),
    ],
)
def test_what_does_not_fit_the_plan_is_refused(here: Place, words: list[str], code: int, told: str) -> None:
    here.run("session", "new", "harbour")
    here.run("task", "add", "Crane")
    Path("p.md").write_text("- crane\n", encoding="utf-8")
    Path("empty.md").write_text("\n", encoding="utf-8")
    done = here.run(*words)
    assert (done.code, done.err.splitlines()[0]) == (code, f"✗ {told}")


def test_the_session_of_the_process_is_meant_first(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    here.run("session", "new", "harbour")
    here.run("session", "new", "quay")
    monkeypatch.setenv("BLACKBIRD_SESSION", "harbour")
    here.run("task", "add", "Crane")
    assert here.run("task").out == "harbour\n[ ] crane  Crane\n"
    assert here.run("task", "list", "quay").out == "quay\n"
