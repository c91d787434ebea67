"""A whole log: read, looked at, and written back byte for byte."""

from pathlib import Path

import pytest

import blackbox
from blackbox.syntax.kinds import Kind

ROOT = Path(__file__).resolve().parents[3]
LOG = "---\nformat: bbox/1\nid: s\nrepo_sha: 1a2b3c4\n---\n\nu: hé\n  more\nwhat\nt:x → [ok]\n"


@pytest.mark.requirement("API-01", "API-02", "API-03")
def test_parse_takes_text_and_bytes() -> None:
    for data in (LOG, LOG.encode()):
        document = blackbox.parse(data)
        assert isinstance(document, blackbox.Document)
        assert document.emit() == LOG.encode()
        assert document.header is not None
        assert document.header.id == "s"
        assert [line.kind for line in document.lines] == [Kind.BLANK, Kind.USER, Kind.UNKNOWN, Kind.TOOL]


def test_events_leave_out_lines_that_say_nothing() -> None:
    assert [line.number for line in blackbox.parse(LOG).events] == [7, 10]


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("\n", 1), ("u: a", 1), ("u: a\n", 1), ("---\nid: a\n---\n", 3), (LOG, 10)]
)
def test_line_count(text: str, count: int) -> None:
    assert blackbox.parse(text).line_count == count


def test_document_shows_itself() -> None:
    assert repr(blackbox.parse(LOG)) == "Document(id='s', entries=4, lines=10)"


@pytest.mark.requirement("BYTES-04")
@pytest.mark.parametrize("data", [b"u: a", b"---\nid: a\n---", b"---\nid: a", b"u: a\n\n  b"])
def test_missing_final_newline_stays_missing(data: bytes) -> None:
    assert blackbox.parse(data).emit() == data


@pytest.mark.requirement("BYTES-06")
def test_nul_and_control_sequences_stay_in_their_line() -> None:
    data = b"t:x \xe2\x86\x92 \x1b[31mred\x1b[0m \0 \x07\nu: next\n"
    document = blackbox.parse(data)
    assert document.emit() == data
    assert len(document.lines) == 2
    result = document.lines[0].result
    assert result is not None
    assert result.text == "\x1b[31mred\x1b[0m \0 \x07"


def test_bad_utf8_is_read_and_comes_out_unchanged() -> None:
    data = b"u: caf\xe9 \xff\xc3\nu: ok\n"
    document = blackbox.parse(data)
    assert document.emit() == data
    assert document.lines[0].parts.text == "caf\udce9 \udcff\udcc3"


@pytest.mark.requirement("LAYOUT-09")
def test_new_prefix_key_and_primitive_leave_other_lines_as_they_were() -> None:
    known = ["u: hello step=1", "t:read id=c1 x → [ok]", "@end issues=2"]
    new = ["w: a new prefix", "t:read shade=blue x", "@levitate high=true"]
    mixed = blackbox.parse("\n".join(line for pair in zip(known, new, strict=True) for line in pair))
    alone = blackbox.parse("\n".join(known))
    assert [line.event for line in mixed.lines[::2]] == [line.event for line in alone.lines]


@pytest.mark.requirement("LAYOUT-02")
def test_line_reads_the_same_whatever_follows() -> None:
    line = "t:read id=c1 x → [running]"
    assert blackbox.parse(line).lines[0].event == blackbox.parse(f"{line}\no: id=c1 → [err: y]\n").lines[0].event


@pytest.mark.requirement("NOTE-04")
def test_extras_survive_reading_and_writing() -> None:
    text = "---\nextra.suite: qa\n---\na: Done. extra.confidence=0.95\n"
    document = blackbox.parse(text)
    assert document.emit() == text.encode()
    assert document.header is not None
    assert document.header.extra == {"suite": "qa"}
    assert document.lines[0].meta.extra == {"confidence": "0.95"}


def examples() -> list[Path]:
    return sorted(path for path in (ROOT / "examples").rglob("*") if path.suffix in (".bbox", ".rlog"))


@pytest.mark.parametrize("path", examples(), ids=lambda path: path.name)
def test_examples_have_no_unknown_line_and_come_out_unchanged(path: Path) -> None:
    document = blackbox.read_document(path)
    assert document.emit() == path.read_bytes()
    assert [line for line in document.lines if line.kind in (Kind.UNKNOWN, Kind.CONTINUATION)] == []
    assert document.header is not None
    assert document.header.problems == []
