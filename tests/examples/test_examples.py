"""The examples are valid, read losslessly, and show what they promise."""

import json
import re
from pathlib import Path

import pytest

import blackbox
from blackbox.check.findings import Severity
from blackbox.check.validator import validate_bytes
from blackbox.document.document import parse
from blackbox.events.calls import ToolCall
from blackbox.events.comments import Comment, Remark
from blackbox.events.lifecycle import Lifecycle
from blackbox.session.load import load_session
from blackbox.syntax.kinds import Kind
from blackbox.syntax.results import ResultKind
from tests.blackbox.cli.command import EXAMPLES, FEATURE, NIGHT_SHIFT, run

IMPORT = EXAMPLES / "import-session.rlog"
PART_1 = EXAMPLES / "rotated" / "licence-audit.part1.bbox"
ALL = sorted(path for pattern in ("*.bbox", "*.rlog") for path in EXAMPLES.rglob(pattern))
#: All but `@rotate`, which ends a file, and `@phase`, which has a type of its own.
PRIMITIVES = {
    "start",
    "checkpoint",
    "pause",
    "resume",
    "end",
    "assess",
    "notify",
    "wait-approval",
    "escalate",
    "batch",
    "snapshot",
    "compact",
}
MINIMAL = "---\nformat: {}/1\nid: sess_1\nrepo_sha: 4f2a9c1\n---\nu: Hello\na: Hi\n"


def test_all_examples_are_found() -> None:
    assert len(ALL) == 6


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
@pytest.mark.requirement("EXAMPLE-01", "EXAMPLE-04")
def test_example_has_no_errors_and_no_warnings(path: Path) -> None:
    findings = validate_bytes(path.read_bytes()).findings
    assert [finding for finding in findings if finding.severity is not Severity.INFO] == []


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_example_comes_out_as_it_went_in(path: Path) -> None:
    data = path.read_bytes()
    assert parse(data).emit() == data


@pytest.mark.requirement("EXAMPLE-08", "VALID-19")
def test_examples_validate_with_json_under_strict() -> None:
    done = run("validate", "--strict", "--json", EXAMPLES)
    assert (done.code, done.err) == (0, "")
    reports = [json.loads(line) for line in done.out.splitlines()]
    assert sorted(report["file"] for report in reports) == [str(path) for path in ALL]
    assert all(report["valid"] and not report["warnings"] for report in reports)


@pytest.mark.parametrize("name", ["bbox", "rlog"])
@pytest.mark.requirement("EXAMPLE-05")
def test_minimal_session_has_no_findings_above_info(name: str) -> None:
    findings = validate_bytes(MINIMAL.format(name).encode()).findings
    assert {finding.severity for finding in findings} == {Severity.INFO}


@pytest.mark.requirement("EXAMPLE-01")
def test_night_shift_shows_every_prefix_of_the_format() -> None:
    kinds = {line.kind for line in parse(NIGHT_SHIFT.read_bytes()).lines}
    assert set(Kind) - kinds == {Kind.THINKING, Kind.TODOS, Kind.CONTINUATION, Kind.UNKNOWN}


@pytest.mark.requirement("EXAMPLE-01")
def test_night_shift_shows_every_primitive_that_one_file_can_have() -> None:
    lines = [line for line in parse(NIGHT_SHIFT.read_bytes()).lines if line.kind is Kind.LIFECYCLE]
    assert {line.name for line in lines} == PRIMITIVES
    assert all(isinstance(line.event, Lifecycle) and line.event.primitive is not None for line in lines)


@pytest.mark.requirement("EXAMPLE-01")
def test_night_shift_shows_every_kind_of_result() -> None:
    results = [line.result for line in parse(NIGHT_SHIFT.read_bytes()).lines]
    assert {result.kind for result in results if result is not None} == set(ResultKind)


@pytest.mark.requirement("EXAMPLE-01")
def test_night_shift_shows_every_phase_of_plan_mode() -> None:
    phases = re.findall(r"^@phase (\w+)", NIGHT_SHIFT.read_text(), re.MULTILINE)
    assert phases == ["explore", "design", "review", "final", "exit"]


@pytest.mark.requirement("EXAMPLE-01")
def test_night_shift_ends_as_its_counts_say() -> None:
    statistics = validate_bytes(NIGHT_SHIFT.read_bytes()).statistics
    last = parse(NIGHT_SHIFT.read_bytes()).lines[-1]
    assert last.source.startswith(
        f"# tokens=5318240 tools={statistics.tool_calls} skills=2 mcp={statistics.mcp_calls} "
    )
    assert last.source.endswith(f" redactions={statistics.redacted}")


@pytest.mark.requirement("EXAMPLE-04")
def test_feature_session_shows_plan_skills_servers_recall_and_subagents() -> None:
    kinds = {line.kind for line in parse(FEATURE.read_bytes()).lines}
    assert {Kind.PLAN, Kind.SKILL, Kind.MCP, Kind.RECALL, Kind.SUBAGENT, Kind.QUESTION} <= kinds


@pytest.mark.requirement("EXAMPLE-06")
def test_import_session_has_the_structure_a_reader_expects() -> None:
    document = parse(IMPORT.read_bytes())
    lines = document.lines
    assert document.header is not None
    assert document.header.format_name == "rlog"
    assert set(document.header.totals) == {
        "tokens_total_in",
        "tokens_total_out",
        "tokens_cached",
        "tokens_cache_create",
    }
    thinking = [line for line in lines if line.kind is Kind.THINKING]
    assert thinking
    assert all(line.meta.sig for line in thinking)
    assert len([line for line in lines if line.kind is Kind.TODOS]) == 3
    messages = [line for line in lines if line.kind is Kind.AGENT]
    assert all(line.meta.tokens_in is not None and line.meta.tokens_out is not None for line in messages)
    known = {type(line.event).__name__ for line in lines if isinstance(line.event, Comment)}
    assert known >= {"FileSnapshot", "QueueOperation", "RawEvent"}
    assert [line for line in lines if line.kind is Kind.UNKNOWN] == []


@pytest.mark.requirement("EXAMPLE-06")
def test_every_call_of_the_import_session_is_answered() -> None:
    session = blackbox.Session(parse(IMPORT.read_bytes()))
    assert session.calls
    assert all(call.result is not None for call in session.calls)
    assert all(
        isinstance(call.lines[0].event, ToolCall) for call in session.calls if call.lines[0].kind is Kind.TOOL_START
    )


@pytest.mark.requirement("VIEW-09")
def test_rotated_example_is_one_session() -> None:
    session = load_session(PART_1)
    steps = [line.step for line in session.lines if line.step is not None]
    assert steps == sorted(steps)
    assert (steps[0], steps[-1]) == (1, 18)
    starts = [line for line in session.lines if line.kind is Kind.LIFECYCLE and line.name == "start"]
    ends = [line for line in session.lines if line.kind is Kind.LIFECYCLE and line.name == "end"]
    assert (len(starts), len(ends)) == (1, 1)
    ids = {parse(path.read_bytes()).header.id for path in PART_1.parent.glob("*.bbox")}  # type: ignore[union-attr]
    assert len(ids) == 1


def test_remarks_of_the_examples_are_no_data_gone_wrong() -> None:
    for path in ALL:
        for line in parse(path.read_bytes()).lines:
            if isinstance(line.event, Remark):
                assert not re.match(r"(metrics|budget|anchor|condense|t=|tokens=)", line.event.text), line
