"""Tokens and cost: attributed exactly, told from where, and never guessed."""

import decimal
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbox.report.places import Member
from blackbox.report.spending import NO_TOOL, Row, Spending, Usage, spending, split
from blackbox.session.load import load_session
from blackbox.session.usage import Source
from tests.blackbox.session.logs import IMPORT, NIGHT_SHIFT, ROTATED, read_session, session_of

LOG = """\
a: One. step=1
# metrics step=1 prompt_tokens=100 completion_tokens=11 cached_tokens=50 cost_usd=0.010
t:read a.py step=1 → [ok]
t:read b.py step=1 → [ok]
c:forge.issues step=1 → [ok]
# model: tern-mini reason="cheap"
a: Two. step=2
# metrics step=2 prompt_tokens=10 completion_tokens=1 cost_usd=0.5
"""


def costs(rows: tuple[Row, ...]) -> dict[str, Decimal | None]:
    return {row.name: row.usage.cost for row in rows}


def of(body: str, **header: str) -> Spending:
    return spending(session_of(body, **header))


@pytest.mark.requirement("AUDIT-01")
def test_steps_come_dearest_first() -> None:
    found = of(LOG)
    assert [row.name for row in found.steps] == ["step 2", "step 1"]
    assert found.steps[1].usage == Usage(100, 11, 50, Decimal("0.010"))


@pytest.mark.requirement("AUDIT-01")
def test_step_is_split_over_its_calls_and_the_shares_add_up() -> None:
    found = of(LOG)
    assert costs(found.tools) == {
        NO_TOOL: Decimal("0.5"),
        "read": Decimal("0.006666666667"),
        "forge.issues": Decimal("0.003333333333"),
    }
    assert {row.name: row.count for row in found.tools} == {NO_TOOL: 1, "read": 2, "forge.issues": 1}


def test_metrics_may_name_a_model_of_their_own() -> None:
    body = "a: One. step=1\n# metrics step=1 prompt=5 cost=0.5\n# metrics prompt=7 cost=0.25 extra.model=tern-mini\n"
    assert costs(of(body, model="tern").models) == {"tern": Decimal("0.5"), "tern-mini": Decimal("0.25")}


@pytest.mark.requirement("AUDIT-01")
def test_models_and_agents() -> None:
    found = of(LOG, model="tern")
    assert costs(found.models) == {"tern-mini": Decimal("0.5"), "tern": Decimal("0.010")}
    assert costs(found.agents) == {"1": Decimal("0.510")}


def test_calls_with_other_steps_belong_to_the_message_above_them() -> None:
    body = """\
a: One. step=1
# metrics step=1 cost_usd=0.2
t:edit x step=2 → [ok]
a: Two. step=3
t:test step=4 → [ok]
"""
    assert costs(of(body).tools) == {"edit": Decimal("0.2")}


def test_agents_are_told_apart_by_thread() -> None:
    body = "a: One. # metrics cost_usd=0.2\na: Two. tid=2 # metrics cost_usd=0.3\n"
    assert sum(row.count for row in of(body).agents) == 2


@pytest.mark.requirement("AUDIT-01")
def test_budget_that_was_exceeded() -> None:
    found = of("@start budget=$1\n@end cost=$1.50\n")
    assert (found.budget.total, found.budget.spent, found.budget.remaining) == (
        Decimal(1),
        Decimal("1.50"),
        Decimal("-0.50"),
    )
    assert found.budget.is_over
    assert found.budget.percent == Decimal("150.0")


def test_unknown_is_unknown_and_never_zero() -> None:
    found = of("a: Hello.\n")
    assert (found.source, found.cost, found.tokens, found.attributed) == (None, None, None, Usage())
    assert found.budget.spent is None


def test_imported_log_has_tokens_by_message_and_no_cost() -> None:
    found = spending(read_session(IMPORT))
    assert found.source is Source.MESSAGES
    assert found.attributed.tokens == 5608
    assert all(row.usage.cost is None for row in found.tools)
    assert sum(row.usage.tokens or 0 for row in found.tools) == 5608


