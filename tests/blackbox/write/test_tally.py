"""The figures of the closing metrics line."""

import pytest

from blackbox.events.calls import Arguments, build_mcp, build_plan, build_subagent
from blackbox.write.results import err, ok, started
from tests.blackbox.write.clocks import bare_log


@pytest.mark.requirement("REDACT-03", "WRITE-06")
def test_redaction_markers_are_counted() -> None:
    stream, log = bare_log()
    log.agent("Set [redacted:github_token] and [redacted]")
    log.tool("read", ".env", "[redacted:x]", result=err("key [redacted:api_key] ] refused"))
    log.close()
    assert stream.body.endswith("redactions=4\n")


def test_a_recall_that_asked_a_server_counts_as_a_call_to_it() -> None:
    stream, log = bare_log()
    log.recall("tides", result=ok())
    log.recall("tides", result=ok(), meta={"extra": {"mcp": "memory.search"}})
    log.mcp("forge", "issues", result=ok())
    log.close()
    assert " mcp=2 " in stream.body


def test_what_an_earlier_session_did_is_not_counted() -> None:
    stream, log = bare_log()
    old = {"inherited": True}
    log.tool("read", "a.py", result=ok(), meta={"id": "c1", "extra": old})
    log.append(build_mcp("forge.issues", Arguments(), ok()), id="c2", extra=old)
    log.append(build_subagent("explore", Arguments(), started()), id="s1", extra=old)
    log.append(build_subagent("explore", Arguments(), ok()), id="s1")
    log.append(build_plan("create", Arguments(("Mend it",)), ok()), id="p1", extra=old)
    log.tool("read", "b.py", result=ok(), meta={"id": "c3"})
    log.close()
    assert " tools=1 skills=0 mcp=0 subagents=0 plans=0 " in stream.body
