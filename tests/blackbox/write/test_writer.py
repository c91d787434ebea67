"""The writer as a harness meets it: a whole session, how it ends, and going on after a crash."""

import datetime as dt
import io
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

from blackbox import ClosedError, Kind, UsageError, parse, read_document
from blackbox.document.line import Line
from blackbox.events import calls, lifecycle, messages
from blackbox.write import Writer, metrics_of
from blackbox.write.results import count, lines, ok
from tests.blackbox.write import strategies
from tests.blackbox.write.clocks import REDACTOR, Memory, bare_log, ticking

SESSION = """\
---
format: bbox/1
id: sess_1
model: sonnet-4
repo_sha: abc1234
budget: $50
escape: 1
extra.suite: x
---

@start id=sess_1 budget=$50 step=1 ts=2025-12-18T03:21:09Z
u: Fix the login bug step=2 ts=2025-12-18T03:21:10Z
th: Let me see. sig=Ep4E step=3 ts=2025-12-18T03:21:11Z
a: Looking. step=3 ts=2025-12-18T03:21:12Z # metrics prompt=520 completion=80 cost=0.00045
t:read id=call_1 src/auth.rs step=3 ts=2025-12-18T03:21:13Z → [186 lines]
x:explore id=sub_1 tid=2 span=x1 "find tests" step=3 ts=2025-12-18T03:21:14Z → [started]
t:grep id=call_2 tid=2 AuthError step=4 ts=2025-12-18T03:21:15Z → [12 matches]
x:explore id=sub_1 tid=2 span=x1 step=4 ts=2025-12-18T03:21:16Z → session_id=sess_sub_1 summary="3 failures"
a: Found it. step=5 ts=2025-12-18T03:21:17Z
@end summary="Fixed" prs=[201, 202] issues=8 step=5 ts=2025-12-18T03:21:18Z
# tokens=600 tools=2 skills=0 mcp=0 subagents=1 plans=0 duration=11s cost=$0.00045 redactions=0
"""


@pytest.mark.requirement("WRITE-02", "WRITE-06")
def test_a_whole_session() -> None:
    stream = io.BytesIO()
    header = {"suite": "x"}
    with Writer(
        stream, clock=ticking(), id="sess_1", repo_sha="abc1234", model="sonnet-4", budget="$50", extra=header
    ) as log:
        log.user("Fix the login bug")
        log.thinking("Let me see.", sig="Ep4E")
        log.agent("Looking.", metrics=metrics_of(prompt_tokens=520, completion_tokens=80, cost_usd="0.00045"))
        assert log.tool("read", "src/auth.rs", result=lines(186)) == "call_1"
        with log.subagent("explore", "find tests") as sub:
            sub.tool("grep", "AuthError", result=count(12, "matches"))
            sub.close(summary="3 failures", session_id="sess_sub_1")
        log.agent("Found it.")
        log.close(summary="Fixed", prs=[201, 202], issues=8)
    assert stream.getvalue().decode() == SESSION


def test_sub_agents_nest() -> None:
    stream, log = bare_log()
    with log.subagent("explore", "outer", context="c") as outer, outer.subagent("plan", "inner") as inner:
        inner.agent("deep")
    with pytest.raises(ClosedError):
        outer.agent("too late")
    with pytest.raises(ValueError, match="secret"), log.subagent("explore"):
        raise ValueError("secret")
    assert stream.body == (
        'x:explore id=sub_1 tid=2 span=x1 "outer" context=c → [started]\n'
        'x:plan id=sub_2 tid=3 span=x2 parent=x1 "inner" → [started]\n'
        "a: deep tid=3\n"
        "x:plan id=sub_2 tid=3 span=x2 parent=x1 → [done]\n"
        "x:explore id=sub_1 tid=2 span=x1 → [done]\n"
        "x:explore id=sub_3 tid=4 span=x3 → [started]\n"
        "x:explore id=sub_3 tid=4 span=x3 → [err: ValueError]\n"
    )
    log.close()


def test_the_end_of_a_converted_session_has_its_tokens_and_its_time() -> None:
    stream, log = bare_log()
    log.close(summary="done", meta={"tokens_in": 12, "tokens_out": 3, "ts": "2025-12-18T03:21:08Z"})
    assert stream.body.startswith('@end summary="done" tokens_in=12 tokens_out=3 ts=2025-12-18T03:21:08Z\n')


def test_a_closed_writer_takes_nothing_more() -> None:
    stream, log = bare_log()
    log.close()
    log.close()
    with pytest.raises(ClosedError):
        log.user("too late")
    with pytest.raises(ClosedError):
        log.note("too late")
    assert stream.body.count("@end") == 1


