"""The figures of the closing metrics line."""

import pytest

from blackbox.write.results import err
from tests.blackbox.write.clocks import bare_log


@pytest.mark.requirement("REDACT-03", "WRITE-06")
def test_redaction_markers_are_counted() -> None:
    stream, log = bare_log()
    log.agent("Set [redacted:github_token] and [redacted]")
    log.tool("read", ".env", "[redacted:x]", result=err("key [redacted:api_key] ] refused"))
    log.close()
    assert stream.body.endswith("redactions=4\n")
