"""Whatever a timeline holds, its flight log is valid, says the same when it is read again, and is the same twice."""

import tempfile
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blackbird.canon.model import (
    Call,
    Failure,
    Generation,
    Item,
    Mark,
    Media,
    Message,
    Origin,
    Outcome,
    Purpose,
    Refusal,
    Result,
    Role,
    Text,
    Thinking,
    Thread,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
)
from blackbird.flightlog import files
from blackbird.flightlog.events import Composer, first_model
from blackbird.timeline.timeline import Timeline
from blackbox.check.findings import Severity
from blackbox.check.validator import validate_bytes
from blackbox.document.document import parse
from blackbox.formats.companion import from_companion
from blackbox.formats.flight import flight_of
from blackbox.formats.logs import to_log
from blackbox.redaction.config import load_redactor
from tests.blackbird.flightlog import sessions

REDACTOR = load_redactor()
ODD = st.sampled_from(
    [
        "a → b",
        "id=5 step=2 ts=x",
        "[ok] fine",
        "[err: no",
        "line\nline\n",
        "  indented",
        "# metrics prompt=1",
        '"half a quote',
        "API_KEY=sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ",
        "long " * 400,
        "\\e \\n \x00 \x1b[31m",
        "[pending]",
        "",
    ]
)
TEXTS = ODD | st.text(max_size=30)
TOOLS = [
    "Read",
    "Bash",
    "TodoWrite",
    "AskUserQuestion",
    "EnterPlanMode",
    "ExitPlanMode",
    "Skill",
    "Task",
    "mcp__a__b",
]
NAMES = st.sampled_from([*TOOLS, "memory_search", "mcp_x_y", "", "a b", "→"])
IDS = st.sampled_from(["c1", "c2", "c3", "call four", ""])
THREADS = st.sampled_from(["main", "main", "sub", "lost"])
GENERATIONS = st.sampled_from([None, "g1", "g2"])
VALUES: st.SearchStrategy[Any] = TEXTS | st.lists(TEXTS, max_size=2) | st.none() | st.integers() | st.just({"a": [1]})
TODOS = st.fixed_dictionaries(
    {"todos": st.lists(st.fixed_dictionaries({"content": TEXTS, "status": TEXTS}), max_size=3)}
)
QUESTION = st.fixed_dictionaries({"question": TEXTS, "options": st.lists(TEXTS, max_size=2), "multi": st.booleans()})
QUESTIONS = st.fixed_dictionaries({"questions": st.lists(QUESTION, max_size=2)})
KEYS = st.sampled_from(["path", "id", "step", "a b", "", "prompt", "query", "plan", "skill", "subagent_type", "é→"])
ARGUMENTS = st.none() | TODOS | QUESTIONS | st.dictionaries(KEYS, VALUES, max_size=3)
PARTS = (
    st.builds(Text, TEXTS)
    | st.builds(Thinking, TEXTS, st.none() | TEXTS, st.booleans())
    | st.builds(Refusal, TEXTS)
    | st.builds(Media, st.just("image"), st.none() | TEXTS)
    | st.builds(Unknown, TEXTS, st.integers(0, 10))
)
TIMES = st.none() | st.integers(0, 10**6).map(lambda second: sessions.NOON + second * 1_000_000)
DETAILS = st.dictionaries(
    st.sampled_from(["stderr", "exit_code", "is_interrupted", "answers"]), VALUES | st.booleans(), max_size=3
)
COMMON = {"thread": THREADS, "at": TIMES, "generation": GENERATIONS, "is_superseded": st.booleans()}
ITEMS: st.SearchStrategy[Item] = (
    st.builds(
        Message,
        id=st.just("m"),
        role=st.sampled_from(Role),
        origin=st.sampled_from(Origin),
        parts=st.lists(PARTS, max_size=3).map(tuple),
        parent=st.none() | st.just("m"),
        **COMMON,
    )
    | st.builds(Call, id=st.just("c"), call_id=IDS, call=st.builds(ToolCall, NAMES, IDS, ARGUMENTS, TEXTS), **COMMON)
    | st.builds(
        Result,
        id=st.just("r"),
        call_id=IDS,
        result=st.builds(ToolResult, IDS, TEXTS, st.none() | st.booleans(), details=DETAILS),
        **COMMON,
    )
    | st.builds(
        Generation,
        id=st.sampled_from(["g1", "g2", "g3"]),
        thread=THREADS,
        at=TIMES,
        purpose=st.sampled_from(Purpose),
        outcome=st.sampled_from(Outcome),
        settings=st.just(sessions.generation("g").settings),
        attempt=st.integers(1, 3),
        model=st.none() | TEXTS,
        usage=st.none() | st.builds(Usage, input=st.integers(0, 99), output=st.integers(0, 99)),
        failure=st.none() | st.builds(Failure, TEXTS, TEXTS),
        response_id=st.none() | TEXTS,
    )
    | st.builds(
        Mark,
        id=st.just("k"),
        thread=THREADS,
        at=TIMES,
        kind=st.sampled_from(
            ["compact", "model", "mode", "snapshot", "queue", "title", "interrupt", "error", "note"]
        ),
        text=TEXTS,
        data=st.dictionaries(st.sampled_from(["mode", "operation", "files", "reason", "tokens_before"]), VALUES),
    )
)