@pytest.mark.requirement("WRITE-06")
def test_an_error_is_noted_by_its_type_alone() -> None:
    stream, log = bare_log()
    log.user("hello")
    with pytest.raises(KeyError), log:
        raise KeyError("sk-secret")
    assert stream.body.startswith(
        'u: hello\n# notes: the session was ended by an error: KeyError\n@end summary="failed: KeyError"\n# tools=0 '
    )
    assert "secret" not in stream.body


def test_a_sub_agent_whose_end_cannot_be_written() -> None:
    _, log = bare_log()
    sub = log.subagent("explore")
    assert sub.id == "sub_1"
    log.close()
    with pytest.raises(ClosedError):
        sub.close()
    with pytest.raises(ValueError, match="mine") as failed, sub:
        raise ValueError("mine")
    assert "could not be closed" in failed.value.__notes__[0]


@pytest.mark.requirement("ARGS-15", "NOTE-04", "WRITE-07")
@settings(max_examples=100, deadline=None)
@given(strategies.texts, strategies.texts, strategies.texts)
def test_the_methods_carry_any_text(one: str, two: str, three: str) -> None:
    stream, log = bare_log(notes=one, extra={"k": two}, skills=[one, two], toolset={"a": three, one: two})
    log.user(one, id=two, extra={"k": three})
    log.tool("x", one, [two, three], key=three, result=two)
    log.ask(one, options=[two, three]).auto(two, reason=three)
    log.snapshot(one, two)
    log.assess([("P0", one), ("P1", two)])
    log.todos([("pending", one), ("odd", two), ("completed", three)])
    with log.subagent("explore", one) as sub:
        sub.close(summary=two, path=three)
    log.close(summary=one, prs=[two])
    document = parse(stream.getvalue())
    header = document.header
    assert header is not None
    assert (header.text("notes"), header.extra, header.fields["skills"]) == (one, {"k": two}, [one, two])
    assert header.fields["toolset"] == {"a": three, one: two}
    said, tool, _, auto, snapshot, assessed, todos, _, closed, end, _ = (line.event for line in document.lines[1:])
    assert said == messages.Message("user", one)
    assert document.lines[1].meta.raw == {"id": two, "extra.k": three}
    assert isinstance(tool, calls.ToolCall)
    assert tool.arguments == calls.Arguments((one, (two, three)), {"key": three})
    assert isinstance(auto, calls.Question)
    assert auto.answer == calls.Answer("auto", (two,), three)
    assert isinstance(snapshot, lifecycle.Lifecycle)
    assert snapshot.primitive == lifecycle.Snapshot(one, two)
    assert isinstance(assessed, lifecycle.Lifecycle)
    assert assessed.primitive == lifecycle.Assess((("P0", one), ("P1", two)))
    assert isinstance(todos, messages.Todos)
    assert [item.text for item in todos.items] == [one, two, three]
    assert isinstance(closed, calls.Subagent)
    assert (closed.summary, closed.path) == (two, three)
    assert isinstance(end, lifecycle.Lifecycle)
    assert end.primitive == lifecycle.End(one, (two,))


def session() -> bytes:
    """A small session with something of everything, as bytes."""
    stream = Memory()
    with Writer(stream, clock=ticking(), id="s", repo_sha="abc1234") as log:
        log.user("Füge → hinzu\n\nzweite Zeile id=5")
        log.tool("read", "a b", "\\", result=lines(3, "x\n  y\nz"))
        with log.subagent("explore", "find") as sub:
            sub.tool("grep", "é", result=count(2, "matches"))
            sub.close(summary='say "hi"')
        log.ask("Which?", options=["A", "B"]).auto("A", reason="why")
        log.todos([("pending", "x")])
    return stream.getvalue()


def seen(line: Line) -> tuple[object, ...]:
    return line.kind, line.event, line.parts.raw_meta


@pytest.mark.requirement("WRITE-04")
def test_a_cut_at_any_byte_leaves_the_entries_before_it() -> None:
    data = session()
    whole = parse(data)
    ends, position = [], len("\n".join(whole.header.sources).encode()) + 1 if whole.header else 0
    for line in whole.lines:
        position += sum(len(source.encode()) + 1 for source in line.physical_lines)
        ends.append(position)
    assert ends[-1] == len(data)
    for cut in range(len(data) + 1):
        document = parse(data[:cut])
        for line in document.lines:
            line.event  # noqa: B018 - reading it must not fail
        kept = sum(end <= cut for end in ends)
        assert [seen(line) for line in document.lines[:kept]] == [seen(line) for line in whole.lines[:kept]]


