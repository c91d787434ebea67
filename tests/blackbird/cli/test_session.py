"""`blackbird session show`: one session with its tasks, runs, threads and what passed."""

from pathlib import Path
from typing import Any

import pytest

from blackbird.trace.records import Kind
from tests.blackbird.cli.command import Place, place
from tests.blackbird.trace.encoder import WALL, Tracer

IDS = {"session": "harbour", "task": "t1", "run": "run_01JD4Q0000000000000000000A"}
NOBODY = {"attribution": "none", "session": None, "task": None, "run": None}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    return place(tmp_path, monkeypatch, capsys)


def claude(agent: str | None = None) -> dict[str, Any]:
    ids = [["x-claude-code-session-id", "cc-1"], *([["x-claude-code-agent-id", agent]] if agent else [])]
    return {"headers": [["user-agent", "claude-cli/2.1.197"], *ids]}


def recorded(here: Place) -> None:
    tracer = Tracer()
    for event, data in (
        ("run.start", {"client": "claude", "mode": "forward", "cwd": "/srv/harbour"}),
        ("run.context", {"repository": "r.git", "sha": "0123456789abcdef", "branch": "main", "dirty": True}),
        ("run.context", {"client_version": "2.1.197"}),
        ("goal", {"text": "mend the crane"}),
        ("run.describe", {"text": "first try"}),
    ):
        tracer.add(Kind.HARNESS_EVENT, payload={"event": event, **IDS, "data": data})
    tracer.exchange(1, start=claude())
    tracer.exchange(2, start=claude("a7"))
    tracer.exchange(3, end=False, start=claude("a7"))
    end = {"event": "run.end", **IDS, "data": {"exit_code": 3, "duration_ms": 91_000}}
    tracer.add(Kind.HARNESS_EVENT, payload=end)
    tracer.rotate(wall=WALL + 1_000_000_000)
    tracer.exchange(4, start=NOBODY)
    tracer.save(here.home.trace, sealed=(1,))


SHOWN = """\
harbour
  goal      mend the crane
  agents    claude
  tasks     t1
  time      2026-11-16 12:00:00 to 2026-11-16 12:00:00
  requests  3, 1 without an end  82 B sent, 52 B received
  models    gannet-3 × 3
  statuses  200 × 3
  masked    github_token × 2

run_01JD4Q0000000000000000000A  exit code 3
  about     first try
  client    claude 2.1.197  forward
  task      t1
  time      2026-11-16 12:00:00  took 1 min 31 s
  folder    /srv/harbour
  git       r.git  main  0123456789ab  with changes

threads
  └─ Claude Code 2.1.197  cc-1  1 request  gannet-3 × 1
     └─ Claude Code 2.1.197  a7  sub-agent  2 requests  gannet-3 × 2

  blackbird show harbour                what was said and done
  blackbird export harbour              the same as a flight log
  blackbird task list harbour           its tasks, and how they ended
  blackbird requests --session harbour  each request
  blackbird tail --session harbour      what agents say and do, as it happens
  blackbird sessions                    all sessions
"""


@pytest.mark.requirement("PROXY-22")
@pytest.mark.parametrize("name", ["", "harbour", "harb", IDS["run"], "run_01JD", "cc-1", "a7"])
def test_a_session_by_any_of_its_names(here: Place, name: str) -> None:
    recorded(here)
    done = here.run("session", "show", *([name] if name else []))
    assert (done.code, done.err, done.out) == (0, "", SHOWN)


def test_without_a_command_the_newest_is_shown(here: Place) -> None:
    recorded(here)
    assert here.run("session").out == SHOWN


def test_what_nobody_can_be_named_for(here: Place) -> None:
    recorded(here)
    done = here.run("session", "show", "unattributed")
    assert done.code == 0
    assert done.out.splitlines()[0] == "unattributed"
    assert "└─ ?  no ids of its own  1 request  gannet-3 × 1" in done.out
    assert "  blackbird requests  each request" in done.out.splitlines()


