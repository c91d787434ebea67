"""`blackbird tail` and `sessions`: requests as they pass, and what they belong to."""

import datetime as dt
import io
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from blackbird.trace.records import Kind
from blackbox.terminal import output
from tests.blackbird.cli.command import Place, place
from tests.blackbird.trace.encoder import END, MONOTONIC, Tracer, identifier

NOBODY = {"attribution": "none", "session": None, "task": None, "run": None}
CLIENT = NOBODY | {
    "attribution": "client",
    "session": "6f0c12ab-1111-4222-8333-444455556666",
    "headers": [
        ["x-claude-code-session-id", "6f0c12ab-1111-4222-8333-444455556666"],
        ["user-agent", "claude-cli/2.1.197 (external)"],
    ],
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    return place(tmp_path, monkeypatch, capsys)


def recorded(here: Place, *, sealed: tuple[int, ...] = (1,)) -> Tracer:
    tracer = Tracer()
    ids = {"session": "harbour", "task": "t1", "run": "run_a"}
    tracer.add(Kind.HARNESS_EVENT, payload={"event": "run.start", **ids, "data": {"client": "claude"}})
    tracer.add(Kind.HARNESS_EVENT, payload={"event": "goal", **ids, "data": {"text": "mend\nthe crane"}})
    tracer.exchange(1)
    tracer.exchange(2, start=NOBODY)
    tracer.rotate()
    tracer.exchange(3, start=CLIENT)
    tracer.exchange(4, start={"attribution": "claimed", "session": "quay", "run": "run_x"})
    tracer.exchange(5, end=False)
    tracer.add(Kind.ERROR, identifier(5), END | {"where": "upstream", "code": "upstream_cut", "message": "gone"})
    tracer.save(here.home.trace, sealed=sealed)
    return tracer


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def cells(line: str) -> list[str]:
    return re.split(r"  +", line.strip())


def interrupt_after(monkeypatch: pytest.MonkeyPatch, steps: list[Any]) -> None:
    """Each time it waits, something happens; then Ctrl-C."""
    waiting = iter(steps)

    def sleep(_: float) -> None:
        step = next(waiting, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    monkeypatch.setattr(time, "sleep", sleep)


def test_tail_shows_the_last_and_ends(here: Place) -> None:
    recorded(here)
    done = here.run("tail", "--requests", "--no-follow", "-n", "2")
    assert (done.code, done.err) == (0, "")
    claimed, cut = (cells(line) for line in done.out.splitlines())
    assert claimed == [
        "12:00:00",
        "claimed quay",
        "-",
        "POST /v1/messages",
        "gannet-3",
        "200",
        "28 B",
        "15 B",
        "812.3 ms",
        "1 masked",
    ]
    assert (cut[1], cut[-2:]) == ("harbour/00000A", ["upstream_cut", "1 masked"])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), 5),
        (("--session", "harbour"), 2),
        (("--session", "harbour", "-n", "1"), 1),
        (("--task", "t1", "--run", "run_x"), 1),
        (("--session", "nobody"), 0),
        (("-n", "0"), 0),
    ],
)
def test_tail_as_json_is_what_requests_say(here: Place, arguments: tuple[str, ...], expected: int) -> None:
    recorded(here)
    told = lines(here.run("tail", "--requests", "--no-follow", "--json", *arguments).out)
    listed = {each["request_id"]: each for each in lines(here.run("requests", "--json").out)}
    assert len(told) == expected
    assert all(listed[each["request_id"]] == each for each in told)


