"""The session view as a whole, on examples and on anything at all."""

import functools
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blackbox.document.document import parse
from blackbox.document.line import Line
from blackbox.session.lines import Marks
from blackbox.session.session import Session
from blackbox.syntax.kinds import Kind
from tests.blackbox.session.logs import FEATURE, IMPORT, NIGHT_SHIFT, ROTATED, numbers, read_session, session_of

SECOND_PART = ROTATED.with_name("licence-audit.part2.bbox")
AT_A_LINE = ("part_of", "elapsed_at", "time_at", "mode_at", "phase_at", "model_at")
MAKES_CALLS = (Kind.TOOL, Kind.TOOL_START, Kind.MCP, Kind.SUBAGENT, Kind.SKILL, Kind.PLAN, Kind.RECALL)
REPORTS = (Kind.OBSERVATION, Kind.TOOL_PROGRESS)

words = st.sampled_from(
    [
        "id=1", "id=2", "span=s1", "span=1", "tid=2", "parent=s1", "attempt=1", "attempt=2/3", "latency_ms=5",
        "level=error", "step=3", "step=4", "ts=2025-01-01T10:00:00Z", "ts=9999-12-31T23:59:59-12:00",
        "tokens_in=5 tokens_out=2", "model=m", "partial=x", '"quoted words"', "path=a.rs", "file_path=[a, b]",
        "afk=true", "options=[a, b]", "multi=true", "budget=$5", "cost=$1.5", "prompt=5", "remaining=$3", "tokens=7",
        "file=b.bbox", "[COMPACT SUMMARY]", "t=00:01:00", "metrics", "budget:", "model:", "notes:", "redactions=1",
    ]
)  # fmt: skip
results = st.sampled_from(
    [
        "", " → [ok] fine", " → [running]", " → [err: no]", " → [retry 2/3]", " → [pending]", " → [auto]",
        " → [auto: a, reason=b]", " → [selected: a, b]", " → free text", " → @blob sha256=ab12 bytes=7",
        " → session_id=s path=p.bbox summary=t", " → [redacted:key]", " →", "\n  below",
        " # metrics prompt=1 cost=0.1",
    ]
)  # fmt: skip
prefixes = st.sampled_from(
    [
        "t:test", "t!:test", "t~:test", "t:read", "o:", "c:s.m", "x:explore", "s:skill", "p:file", "p:write", "r:",
        "q:", "m:auto", "m:plan", "u:", "a:", "th:", "td:", "#", "# metrics", "# budget: $5", "@start", "@pause",
        "@resume", "@phase exit", "@phase explore", "@compact", "@end", "@rotate", "@wait-approval",
        "??", "", "  more",
    ]
)  # fmt: skip
entries = st.builds(lambda a, b, c: f"{a} {' '.join(b)}{c}", prefixes, st.lists(words, max_size=4), results)
soups = st.lists(entries, max_size=25).map("\n".join)


def look_at_everything(session: Session) -> None:
    for name, member in vars(Session).items() | vars(Marks).items():
        if isinstance(member, (property, functools.cached_property)):
            getattr(session, name)
    for thing in (*session.calls, *session.questions, *session.subagents, *session.plans, *session.steps.values()):
        for name in dir(thing):
            if not name.startswith("_") and name != "add":
                getattr(thing, name)
        repr(thing)
    for line in session.lines:
        for name in AT_A_LINE:
            getattr(session, name)(line)
    for file in session.files.values():
        assert file.is_modified in (True, False)
    assert session.budget.overrun >= 0
    repr(session)


def homes(session: Session) -> Counter[Line]:
    ledger = session._ledger
    calls = [line for call in ledger.calls for line in call.lines]
    questions = [line for question in ledger.questions for line in question.lines]
    return Counter(calls + questions + ledger.orphans)


