"""The comments that carry data."""

from decimal import Decimal

import pytest

from blackbox.events import Event
from blackbox.events.comments import (
    Anchor,
    Budget,
    Condense,
    Elapsed,
    Fields,
    FileSnapshot,
    MemoryStore,
    Metrics,
    ModelSwitch,
    Note,
    QueueOperation,
    RawEvent,
    Remark,
    Status,
    Totals,
)
from blackbox.syntax.results import Blob
from tests.blackbox.events.entry import entry, event


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("# t=04:00:01", Elapsed(14401, "04:00:01"), id="elapsed"),
        pytest.param("# t=soon", Elapsed(None, "soon"), id="elapsed odd"),
        pytest.param(
            "# budget: $50.00 remaining=$47.23 tokens=12847",
            Budget(Decimal("50.00"), Decimal("47.23"), 12847),
            id="budget",
        ),
        pytest.param('# model: petrel reason="plan mode"', ModelSwitch("petrel", "plan mode"), id="model"),
        pytest.param("# model: petrel", ModelSwitch("petrel", None), id="model alone"),
        pytest.param("# notes: CI was down; steps 4-6 by hand", Note("CI was down; steps 4-6 by hand"), id="notes"),
        pytest.param("# condense range=50-100 detail=summary", Condense(50, 100, "summary"), id="condense"),
        pytest.param("# condense range=7", Condense(7, 7, None), id="condense one"),
        pytest.param('# anchor step=75 reason="chose mail"', Anchor(75, "chose mail"), id="anchor"),
        pytest.param("# memory store=all target=vectordb", MemoryStore("all", "vectordb"), id="memory"),
        pytest.param("# file-snapshot: 7c1d09ae files=4", FileSnapshot("7c1d09ae", 4), id="snapshot"),
        pytest.param('# queue: enqueue "and the index"', QueueOperation("enqueue", "and the index"), id="enqueue"),
        pytest.param("# queue: remove", QueueOperation("remove", None), id="dequeue"),
        pytest.param('# codex: {"type":"x"}', RawEvent("codex", '{"type":"x"}'), id="raw"),
        pytest.param("# status: Compacting", Status("Compacting"), id="status"),
        pytest.param("# session_id=abc tags=[a, b]", Fields({"session_id": "abc", "tags": ("a", "b")}), id="fields"),
        pytest.param("# where are loans handled?", Remark("where are loans handled?"), id="remark"),
        pytest.param("#remark", Remark("remark"), id="remark without space"),
        pytest.param("#", Remark(""), id="empty"),
    ],
)
@pytest.mark.requirement(
    "PREFIX-14", "TIME-02", "METRIC-08", "NOTE-01", "CTX-01", "CTX-02", "CTX-03", "RLOG-04", "RLOG-05"
)
def test_comment(text: str, expected: Event) -> None:
    assert event(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "# memory is low",
        "# anchor the boat",
        "# condense later",
        "# metrics page",
        "# model:",
        "# a=b and more",
        "# t is time",
    ],
)
@pytest.mark.requirement("PREFIX-14")
def test_words_that_only_look_like_data_are_remarks(text: str) -> None:
    assert event(text) == Remark(text[2:])


@pytest.mark.requirement("METRIC-04", "METRIC-05")
@pytest.mark.parametrize(
    "text",
    [
        "# metrics step=3 prompt_tokens=520 completion_tokens=80 cached_tokens=200 cost_usd=0.00045",
        "# metrics step=3 prompt=520 completion=80 cached=200 cost=$0.00045",
    ],
)
def test_standalone_metrics(text: str) -> None:
    assert event(text) == Metrics(3, 520, 80, 200, Decimal("0.00045"))


@pytest.mark.requirement("METRIC-06")
def test_blobs_in_metrics() -> None:
    found = event(
        "# metrics step=3 completion_token_ids=@blob sha256=aa11 bytes=9 mime=a/b logprobs=@blob sha256=bb22 prompt=7"
    )
    assert found == Metrics(
        step=3, prompt_tokens=7, completion_token_ids=Blob("aa11", 9, "a/b"), logprobs=Blob("bb22")
    )


@pytest.mark.requirement("METRIC-07")
def test_extras_in_metrics() -> None:
    found = event("# metrics step=3 extra.cache_creation_input_tokens=1234 extra.reasoning_tokens=12 odd=x")
    assert found == Metrics(
        step=3, extra={"cache_creation_input_tokens": "1234", "reasoning_tokens": "12"}, other={"odd": "x"}
    )


@pytest.mark.requirement("METRIC-10", "METRIC-11")
def test_closing_line() -> None:
    assert event(
        "# tokens=4770 tools=14 skills=1 mcp=3 subagents=1 plans=1 duration=34s cost=$0.12 redactions=0 mood=good"
    ) == Totals(
        tokens=4770,
        tools=14,
        skills=1,
        mcp=3,
        subagents=1,
        plans=1,
        duration="34s",
        cost=Decimal("0.12"),
        redactions=0,
        other={"mood": "good"},
    )


@pytest.mark.requirement("METRIC-10")
def test_closing_line_with_tokens_in_and_out() -> None:
    assert event("# tokens_in=2847 tokens_out=1923 tools=14") == Totals(tokens_in=2847, tokens_out=1923, tools=14)


@pytest.mark.requirement("RLOG-06")
def test_raw_event_is_kept_and_decoded() -> None:
    found = event('# codex: {"type": "system",  "n": [1, 2]}')
    assert isinstance(found, RawEvent)
    assert found.json == '{"type": "system",  "n": [1, 2]}'
    assert found.value == {"type": "system", "n": [1, 2]}


@pytest.mark.parametrize(
    "text", ['# codex: {"cut": "sho...', "# codex: words", "# codex: {\ud800}", "# codex: " + "[" * 3000]
)
def test_raw_event_that_is_no_json_decodes_to_nothing(text: str) -> None:
    found = event(text)
    assert isinstance(found, RawEvent)
    assert found.value is None


@pytest.mark.requirement("TIME-01")
def test_elapsed_and_wall_time_are_two_axes() -> None:
    assert event("# t=00:15:30") == Elapsed(930, "00:15:30")
    assert entry("# t=00:15:30").meta.ts is None
    assert entry("u: x ts=2026-01-02T03:04:05Z").meta.ts is not None


@pytest.mark.requirement("NOTE-01")
def test_note_may_go_on_below() -> None:
    assert event("# notes: one\n  two") == Note("one\ntwo")


@pytest.mark.requirement("ARGS-13")
def test_escaped_remark() -> None:
    assert event(r"# \t=5 a\nb", escaped=True) == Remark("\t=5 a\nb")
    assert event(r"# notes\: x", escaped=True) == Remark("notes: x")
