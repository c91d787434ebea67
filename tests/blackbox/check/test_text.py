"""Encoding, line ends, holes, length and secrets: exact findings."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blackbox.check.findings import Finding, Findings, Severity
from blackbox.check.rules import EXAMPLE_HEADER
from blackbox.check.text import SecretSearch, looks_binary
from blackbox.check.validator import validate_blocks, validate_bytes
from blackbox.redaction.redactor import Redactor
from tests.blackbox.check.logs import HEADER_LINES, error, found, info, warning

HEADER = EXAMPLE_HEADER.encode()


@pytest.mark.requirement("BYTES-03")
def test_byte_order_mark() -> None:
    assert validate_bytes(b"\xef\xbb\xbf" + HEADER).findings == [
        warning("T001", 1, "the file starts with a byte order mark")
    ]


@pytest.mark.requirement("BYTES-02")
def test_carriage_returns_are_told_once_at_the_first() -> None:
    assert found("u: One\nu: Two\r\nu: Three\r\n") == [info("T002", 2, "lines from here on end in CR LF")]


@pytest.mark.requirement("BYTES-02")
def test_carriage_returns_from_the_first_line_on() -> None:
    data = HEADER.replace(b"\n", b"\r\n") + b"u: Hello\r\n"
    assert validate_bytes(data).findings == [info("T002", 1, "lines from here on end in CR LF")]


def test_carriage_return_in_a_continuation() -> None:
    assert found("u: One\n  two\r\n") == [info("T002", 2, "lines from here on end in CR LF")]


def test_carriage_return_inside_a_line_is_text() -> None:
    assert found("u: One\rtwo\n") == []


@pytest.mark.requirement("BYTES-05")
def test_bad_bytes_are_told_with_their_columns() -> None:
    assert found(b"u: caf\xe9\xff au lait\n") == [error("T003", 1, "bytes e9 ff are not UTF-8", 7, 9)]


@pytest.mark.requirement("BYTES-05")
def test_character_cut_at_the_end_of_a_line() -> None:
    expected = error("T003", 1, "bytes e2 86 are not UTF-8 (cut at the end of the line)", 4, 6)
    assert found(b"u: \xe2\x86\n") == [expected]


@pytest.mark.requirement("BYTES-05")
def test_bad_bytes_in_a_continuation() -> None:
    assert found(b"u: One\n  caf\xe9 x\n") == [error("T003", 2, "bytes e9 are not UTF-8", 6, 7)]


@pytest.mark.requirement("BYTES-05")
def test_bad_bytes_in_the_header() -> None:
    data = HEADER.replace(b"branch: main", b"branch: m\xe4in")
    assert error("T003", 5, "bytes e4 are not UTF-8", 10, 11) in validate_bytes(data).findings


def test_nul_bytes_are_counted() -> None:
    assert found("u: a\0b\0\n") == [error("T005", 1, "2 NUL byte(s)", 5, 6)]


def test_nul_byte_in_the_header() -> None:
    data = HEADER.replace(b"branch: main", b"branch: 'ma\0in'")
    assert error("T005", 5, "1 NUL byte(s)", 12, 13) in validate_bytes(data).findings


@pytest.mark.requirement("FLOW-04")
def test_missing_final_newline() -> None:
    assert found("u: One\nu: Two") == [info("T004", 2, "the last line has no line feed")]


def test_line_of_more_than_a_mebibyte() -> None:
    assert found("u: One\nu: " + "x" * (1 << 20) + "\n") == [warning("T007", 2, "the line is 1.0 MiB long")]


def test_long_continuation_that_comes_in_a_block_of_its_own() -> None:
    long = b"  " + b"x" * (3 << 19) + b"\n"
    pad = b"u: " + b"y" * 9000 + b"\n"
    report = validate_blocks([HEADER + pad + b"u: One\n", long, b"  two\n", b"u: Two\n"])
    assert report.findings == [warning("T007", HEADER_LINES + 3, "the line is 1.5 MiB long")]


def test_line_of_a_mebibyte_is_not_long() -> None:
    assert found("u: " + "x" * ((1 << 20) - 3) + "\n") == []


def test_empty_file() -> None:
    assert validate_bytes(b"").findings == [error("T008", 1, "the file is empty")]
    assert validate_blocks([b"", b""]).findings == [error("T008", 1, "the file is empty")]


def test_binary_file_has_no_other_findings() -> None:
    data = bytes(range(256)) * 40
    report = validate_bytes(data)
    assert report.findings == [error("T006", 1, "this is a binary file, not a log")]
    assert report.statistics.lines == 0


@pytest.mark.parametrize(
    ("data", "is_binary"),
    [
        (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", True),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\xff\xd8 \xfe a \x90 b \x81" * 3, True),
        (b"u: text with a hole \0\0\0 in it, and more text behind the hole\n", False),
        ("u: � � � � � shown as written \0 with one NUL in a long line of text\n".encode(), False),
        (b"u: latin-1 caf\xe9 na\xefve \xe0 la carte p\xe2t\xe9 without NUL\n", False),
        (b"\x1b[31mu: coloured\x1b[0m\n", False),
        (b"", False),
        ("é".encode()[:1] + b"\0 text with one cut character and a NUL byte in it\n", False),
    ],
    ids=["elf", "png", "hole", "replacement characters", "latin-1", "colours", "empty", "cut"],
)
def test_what_looks_binary(data: bytes, is_binary: bool) -> None:
    assert looks_binary(data) is is_binary


REDACTOR = Redactor()
#: Made up, and put together here so that scanners of repositories leave this file alone.
TOKEN = "ghp" + "_16CharactersAndTwentyMore4Digits9x8y7z"


def secrets_in(blocks: list[bytes], kept: int | None = None) -> Findings:
    search = SecretSearch(REDACTOR, kept)
    for block in blocks:
        search.feed(block)
    return search.finish()


@pytest.mark.requirement("REDACT-09")
def test_secret_in_the_clear_is_found_with_its_place_and_never_shown() -> None:
    log = f"u: one\nt:shell é {TOKEN} → [ok]\n".encode()
    found = secrets_in([log]).kept
    message = "a secret in the clear: github_token"
    assert found == [Finding("K005", Severity.WARNING, 2, message, 11, 11 + len(TOKEN))]
    assert TOKEN not in repr(found)


@pytest.mark.requirement("REDACT-09")
@settings(deadline=None)  # the first search makes the patterns ready
@given(st.lists(st.integers(1, 200), max_size=6))
def test_where_blocks_are_cut_makes_no_difference_to_the_secrets(cuts: list[int]) -> None:
    log = (f"u: one\na: two {TOKEN}\n" * 3 + f"a: last {TOKEN}").encode()
    places = sorted({0, len(log), *(cut for cut in cuts if cut < len(log))})
    blocks = [log[start:end] for start, end in pairwise(places)]
    assert [finding.line for finding in secrets_in(blocks).kept] == [2, 4, 6, 7]


def test_beyond_the_limit_secrets_are_counted() -> None:
    found = secrets_in([f"u: {TOKEN}\n".encode() * 5], kept=2)
    assert len(found.kept) == 2
    assert found.left_out == {"K005": 3}


@pytest.mark.requirement("REDACT-09")
def test_secrets_are_searched_for_where_a_redactor_is_given() -> None:
    log = EXAMPLE_HEADER.encode() + f"u: {TOKEN}\n".encode()
    assert [f.rule for f in validate_bytes(log, redactor=REDACTOR).findings if f.rule[0] == "K"] == ["K005"]
    assert [f.rule for f in validate_bytes(log).findings if f.rule[0] == "K"] == []
