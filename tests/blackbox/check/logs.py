"""Small logs for the tests of the checks, and findings written short. Lines count from the start of the body."""

import msgspec

from blackbox.check.findings import Finding, Severity
from blackbox.check.rules import EXAMPLE_HEADER
from blackbox.check.statistics import Statistics
from blackbox.check.validator import validate_bytes

HEADER_LINES = EXAMPLE_HEADER.count("\n")


def found(body: str | bytes, **fields: str) -> list[Finding]:
    """The findings in a body below a header that has none."""
    data = body if isinstance(body, bytes) else body.encode(errors="surrogateescape")
    extra = "".join(f"{key}: {value}\n" for key, value in fields.items())
    header = EXAMPLE_HEADER.removesuffix("---\n") + extra + "---\n"
    findings = validate_bytes(header.encode() + data).findings
    lines = HEADER_LINES + len(fields)
    return [msgspec.structs.replace(finding, line=finding.line - lines) for finding in findings]


def in_header(*lines: str) -> list[Finding]:
    """The findings in a header of the given lines and the recommended fields, with no body."""
    text = "\n".join(["---", *lines, "branch: main", "runner: local", "sandbox_id: box_1", "---", ""])
    return validate_bytes(text.encode()).findings


def counted(body: str) -> Statistics:
    """The figures of a body below a header."""
    return validate_bytes((EXAMPLE_HEADER + body).encode()).statistics


def error(rule: str, line: int, message: str, column: int | None = None, end: int | None = None) -> Finding:
    """An error as `found` gives it."""
    return Finding(rule, Severity.ERROR, line, message, column, end)


def warning(rule: str, line: int, message: str, column: int | None = None, end: int | None = None) -> Finding:
    """A warning as `found` gives it."""
    return Finding(rule, Severity.WARNING, line, message, column, end)


def info(rule: str, line: int, message: str, column: int | None = None, end: int | None = None) -> Finding:
    """An info finding as `found` gives it."""
    return Finding(rule, Severity.INFO, line, message, column, end)
