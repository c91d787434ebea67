"""`blackbox parse`: exact listing, the JSON array, and its parts."""

import json
from pathlib import Path

import pytest

from tests.blackbox.cli.command import NIGHT_SHIFT, run, write_log

BODY = (
    "@start id=sess_1 budget=$50 duration=12h\n"
    "\n"
    "a: Starting step=2\n"
    "  and going on\n"
    "# metrics step=2 prompt_tokens=1200\n"
    "t!:test id=c1 cargo test → [running]\n"
    "@phase explore\n"
    "what\n"
)
HEADER_ROWS = (
    "Line 1: Header start\n"
    "Line 2: HeaderField(format = bbox/1)\n"
    "Line 3: HeaderField(id = sess_1)\n"
    "Line 4: HeaderField(repo_sha = 4f2a9c1)\n"
    "Line 5: HeaderField(branch = main)\n"
    "Line 6: HeaderField(runner = local)\n"
    "Line 7: HeaderField(sandbox_id = box_1)\n"
    "Line 8: Header end\n"
)
BODY_ROWS = (
    "Line 9: Lifecycle(@start id=sess_1 budget=$50 duration=12h)\n"
    "Line 11: Agent(Starting step=2)\n"
    "Line 12: Continuation(and going on)\n"
    "Line 13: Comment(metrics step=2 prompt_tokens=1200)\n"
    "Line 14: ToolStart(test id=c1 cargo test → [running])\n"
    "Line 15: Phase(@phase explore)\n"
    "Line 16: Unknown(what)\n"
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path, "a.bbox", BODY)


@pytest.mark.requirement("PARSE-01", "PARSE-02")
def test_every_line_with_its_number_and_type(log: Path) -> None:
    assert run("parse", log) == (0, HEADER_ROWS + BODY_ROWS, "")


@pytest.mark.requirement("PARSE-04")
@pytest.mark.parametrize(("option", "rows"), [("--header", HEADER_ROWS), ("--body", BODY_ROWS)])
def test_one_part_only(log: Path, option: str, rows: str) -> None:
    assert run("parse", option, log) == (0, rows, "")


@pytest.mark.requirement("PARSE-04")
def test_both_parts_only_is_a_contradiction(log: Path) -> None:
    assert run("parse", "--header", "--body", log) == (
        2,
        "",
        "✗ --header and --body exclude each other\n  leave both out to see everything\n",
    )


def test_long_lines_are_shortened_unless_asked_for(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a.bbox", "u: " + "x" * 200 + "\n")
    assert run("parse", "--body", log).out == "Line 9: User(" + "x" * 97 + "...)\n"
    assert run("parse", "--body", "--full", log).out == "Line 9: User(" + "x" * 200 + ")\n"


@pytest.mark.requirement("PARSE-03")
def test_json_is_one_array_with_an_object_a_line(log: Path) -> None:
    done = run("parse", "--json", log)
    assert (done.code, done.err) == (0, "")
    rows = json.loads(done.out)
    assert rows[:2] == [
        {"line": 1, "type": "header_start"},
        {"line": 2, "type": "header_field", "key": "format", "value": "bbox/1"},
    ]
    assert [row["type"] for row in rows[7:]] == [
        "header_end",
        "lifecycle",
        "agent",
        "continuation",
        "comment",
        "tool_start",
        "phase",
        "unknown",
    ]
    by_line = {row["line"]: row for row in rows}
    assert by_line[9]["name"] == "start"
    assert by_line[9]["event"]["primitive"]["budget"] == "50"
    assert by_line[11]["metadata"] == {"step": "2"}
    assert by_line[11]["event"]["text"] == "Starting\nand going on"
    assert by_line[11]["last_line"] == 12
    assert by_line[12] == {"line": 12, "type": "continuation", "of": 11, "source": "  and going on"}
    assert by_line[13]["name"] == "metrics"
    assert by_line[14]["source"] == "t!:test id=c1 cargo test → [running]"
    assert by_line[14]["event"]["result"]["kind"] == "running"
    assert by_line[16] == {"line": 16, "type": "unknown", "source": "what"}


def test_json_of_an_empty_log_is_an_empty_array() -> None:
    assert run("parse", "--json", "-") == (0, "[]\n", "")


@pytest.mark.requirement("PARSE-03")
def test_json_has_a_row_for_every_line_that_is_not_blank() -> None:
    rows = json.loads(run("parse", "--json", NIGHT_SHIFT).out)
    lines = NIGHT_SHIFT.read_text().splitlines()
    assert [row["line"] for row in rows] == [number for number, line in enumerate(lines, 1) if line.strip()]


@pytest.mark.requirement("CMD-01", "CMD-07")
def test_several_logs_are_told_apart(tmp_path: Path) -> None:
    write_log(tmp_path, "a.bbox", "u: One\n")
    write_log(tmp_path, "b.bbox", "u: Two\n")
    done = run("parse", "--body", "a.bbox", "nope.bbox", "b.bbox", folder=tmp_path)
    assert done.code == 3
    assert done.out == "File: a.bbox\n\nLine 9: User(One)\n\nFile: b.bbox\n\nLine 9: User(Two)\n"
    assert done.err == "✗ nope.bbox: no such file\n  check the path\n"


@pytest.mark.requirement("CMD-01", "PARSE-03")
def test_several_logs_make_one_array_whose_rows_name_them(tmp_path: Path) -> None:
    write_log(tmp_path, "a.bbox", "u: One\n")
    write_log(tmp_path, "b.bbox", "u: Two\n")
    rows = json.loads(run("parse", "--json", "--body", tmp_path, folder=tmp_path).out)
    assert [(Path(row["file"]).name, row["source"]) for row in rows] == [("a.bbox", "u: One"), ("b.bbox", "u: Two")]


@pytest.mark.requirement("CMD-01")
def test_standard_input() -> None:
    assert run("parse", "-", stdin=b"u: Hello") == (0, "Line 1: User(Hello)\n", "")


@pytest.mark.requirement("BYTES-05")
def test_bytes_that_are_no_text_show_as_replacement_characters() -> None:
    assert run("parse", "-", stdin=b"u: caf\xe9\n").out == "Line 1: User(caf\N{REPLACEMENT CHARACTER})\n"
    (row,) = json.loads(run("parse", "--json", "-", stdin=b"u: caf\xe9\n").out)
    assert row["source"] in ("u: caf\N{REPLACEMENT CHARACTER}", "u: caf?")
