"""Single lines: exact findings."""

import pytest

from blackbox.check.findings import Finding, Severity
from blackbox.check.lines import find_ascii_arrow
from blackbox.check.rules import EXAMPLE_HEADER
from blackbox.check.validator import validate_bytes
from blackbox.vault.presence import Held, Presence
from tests.blackbox.check.logs import found, info, warning
from tests.blackbox.syntax.soup import line_of

SHA = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


@pytest.mark.requirement("VALID-06")
def test_unknown_line_shows_how_it_starts() -> None:
    assert found("The build finished.\n") == [warning("L001", 1, "no known prefix: The build finished.")]


def test_unknown_line_is_shown_shortened_and_without_control_characters() -> None:
    assert found("\x1b[31m" + "y" * 60 + "\n") == [warning("L001", 1, "no known prefix: \\x1b[31m" + "y" * 35 + "…")]


def test_stray_continuation_below_a_blank_line() -> None:
    message = "an indented line with nothing above it to continue"
    assert found("a: One\n\n  two\n\tthree\n") == [warning("L002", 3, message), warning("L002", 4, message)]


@pytest.mark.requirement("VALID-17")
def test_ascii_arrow_on_a_call_line() -> None:
    expected = warning("L003", 1, "`->` does not mark a result; `→` does", 10, 12)
    assert found("t:read a -> [3 lines]\n") == [expected]


@pytest.mark.parametrize(
    "line",
    [
        "t:read a ->",
        "t:read a ->\r",
        "t:read a ->[3 lines]",
        "c:forge.issues x -> [8 issues]",
        "o: id=c1 -> [ok]",
        'q: id=q1 "a -> b" -> [pending]',
        "@wait-approval pr=3 -> approved",
    ],
)
@pytest.mark.requirement("VALID-17")
def test_lines_that_seem_to_mean_an_arrow(line: str) -> None:
    assert find_ascii_arrow(line_of(line)) is not None


@pytest.mark.parametrize(
    "line",
    [
        "u: use a -> b",
        "a: use a -> b",
        "th: use a -> b",
        "# a -> b",
        't:grep "a -> b"',
        "t:grep fn->x",
        "t:grep a -> b → [1 match]",
        "m:auto # from -> to",
        "@start id=1 # from -> to",
        "what a -> b",
        "-> b",
    ],
)
@pytest.mark.requirement("VALID-17")
def test_lines_where_the_ascii_arrow_is_text(line: str) -> None:
    assert find_ascii_arrow(line_of(line)) is None


@pytest.mark.parametrize(("line", "prefix"), [("t:", "t:"), ("t: → [ok]", "t:"), ("m:", "m:"), ("x: → [ok]", "x:")])
def test_name_missing(line: str, prefix: str) -> None:
    assert warning("L004", 1, f"`{prefix}` has no name behind it") in found(f"{line}\n")


@pytest.mark.parametrize("name", ["github", "github.", ".issues"])
def test_mcp_call_needs_server_and_method(name: str) -> None:
    message = f"`c:{name}` names no server and method, as in `c:github.issues`"
    assert found(f"c:{name} → [ok]\n") == [warning("L004", 1, message)]


def test_unclosed_quote_is_told_where_it_opens() -> None:
    assert found('t:shell cmd="echo hello → [ok]\n') == [info("L005", 1, "this quote is never closed", 9, 18)]


def test_odd_quotes_in_a_result_are_text() -> None:
    assert found('t:shell echo → say "hello\n') == []


@pytest.mark.parametrize("prefix", ["th:", "td:"])
@pytest.mark.requirement("PREFIX-17", "PREFIX-18")
def test_prefix_of_rlog_in_bbox(prefix: str) -> None:
    assert found(f"{prefix} [pending] look\n") == [info("L006", 1, f"`{prefix}` is part of rlog/1, this is bbox/1")]


@pytest.mark.parametrize("prefix", ["th:", "td:"])
def test_prefix_of_rlog_in_rlog(prefix: str) -> None:
    findings = found(f"{prefix} [pending] look\n", format="rlog/1")
    assert [finding.rule for finding in findings] == ["H010"]


@pytest.mark.requirement("BLOB-02")
def test_short_blob_hash() -> None:
    expected = info("L007", 1, "a prefix of 8 digits instead of 64", 24, 32)
    assert found("t:read a →@blob sha256=ab12cd34 bytes=4\n") == [expected]


@pytest.mark.parametrize("digits", ["ef56gh78", "", SHA + "0"])
@pytest.mark.requirement("BLOB-03")
def test_malformed_blob_hash(digits: str) -> None:
    expected = warning("L008", 1, f"`{digits}` is not a SHA-256 in hexadecimal", 24, 24 + len(digits))
    assert found(f"t:read a →@blob sha256={digits} bytes=4\n") == [expected]