def test_tail_follows_until_ctrl_c(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    tracer = recorded(here)

    def go_on() -> None:
        tracer.rotate(instance=bytes([7] * 16))
        tracer.exchange(6, start={"session": "later"})
        tracer.save(here.home.trace, sealed=(1,))

    interrupt_after(monkeypatch, [go_on, lambda: None])
    done = here.run("tail", "--requests", "-n", "0")
    assert done.code == 0
    (line,) = done.out.splitlines()
    assert cells(line)[1] == "later/00000A"
    starts = "`blackbird run -- AGENT` starts it, and so does `blackbird up`"
    assert done.err == f"No recorder runs: waiting for one ({starts}). Ctrl-C ends this.\n"


def test_tail_before_anything_was_recorded(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(monkeypatch, [lambda: recorded(here)])
    done = here.run("tail", "--requests", "--json")
    assert (done.code, done.err, len(lines(done.out))) == (0, "", 5)


def test_tail_says_why_there_is_nothing(here: Place) -> None:
    done = here.run("tail", "--requests", "--no-follow")
    assert done.out.startswith("Nothing is recorded yet. `blackbird run -- AGENT`")
    recorded(here)
    done = here.run("tail", "--requests", "--no-follow", "--session", "nobody")
    assert (done.code, done.out) == (
        0,
        "No request that has ended is such a one. `blackbird sessions` lists what there is.\n",
    )


def test_tail_tells_what_cannot_be_read_once(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(here)
    (here.home.trace / "00000001.seal").write_bytes(b"no seal")
    interrupt_after(monkeypatch, [lambda: None])
    done = here.run("tail", "--requests", "--json")
    assert [json.loads(line)["code"] for line in done.err.splitlines()] == ["trace_unreadable"]
    assert len(lines(done.out)) == 3


def test_tail_on_a_terminal_tells_of_a_slow_request_when_it_begins(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=100, soft_wrap=True, color_system=None)
    monkeypatch.setattr(output, "stdout", lambda: console)
    tracer = Tracer()
    tracer.exchange(1, end=False)
    wall = time.time_ns() - 2_000_000_000
    tracer.rotate(wall=wall, monotonic=MONOTONIC)
    tracer.exchange(2, end=False)
    tracer.save(here.home.trace)
    interrupt_after(monkeypatch, [lambda: None, lambda: None])
    assert here.run("tail", "--requests", "-n", "2").code == 0
    assert [line.split()[-2:] for line in shown.getvalue().splitlines()] == [["under", "way"]] * 2


@pytest.mark.requirement("PROXY-22")
def test_sessions_are_a_table(here: Place) -> None:
    recorded(here)
    done = here.run("sessions")
    assert (done.code, done.err) == (0, "")
    head, *rows, blank, hint = done.out.splitlines()
    assert cells(head) == [
        "session",
        "known by",
        "began",
        "last",
        "agents",
        "tasks",
        "runs",
        "requests",
        "bytes",
        "errors",
        "goal",
    ]
    assert [cells(row)[:2] for row in rows] == [
        ["harbour", "run"],
        ["quay", "unregistered"],
        ["6f0c12ab-1111-4222-8333-444455556666", "client's own"],
        ["unattributed", "-"],
    ]
    assert cells(rows[0])[2:] == [
        "2026-11-16 12:00",
        "2026-11-16 12:00",
        "claude",
        "1",
        "2",
        "2",
        "86 B",
        "1",
        "mend",
    ]
    assert (blank, hint) == (
        "",
        "blackbird show ID tells what was said and done, blackbird session show ID more of one.",
    )


def test_sessions_as_json(here: Place) -> None:
    recorded(here)
    told = lines(here.run("sessions", "--json", "--limit", "3").out)
    assert [(each["session"], each["attribution"], each["requests"], each["errors"]) for each in told] == [
        ("harbour", "run", 2, 1),
        ("quay", "claimed", 1, 0),
        ("6f0c12ab-1111-4222-8333-444455556666", "client", 1, 0),
    ]
    assert told[0]["goal"] == "mend\nthe crane"


def test_sessions_beyond_the_limit_are_named(here: Place) -> None:
    recorded(here)
    assert here.run("sessions", "--limit", "1").out.splitlines()[-2] == "3 older ones: --limit 4"


def test_sessions_since(here: Place) -> None:
    recorded(here)
    assert len(here.run("sessions", "--since", "2026-11-16T11:00:00Z", "--json").out.splitlines()) == 4
    now = dt.datetime(2040, 1, 1, tzinfo=dt.UTC).isoformat()
    done = here.run("sessions", "--since", now)
    assert (done.code, done.out) == (0, f"Nothing was recorded since {now}. `blackbird sessions` lists all.\n")
    assert here.run("sessions", "--since", "yesterday").code == 2


def test_sessions_of_an_empty_home(here: Place) -> None:
    assert here.run("sessions").out.startswith("Nothing is recorded yet.")
    assert here.run("sessions", "--json").out == ""


def test_sessions_tell_what_cannot_be_read(here: Place) -> None:
    recorded(here)
    (here.home.trace / "00000001.seal").write_bytes(b"no seal")
    done = here.run("sessions", "--json")
    assert (done.code, json.loads(done.err)["code"]) == (0, "trace_unreadable")


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (40, "session known_by requests"),
        (60, "session known_by requests errors"),
        (80, "session known_by last agents requests errors"),
        (200, "session known_by began last agents tasks runs requests bytes errors goal"),
    ],
)
def test_sessions_fit_a_terminal(here: Place, monkeypatch: pytest.MonkeyPatch, width: int, columns: str) -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=width, soft_wrap=True, color_system=None)
    monkeypatch.setattr(output, "stdout", lambda: console)
    recorded(here)
    here.run("sessions")
    table = shown.getvalue().splitlines()[:5]
    assert cells(table[0].replace("known by", "known_by")) == columns.split()
    assert all(len(line) <= width for line in table)


def test_control_characters_reach_no_terminal(here: Place) -> None:
    tracer = Tracer()
    tracer.exchange(1, start={"target": "/\x1b[2J", "session": "a\x1b[2Jb", "headers": [["user-agent", "x\x1b/1"]]})
    tracer.save(here.home.trace)
    for command in (("tail", "--no-follow"), ("sessions",), ("session", "show")):
        assert "\x1b" not in here.run(*command).out
