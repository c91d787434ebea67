"""The header: exact findings."""

import pytest

from blackbox.check.validator import validate_bytes
from tests.blackbox.check.logs import error, in_header, info, warning

GOOD = ("format: bbox/1", "id: sess_1", "repo_sha: 4f2a9c1")


def test_complete_header_has_no_findings() -> None:
    assert in_header(*GOOD) == []


@pytest.mark.requirement("HEAD-03")
def test_without_header_there_is_one_finding_about_it_and_the_body_is_checked() -> None:
    assert validate_bytes(b"u: One step=2\nwhat\na: Two step=1\n").findings == [
        error("H001", 1, "the file does not start with `---` and a header"),
        warning("L001", 2, "no known prefix: what"),
        warning("S001", 3, "step 1 comes after step 2"),
    ]


def test_blank_lines_before_the_header() -> None:
    data = b"\n\n---\nformat: bbox/1\nid: a\nrepo_sha: 4f2a9c1\nbranch: b\nrunner: r\nsandbox_id: s\n---\n"
    assert validate_bytes(data).findings == [warning("H013", 1, "2 blank line(s) before the header")]


@pytest.mark.requirement("HEAD-03")
def test_unclosed_header_ends_at_the_first_event() -> None:
    data = b"---\nformat: bbox/1\nid: a\nrepo_sha: 4f2a9c1\nbranch: b\nrunner: r\nsandbox_id: s\nu: Hi\nwhat\n"
    report = validate_bytes(data)
    assert report.findings == [
        error("H002", 1, "the header has no closing `---`"),
        warning("L001", 9, "no known prefix: what"),
    ]
    assert report.statistics.user_messages == 1


@pytest.mark.requirement("HEAD-03")
def test_bad_yaml_is_told_at_its_line_and_other_fields_are_still_read() -> None:
    assert in_header(*GOOD, "model: a: b") == [error("H003", 5, "mapping values are not allowed here")]


@pytest.mark.parametrize("key", ["format", "id", "repo_sha"])
@pytest.mark.requirement("HEAD-02")
def test_required_field_that_is_missing(key: str) -> None:
    lines = [line for line in GOOD if not line.startswith(f"{key}:")]
    assert in_header(*lines) == [error("H004", 1, f"the required field `{key}` is missing")]


@pytest.mark.parametrize(("index", "key"), [(0, "format"), (1, "id"), (2, "repo_sha")])
@pytest.mark.parametrize("empty", ["", " ''", " []"])
@pytest.mark.requirement("HEAD-02")
def test_required_field_that_is_empty(index: int, key: str, empty: str) -> None:
    lines = list(GOOD)
    lines[index] = f"{key}:{empty}"
    assert in_header(*lines) == [error("H005", 2 + index, f"the required field `{key}` is empty")]


def test_required_field_that_is_no_text() -> None:
    lines = ("format: bbox/1", "id: [a, b]", "repo_sha: 4f2a9c1")
    assert in_header(*lines) == [warning("H011", 3, "`id: ['a', 'b']` is not plain text")]


@pytest.mark.parametrize("name", ["bbox/1", "bbox/1.0", "rlog/1", "rlog/1.0"])
@pytest.mark.requirement("HEAD-04")
def test_known_formats(name: str) -> None:
    assert in_header(f"format: {name}", *GOOD[1:]) == []


@pytest.mark.parametrize("name", ["bbox/2", "rlog/1.1", "bbox/", "bbox/x"])
@pytest.mark.requirement("HEAD-04")
def test_other_version_of_ours_is_a_warning(name: str) -> None:
    assert in_header(f"format: {name}", *GOOD[1:]) == [warning("H007", 2, f"`{name}` is not version 1")]


@pytest.mark.parametrize("name", ["foo/1", "bbox", "1"])
@pytest.mark.requirement("HEAD-04")
def test_foreign_format_is_an_error(name: str) -> None:
    assert in_header(f"format: {name}", *GOOD[1:]) == [error("H006", 2, f"`{name}` is neither bbox/1 nor rlog/1")]


@pytest.mark.parametrize(("sha", "length"), [("abc12", 5), ("a" * 41, 41)])
@pytest.mark.requirement("HEAD-14")
def test_length_of_the_commit(sha: str, length: int) -> None:
    expected = warning("H008", 4, f"`{sha}` has {length} characters, not 6 to 40")
    assert in_header(*GOOD[:2], f"repo_sha: {sha}") == [expected]


@pytest.mark.parametrize("sha", ["abc123", "1234567890" * 4, "1234e56", "ABCDEF"])
@pytest.mark.requirement("HEAD-14")
def test_commits_of_6_to_40_digits_are_fine(sha: str) -> None:
    assert in_header(*GOOD[:2], f"repo_sha: {sha}") == []


def test_commit_that_is_not_hexadecimal() -> None:
    assert in_header(*GOOD[:2], "repo_sha: release") == [warning("H009", 4, "`release` is not hexadecimal")]


@pytest.mark.requirement("HEAD-11")
def test_duplicate_key_names_both_lines() -> None:
    message = "the key `id` occurs twice, first in line 3; the last one counts"
    assert in_header(*GOOD, "id: sess_2") == [error("H010", 5, message)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("dirty: maybe", "`dirty: maybe` is not true or false"),
        ("skills: git", "`skills: git` is not a list"),
        ("mcp: github", "`mcp: github` is not a list"),
        ("tokens_total_in: many", "`tokens_total_in: many` is not a whole number"),
        ("tokens_cache_create: 1.5", "`tokens_cache_create: 1.5` is not a whole number"),
        ("budget: lots", "`budget: lots` is not an amount of money"),
    ],
)
@pytest.mark.requirement("HEAD-07")
def test_field_of_another_type(line: str, message: str) -> None:
    assert in_header(*GOOD, line) == [warning("H011", 5, message)]


@pytest.mark.parametrize(
    "line",
    [
        "dirty: false",
        "dirty: true",
        "skills: [a]",
        "mcp: []",
        "tokens_total_in: 5",
        "budget: $50",
        "dirty:",
        "odd: 1",
    ],
)
@pytest.mark.requirement("HEAD-07")
def test_field_of_its_type(line: str) -> None:
    assert in_header(*GOOD, line) == []


@pytest.mark.requirement("HEAD-13")
def test_each_recommended_field_that_is_missing() -> None:
    assert validate_bytes(b"---\nformat: bbox/1\nid: a\nrepo_sha: 4f2a9c1\n---\n").findings == [
        info("H012", 1, "`branch` is not given"),
        info("H012", 1, "`runner` is not given"),
        info("H012", 1, "`sandbox_id` is not given"),
    ]


def test_unknown_escape_rule() -> None:
    assert in_header(*GOOD, "escape: 2") == [warning("H014", 5, "escape rule `2` is not known")]


def test_unknown_escape_rule_is_told_without_a_format_too() -> None:
    assert [finding.rule for finding in in_header("id: a", "repo_sha: 4f2a9c1", "escape: 2")] == ["H004", "H014"]


@pytest.mark.parametrize("value", ["0", "1"])
def test_known_escape_rules(value: str) -> None:
    assert in_header(*GOOD, f"escape: {value}") == []