def named(items: list[Item]) -> tuple[Item, ...]:
    """Items with ids of their own, and each response once."""
    seen: dict[str, Item] = {}
    for number, item in enumerate(items):
        if isinstance(item, Generation):
            seen.setdefault(item.id, item)
        else:
            seen[f"{item.id}{number}"] = msgspec.structs.replace(item, id=f"{item.id}{number}")
    return tuple(seen.values())


TIMELINES = st.lists(ITEMS, max_size=12).map(
    lambda items: sessions.timeline(
        *named(items), threads=(sessions.MAIN, Thread(id="sub", parent="main", call_id="c1", kind="Explore"))
    )
)


def serious(data: bytes) -> list[str]:
    report = validate_bytes(data, redactor=REDACTOR)
    return [finding.message for finding in report.findings if finding.severity is not Severity.INFO]


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=100)
@given(TIMELINES)
def test_the_log_of_any_timeline_is_valid_and_reads_as_it_was_written(timeline: Timeline) -> None:
    data = files.bbox_bytes(timeline, REDACTOR)
    assert serious(data) == []
    flight = flight_of(parse(data)).flight
    text, losses = to_log(flight, "bbox")
    assert not losses
    assert flight_of(parse(text.encode())).flight == flight


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=40)
@given(TIMELINES)
def test_files_are_the_same_twice_and_valid(timeline: Timeline) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for round_ in ("one", "two"):
            (Path(folder) / round_).mkdir()
            files.write_bbox(timeline, Path(folder) / round_ / "a.bbox", redactor=REDACTOR)
            files.write_rlog(timeline, Path(folder) / round_ / "a.rlog", redactor=REDACTOR)
        one, two = (
            {path.relative_to(base): path.read_bytes() for path in base.rglob("*") if path.is_file()}
            for base in (Path(folder) / "one", Path(folder) / "two")
        )
    assert one == two
    assert serious(one[Path("a.bbox")]) == []
    assert serious(one[Path("a.rlog")]) == []


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=40)
@given(TIMELINES)
def test_a_companion_uses_what_the_session_used_each_response_once(timeline: Timeline) -> None:
    with tempfile.TemporaryDirectory() as folder:
        written = files.write_rlog(timeline, Path(folder) / "a.rlog", redactor=REDACTOR)
        lines = [
            line
            for path in written.files
            if path.suffix == ".jsonl"
            for line in map(msgspec.json.decode, path.read_bytes().splitlines())
        ]
        assert from_companion((Path(folder) / "a.jsonl").read_bytes()).flight.header["id"] == "harbour"
    used = [line["message"]["usage"] for line in lines if "usage" in line.get("message", {})]
    generations = [item for item in timeline.items if isinstance(item, Generation) and item.usage is not None]
    assert sorted((one["input_tokens"], one["output_tokens"]) for one in used) == sorted(
        (one.usage.input, one.usage.output) for one in generations if one.usage is not None
    )


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=40)
@given(TIMELINES)
def test_items_that_come_one_by_one_make_a_valid_log_as_well(timeline: Timeline) -> None:
    composer = Composer(timeline.threads, model=first_model(timeline.items))
    lines = [line for item in timeline.items for line in (*composer.feed([item]), *composer.settle())]
    data = files.bytes_of(timeline, [*lines, *composer.close()], REDACTOR)
    assert serious(data) == []
