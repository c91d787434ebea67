"""The report is the same however the bytes come, never fails, and no shortcut hides a finding."""

import tracemalloc
from collections.abc import Iterator
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import blackbox
from blackbox.check import validator as validating
from blackbox.check.rules import EXAMPLE_HEADER
from blackbox.check.text import SAMPLE_SIZE
from blackbox.check.validator import Report, Traits, Validator, validate_blocks, validate_bytes
from tests.blackbox.syntax.soup import bodies, log_bytes, sources

HEADER = EXAMPLE_HEADER.encode()
ESCAPED_HEADER = EXAMPLE_HEADER.replace("id: sess_example", "id: sess_example\nescape: 1").encode()

events = st.one_of(
    sources,
    st.builds("{} {} → {}".format, st.sampled_from(["t:a", "t!:a", "t~:a", "o:", "x:explore", "c:f.g", "q:"]),
              st.sampled_from(["", "id=1", "id=2", "span=1", "attempt=2", "tid=2"]),
              st.sampled_from(["[ok]", "[running]", "[started]", "[auto: A]", "[retry 2/3]", "@blob sha256=x"])),
    st.sampled_from(["@start id=1 budget=$1", "@end cost=$2", "# t=05:00:00", "# t=00:00:01", "m:plan", "@phase x"]),
    st.sampled_from(["  more", "\tmore", " \tmore", " u: one space", "  @blob sha256=ab", "t:edit a ->", ""]),
    st.sampled_from(["u: x latency_ms=soon", "t:a tokens_In2=x", "t:a level=loud", "t:a attempt=no", "[redacted:x]"]),
    st.builds("# metrics step={} cost_usd={}".format, st.integers(0, 3), st.sampled_from(["1", "0.5", "x"])),
    st.builds("a: x step={} ts=2025-01-0{}T00:00:00Z".format, st.integers(0, 4), st.integers(1, 3)),
    st.builds("u: C:\\{} {}".format, st.sampled_from("fqnxe"), bodies),
)  # fmt: skip
soup = st.builds(
    lambda head, lines, end: head + end.join(lines).encode(errors="surrogatepass") + (end.encode() if lines else b""),
    st.sampled_from([HEADER, HEADER, ESCAPED_HEADER, b"", b"\xef\xbb\xbf"]),
    st.lists(events, max_size=14),
    st.sampled_from(["\n", "\n", "\r\n"]),
)
data = st.one_of(soup, log_bytes)
#: Long enough that the start is not held back, so that cuts fall between batches.
PADDING = b"# " + b"pad " * (SAMPLE_SIZE // 4) + b"\n"


def pieces(whole: bytes, sizes: list[int]) -> Iterator[bytes]:
    for size in sizes:
        yield whole[:size]
        whole = whole[size:]
    yield whole


def report_of(blocks: Iterator[bytes] | list[bytes]) -> Report:
    return validate_blocks(blocks, kept_per_rule=None)


@given(data, st.lists(st.integers(0, 60), max_size=30))
@example(HEADER + "u: naïve → 日本\n  more 日本\n".encode(), [len(HEADER) + 6, 3, 1, 1, 1, 1])
@example(b"\xff\x00" * 30, [1, 1, 1])
@example(b"\0\0\0\0\n" + b"u: mostly text\n" * 30, [5, 40])
@pytest.mark.requirement("FLOW-02")
def test_cuts_of_a_short_log_make_no_difference(whole: bytes, sizes: list[int]) -> None:
    assert report_of(pieces(whole, sizes)) == report_of([whole])


@given(soup, st.lists(st.integers(1, 40), max_size=40))
@example(HEADER + b"t:a b -> c\nt:a latency_ms=x\n  @blob sha256=x\nt:a level=no\n u: x\n", [1] * 40)
@pytest.mark.requirement("FLOW-02")
def test_cuts_between_batches_make_no_difference(whole: bytes, sizes: list[int]) -> None:
    start, body = (HEADER, whole[len(HEADER) :]) if whole.startswith(HEADER) else (b"", whole)
    whole = start + PADDING + body
    assert report_of(pieces(whole, [len(start) + len(PADDING), *sizes])) == report_of([whole])


@given(soup, st.integers(1, 9))
@pytest.mark.requirement("FLOW-02")
def test_blocks_of_one_size_make_no_difference(whole: bytes, size: int) -> None:
    assert report_of([whole[at : at + size] for at in range(0, len(whole), size)]) == report_of([whole])


def test_entry_that_spans_many_blocks_is_checked_whole() -> None:
    body = "t:a x →\n".encode() + b"  @blob sha256=zz\n" + b"  line\n" * 4000 + b"u: next\n"
    blocks = [(HEADER + PADDING + body)[at : at + 1000] for at in range(0, len(HEADER + PADDING + body), 1000)]
    report = report_of(iter(blocks))
    assert [(finding.rule, finding.line) for finding in report.findings] == [("F001", 1), ("L008", 11)]
    assert report.statistics.continuation_lines == 4001
    assert report.statistics.blobs == 1


@given(data)
@pytest.mark.requirement("API-04", "API-07", "PROOF-01")
def test_any_bytes_give_a_report(whole: bytes) -> None:
    report = validate_bytes(whole)
    assert all(finding.line >= 1 for finding in report.findings)
    assert all(finding.line <= max(report.statistics.lines, 1) for finding in report.findings)


@given(data)
@pytest.mark.requirement("API-04")
def test_document_has_the_findings_of_its_bytes(whole: bytes) -> None:
    assert blackbox.validate(blackbox.parse(whole)) == validate_bytes(whole).findings


@given(soup)
@pytest.mark.requirement("VALID-05", "API-04")
def test_columns_stand_inside_their_lines(whole: bytes) -> None:
    lines = list(blackbox.parse(whole).physical_lines)
    for finding in validate_bytes(whole).findings:
        if finding.column is not None and finding.end_column is not None:
            assert 1 <= finding.column <= finding.end_column <= len(lines[finding.line - 1]) + 1


class EveryTrait(Traits):
    def __init__(self, block: bytes) -> None:
        super().__init__(block)
        for name in vars(self):
            setattr(self, name, True)


@given(data)
@example("\ufeff u: indented behind the mark\n".encode())
@example(HEADER + b"u: One\n \ttwo\n")
@example(HEADER + "t:a latency_ms=12… x\n".encode())
@example(HEADER + b"t:a tokens_In2=x\n")
def test_what_a_block_seems_not_to_contain_hides_no_finding(whole: bytes) -> None:
    with mock.patch.object(validating, "Traits", EveryTrait):
        everything = validate_bytes(whole)
    assert validate_bytes(whole) == everything


def test_streamed_report_keeps_a_thousand_findings_a_rule() -> None:
    body = HEADER + b"what\n" * 1500
    report = validate_blocks([body])
    assert len([finding for finding in report.findings if finding.rule == "L001"]) == 1000
    assert report.left_out == {"L001": 500}
    assert len(validate_bytes(body).findings) == 1501


def test_validator_can_be_asked_without_any_block() -> None:
    assert [finding.rule for finding in Validator().finish().findings] == ["T008"]


def test_header_fields_are_in_the_report() -> None:
    assert validate_bytes(HEADER).header["id"] == "sess_example"
    assert validate_bytes(b"u: Hello\n").header == {}


def turns() -> Iterator[bytes]:
    """20 MB of a session that goes on and on: messages, calls with long results, metrics and faults."""
    yield HEADER
    text = "word " * 500
    for n in range(3600):
        yield (
            f"u: Please go on with part {n}. {text}step={n} ts=2025-12-18T03:21:08Z\n"
            f't!:shell id=c{n} cmd="make part" step={n} → [running]\n'
            f"o: id=c{n} latency_ms=12 → [ok] made\n  {text}\n  line two -> [ok]\n"
            f"a: Done with that part. {text}step={n}\n"
            f"# metrics step={n} prompt_tokens=520 completion_tokens=80 cost_usd=0.00045\n"
            "an unknown line\n"
        ).encode()


@pytest.mark.requirement("FLOW-01")
def test_memory_does_not_grow_with_the_log() -> None:
    tracemalloc.start()
    try:
        report = validate_blocks(turns())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(map(len, turns())) > 20_000_000
    assert report.statistics.tool_calls == 3600
    # A block, a hash for each call id, and a thousand findings of one rule; the log itself is 20 MB.
    assert peak < 4_000_000
