"""Imported sessions are listed beside recorded ones, and those that are both are one."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from blackbird.exchange import catalog
from blackbird.exchange.catalog import Selection
from blackbird.sessions.follow import Follower
from blackbird.sessions.live import Live
from blackbird.sessions.rows import Filing, Row, find
from blackbird.sessions.survey import examine, survey
from blackbird.sessions.view import describe_detail, describe_row, name_of
from blackbird.trace import ids
from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind
from tests.blackbird.trace.encoder import MONOTONIC, Tracer, identifier

NOON = 1_794_830_400_000_000_000
CLAUDE = {"attribution": "client", "task": None, "run": None, "session": "cc-1"} | {
    "headers": [["x-claude-code-session-id", "cc-1"]]
}


def imported(tracer: Tracer, number: int, session: str | None, *, hour: int = 12, **end: Any) -> bytes:
    """A log with one line."""
    key = identifier(number)
    source = f"src_{ids.to_text(key)}"
    about = {"source": source, "client": "Claude Code", "native_session": session, "path": "/x"} | end
    state(tracer, "import.open", session, about)
    tracer.add(Kind.NATIVE_LINE, key, b'{"offset":0,"length":2}\n{}')
    times = {"first_at": f"2026-11-16T{hour:02}:00:00Z", "last_at": f"2026-11-16T{hour:02}:30:00Z"}
    state(tracer, "import.end", session, {"source": source, "lines": 1, "messages": 1, "title": "mend"} | times | end)
    return key


def state(tracer: Tracer, event: str, session: str | None, data: dict[str, Any]) -> None:
    tracer.add(Kind.HARNESS_EVENT, payload={"event": event, "session": session, "data": data})


def rows_of(tracer: Tracer, folder: Path, since: int | None = None) -> dict[Filing, Row]:
    trace = Trace(tracer.save(folder))
    return {row.filing: row for row in survey(trace, since).rows.rows()}


def test_an_imported_session_has_a_row_with_the_times_of_its_log(tmp_path: Path) -> None:
    tracer = Tracer()
    imported(tracer, 9, "cc-9")
    rows = rows_of(tracer, tmp_path)
    assert list(rows) == [Filing("import", "cc-9")]
    row = rows[Filing("import", "cc-9")]
    assert (row.began, row.last) == (NOON, NOON + 1_800_000_000_000)
    assert (name_of(row), row.agents, row.title) == ("cc-9", ["Claude Code"], "mend")
    assert describe_row(row)["imported"] == {"logs": 1, "lines": 1, "messages": 1}
    assert find(rows.values(), "cc-") == [row]


def test_a_session_that_was_recorded_as_well_is_one(tmp_path: Path) -> None:
    tracer = Tracer()
    tracer.exchange(1, start=CLAUDE)
    imported(tracer, 9, "cc-1")
    rows = rows_of(tracer, tmp_path)
    assert list(rows) == [Filing("client", "cc-1")]
    row = rows[Filing("client", "cc-1")]
    assert (row.tally.calls, len(row.logs), row.title) == (1, 1, "mend")


def test_the_run_that_a_client_worked_in_has_its_log(tmp_path: Path) -> None:
    tracer = Tracer()
    tracer.exchange(1, start={"headers": CLAUDE["headers"]})
    imported(tracer, 9, "cc-1")
    rows = rows_of(tracer, tmp_path)
    assert list(rows) == [Filing("run", "harbour")]
    assert len(rows[Filing("run", "harbour")].logs) == 1


def run(tracer: Tracer, number: int, session: str, *, began: int = 0, ended: int) -> None:
    """A run of a client without ids, in /lamp; times are milliseconds since the start of the trace."""
    names = {"task": "t", "run": f"run_{number}", "session": session}
    started = {"cwd": "/lamp", "client": "gemini"}
    for event, at, data in (("run.start", began, started), ("run.end", ended, {"exit_code": 0})):
        told = {"event": event, **names, "data": data}
        tracer.add(Kind.HARNESS_EVENT, payload=told, monotonic=MONOTONIC + at * 1_000_000)
    tracer.exchange(number, start={**names, "headers": [["user-agent", "GeminiCLI/0.61.0"]]})


def within(first: int, last: int, **more: Any) -> dict[str, Any]:
    """What an import says of a log of that client, with milliseconds since the start of the trace."""
    times = {name: f"2026-11-16T12:00:00.{at:03}000Z" for name, at in (("first_at", first), ("last_at", last))}
    return {"client": "Gemini CLI", "folder": "/lamp", **times, **more}


HASHED = hashlib.sha256(b"/lamp").hexdigest()


@pytest.mark.parametrize("more", [{}, {"folder": HASHED}])
def test_a_client_without_ids_is_known_by_its_run(more: dict[str, Any], tmp_path: Path) -> None:
    tracer = Tracer()
    run(tracer, 1, "harbour", ended=500)
    imported(tracer, 9, "gem-1", **within(100, 400, **more))
    rows = rows_of(tracer, tmp_path)
    assert list(rows) == [Filing("run", "harbour")]
    row = rows[Filing("run", "harbour")]
    assert (list(row.natives), len(row.logs)) == (["gem-1"], 1)
    assert find(rows.values(), "gem-1") == [row]


@pytest.mark.parametrize(
    "log",
    [
        within(100, 400, folder="/elsewhere"),
        within(100, 400, folder=None),
        within(100, 400, client="Qwen Code"),
        within(600, 700),
    ],
)
def test_what_was_not_had_in_a_run_stands_by_itself(log: dict[str, Any], tmp_path: Path) -> None:
    tracer = Tracer()
    run(tracer, 1, "harbour", ended=500)
    imported(tracer, 9, "gem-1", **log)
    assert set(rows_of(tracer, tmp_path)) == {Filing("run", "harbour"), Filing("import", "gem-1")}


def test_a_log_that_a_later_run_went_on_with_belongs_to_both(tmp_path: Path) -> None:
    tracer = Tracer()
    run(tracer, 1, "first", ended=200)
    run(tracer, 2, "second", began=300, ended=500)
    imported(tracer, 9, "gem-1", **within(100, 450))
    rows = rows_of(tracer, tmp_path)
    assert [list(row.natives) for row in rows.values()] == [["gem-1"], ["gem-1"]]
    assert sum(len(row.logs) for row in rows.values()) == 1


def test_a_run_with_a_log_of_its_own_did_not_go_on_with_another(tmp_path: Path) -> None:
    tracer = Tracer()
    run(tracer, 1, "harbour", ended=300)
    imported(tracer, 8, "gem-1", **within(0, 450))
    imported(tracer, 9, "gem-2", **within(100, 200))
    rows = rows_of(tracer, tmp_path)
    assert {filing: list(row.natives) for filing, row in rows.items()} == {
        Filing("run", "harbour"): ["gem-2"],
        Filing("import", "gem-1"): ["gem-1"],
    }


def test_the_words_of_the_first_thread_are_the_title(tmp_path: Path) -> None:
    tracer = Tracer()
    imported(tracer, 8, "cc-9", native_thread="a1", title="of a sub-agent")
    imported(tracer, 9, "cc-9", title="of the user")
    [row] = rows_of(tracer, tmp_path).values()
    assert (row.title, sorted(row.natives)) == ("of the user", ["a1", "cc-9"])


def test_only_what_happened_since_is_listed_whenever_it_was_imported(tmp_path: Path) -> None:
    tracer = Tracer()
    imported(tracer, 8, "early", hour=9)
    imported(tracer, 9, "late", hour=15)
    assert list(rows_of(tracer, tmp_path, NOON)) == [Filing("import", "late")]


def test_a_log_without_a_session_is_one_by_itself(tmp_path: Path) -> None:
    tracer = Tracer()
    key = imported(tracer, 9, None)
    assert list(rows_of(tracer, tmp_path)) == [Filing("import", f"src_{ids.to_text(key)}")]


def test_detail_names_each_log(tmp_path: Path) -> None:
    tracer = Tracer()
    key = imported(tracer, 9, "cc-9")
    trace = Trace(tracer.save(tmp_path))
    found = survey(trace)
    [row] = found.rows.rows()
    told = describe_detail(examine(trace, found, row))
    assert [log["source"] for log in told["logs"]] == [f"src_{ids.to_text(key)}"]
    assert (told["requests"], told["threads"]) == (0, [])


def test_lines_are_no_requests(tmp_path: Path) -> None:
    for is_sealed in (False, True):
        tracer = Tracer()
        tracer.exchange(1)
        key = imported(tracer, 9, "cc-9")
        folder = tmp_path / str(is_sealed)
        tracer.save(folder)
        if is_sealed:
            (folder / "00000001.seal").write_bytes(tracer.current.seal)
        trace = Trace(folder)
        assert len(catalog.recent(trace, Selection()).exchanges) == 1
        assert catalog.matching(trace, ids.to_text(key)) == []
        assert catalog.matching(trace, ids.to_text(identifier(1))) == [identifier(1)]
        assert sum(row.tally.calls for row in survey(trace).rows.rows()) == 1


def test_lines_are_nothing_to_tell_while_requests_pass(tmp_path: Path) -> None:
    tracer = Tracer()
    imported(tracer, 9, "cc-9")
    live = Live(lambda _: None)
    with Follower(tracer.save(tmp_path)) as follower:
        told = [event for sighting in follower.read() for event in live.take(sighting)]
    assert (told, live.pending) == ([], {})