@pytest.mark.requirement("WRITE-04")
def test_reopening_after_a_cut_at_any_byte_loses_nothing(tmp_path: Path) -> None:
    data = session()
    header_end = data.index(b"---\n\n") + 5
    end = data.index(b"@end")
    for cut in range(header_end, end, 7):
        path = tmp_path / f"{cut}.bbox"
        path.write_bytes(data[:cut])
        with Writer.reopen(path, clock=ticking(), redactor=REDACTOR) as log:
            log.user("I am back")
        written = path.read_bytes()
        assert written.startswith(data[:cut])
        document = parse(written)
        assert [line.text.split(" step=")[0] for line in document.lines if line.kind is Kind.USER][-1] == "I am back"
        noted = b"was cut short" in written
        assert noted == (not data[:cut].endswith(b"\n"))
        steps = [line.step for line in document.events if line.step is not None]
        assert noted or steps == sorted(steps)


@pytest.mark.requirement("WRITE-04")
def test_a_reopened_log_goes_on_counting(tmp_path: Path) -> None:
    path = tmp_path / "s.bbox"
    first = Writer.create(path, clock=ticking(), timestamps=False, id="s", repo_sha="abc1234")
    first.tool("read", "a", result=ok("[redacted:x]"))
    first.plan("create", "x")
    sub = first.subagent("explore")
    sub.ask("?")
    first.mode("auto", afk=True)
    first._recording.close()  # as the end of the process would
    with path.open("ab") as file:
        file.write(b"t:rea")
    with Writer.reopen(path, clock=ticking(), timestamps=False) as log:
        log.tool("read", "b")
        log.plan("complete")
        log.subagent("explore").close()
        log.ask("?")
    lines_written = path.read_text().splitlines()
    torn = lines_written.index("t:rea")
    assert lines_written[torn + 1 :] == [
        f"# notes: line {torn + 1} was cut short: the writer was stopped in the middle of it",
        "t:read id=call_2 b step=3",
        "p:complete id=p1 step=3",
        "x:explore id=sub_2 tid=3 span=x2 step=3 → [started]",
        "x:explore id=sub_2 tid=3 span=x2 step=4 → [done]",
        'q: id=q_2 "?" step=5 → [auto]',
        "@end step=5",
        "# tools=3 skills=0 mcp=0 subagents=2 plans=1 duration=1s redactions=1",
    ]


def test_a_reopened_log_counts_its_time_from_its_first_entry(tmp_path: Path) -> None:
    path = tmp_path / "s.bbox"
    log = Writer.create(path, clock=ticking(), id="s", repo_sha="abc1234")
    log._recording.close()  # as the end of the process would
    clock = ticking()
    with Writer.reopen(path, clock=lambda: clock() + dt.timedelta(hours=2)):
        pass
    assert " duration=2h1s " in path.read_text()


def test_logs_that_cannot_be_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "s.bbox"
    cases = {
        "no whole header": b"---\nformat: bbox/1\nid: s\n",
        "escape: 1": b"---\nformat: bbox/1\nid: s\nrepo_sha: abc1234\n---\nu: hi\n",
        "ended": session(),
        "part2.bbox": b"---\nformat: bbox/1\nid: s\nescape: 1\n---\nu: hi\n@rotate file=part2.bbox\n",
    }
    for complaint, data in cases.items():
        path.write_bytes(data)
        with pytest.raises(UsageError, match=complaint) as refused:
            Writer.reopen(path)
        assert refused.value.remedy
        assert path.read_bytes() == data


CHILD = """
import sys
from blackbox.write import Writer
log = Writer.create(sys.argv[1], id="s", repo_sha="abc1234")
print("ready", flush=True)
number = 0
while True:
    number += 1
    log.tool("read", f"file {number}", result="x\\n" * 50)
"""


@pytest.mark.requirement("WRITE-03", "WRITE-04")
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_process_leaves_a_log_that_reads(tmp_path: Path) -> None:
    path = tmp_path / "s.bbox"
    with subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        while path.stat().st_size < 100_000:
            pass
        child.send_signal(signal.SIGKILL)
    tools = [line for line in read_document(path).lines if line.kind is Kind.TOOL]
    assert len(tools) > 100
    assert [line.id for line in tools] == [f"call_{number}" for number in range(1, len(tools) + 1)]
    assert {line.result.text for line in tools[:-1] if line.result} == {"x\n" * 50}
    with Writer.reopen(path) as log:
        assert log.tool("read") == f"call_{len(tools) + 1}"
