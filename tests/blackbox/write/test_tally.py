"""The figures of the closing metrics line."""

import pytest

from blackbox.write.results import err, ok
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
