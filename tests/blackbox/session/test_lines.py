"""The entries of a session in one order, and what single ones leave."""

from decimal import Decimal

import pytest

from blackbox.document.document import parse
from blackbox.events import comments, lifecycle
from blackbox.events.comments import Anchor, Condense, MemoryStore
from blackbox.events.lifecycle import (
    Assess,
    Batch,
    Checkpoint,
    Compact,
    End,
    Escalate,
    Notify,
    Rotate,
    Snapshot,
    Start,
    Wait,
)
from blackbox.session.lines import Lines
from blackbox.syntax.kinds import Kind
from blackbox.syntax.results import Blob
from tests.blackbox.session.logs import IMPORT, NIGHT_SHIFT, read_session, session_of

FIRST = parse("u: one\n# t=00:00:01\n")
EMPTY = parse("")
SECOND = parse("u: two\n@pause reason=x\n@phase explore\n")


def test_parts_stand_behind_each_other() -> None:
    lines = Lines([FIRST, EMPTY, SECOND])
    assert [(line.number, lines.positions[line], lines.part_of(line)) for line in lines.all] == [
        (1, 0, 0),
        (2, 1, 0),
        (1, 2, 2),
        (2, 3, 2),
        (3, 4, 2),
    ]


def test_lines_are_found_by_kind_and_by_text() -> None:
    lines = Lines([FIRST, SECOND])
    assert [line.source for line in lines.of(Kind.USER, Kind.PHASE)] == ["u: one", "u: two", "@phase explore"]
    assert [line.source for line in lines.containing("reason=")] == ["@pause reason=x"]


def test_marks_are_typed_comments_and_primitives() -> None:
    lines = Lines([FIRST, SECOND])
    assert [(mark.line.number, mark.value) for mark in lines.marks(comments.Elapsed)] == [
        (2, comments.Elapsed(1, "00:00:01"))
    ]
    assert [mark.value for mark in lines.marks(lifecycle.Pause)] == [lifecycle.Pause("x")]
    assert [mark.value.name for mark in lines.marks(lifecycle.Phase)] == ["explore"]
    assert lines.marks(comments.Budget) == ()


@pytest.mark.requirement("LIFE-01", "LIFE-05", "LIFE-06")
def test_start_and_end() -> None:
    session = session_of(
        "@start id=sess_1 budget=$50 duration=12h\n"
        '@end summary="8 issues" prs=[201,202] issues=8 tokens_in=5 tokens_out=2\n'
    )
    assert session.start == Start("sess_1", Decimal(50), 43200)
    assert session.end == End("8 issues", ("201", "202"), 8, tokens_in=5, tokens_out=2)
    assert (session.closed, session.summary) == (True, "8 issues")


@pytest.mark.parametrize(
    ("body", "closed"),
    [("", False), ("@start\n", False), ("@end\n", True), ("@start\n@end\n", True), ("@end\n@start\n", False)],
)
def test_closed(body: str, closed: bool) -> None:
    assert session_of(body).closed is closed


@pytest.mark.requirement(
    "LIFE-02", "LIFE-07", "LIFE-08", "LIFE-09", "LIFE-10", "LIFE-11", "LIFE-12", "LIFE-13", "LIFE-14"
)
def test_primitives_are_listed_with_their_lines() -> None:
    session = session_of(
        "@checkpoint hour=4 tokens=45000 cost=$12.30\n@assess → P0: #1, P1: #2 #3\n"
        '@notify "PR #47 ready"\n@wait-approval pr=47 timeout=2h → approved\n@wait\n@wait-ci\n'
        '@escalate "need human"\n@batch [issue-142, issue-156] reason="related"\n'
        '@snapshot id=after_pr "PR created"\n@rotate file=part2.bbox\n'
    )
    assert [tuple(mark) for mark in session.checkpoints] == [
        (session.lines[0], Checkpoint(Decimal(4), 45000, Decimal("12.30")))
    ]
    assert [mark.value for mark in session.assessments] == [Assess((("P0", "#1"), ("P1", "#2 #3")))]
    assert [mark.value for mark in session.notifications] == [Notify("PR #47 ready")]
    assert [mark.value for mark in session.approvals] == [Wait("approval", 7200, "approved"), Wait()]
    arguments = getattr(session.approvals[0].line.event, "arguments", None)
    assert arguments is not None
    assert arguments.text("pr") == "47"
    assert [mark.value for mark in session.escalations] == [Escalate("need human")]
    assert [mark.value for mark in session.batches] == [Batch(("issue-142", "issue-156"), "related")]
    assert [mark.value for mark in session.snapshots] == [Snapshot("after_pr", "PR created")]
    assert [mark.value for mark in session.rotations] == [Rotate("part2.bbox")]