def test_blob_hash_in_a_continuation_and_in_metrics() -> None:
    body = "t:read a →\n  @blob sha256=ab12\na: One step=1\n# metrics step=1 logprobs=@blob sha256=xy bytes=1\n"
    assert found(body) == [
        info("L007", 2, "a prefix of 4 digits instead of 64", 16, 20),
        warning("L008", 4, "`xy` is not a SHA-256 in hexadecimal", 40, 42),
    ]


def test_whole_blob_hash() -> None:
    assert found(f"t:read a → @blob sha256={SHA} bytes=4\n") == []


@pytest.mark.parametrize("name", ["celebrate", "startx"])
def test_unknown_primitive(name: str) -> None:
    assert found(f"@{name} now\n") == [info("L009", 1, f"`@{name}` is not a known primitive")]


@pytest.mark.parametrize("line", ["@init", "@wait", "@wait-approval pr=1 → approved", "@wait-ci → [ok]", "@notify x"])
def test_known_primitives(line: str) -> None:
    assert found(f"{line}\n") == []


def test_bad_escape_sequences_are_told_with_their_columns() -> None:
    assert found("u: a\\fb \\x41\n  c:\\qd \\\n", escape="1") == [
        warning("L010", 1, "`\\f` is not an escape sequence", 5, 7),
        warning("L010", 2, "`\\q` is not an escape sequence", 5, 7),
        warning("L010", 2, "`\\` is not an escape sequence", 9, 10),
    ]


@pytest.mark.requirement("ARGS-14")
def test_backslashes_are_text_without_the_escape_rule() -> None:
    assert found("u: C:\\files \\q\n") == []


@pytest.mark.parametrize("line", [" u: Hello", " # remark", " @notify x"])
def test_line_indented_by_one_space(line: str) -> None:
    assert found(f"{line}\n") == [info("L011", 1, "one leading space is ignored", 1, 2)]


def test_first_line_behind_a_byte_order_mark_may_be_indented_too() -> None:
    assert found("u: One\n   three spaces\n") == []


def test_second_header() -> None:
    assert found("u: Hello\n---\n") == [warning("L012", 2, "`---` in the body: is this a second log?")]


WHOLE = "c" * 64
LOG = EXAMPLE_HEADER.encode() + f"t:read id=call_1 a.rs → @blob sha256={WHOLE} bytes=12 mime=text/plain\n".encode()


def looked_at(data: bytes, held: Held) -> list[Finding]:
    asked: list[str] = []

    def look_at(digits: str) -> Held:
        asked.append(digits)
        return held

    findings = validate_bytes(data, look_at=look_at).findings
    assert asked, "no blob was looked at"
    return [finding for finding in findings if finding.rule.startswith("K")]


@pytest.mark.requirement("BLOB-11")
def test_blob_that_is_kept_whole_is_no_finding() -> None:
    assert looked_at(LOG, Held(Presence.WHOLE, 12)) == []


@pytest.mark.requirement("BLOB-11")
def test_blob_that_is_missing_is_named_with_its_place() -> None:
    message = "blob cccccccccccc… is not in .bbox-blobs"
    assert looked_at(LOG, Held(Presence.MISSING)) == [Finding("K001", Severity.WARNING, 9, message, 38, 102)]


@pytest.mark.requirement("BLOB-11")
def test_blob_with_other_content_is_an_error() -> None:
    message = "the content kept as cccccccccccc… has another hash"
    assert looked_at(LOG, Held(Presence.DAMAGED, 12)) == [Finding("K002", Severity.ERROR, 9, message, 38, 102)]


def test_blob_of_another_size_is_a_warning() -> None:
    message = "blob cccccccccccc… has 13 bytes, the log says 12"
    assert looked_at(LOG, Held(Presence.WHOLE, 13)) == [Finding("K003", Severity.WARNING, 9, message, 38, 102)]


def test_prefix_of_several_blobs_is_a_warning() -> None:
    data = LOG.replace(b"c" * 64, b"cccccc")
    message = "cccccc is the beginning of several blobs in .bbox-blobs"
    assert looked_at(data, Held(Presence.AMBIGUOUS)) == [Finding("K001", Severity.WARNING, 9, message, 38, 44)]


def test_without_a_store_all_blobs_make_one_remark() -> None:
    message = "there is no .bbox-blobs beside the log: 3 blob pointers not checked"
    data = LOG + LOG.splitlines(keepends=True)[-1] * 2
    assert looked_at(data, Held(Presence.NO_STORE)) == [Finding("K004", Severity.INFO, 9, message)]