IMPORTED = """\
cc-9 (imported)
  title     mend the crane
  agents    Claude Code
  time      2026-11-16 12:00:00 to 2026-11-16 12:30:00
  folder    /srv/harbour
  imported  34 messages, 120 lines, 1 file
  files     /x/cc-9.jsonl

  blackbird show cc-9    what was said and done
  blackbird export cc-9  the same as a flight log
  blackbird sessions     all sessions
"""


def test_an_imported_session_tells_what_its_log_says(here: Place) -> None:
    tracer = Tracer()
    log = {"source": "src_1", "client": "Claude Code", "native_session": "cc-9", "path": "/x/cc-9.jsonl"}
    end = {"lines": 120, "messages": 34, "title": "mend the crane", "folder": "/srv/harbour"}
    times = {"first_at": "2026-11-16T12:00:00Z", "last_at": "2026-11-16T12:30:00Z"}
    for event, data in (("import.open", log), ("import.end", {"source": "src_1"} | end | times)):
        tracer.add(Kind.HARNESS_EVENT, payload={"event": event, "session": "cc-9", "data": data})
    tracer.save(here.home.trace)
    assert here.run("session", "show").out == IMPORTED
    assert here.run("session", "show", "--json").json["folder"] == "/srv/harbour"
    for number in range(2, 6):
        part = log | {"source": f"src_{number}", "path": f"/x/{number}.jsonl"}
        tracer.add(Kind.HARNESS_EVENT, payload={"event": "import.open", "session": "cc-9", "data": part})
    tracer.save(here.home.trace)
    said = here.run("session", "show").out.splitlines()
    assert "  files     /x/cc-9.jsonl, /x/2.jsonl, /x/3.jsonl and 2 more" in said
    head, row, *_ = here.run("sessions").out.splitlines()
    assert head.split()[-6:] == ["requests", "messages", "bytes", "errors", "folder", "goal"]
    assert row.split("Claude Code")[1].split() == ["-", "-", "-", "34", "-", "-", "harbour", "mend", "the", "crane"]


def test_as_json(here: Place) -> None:
    recorded(here)
    about = here.run("session", "show", "--json").json
    assert (about["schema"], about["goal"], about["runs"][0]["exit_code"]) == ("session/1", "mend the crane", 3)
    assert about["threads"][0]["children"][0]["thread"] == "a7"


def test_several_runs_tell_apart_what_is_theirs(here: Place) -> None:
    tracer = Tracer()
    tracer.exchange(1, start=claude())
    tracer.exchange(2, start={"run": "run_b"})
    tracer.save(here.home.trace)
    said = here.run("session", "show").out.splitlines()
    assert said.count("  requests  1  28 B sent, 15 B received") == 2
    assert "  ├─ Claude Code 2.1.197  cc-1  run 00000A  1 request  gannet-3 × 1" in said


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("harbor", "near it: harbour"),
        ("run_01JD4Q9", "near it: run_01JD4Q0000000000000000000A"),
        ("zzz", "the newest are unattributed, harbour; blackbird sessions lists all"),
    ],
)
def test_a_session_that_is_not_there(here: Place, name: str, remedy: str) -> None:
    recorded(here)
    done = here.run("session", "show", name, "--json")
    expected = {"code": "not_found", "message": f"there is no session {name}", "remedy": remedy}
    assert (done.code, done.error) == (1, expected)


def test_the_start_of_several(here: Place) -> None:
    tracer = Tracer()
    tracer.exchange(1, start={"session": "harbour-1"})
    tracer.exchange(2, start={"session": "harbour-2"})
    tracer.save(here.home.trace)
    done = here.run("session", "show", "harb")
    assert done.code == 2
    assert "harb stands for 2 sessions: harbour-2, harbour-1" in done.err


def test_nothing_yet(here: Place) -> None:
    done = here.run("session", "show")
    assert (done.code, done.err.splitlines()[0]) == (1, "✗ there is no session yet")


def test_what_cannot_be_read_is_told(here: Place) -> None:
    recorded(here)
    (here.home.trace / "00000002.wal").write_bytes(b"no segment")
    done = here.run("session", "show")
    assert done.code == 0
    assert "00000002.wal" in done.err