@pytest.mark.requirement("CTX-01", "CTX-02", "CTX-03")
def test_context_comments() -> None:
    session = session_of(
        "# condense range=50-100 detail=summary\n"
        '# anchor step=75 reason="key decision"\n'
        "# memory store=all target=db\n"
    )
    assert [mark.value for mark in session.condensations] == [Condense(50, 100, "summary")]
    assert [mark.value for mark in session.anchors] == [Anchor(75, "key decision")]
    assert [mark.value for mark in session.memory_stores] == [MemoryStore("all", "db")]


@pytest.mark.requirement("NOTE-01", "NOTE-02")
def test_notes_of_header_and_body() -> None:
    session = session_of("u: x\n# notes: CI outage, 2h gap\n", notes='"some tools mocked"')
    assert [(note.text, note.line and note.line.number) for note in session.notes] == [
        ("some tools mocked", None),
        ("CI outage, 2h gap", 5),
    ]


@pytest.mark.requirement("CTX-05", "LIFE-15")
def test_compaction_finds_its_summary() -> None:
    session = session_of(
        '@compact reason="context limit" tokens_before=180000 tokens_after=8000\n# metrics prompt=1\n\n'
        "a: [COMPACT SUMMARY]\n  did this\n  and that\n  [/COMPACT SUMMARY]\n"
    )
    (compaction,) = session.compactions
    assert compaction.value == Compact("context limit", 180000, 8000)
    assert compaction.summary == "did this\nand that"
    assert compaction.summary_line is session.lines[-1]


@pytest.mark.parametrize("rest", ["", "a: on we go", "u: [COMPACT SUMMARY] x", "t:read a\na: [COMPACT SUMMARY] x"])
def test_compaction_without_a_summary(rest: str) -> None:
    (compaction,) = session_of(f"@compact\n{rest}\n").compactions
    assert (compaction.summary, compaction.summary_line) == (None, None)


@pytest.mark.requirement("BLOB-01")
def test_blobs_of_results_and_metrics() -> None:
    session = session_of(
        "t:read a → @blob sha256=ab12cd34 bytes=48219 mime=text/plain\n"
        "o: id=1 → [ok] see @blob sha256=ef56\n"
        "t:x →\n  @blob sha256=0123\n"
        "# metrics step=1 logprobs=@blob sha256=4567\n"
        "a: ok # metrics prompt_token_ids=@blob sha256=89ab\n"
        "u: what is @blob sha256=ffff ?\n"
    )
    assert [(use.line.number, use.blob) for use in session.blobs] == [
        (1, Blob("ab12cd34", 48219, "text/plain")),
        (2, Blob("ef56")),
        (3, Blob("0123")),
        (5, Blob("4567")),
        (6, Blob("89ab")),
    ]


def test_redactions_are_counted() -> None:
    session = session_of("t:read .env → A=[redacted:env_var] B=[redacted:url]\n  [redacted]\na: [redacted:x]\n")
    assert session.redactions == 4


def test_todos_as_they_stood_last() -> None:
    todos = read_session(IMPORT).todos
    assert todos is not None
    assert [item.status for item in todos.items] == ["completed"] * 3
    assert session_of("u: x\n").todos is None


def test_night_shift() -> None:
    session = read_session(NIGHT_SHIFT)
    assert [mark.value.hour for mark in session.checkpoints] == [3, 6, 9]
    assert [mark.value.step for mark in session.anchors] == [14, 38, 59, 65, 81]
    assert [mark.value.outcome for mark in session.approvals] == ["approved"] * 4 + ["timeout"]
    assert [compaction.value.tokens_after for compaction in session.compactions] == [9200]
    assert (session.compactions[0].summary or "").startswith("merged: #331 (closes #318, #297)\n")
    assert (len(session.blobs), session.redactions, len(session.notes)) == (4, 1, 3)
    assert session.summary == "6 issues closed, 4 PRs merged, #333 waits for its owner"
    assert session.totals is not None
    assert session.totals.duration == "12h"