@given(soups, soups)
@settings(deadline=None)
def test_any_lines_give_a_session(first: str, second: str) -> None:
    session = Session.of_parts([parse(f"---\nmode: chat\nbudget: $5\n---\n{first}"), parse(second)])
    look_at_everything(session)
    expected = [line for line in session.lines if line.kind in (*MAKES_CALLS, *REPORTS, Kind.QUESTION)]
    assert homes(session) == Counter(expected)
    calls = Counter(line for call in session._ledger.calls for line in call.lines)
    assert all(calls[line] == 1 for line in expected if line.kind in MAKES_CALLS)


@given(st.binary(max_size=400))
@settings(deadline=None)
def test_any_bytes_give_a_session(data: bytes) -> None:
    look_at_everything(Session(parse(data)))


@pytest.mark.parametrize("path", [NIGHT_SHIFT, FEATURE, IMPORT, ROTATED, SECOND_PART], ids=lambda path: path.name)
def test_every_example_gives_a_session(path: Path) -> None:
    session = read_session(path)
    look_at_everything(session)
    assert session.orphans == ()
    assert session.open_calls == ()


def test_empty_log() -> None:
    session = session_of("")
    look_at_everything(session)
    assert (session.id, session.header, session.lines, session.calls) == (None, None, [], ())


def test_id_of_header_or_start() -> None:
    assert session_of("@start id=b\n", id="a").id == "a"
    assert session_of("@start id=b\n").id == "b"


@pytest.mark.requirement("VIEW-09")
def test_parts_are_one_session_in_order() -> None:
    documents = [parse(path.read_bytes()) for path in (ROTATED, SECOND_PART)]
    session = Session(documents)
    assert session.id == "sess_licence_audit"
    assert [call.id for call in session.calls] == [
        "call_1", "call_2", "sub_1", "call_3", "call_4", "call_5", "call_6", "call_7", "call_8",
    ]  # fmt: skip
    assert list(session.steps) == list(range(1, 19))
    assert (session.elapsed, session.closed) == (1480, True)
    assert [session.part_of(call.line) for call in session.calls] == [0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert repr(session) == "Session(id='sess_licence_audit', parts=2, entries=35)"


@pytest.mark.requirement("VIEW-09")
def test_call_may_be_answered_in_the_next_part() -> None:
    session = Session.of_parts([parse("t:test id=1 → [running]\n@rotate file=b\n"), parse("u: x\no: id=1 → [ok]\n")])
    (call,) = session.calls
    assert (numbers(call), [session.part_of(line) for line in call.lines]) == ([1, 2], [0, 1])


def test_answers_are_worked_out_once() -> None:
    session = read_session(NIGHT_SHIFT)
    assert session.calls is session.calls
    assert session.subagents[0] is session.subagents[0]
    assert session.questions[3] is session.unconfirmed[0]


def test_night_shift_counts() -> None:
    session = read_session(NIGHT_SHIFT)
    kinds = Counter(call.kind.value for call in session.calls)
    assert kinds == {"tool": 54, "mcp": 21, "subagent": 2}
    statuses = Counter(call.status.value for call in session.calls)
    assert statuses == {"ok": 59, "answered": 10, "err": 7, "skip": 1}
    assert len(session.skills) == 2


@pytest.mark.requirement("RLOG-07")
def test_messages_are_linked_into_threads_by_parent() -> None:
    session = session_of(
        "u: Fix it id=m1\n"
        "a: Looking. id=m2 parent=m1\n"
        "u: Something else id=m3\n"
        "th: Hm. id=m4 parent=m2\n"
        "a: Done. id=m5 parent=m4\n"
    )
    assert list(session.messages) == ["m1", "m2", "m3", "m4", "m5"]
    assert [line.id for line in session.message_thread(session.messages["m5"])] == ["m1", "m2", "m4", "m5"]
    assert [line.id for line in session.message_thread(session.messages["m3"])] == ["m3"]


def test_messages_that_name_each_other_as_parent_are_no_endless_thread() -> None:
    session = session_of("u: One id=m1 parent=m2\na: Two id=m2 parent=m1\n")
    assert [line.id for line in session.message_thread(session.messages["m2"])] == ["m1", "m2"]
