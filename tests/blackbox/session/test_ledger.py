"""Lines joined into calls and questions, each in one place."""

from blackbox.document.document import parse
from blackbox.session.ledger import Ledger
from tests.blackbox.session.logs import numbers


def ledger_of(body: str) -> Ledger:
    return Ledger(parse(body).lines)


def test_every_kind_of_call_is_in_the_ledger() -> None:
    body = 't:a x\nc:s.m x\nx:explore "y"\ns:skill act\np:create id=p1 "z"\nr: "q"\nq: "why?"\nu: hi\n'
    ledger = ledger_of(body)
    assert [(call.kind.value, call.name) for call in ledger.calls] == [
        ("tool", "a"),
        ("mcp", "s.m"),
        ("subagent", "explore"),
        ("skill", "skill"),
        ("plan", "create"),
        ("recall", ""),
    ]
    assert [question.text for question in ledger.questions] == ["why?"]


def test_reports_of_unknown_calls_are_orphans() -> None:
    ledger = ledger_of("o: id=9 → [ok]\nt~:test half\nt:test id=1 → [ok]\n")
    assert [line.number for line in ledger.orphans] == [1, 2]
    assert [numbers(call) for call in ledger.calls] == [[3]]


def test_calls_that_share_an_id_are_answered_in_their_order() -> None:
    ledger = ledger_of(
        "t!:create id=toolu_01 → [running]\n"
        "t!:create id=toolu_01 → [running]\n"
        "o: id=toolu_01 → [ok] first\n"
        "o: id=toolu_01 → [ok] second\n"
        "t!:list id=toolu_01 → [running]\n"
        "o: id=toolu_01 → [ok] third\n"
    )
    assert [numbers(call) for call in ledger.calls] == [[1, 3], [2, 4], [5, 6]]


def test_answer_goes_to_the_call_that_waits_not_to_a_namesake() -> None:
    ledger = ledger_of("t:test id=1 → [running]\nc:ci.status id=1 → [ok]\no: id=1 → [ok]\n")
    assert [numbers(call) for call in ledger.calls] == [[1, 3], [2]]


def test_observation_may_answer_a_plan_or_skill() -> None:
    ledger = ledger_of("p:write id=p1 x → [running]\no: id=p1 → [ok]\ns:deploy id=s1 run\no: id=s1 → done\n")
    assert [numbers(call) for call in ledger.calls] == [[1, 2], [3, 4]]
    assert [call.status.value for call in ledger.calls] == ["ok", "answered"]


def test_plan_actions_with_one_id_are_calls_of_their_own() -> None:
    ledger = ledger_of("p:create id=p1 x → [ok]\np:complete id=p1 → [ok]\n")
    assert [numbers(call) for call in ledger.calls] == [[1], [2]]


def test_plan_action_under_way_is_answered_by_the_same_action_only() -> None:
    ledger = ledger_of("p:write id=p1 x → [running]\np:complete id=p1 → [ok]\np:write id=p1 → [ok]\n")
    assert [(call.name, numbers(call)) for call in ledger.calls] == [("write", [1, 3]), ("complete", [2])]


def test_question_and_call_may_share_an_id() -> None:
    ledger = ledger_of('t:test id=1 → [running]\nq: id=1 "why?" → [pending]\nq: id=1 → [selected: a]\n')
    assert [numbers(call) for call in ledger.calls] == [[1]]
    assert [[line.number for line in question.lines] for question in ledger.questions] == [[2, 3]]
