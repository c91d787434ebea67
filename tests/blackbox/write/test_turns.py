"""Messages, questions, modes and calls: every method and its line."""

from pathlib import Path

import pytest

from blackbox import parse
from blackbox.events import calls
from blackbox.write.results import blob, count, ok, running
from tests.blackbox.write.clocks import bare_log


@pytest.mark.requirement("WRITE-02")
def test_tools() -> None:
    stream, log = bare_log()
    build = log.start_tool("build", "cargo", "build")
    build.progress("1/5")
    build.retry(2, 3)
    build.failed("permission denied", attempt=2)
    pending = log.tool("test", "cargo test", result=running(), meta={"level": "warn", "extra": {"cache": "hit"}})
    log.observe(pending, partial="64/128")
    log.observe(pending, ok("128 passed"))
    log.observe(build, "late")
    log.tool("db.get", arguments={"id": 5, "result": None}, limit=2.5, keys=["a", "b c"], deep=True, where={"a": [1]})
    log.tool("read", Path("a.rs"), result=blob("0" * 64, 5), meta={"id": "mine"})
    assert stream.body == (
        "t!:build id=call_1 cargo build → [running]\n"
        't~:build id=call_1 "1/5"\n'
        "t!:build id=call_1 → [retry 2/3]\n"
        "t:build id=call_1 attempt=2 latency_ms=1000 → [err: permission denied]\n"
        't:test id=call_2 "cargo test" level=warn extra.cache=hit → [running]\n'
        'o: id=call_2 partial="64/128"\n'
        "o: id=call_2 → [ok] 128 passed\n"
        "o: id=call_1 → late\n"
        't:db.get id=call_3 limit=2.5 keys=[a, "b c"] deep=true where="{\\"a\\":[1]}" "id"=5 result=null\n'
        f"t:read id=mine a.rs → @blob sha256={'0' * 64} bytes=5\n"
    )
    log.close()


@pytest.mark.requirement("WRITE-02")
def test_other_calls() -> None:
    stream, log = bare_log()
    log.mcp("github", "issues", state="open", result=count(8, "issues"))
    log.skill("pricing-tiers", "install", result=ok())
    log.skill("marketplace", search="billing", result=count(3, "skills"))
    assert log.plan("create", "Auth plan", result=count(4, "steps")) == "p1"
    log.plan("complete", result=ok())
    assert log.plan("create", "Next") == "p2"
    log.plan("update", "x", meta={"id": "p1"})
    log.plan_file("~/plans/auth.md")
    log.recall("auth", "session tokens", result=count(2, "matches"))
    assert stream.body == (
        "c:github.issues id=call_1 state=open → [8 issues]\n"
        "s:pricing-tiers install → [ok]\n"
        "s:marketplace search=billing → [3 skills]\n"
        'p:create id=p1 "Auth plan" → [4 steps]\n'
        "p:complete id=p1 → [ok]\n"
        'p:create id=p2 "Next"\n'
        'p:update id=p1 "x"\n'
        "p:file path=~/plans/auth.md\n"
        'r: "auth" "session tokens" → [2 matches]\n'
    )
    log.close()
    assert stream.body.endswith("# tools=0 skills=2 mcp=1 subagents=0 plans=2 duration=1s redactions=0\n")


@pytest.mark.requirement("WRITE-02")
def test_questions_and_modes() -> None:
    stream, log = bare_log()
    asked = log.ask("Which?", options=["JWT", "OAuth"], multi=True)
    asked.select("JWT", "OAuth")
    log.mode("auto", afk=True, comment="user left")
    log.ask("Load?").auto("OAuth", reason="in 12 files")
    log.mode("chat")
    log.ask("How much?").answer('About "1000" req/s')
    log.phase("explore")
    log.phase("exit", approved=True, swarm=False, teammates=3)
    assert stream.body == (
        'q: id=q_1 "Which?" options=["JWT", "OAuth"] multi=true → [pending]\n'
        "q: id=q_1 → [selected: JWT, OAuth]\n"
        "m:auto afk=true # user left\n"
        'q: id=q_2 "Load?" → [auto]\n'
        'q: id=q_2 → [auto: OAuth, reason="in 12 files"]\n'
        "m:chat\n"
        'q: id=q_3 "How much?" → [pending]\n'
        'q: id=q_3 → "About \\"1000\\" req/s"\n'
        "@phase explore\n"
        "@phase exit approved=true swarm=false teammates=3\n"
    )
    answer = parse(stream.getvalue()).lines[-3].event
    assert isinstance(answer, calls.Question)
    assert answer.answer == calls.Answer("text", text='About "1000" req/s')
    log.close()
