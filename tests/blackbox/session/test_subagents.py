"""Sub-agents with their own calls; spans nested by parent."""

import pytest

from blackbox.session.subagents import Reference, SpanNode
from tests.blackbox.session.logs import NIGHT_SHIFT, numbers, read_session, session_of


def tree(nodes: tuple[SpanNode, ...] | list[SpanNode]) -> list[object]:
    return [(node.call.span, tree(node.children)) for node in nodes]


@pytest.mark.requirement("VIEW-02", "CONC-01", "CONC-02", "CONC-04")
def test_interleaved_agents_have_their_own_calls() -> None:
    session = session_of(
        'x:explore tid=2 span=x17 "auth" → [started]\n'
        'x:explore tid=3 span=x18 "tests" → [started]\n'
        "t:rg tid=2 span=t91 AuthError → [12 matches]\n"
        "t:read main.rs → [9 lines]\n"
        "t:read tid=3 span=t92 a.rs → [running]\n"
        "t:read tid=2 span=t93 b.rs → [1 lines]\n"
        "o: tid=3 span=t92 → [ok]\n"
        'x:explore tid=2 span=x17 → summary="3 patterns"\n'
        "a: main goes on\n"
    )
    auth, tests = session.subagents
    assert [numbers(call) for call in auth.calls] == [[3], [6]]
    assert [numbers(call) for call in tests.calls] == [[5, 7]]
    assert numbers(auth.call) == [1, 8]
    assert (auth.is_closed, tests.is_closed) == (True, False)
    assert (auth.task, auth.summary) == ("auth", "3 patterns")
    assert {tid: [line.number for line in lines] for tid, lines in session.threads.items()} == {
        "2": [1, 3, 6, 8],
        "3": [2, 5, 7],
        "1": [4, 9],
    }


@pytest.mark.requirement("VIEW-02")
def test_subagent_is_found_by_id_span_and_thread() -> None:
    session = session_of('x:explore id=sub_1 tid=2 span=x1 "a" → [ok]\nx:plan id=sub_2 tid=2 span=x2 "b" → [ok]\n')
    first, second = session.subagents
    assert session.subagent("sub_1") is first
    assert session.subagent("x1") is first
    assert session.subagent("2") is second
    assert session.subagent("9") is None


def test_thread_given_to_another_subagent_ends_the_first_ones_calls() -> None:
    session = session_of(
        'x:explore id=s1 tid=2 "a" → [started]\nt:read tid=2 a → [ok]\no: id=s1 → [ok]\n'
        'x:plan id=s2 tid=2 "b" → [started]\nt:read tid=2 b → [ok]\n'
    )
    assert [[call.line.number for call in one.calls] for one in session.subagents] == [[2], [5]]


def test_parent_says_more_than_the_thread() -> None:
    session = session_of('x:a span=x1 tid=2 "a"\nx:b span=x2 tid=2 parent=x1 "b"\nt:read tid=2 parent=x1 f → [ok]\n')
    outer, inner = session.subagents
    assert [call.name for call in outer.calls] == ["b", "read"]
    assert inner.calls == []


@pytest.mark.requirement("SUBREF-06")
@pytest.mark.parametrize("name", ["id=abc123", "span=x1", "id=abc123 span=x1"])
def test_second_line_closes_a_subagent(name: str) -> None:
    start = f'x:explore {name} "look" → [started]\n'
    assert not session_of(start).subagents[0].is_closed
    (subagent,) = session_of(f'{start}u: x\nx:explore {name} → [done] summary="3 files"\n').subagents
    assert subagent.is_closed
    assert subagent.summary == "3 files"
    assert subagent.task == "look"


@pytest.mark.requirement("SUBREF-01", "SUBREF-02", "SUBREF-03")
@pytest.mark.parametrize("path", ["trajectories/s7.bbox", "s3://bucket/s7.bbox", "db:traces/7"])
def test_reference_is_kept_as_written(path: str) -> None:
    (full,) = session_of(f'x:explore id=s7 "find" → session_id=sess_7 path={path} summary="3 failures"\n').subagents
    assert full.reference == Reference("sess_7", path, "3 failures", full.call.line)
    (bare,) = session_of(f'x:explore id=s7 "find" → [started]\no: id=s7 → path={path}\n').subagents
    assert bare.reference == Reference(None, path, None, bare.call.lines[1])
    assert bare.summary is None


@pytest.mark.parametrize(
    ("result", "summary"),
    [("Found 3\n  and more", "Found 3\nand more"), ("[ok] 3 files", "3 files"), ("[3 files]", None), ("[ok]", None)],
)
def test_summary_may_be_the_result_itself(result: str, summary: str | None) -> None:
    assert session_of(f'x:explore "a" → {result}\n').subagents[0].summary == summary


@pytest.mark.requirement("SUBREF-07")
def test_keywords_of_a_subagent_are_arguments() -> None:
    (subagent,) = session_of('x:plan id=s6 "design" context="a b" perspective=simplicity → [launched]\n').subagents
    assert subagent.call.arguments.keyword == {"context": "a b", "perspective": "simplicity"}
    assert (subagent.agent_type, subagent.task, subagent.tid, subagent.session) == ("plan", "design", None, None)


@pytest.mark.requirement("CONC-03")
def test_spans_nest_by_parent() -> None:
    session = session_of(
        'x:a span=x1 "a"\nt:r span=t1 parent=x1 f → [ok]\nx:b span=x2 parent=x1 "b"\n'
        "t:r span=t2 parent=x2 f → [ok]\nt:r span=t3 f → [ok]\nt:r span=t4 parent=message_7 f → [ok]\n"
    )
    assert tree(session.spans) == [("x1", [("t1", []), ("x2", [("t2", [])])]), ("t3", []), ("t4", [])]


def test_spans_that_name_each_other_stay_a_tree() -> None:
    session = session_of("t:a span=s1 parent=s2 → [ok]\nt:b span=s2 parent=s1 → [ok]\nt:c span=s3 parent=s3 → [ok]\n")
    assert tree(session.spans) == [("s1", [("s2", [])]), ("s3", [])]


def test_spans_nest_to_any_depth() -> None:
    body = "".join(f"t:a span=s{number} parent=s{number - 1} → [ok]\n" for number in range(5000))
    (node,) = session_of(body).spans
    depth = 1
    while node.children:
        (node,) = node.children
        depth += 1
    assert depth == 5000


def test_night_shift() -> None:
    first, second = read_session(NIGHT_SHIFT).subagents
    assert ([call.id for call in first.calls], [call.id for call in second.calls]) == (
        ["call_36", "call_37", "call_39"],
        ["call_40"],
    )
    assert second.reference.path == "s3://tidepool-traces/2025-11-06/sess_12h_sub_2.bbox"
    assert (first.session, first.missing) == (None, None)
