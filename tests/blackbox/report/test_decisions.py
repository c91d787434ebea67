"""Decisions: what, by whom, why."""

import pytest

from blackbox.report.decisions import Decision, decisions_of
from blackbox.report.places import Member, Place
from tests.blackbox.session.logs import session_of


def decisions(body: str) -> list[Decision]:
    return decisions_of(Member(session_of(body)))


@pytest.mark.requirement("AUDIT-05")
def test_question_answered_by_a_human() -> None:
    body = 'q: id=q1 "Which?" options=["A", "B"] → [pending]\nq: id=q1 → [selected: B]\n'
    expected = Decision("question", "Which?", Place(1), "B", "human", answered_at=Place(2))
    assert decisions(body) == [expected]


@pytest.mark.requirement("AUDIT-05")
def test_question_the_agent_decided_alone_is_unconfirmed_and_has_its_reason() -> None:
    (decision,) = decisions('q: id=q1 "Which?" → [auto: B, reason="it was there"]\n')
    assert decision == Decision("question", "Which?", Place(1), "B", "agent", "it was there", is_unconfirmed=True)


def test_question_without_answer() -> None:
    (decision,) = decisions('q: id=q1 "Which?" → [pending]\n')
    assert (decision.outcome, decision.by) == (None, None)


@pytest.mark.requirement("AUDIT-05")
def test_plans_modes_models_and_marks_in_order() -> None:
    body = """\
@assess → P0: login, P1: docs
p:create id=p1 "Fix login" → [ok]
# model: tern-2 reason="long context"
m:plan  # look first
@phase exit approved=true
m:auto afk=true
# anchor step=3 reason="the cause"
@batch [one, two] reason="same file"
@escalate "Who owns this?"
p:complete id=p1 → [ok]
"""
    found = [(one.kind, one.subject, one.outcome, one.reason, one.place.line) for one in decisions(body)]
    assert found == [
        ("assessment", "priorities", "P0: login; P1: docs", None, 1),
        ("plan", "Fix login", "create, complete", None, 2),
        ("model", "model", "tern-2", "long context", 3),
        ("mode", "mode", "plan", "look first", 4),
        ("plan approval", "phase exit", "approved", None, 5),
        ("mode", "mode", "auto, nobody answers questions", None, 6),
        ("anchor", "keep step 3", None, "the cause", 7),
        ("batch", "one, two", None, "same file", 8),
        ("escalation", "Who owns this?", None, None, 9),
    ]


@pytest.mark.parametrize(
    ("body", "outcomes"),
    [
        ("m:normal\nu: Hi\na: Ho\n", []),
        ("u: Hi\nm:normal\na: Ho\nm:normal\n", []),
        ("m:normal\nu: Hi\na: Ho\nm:plan\nm:normal\n", ["plan", "normal"]),
        ("u: Hi\na: Ho\nm:plan\n", ["plan"]),
        ("m:auto # gone for lunch\nu: Hi\n", ["auto"]),
        ("m:auto afk=true\nu: Hi\n", ["auto, nobody answers questions"]),
        ("m:auto\na: Ho\nm:auto afk=true\n", ["auto, nobody answers questions"]),
        ("# model: tern-1\nu: Hi\na: Ho\n# model: tern-1\n# model: tern-2\n", ["tern-2"]),
        ('# model: tern-1 reason="cheap"\nu: Hi\n', ["tern-1"]),
        ("u: Hi\na: Ho model=tern-1\n# model: tern-1\n", []),
    ],
)
def test_what_a_session_began_with_and_went_on_with_was_not_decided(body: str, outcomes: list[str]) -> None:
    assert [one.outcome for one in decisions(body)] == outcomes


def test_the_header_says_what_a_session_began_with() -> None:
    body = "m:plan\n# model: tern-1\nu: Hi\nm:auto\n# model: tern-2\n"
    session = session_of(body, mode="plan", model="tern-1")
    assert [one.outcome for one in decisions_of(Member(session))] == ["auto", "tern-2"]


@pytest.mark.parametrize(
    ("line", "outcome", "by"),
    [
        ("@wait-approval pr=1 timeout=2h → approved", "approved", "human"),
        ("@wait-approval pr=1 timeout=2h → timeout", "timeout", None),
        ("@wait-approval pr=1 timeout=2h", "no answer", None),
    ],
)
def test_approvals(line: str, outcome: str, by: str | None) -> None:
    (decision,) = decisions(line + "\n")
    assert (decision.subject, decision.outcome, decision.by) == ("pr=1 timeout=2h", outcome, by)


def test_title_of_a_written_plan_is_its_first_line() -> None:
    (decision,) = decisions('p:write id=p "# Title\\n\\n1. do" → [ok]\n')
    assert decision.subject == "Title"