@pytest.mark.requirement("AUDIT-01")
def test_every_table_of_the_night_shift_adds_up_to_the_same() -> None:
    found = spending(read_session(NIGHT_SHIFT))
    for rows in (found.steps, found.tools, found.models, found.agents):
        assert sum((row.usage.cost or Decimal(0) for row in rows), Decimal(0)) == found.attributed.cost
        assert sum(row.usage.tokens or 0 for row in rows) == found.attributed.tokens
    assert found.cost is not None
    assert (found.cost.amount, found.cost.source, found.contradictions) == (Decimal("21.46"), Source.END, ())


def test_sub_agent_with_its_own_log_has_a_row_of_its_own() -> None:
    found = spending(load_session(ROTATED))
    assert [(row.name, row.usage.cost) for row in found.subagents] == [("sess_licence_audit_sub_1", None)]
    assert [str(row.place) for row in found.steps] == ["2:20", "1:22"]


def test_sums_above_the_stated_total_contradict_it() -> None:
    body = "a: One. step=1\n# metrics step=1 cost_usd=3\n@end cost=$2\n# tokens=5 cost=$2.50\n"
    found = [(one.what, one.first, one.second) for one in of(body).contradictions]
    assert found == [("cost", Source.END, Source.CLOSING), ("cost", Source.END, Source.METRICS)]


def test_sum_below_the_stated_total_is_no_contradiction() -> None:
    assert of("a: One. step=1\n# metrics step=1 cost_usd=1\n@end cost=$2\n").contradictions == ()


@given(
    st.integers(0, 10**9),
    st.decimals(0, 10**6, places=6, allow_nan=False),
    st.integers(1, 50),
)
def test_shares_add_up_exactly_and_differ_by_one_unit_at_most(tokens: int, cost: Decimal, parts: int) -> None:
    shares = split(Usage(tokens, None, tokens, cost), parts)
    assert len(shares) == parts
    assert sum(share.input or 0 for share in shares) == tokens
    context = decimal.Context(prec=60)
    total = Decimal(0)
    for share in shares:
        total = context.add(total, share.cost or Decimal(0))
    assert total == cost
    assert {share.output for share in shares} == {None}
    amounts = [share.cost or Decimal(0) for share in shares]
    assert max(amounts) - min(amounts) <= Decimal(1).scaleb(-12)


def test_imported_calls_that_carry_the_tokens_of_their_message_are_its_calls() -> None:
    body = """\
a: One. id=m1 tokens_in=10 tokens_out=4
t!:Read id=t1 a.py tokens_in=10 tokens_out=4 → [running]
o: id=t1 → [ok]
t!:Edit id=t2 a.py tokens_in=20 tokens_out=6 → [running]
o: id=t2 → [ok]
"""
    found = of(body)
    assert {row.name: (row.usage.input, row.count) for row in found.tools} == {"Read": (10, 1), "Edit": (20, 1)}


def test_call_that_two_charges_share_is_one_call() -> None:
    body = "a: One. step=1\n# metrics step=1 cost_usd=1\n# metrics step=1 cost_usd=2\nt:read x step=1 → [ok]\n"
    assert [(row.name, row.count, row.usage.cost) for row in of(body).tools] == [("read", 1, Decimal(3))]


@pytest.mark.requirement("AUDIT-01")
def test_money_is_split_evenly_far_below_a_cent() -> None:
    assert [str(share.cost) for share in split(Usage(cost=Decimal("0.03")), 5)] == ["0.006"] * 5
    thirds = [str(share.cost) for share in split(Usage(cost=Decimal("0.10")), 3)]
    assert thirds == ["0.033333333334", "0.033333333333", "0.033333333333"]
    assert [str(share.cost) for share in split(Usage(cost=Decimal("0.40")), 2)] == ["0.20", "0.20"]
    assert [share.cost for share in split(Usage(cost=Decimal("5E+900000")), 2)] == [
        Decimal("3E+900000"),
        Decimal("2E+900000"),
    ]


def test_sub_agents_that_no_line_leads_to_have_rows_too() -> None:
    other = Member(session_of("@end tokens=70 cost=$0.20\n"), "sub-7")
    (row,) = spending(session_of("u: Hello.\n"), [other]).subagents
    assert (row.name, row.usage) == ("sub-7", Usage(70, cost=Decimal("0.20")))
