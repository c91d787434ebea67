"""Primitives and comments: every method and its line."""

import datetime as dt

import pytest

from blackbox import parse
from blackbox.events import comments, lifecycle, messages
from blackbox.syntax.results import Blob
from blackbox.write import Writer
from tests.blackbox.write.clocks import Memory, bare_log, ticking


@pytest.mark.requirement("WRITE-02")
def test_primitives() -> None:
    stream, log = bare_log()
    log.start(budget=50, duration=dt.timedelta(hours=12), id="s")
    log.init("opus-4")
    log.checkpoint(hour=4, tokens=45000, cost=12.3, comment="on track")
    log.pause("waiting for CI")
    log.resume()
    log.assess([("P0", "fix, then P1: look-alike"), ("P1", "tests,")])
    log.notify("PR #47 ready")
    log.wait_approval(pr=47, timeout=7200, outcome="approved")
    log.escalate("help")
    log.batch(["issue-142", "issue-156"], reason="related")
    log.snapshot("after_pr", "PR created")
    log.compact(reason="context limit", tokens_before=180000, tokens_after=8000)
    log.lifecycle("brand-new", "x", colour="red", result="fine", meta={"step": 4})
    assert stream.body == (
        "@start id=s budget=$50 duration=12h\n"
        "@init model=opus-4\n"
        "@checkpoint hour=4 tokens=45000 cost=$12.30 # on track\n"
        '@pause reason="waiting for CI"\n'
        "@resume\n"
        "@assess → P0: fix, then P1\\: look-alike, P1: tests\\x2c\n"
        '@notify "PR #47 ready"\n'
        "@wait-approval pr=47 timeout=2h → approved\n"
        '@escalate "help"\n'
        '@batch [issue-142, issue-156] reason="related"\n'
        '@snapshot id=after_pr "PR created"\n'
        '@compact reason="context limit" tokens_before=180000 tokens_after=8000\n'
        "@brand-new x colour=red step=4 → fine\n"
    )
    events = [line.event for line in parse(stream.getvalue()).lines[1:]]
    assert all(isinstance(event, lifecycle.Lifecycle) for event in events)
    assessed = events[5]
    assert isinstance(assessed, lifecycle.Lifecycle)
    assert assessed.primitive == lifecycle.Assess((("P0", "fix, then P1: look-alike"), ("P1", "tests,")))
    log.close()


@pytest.mark.requirement("WRITE-02")
def test_comments() -> None:
    stream, log = bare_log(format="rlog/1")
    log.todos([("in_progress", "Fix login"), messages.Todo("pending", "Add [pending] tests"), ("odd", "x")])
    log.comment("User initiates task")
    log.note("CI outage")
    log.status("Compacting")
    log.elapsed(323)
    log.elapsed()
    log.budget("50.00", remaining="47.23", tokens=12847)
    log.model_switch("haiku", reason="topic detection")
    log.condense(50, 100, detail="summary")
    log.anchor(75, reason="key decision")
    log.memory_store("all", target="vectordb")
    log.metrics(3, prompt_tokens=5, logprobs=Blob("0" * 64), extra={"reasoning_tokens": 12})
    log.metrics()
    log.file_snapshot("b2d8cc51", files=0)
    log.queue("enqueue", "hello there")
    log.queue("remove")
    log.raw_event({"a": "b\n"})
    log.append(comments.Fields({"session_id": "abc"}))
    assert stream.body == (
        "td: [in_progress] Fix login [pending] Add \\[pending] tests\n"
        "  [odd] x\n"
        "# User initiates task\n"
        "# notes: CI outage\n"
        "# status: Compacting\n"
        "# t=00:05:23\n"
        "# t=00:00:01\n"
        "# budget: $50.00 remaining=$47.23 tokens=12847\n"
        '# model: haiku reason="topic detection"\n'
        "# condense range=50-100 detail=summary\n"
        '# anchor step=75 reason="key decision"\n'
        "# memory store=all target=vectordb\n"
        f"# metrics step=3 prompt_tokens=5 extra.reasoning_tokens=12 logprobs=@blob sha256={'0' * 64}\n"
        "# file-snapshot: b2d8cc51 files=0\n"
        '# queue: enqueue "hello there"\n'
        "# queue: remove\n"
        '# codex: {"a":"b\\\\n"}\n'
        "# session_id=abc\n"
    )
    assert parse(stream.getvalue()).header.format == "rlog/1"  # type: ignore[union-attr]  # it was just written
    log.close()


def test_metrics_belong_to_the_current_step_unless_they_say_otherwise() -> None:
    stream = Memory()
    log = Writer(stream, clock=ticking(), timestamps=False, start=False, id="s", repo_sha="abc1234")
    log.agent("one")
    log.metrics(prompt_tokens=5)
    log.close(cost="0.5")
    assert "# metrics step=1 prompt_tokens=5\n" in stream.body
    assert "# tokens=5 tools=0 " in stream.body
    assert stream.body.endswith(" duration=1s cost=$0.50 redactions=0\n")
