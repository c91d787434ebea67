"""Any bytes and any text parse, come out unchanged, and let every view of every line be asked for."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import blackbox
from blackbox.document.line import Line
from blackbox.document.scanner import Scanner
from tests.blackbox.syntax.soup import line_of, lines, log_bytes, logs

entry_lists = st.lists(st.integers(min_value=0, max_value=40), max_size=12)


def seen(entries: list[Line]) -> list[tuple[str, int, list[str]]]:
    return [(line.kind.value, line.number, line.physical_lines) for line in entries]


@given(log_bytes)
@example(b"")
@example(b"\n")
@example(b"\xef\xbb\xbf")
@example(b"---\na: &x [*x]\n---\n")
@example(b'---\na: "\\UFFFFFFFF"\n---\n')
@example(b"---\n%YAML 1." + b"1" * 5000 + b"\n---\n")
@pytest.mark.requirement("BYTES-01", "PROOF-01", "API-02", "API-07")
def test_any_bytes_come_out_unchanged(data: bytes) -> None:
    assert blackbox.parse(data).emit() == data


@given(log_bytes)
@pytest.mark.requirement("BYTES-01", "PROOF-01")
def test_any_line_can_be_asked_for_everything(data: bytes) -> None:
    for line in blackbox.parse(data).lines:
        for ask in ("event", "elements", "meta", "id", "text", "name", "step", "result", "result_kind", "head"):
            getattr(line, ask)
        meta = line.meta
        for ask in ("id", "step", "ts", "tid", "span", "parent", "latency_ms", "attempt", "level", "model", "sig"):
            getattr(meta, ask)
        repr((line, meta.interrupted, meta.tokens_in, meta.tokens_out, meta.tokens_cached, meta.extra))


@given(lines)
@example(line_of("td: nothing with a state"))
@example(line_of("@assess → nothing with a rank"))
@example(line_of("@assess"))
def test_every_kind_of_line_has_an_event(line: Line) -> None:
    assert line.event is line.event


@given(log_bytes)
@pytest.mark.requirement("ARGS-18")
def test_every_element_stands_where_its_span_says(data: bytes) -> None:
    document = blackbox.parse(data)
    physical = list(document.physical_lines)
    for line in document.lines:
        for element in line.elements:
            number, start, end = element.span
            assert line.number <= number <= line.last_number
            assert 1 <= start < end
            assert physical[number - 1][start - 1 : end - 1] == element.text


@given(lines)
@pytest.mark.requirement("ARGS-18")
def test_elements_of_a_line_do_not_overlap(line: Line) -> None:
    spans = sorted(element.span for element in line.elements)
    assert all(first.end <= second.start for first, second in itertools.pairwise(spans))


@given(lines)
@pytest.mark.requirement("ARGS-18")
def test_elements_leave_out_nothing_but_spaces_arrows_and_comment_marks(line: Line) -> None:
    covered = {column for element in line.elements for column in range(element.span.start - 1, element.span.end - 1)}
    rest = "".join(character for column, character in enumerate(line.source) if column not in covered)
    assert rest.replace("# metrics", "").strip(" \t\r→#") == ""


@given(log_bytes, entry_lists)
@pytest.mark.requirement("FLOW-02", "LAYOUT-02")
def test_pieces_of_any_size_give_the_same_entries(data: bytes, cuts: list[int]) -> None:
    scanner = Scanner()
    entries: list[Line] = []
    rest = data
    for size in cuts:
        entries += scanner.feed(rest[:size])
        rest = rest[size:]
    entries += scanner.feed(rest)
    entries += scanner.close()
    whole = blackbox.parse(data)
    assert seen(entries) == seen(whole.lines)
    assert scanner.has_bom == whole.has_bom
    assert scanner.final_newline == whole.final_newline
    assert (scanner.header and scanner.header.sources) == (whole.header and whole.header.sources)


@given(st.one_of(logs, st.text()))
@example("\ud800 \udc80")
@pytest.mark.requirement("API-01")
def test_text_reads_as_its_bytes_do(text: str) -> None:
    try:
        data = text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        data = text.encode(errors="surrogatepass")
    document = blackbox.parse(text)
    assert document.emit() == data
    assert seen(document.lines) == seen(blackbox.parse(data).lines)


@given(log_bytes)
def test_physical_lines_are_numbered_without_a_gap(data: bytes) -> None:
    document = blackbox.parse(data)
    header = document.header
    first = 1 if header is None else header.last_line + 1
    expected = first
    for line in document.lines:
        assert line.number == expected
        expected = line.last_number + 1
    assert (
        document.line_count
        == len(list(document.physical_lines))
        == data.count(b"\n") + (not data.endswith(b"\n")) * bool(data)
    )
