"""Findings: the limit, the order, and the counts of a report."""

from blackbox.check.findings import Finding, Findings, Severity
from blackbox.check.rules import EXAMPLE_HEADER
from blackbox.check.validator import Report, validate_blocks
from tests.blackbox.check.logs import info, warning

BODY = (EXAMPLE_HEADER + "what\n" * 5 + "@celebrate\n" * 3).encode()


def filled(limit: int | None) -> Findings:
    findings = Findings(limit)
    for line in (3, 1, 2):
        findings.add(warning("L001", line, "odd"))
    findings.add(info("S002", 1, "gap"))
    return findings


def test_without_a_limit_everything_is_kept() -> None:
    findings = filled(None)
    assert len(findings.kept) == 4
    assert findings.left_out == {}


def test_limit_holds_for_each_rule_and_the_rest_is_counted() -> None:
    findings = filled(2)
    assert [finding.line for finding in findings.kept if finding.rule == "L001"] == [3, 1]
    assert findings.left_out == {"L001": 1}
    assert findings.counts == {"L001": 3, "S002": 1}


def test_order_is_by_line_then_rule() -> None:
    assert [(finding.line, finding.rule) for finding in filled(None).in_order()] == [
        (1, "L001"),
        (1, "S002"),
        (2, "L001"),
        (3, "L001"),
    ]


def test_finding_has_severity_rule_and_line() -> None:
    finding = Finding("L001", Severity.WARNING, 3, "odd")
    assert (finding.rule, finding.severity, finding.line, finding.column) == ("L001", "warning", 3, None)


def counts(report: Report) -> list[int]:
    return [report.count(severity) for severity in Severity]


def test_report_counts_what_was_left_out_too() -> None:
    for limit in (None, 100, 2, 1, 0):
        assert counts(validate_blocks([BODY], kept_per_rule=limit)) == [0, 5, 3]


def test_report_names_what_was_left_out() -> None:
    report = validate_blocks([BODY], kept_per_rule=2)
    assert report.left_out == {"L001": 3, "L009": 1}
    assert [finding.rule for finding in report.findings] == ["L001", "L001", "L009", "L009"]
